/* Row stores: rows x dim in host memory, with the optimiser's state beside each row. */
#ifndef OMNIGRAM_STORE_H
#define OMNIGRAM_STORE_H

#include <omnigram/config.h>
#include <omnigram/dtype.h>
#include <omnigram/pool.h>
#include <omnigram/status.h>

OG_BEGIN

typedef struct og_store og_store;

enum {
    OG_NUMA_DEFAULT = -1,
    OG_NUMA_INTERLEAVE = -2,
    OG_NUMA_SPLIT = -3
}; /* SPLIT: node i holds the i-th equal range of rows */
enum { OG_BACK_ANONYMOUS = 0, OG_BACK_SHARED = 1, OG_BACK_FILE = 2 };

typedef struct og_store_options {
    int64_t rows; /* 1 .. 2^47 */
    int64_t dim;  /* values of a row, 1 .. 65536 */
    int32_t
        dtype; /* OG_F32, OG_BF16, OG_F16, OG_FP8_E4M3 (ue8m0 scale per group), OG_INT8, OG_NF4 (f32 scale per group) */
    int32_t group;   /* values of one scale for FP8, INT8, NF4; 0: 32 */
    int32_t state;   /* f32 values of optimiser state kept beside each row (row-wise Adagrad 1, Adam 2 * dim + 1 ...) */
    int32_t backing; /* OG_BACK_* */
    const char *name; /* shared: the segment's name; file: the path of a table file (table_file.h), or path#tensor for a
                         [rows, dim] tensor of any safetensors file; rows, dim and dtype 0: as the file has them */
    int32_t huge;     /* 1: ask for huge pages (the report says what was granted) */
    int32_t lock;     /* 1: mlock, or fail naming the limit; 2: mlock if it is allowed (the report says) */
    int32_t numa;     /* OG_NUMA_*, or the node that is preferred; without NUMA nodes all are one node */
    int32_t writable; /* files: 1 writes into the file in place */
} og_store_options;
OG_API og_store_options og_store_defaults(int64_t rows, int64_t dim, int32_t dtype);

/* Refuses before touching memory what cannot fit, naming request and limit (control group, tmpfs, memlock, file). Rows
 * are zero. */
OG_API og_status og_store_new(const og_store_options *options, og_store **out, og_error *err) OG_MUST_USE;
/* Joins a shared store that another process made; *options are read from it. */
OG_API og_status og_store_attach(const char *name, int32_t writable, og_store **out, og_error *err) OG_MUST_USE;
OG_API void og_store_free(og_store *store);

OG_API int64_t og_store_rows(const og_store *store);
OG_API int64_t og_store_dim(const og_store *store);
OG_API int32_t og_store_dtype(const og_store *store);
OG_API int64_t og_store_row_bytes(const og_store *store); /* one record: values, scales, state, padding to 64 bytes */
OG_API void *og_store_row(const og_store *store, int64_t row); /* borrowed; no check */

typedef struct og_store_report { /* what it really got, asked of the kernel now */
    int64_t bytes;               /* of the mapping */
    int64_t resident_bytes, huge_bytes, locked_bytes, file_bytes, anonymous_bytes;
    int64_t page_bytes; /* the page size most of it has: 4096 or 2097152 ... */
    int32_t nodes;      /* NUMA nodes its resident pages lie on */
} og_store_report;
OG_API og_status og_store_inspect(const og_store *store, og_store_report *out, og_error *err) OG_MUST_USE;

/* Whole rows as f32: n rows at `rows` (host-checked: OG_EINVAL names id, table rows and position), values [n][dim]. */
OG_API og_status og_store_read(const og_store *store, const int64_t *rows, int64_t n, float *values,
                               og_error *err) OG_MUST_USE;
OG_API og_status og_store_write(og_store *store, const int64_t *rows, int64_t n, const float *values,
                                og_error *err) OG_MUST_USE;
/* Fills every row with normal(0, scale) from (seed, row, channel): equal for any thread count. scale 0: zeros. */
OG_API og_status og_store_fill(og_store *store, uint64_t seed, double scale, og_pool *pool, og_error *err) OG_MUST_USE;
/* The same for a store that holds rows first, first + 1 ... of a larger table: equal for any sharding. */
OG_API og_status og_store_fill_shard(og_store *store, uint64_t seed, double scale, int64_t first, og_pool *pool,
                                     og_error *err) OG_MUST_USE;

OG_END
#endif
