/* Row-sparse optimisers: gradients are summed per distinct row in a fixed order and applied once. */
#ifndef OMNIGRAM_UPDATE_H
#define OMNIGRAM_UPDATE_H

#include <omnigram/pool.h>
#include <omnigram/status.h>
#include <omnigram/store.h>

OG_BEGIN

enum { OG_SGD = 0, OG_ADAGRAD_ROW = 1, OG_ADAM = 2, OG_RMSPROP = 3 };
enum {
    OG_ROUND_NEAREST = 0,
    OG_ROUND_STOCHASTIC = 1
}; /* of low-precision rows; stochastic is keyed by (seed, step, row, channel) */

typedef struct og_update_options {
    int32_t kind;
    int32_t rounding;
    double lr, beta1, beta2, eps;
    double decay; /* decoupled and lazy: a row is multiplied by (1 - lr * scale * decay)^(steps since it was last
                     touched) when it is touched: what a dense optimiser of constant lr would have done. Keeps the last
                     step in one more value of state (Adam has it already) */
    double scale; /* the table's own factor on lr */
    uint64_t seed;
} og_update_options;
OG_API og_update_options og_update_defaults(int32_t kind);
/* f32 values a row needs in og_store_options.state: SGD 0, row-wise Adagrad 1, RMSprop dim, Adam 2 * dim + 1. One more
 * with decay, except for Adam. Adam's moments of a row that is not touched stand still (torch's SparseAdam); its bias
 * correction counts all steps. */
OG_API int32_t og_update_state(int32_t kind, int64_t dim);

/* One batch for one store. rows [n] (OG_ROW_NONE is skipped), grads [n] rows of dim f32, grad_stride values apart.
 * Duplicate rows are summed in order of n. grad_scale multiplies the sums (clipping). Rows that are not named do not
 * change by a bit. Same bits for any pool. step counts from 1. */
OG_API og_status og_update_apply(og_store *store, const og_update_options *options, const int64_t *rows, int64_t n,
                                 const float *grads, int64_t grad_stride, double grad_scale, int64_t step,
                                 og_pool *pool, og_error *err) OG_MUST_USE;
/* Sum of squares of the per-row summed gradients, for the global norm. Fixed order. */
OG_API og_status og_update_norm2(const og_store *store, const int64_t *rows, int64_t n, const float *grads,
                                 int64_t grad_stride, og_pool *pool, double *out, og_error *err) OG_MUST_USE;

/* Several processes over one shared table (og_store_attach). Two modes, both without lost updates:
 *
 * EXACT: all processes step together. After og_exchange_apply returns everywhere, the table and its state have the same
 * bits as if one process had called og_update_apply with the batches of rank 0, 1 ... one after the other as one batch.
 * Each rank owns an equal range of rows and applies what all ranks have for it, sorted, summed in rank order. When a
 * process is killed, every other one gets OG_EIO: either nothing of the step was applied anywhere, or all of it was
 * but for rows of the killed rank, of which each value is that before or after the step; the message says which. In
 * the second case go back to a checkpoint. The exchange is over; free it and make a new one.
 *
 * DELTA: no process waits for another. og_update_delta adds to each value atomically: no addition is lost, whatever
 * runs at the same time; the order is not fixed, so that f32 sums differ by rounding only, and each bf16 or f16
 * addition is rounded once, by itself. Optimiser state is the caller's; readers may see a row half added. A process
 * that is killed has added some of its batch and not the rest; no addition of another is lost or waits for it. */
OG_API og_status og_update_delta(og_store *store, const int64_t *rows, int64_t n, const float *deltas,
                                 int64_t delta_stride, og_pool *pool, og_error *err) OG_MUST_USE;

typedef struct og_exchange og_exchange;
/* The meeting place of `world` processes of one machine, under a name of its own: rank 0 makes it, the others wait for
 * it up to a minute, and it for them. OG_EINVAL when a process that lives is that rank already. capacity: most rows of
 * one batch; dim: of the gradients. A rank must not fork without exec: the child would keep it from being seen dead. */
OG_API og_status og_exchange_new(const char *name, int32_t rank, int32_t world, int64_t capacity, int64_t dim,
                                 og_exchange **out, og_error *err) OG_MUST_USE;
OG_API void og_exchange_free(og_exchange *exchange); /* NULL is fine */
/* Collective: every rank calls it once a step, with n = 0 if it has nothing, on a handle of the same shared store and
 * with equal options, grad_scale and step. A batch that one rank may not give (too long, an id out of range) or
 * has no memory for fails on all ranks and changes nothing; a rank that has died is OG_EIO and is named. */
OG_API og_status og_exchange_apply(og_exchange *exchange, og_store *store, const og_update_options *options,
                                   const int64_t *rows, int64_t n, const float *grads, int64_t grad_stride,
                                   double grad_scale, int64_t step, og_pool *pool, og_error *err) OG_MUST_USE;

OG_END
#endif
