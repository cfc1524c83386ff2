/* memory.h: the n-gram tables of one model in training: stores, row ids computed ahead, lookups in
 * flight, and updates. */
#ifndef OMNIGRAM_TRAIN_MEMORY_H
#define OMNIGRAM_TRAIN_MEMORY_H

#include "options.h"

#include <omnigram/store.h>

OG_BEGIN

/* The life of a step's rows (all calls on the trainer's thread):
 *   plan     its packs are known: a worker thread computes their row ids
 *   gather   its lookup is submitted: with mode train only after the update of the step before it, so that the vectors
 * are those of a run that overlaps nothing take     waits for the vectors of one micro batch norm2, apply   (mode
 * train) the gradients of the vectors go into the rows Two steps may be planned ahead of the one that computes. */
typedef struct og_memory og_memory;

typedef struct og_memory_batch { /* of one step */
    int64_t step;
    const int64_t *packs; /* numbers of its packs; copied */
    int64_t n_packs;
    int64_t micro; /* packs of a micro batch */
} og_memory_batch;

/* memory_tables.c. The tables that memory.use names (all without it), as a tree of their own; needs no packs. */
og_status og_memory_choose(const og_config *merged, const og_config *use, og_config **out, og_error *err) OG_MUST_USE;
/* The same as a table set over the ids and codebooks of packs, and the store that one of its tables gets. */
og_status og_memory_table_set(const og_config *merged, const og_config *use, const og_packs *packs, og_table_set **out,
                              og_error *err) OG_MUST_USE;
og_store_options og_memory_store_options(const og_memory_options *options, const og_table_info *info);

/* mode must not be off. pool (may be NULL) and packs are borrowed. batch: packs of a step at most. */
og_status og_memory_new(const og_config *merged, const og_all_options *options, const og_packs *packs, int64_t batch,
                        og_pool *pool, og_memory **out, og_error *err) OG_MUST_USE;
void og_memory_free(og_memory *memory);

const og_table_set *og_memory_set(const og_memory *memory);
int64_t og_memory_width(const og_memory *memory);
int64_t og_memory_tables(const og_memory *memory);
og_store *og_memory_store(const og_memory *memory, int64_t table);
int64_t og_memory_bytes(const og_memory *memory); /* of all stores */

og_status og_memory_plan(og_memory *memory, const og_memory_batch *batch, og_error *err) OG_MUST_USE;
og_status og_memory_gather(og_memory *memory, int64_t step, og_error *err) OG_MUST_USE;
/* vectors [n][width] f32, borrowed until apply (or the next gather of another step). */
og_status og_memory_take(og_memory *memory, int64_t step, int64_t micro_batch, float **vectors, int64_t *n,
                         og_error *err) OG_MUST_USE;
/* grads [positions of the step][width]: of all its vectors, in the order of its micro batches. */
og_status og_memory_norm2(og_memory *memory, int64_t step, const float *grads, double *norm2,
                          og_error *err) OG_MUST_USE;
og_status og_memory_apply(og_memory *memory, int64_t step, const float *grads, double lr, double grad_scale,
                          og_error *err) OG_MUST_USE;
/* Forgets all plans and lookups in flight (the order of steps changes: a test, a resume). */
og_status og_memory_forget(og_memory *memory, og_error *err) OG_MUST_USE;

/* For measures: rows [n_valid][columns] (may be NULL) and vectors [n_valid][width] of any pack, without dropout. */
og_status og_memory_read(og_memory *memory, const og_pack *pack, int64_t *rows, float *vectors,
                         og_error *err) OG_MUST_USE;

typedef struct og_memory_times {
    double work_seconds;   /* row ids and gathering, wherever it ran */
    double waited_seconds; /* what the training thread stood still for it */
} og_memory_times;
void og_memory_read_times(const og_memory *memory, og_memory_times *out); /* since the start */

/* Rows with their optimiser state, as they lie: array NAME [rows][record bytes]; fingerprints in the metadata. */
og_status og_memory_save(const og_memory *memory, const char *path, og_error *err) OG_MUST_USE;
/* exact 1: everything must fit, optimiser state too; 0: the values of the rows only, whatever state the file holds. */
og_status og_memory_load(og_memory *memory, const char *path, int32_t exact, og_error *err) OG_MUST_USE;

OG_END
#endif
