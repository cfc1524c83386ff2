/* store_internal.h: what a row store is, for the files that make one and the kernels that read it. */
#ifndef OMNIGRAM_STORE_INTERNAL_H
#define OMNIGRAM_STORE_INTERNAL_H

#include "store/limits.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>
#include <omnigram/store.h>

#include <stdatomic.h>

/* How one record lies in memory. A plain file has values and scales in two arrays; every other store has one record a
 * row, and then the strides are equal. */
typedef struct og_record {
    int64_t value_bytes;  /* of one row's values */
    int64_t scale_bytes;  /* of one row's scales */
    int64_t scale_offset; /* in a record */
    int64_t state_offset; /* in a record */
    int64_t bytes;        /* of a record, a multiple of 64 */
} og_record;

struct og_store {
    int64_t rows, dim;
    int32_t dtype, group, state;
    int32_t backing, writable;
    og_record record;
    uint8_t *values; /* of row 0 */
    uint8_t *scales; /* of row 0, NULL where the type has none */
    uint8_t *states; /* of row 0, NULL without state */
    int64_t value_stride, scale_stride, state_stride;
    uint8_t *memory; /* what the rows lie in, for the report */
    int64_t memory_bytes;
    void *reserved; /* the address range with its guard pages, for munmap */
    int64_t reserved_bytes;
    og_promise promise; /* memory that counts as taken while it is not touched */
    int32_t descriptor; /* shared: holds the lock that says "alive"; -1 */
    int32_t owner;      /* shared: the process that made the segment with this handle and unlinks it; 0: joined. A child
                           of a fork has the handle too, and must leave the name to its parent */
    char *name;
    struct og_arrays *file;  /* file: the open safetensors */
    _Atomic(void *) scratch; /* of updates, kept between calls */
};

/* Sizes of a record for a type; OG_EINVAL names what is out of range. */
og_status og_record_of(const og_store_options *options, og_record *out, og_error *err);
/* Scale group in force: 0 for types without scales. */
int32_t og_group_of(const og_store_options *options);
int64_t og_group_count(int64_t dim, int32_t group);

/* Fills store->memory (zeros) and what goes with it, or leaves the store as it was. */
og_status og_store_map_anonymous(og_store *store, const og_store_options *options, int64_t bytes, og_error *err);
og_status og_store_map_shared(og_store *store, const og_store_options *options, int64_t bytes, og_error *err);
og_status og_store_join_shared(og_store *store, const char *name, og_error *err);
og_status og_store_map_file(og_store *store, const og_store_options *options, og_error *err);
void og_store_unmap(og_store *store);
/* Reserves an address range with guard pages, so that the kernel never merges it with a neighbour and the report
 * counts this store alone. *memory is aligned to 2 MiB inside it. */
og_status og_reserve(int64_t bytes, int32_t descriptor, int32_t writable, void **reserved, int64_t *reserved_bytes,
                     void **memory, og_error *err);
/* Huge pages, NUMA policy and mlock for a range, as the options ask. */
og_status og_store_place(og_store *store, const og_store_options *options, og_error *err);

static inline uint8_t *og_store_values(const og_store *store, int64_t row) {
    return store->values + row * store->value_stride;
}
static inline uint8_t *og_store_scales(const og_store *store, int64_t row) {
    return store->scales + row * store->scale_stride;
}
static inline float *og_store_state(const og_store *store, int64_t row) {
    return (float *)(void *)(store->states + row * store->state_stride);
}

/* OG_EINVAL in the words of every path: id, place, table and limit. column: of a lookup, with the number of its table
 * and the column's base; -1 elsewhere. */
og_status og_row_outside(const og_store *store, int64_t id, int64_t position, int32_t column, int32_t table,
                         int64_t base, og_error *err);

/* One row's values as f32, and back. encode: key 0 rounds to nearest, else stochastically (numbers.h). encode refuses a
 * value that a scaled type cannot hold by returning its channel; -1 when done. */
void og_row_decode(const og_store *store, int64_t row, float *values);
int64_t og_row_encode(const og_store *store, int64_t row, const float *values, uint64_t key);

#endif
