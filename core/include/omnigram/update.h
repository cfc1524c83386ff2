/* Row-sparse optimisers: gradients are summed per distinct row in a fixed order and applied once. */
#ifndef OMNIGRAM_UPDATE_H
#define OMNIGRAM_UPDATE_H

#include <omnigram/pool.h>
#include <omnigram/status.h>
#include <omnigram/store.h>

OG_BEGIN

enum { OG_SGD = 0, OG_ADAGRAD_ROW = 1, OG_ADAM = 2, OG_RMSPROP = 3 };
enum { OG_ROUND_NEAREST = 0, OG_ROUND_STOCHASTIC = 1 }; /* of low-precision rows; stochastic is keyed by (seed, step, row, channel) */

typedef struct og_update_options {
    int32_t kind;
    int32_t rounding;
    double lr, beta1, beta2, eps;
    double decay;   /* decoupled, lazy: lr * decay * (steps since the row was last touched), applied when it is touched */
    double scale;   /* the table's own factor on lr */
    uint64_t seed;
} og_update_options;
OG_API og_update_options og_update_defaults(int32_t kind);
OG_API int32_t og_update_state(int32_t kind, int64_t dim); /* f32 values a row needs in og_store_options.state */

/* One batch for one store. rows [n] (OG_ROW_NONE is skipped), grads [n] rows of dim f32, grad_stride values apart.
 * Duplicate rows are summed in order of n. grad_scale multiplies the sums (clipping). Rows that are not named do not change
 * by a bit. Same bits for any pool. step counts from 1. */
OG_API og_status og_update_apply(og_store *store, const og_update_options *options, const int64_t *rows, int64_t n,
                                 const float *grads, int64_t grad_stride, double grad_scale, int64_t step,
                                 og_pool *pool, og_error *err) OG_MUST_USE;
/* Sum of squares of the per-row summed gradients, for the global norm. Fixed order. */
OG_API og_status og_update_norm2(const og_store *store, const int64_t *rows, int64_t n, const float *grads,
                                 int64_t grad_stride, og_pool *pool, double *out, og_error *err) OG_MUST_USE;

OG_END
#endif
