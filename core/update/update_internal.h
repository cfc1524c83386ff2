/* update_internal.h: one row's optimiser step, and rows sorted into segments. */
#ifndef OMNIGRAM_UPDATE_INTERNAL_H
#define OMNIGRAM_UPDATE_INTERNAL_H

#include "lookup/dedupe.h"
#include "store/store_internal.h"

#include <omnigram/update.h>

#include <string.h>

/* The numbers of one step, as the kernels use them. */
typedef struct og_step {
    int32_t kind;
    float rate;                       /* lr * scale; of Adam: over its first bias correction */
    float beta1, rest1, beta2, rest2; /* rest = 1 - beta */
    float root2;                      /* Adam: 1 / sqrt of its second bias correction */
    float eps;
    float keep; /* what lazy decay leaves of the row */
} og_step;

/* values: dim of the store's type (or f32); state: of the row, may be NULL for SGD; grad: summed, times grad_scale is
 * the gradient. key: 0 rounds to nearest. */
typedef void og_apply_fn(const og_step *step, void *values, float *state, const float *grad, float grad_scale,
                         int64_t dim, uint64_t key);

typedef struct og_update_ops {
    const char *name;
    og_apply_fn *apply[3]; /* OG_F32, OG_BF16, OG_F16 */
    /* Sum of squares in 64 lanes, the lanes added as a binary tree: the same bits on every level. */
    float (*square_sum)(const float *grad, float grad_scale, int64_t dim);
    void (*add)(float *sum, const float *grad, int64_t dim);
} og_update_ops;
const og_update_ops *og_update_ops_of(int32_t level);
extern const og_update_ops og_update_ops_c, og_update_ops_avx2, og_update_ops_avx512;

/* Distinct rows of a batch in ascending order with their places, in memory that the store keeps between calls. */
typedef struct og_segments {
    void *memory;
    og_sorted sorted;
    int64_t n;             /* distinct rows */
    const int64_t *starts; /* [n + 1] into sorted */
    float *buffers;        /* [threads][3 * dim rounded up to 16] */
    int64_t buffer_floats; /* of one thread */
} og_segments;
/* Checks every id (OG_EINVAL names id, position, rows) and sorts. release puts the memory back. */
og_status og_segments_make(const og_store *store, const int64_t *rows, int64_t n, og_pool *pool, int64_t extra_bytes,
                           og_segments *out, void **extra, og_error *err);
/* Makes the memory that n rows need, so that the next og_segments_make of as many finds it. */
og_status og_segments_reserve(const og_store *store, int64_t n, const og_pool *pool, og_error *err);
void og_segments_release(const og_store *store, og_segments *segments);

static inline int64_t og_segment_row(const og_segments *s, int64_t i) {
    return (int64_t)og_sorted_id(&s->sorted, s->starts[i]) + s->sorted.least;
}

/* Sum of a segment's gradients in order of position: borrowed from grads when there is one, else in sum. */
static inline const float *og_segment_sum(const og_segments *s, int64_t i, const float *grads, int64_t stride,
                                          int64_t dim, const og_update_ops *ops, float *sum) {
    int64_t at = s->starts[i], end = s->starts[i + 1];
    const float *first = grads + og_sorted_position(&s->sorted, at) * stride;
    if (end - at == 1) return first;
    memcpy(sum, first, (size_t)dim * sizeof *sum);
    for (at++; at < end; at++) ops->add(sum, grads + og_sorted_position(&s->sorted, at) * stride, dim);
    return sum;
}

/* OG_EINVAL names the first id that is neither OG_ROW_NONE nor a row, its position and the limit. */
og_status og_update_check_rows(const og_store *store, const int64_t *rows, int64_t n, og_error *err);
og_status og_update_check(const og_store *store, const og_update_options *options, int64_t step, og_error *err);

/* How long og_exchange_new waits for a rank that has never come; tests are less patient. */
extern int64_t og_exchange_patience_ms;

#endif
