/* update.c: options, and one batch applied to a store. */
#include "lookup/row_ops.h"
#include "store/float_mode.h"
#include "store/prefetch.h"
#include "update/update_internal.h"

#include <omnigram/random.h>

#include <math.h>

og_update_options og_update_defaults(int32_t kind) {
    og_update_options o = {.kind = kind, .rounding = OG_ROUND_NEAREST, .lr = 0.01, .eps = 1e-8, .scale = 1};
    if (kind == OG_ADAM)
        o = (og_update_options){.kind = kind, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .scale = 1};
    if (kind == OG_RMSPROP) o.beta2 = 0.99;
    return o;
}

int32_t og_update_state(int32_t kind, int64_t dim) {
    switch (kind) {
    case OG_ADAGRAD_ROW: return 1;
    case OG_ADAM: return (int32_t)(2 * dim + 1);
    case OG_RMSPROP: return (int32_t)dim;
    default: return 0;
    }
}

/* Where the step of a row's last update is kept, as uint32 bits; -1 when it is not. */
static int64_t step_slot(const og_update_options *o, int64_t dim) {
    if (o->kind == OG_ADAM) return 2 * dim;
    return o->decay > 0 ? og_update_state(o->kind, dim) : -1;
}

og_status og_update_check(const og_store *store, const og_update_options *o, int64_t step, og_error *err) {
    OG_TRY(og_cpu_check(err));
    if (o->kind < OG_SGD || o->kind > OG_RMSPROP)
        return og_fail(err, OG_EINVAL, "update kind %d: must be 0..3", o->kind);
    if (o->rounding != OG_ROUND_NEAREST && o->rounding != OG_ROUND_STOCHASTIC)
        return og_fail(err, OG_EINVAL, "update rounding %d: must be 0 (nearest) or 1 (stochastic)", o->rounding);
    const struct {
        const char *name;
        double value, least, below;
    } all[] = {{"lr", o->lr, 0, 1e30},    {"scale", o->scale, 0, 1e30}, {"eps", o->eps, 0, 1e30},
               {"beta1", o->beta1, 0, 1}, {"beta2", o->beta2, 0, 1},    {"decay", o->decay, 0, 1e30}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].value >= all[i].least && all[i].value < all[i].below))
            return og_fail(err, OG_EINVAL, "update %s %g: must be in [%g, %g)", all[i].name, all[i].value, all[i].least,
                           all[i].below);
    if (o->lr * o->scale * o->decay >= 1)
        return og_fail(err, OG_EINVAL, "update lr * scale * decay is %g: must be below 1", o->lr * o->scale * o->decay);
    if (step < 1 || step > UINT32_MAX)
        return og_fail(err, OG_EINVAL, "update step %lld: counts from 1 to 2^32 - 1", (long long)step);
    if (!store->writable)
        return og_fail(err, OG_EINVAL, "update of a read-only store%s%s", store->name ? " " : "",
                       store->name ? store->name : "");
    int64_t slot = step_slot(o, store->dim), need = og_update_state(o->kind, store->dim);
    if (slot >= need) need = slot + 1;
    if (store->state < need)
        return og_fail(err, OG_EINVAL, "%s%s needs %lld state values a row, the store was made with %d (its `state`)",
                       (const char *const[]){"SGD", "row-wise Adagrad", "Adam", "RMSprop"}[o->kind],
                       o->decay > 0 ? " with decay" : "", (long long)need, store->state);
    return OG_OK;
}

static og_step step_of(const og_update_options *o, int64_t step) {
    og_step s = {.kind = o->kind, .rate = (float)(o->lr * o->scale), .eps = (float)o->eps, .keep = 1};
    s.beta1 = (float)o->beta1;
    s.rest1 = (float)(1 - o->beta1);
    s.beta2 = (float)o->beta2;
    s.rest2 = (float)(1 - o->beta2);
    if (o->kind == OG_ADAM) {
        s.rate = (float)(o->lr * o->scale / (1 - pow(o->beta1, (double)step)));
        s.root2 = (float)(1 / sqrt(1 - pow(o->beta2, (double)step)));
    }
    return s;
}

/* (1 - lr * scale * decay)^steps */
static float decay_keep(const og_update_options *o, int64_t steps) {
    double base = 1 - o->lr * o->scale * o->decay, keep = 1;
    for (; steps > 0; steps >>= 1, base *= base)
        if (steps & 1) keep *= base;
    return (float)keep;
}

typedef struct apply_job {
    og_store *store;
    const og_update_options *options;
    const og_segments *segments;
    const float *grads;
    const og_update_ops *ops;
    og_step step;
    int64_t stride, number;
    int64_t slot;
    float grad_scale;
    uint64_t key;            /* of (seed, step) */
    _Atomic int64_t refused; /* least row that its type could not hold; INT64_MAX */
} apply_job;

static void refuse(apply_job *job, int64_t row) {
    int64_t least = atomic_load(&job->refused);
    while (row < least && !atomic_compare_exchange_weak(&job->refused, &least, row)) {
    }
}

static void prefetch_segment(const apply_job *job, int64_t i) {
    const og_store *store = job->store;
    const uint8_t *row = og_store_values(store, og_segment_row(job->segments, i));
    og_prefetch_near(row, store->value_stride < 2048 ? store->value_stride
                                                     : 2048); /* of longer rows the CPU sees the stream */
    const float *grad = job->grads + og_sorted_position(&job->segments->sorted, job->segments->starts[i]) * job->stride;
    og_prefetch_near(grad, store->dim * 4 < 4096 ? store->dim * 4 : 4096);
}

/* Segments to prefetch ahead: what the misses in flight can use; more would wait, and push rows out again. */
static int64_t segments_ahead(const og_store *store) {
    int64_t ahead = 4096 / (store->value_stride + store->dim * 4);
    return ahead < 2 ? 2 : ahead > 8 ? 8 : ahead;
}

static void apply_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    apply_job *job = context;
    og_store *store = job->store;
    float *sum = job->segments->buffers + worker * job->segments->buffer_floats, *values = sum + store->dim;
    uint32_t mode = og_float_mode_enter();
    const int64_t ahead = segments_ahead(store);
    for (int64_t i = begin; i < end; i++) {
        if (i + ahead < end) prefetch_segment(job, i + ahead);
        int64_t row = og_segment_row(job->segments, i);
        const float *grad = og_segment_sum(job->segments, i, job->grads, job->stride, store->dim, job->ops, sum);
        float *state = store->state ? og_store_state(store, row) : NULL;
        og_step step = job->step;
        uint32_t last = 0;
        if (job->slot >= 0 && job->options->decay > 0) {
            memcpy(&last, state + job->slot, 4);
            step.keep = decay_keep(job->options, job->number - (int64_t)last);
        }
        uint64_t key = job->key ? og_random_bits(job->key, (uint64_t)row) | 1u : 0;
        if (!store->group) {
            job->ops->apply[store->dtype - OG_F32](&step, og_store_values(store, row), state, grad, job->grad_scale,
                                                   store->dim, key);
        } else {
            og_row_decode(store, row, values);
            job->ops->apply[0](&step, values, state, grad, job->grad_scale, store->dim, 0);
            if (og_row_encode(store, row, values, key) >= 0) refuse(job, row);
        }
        if (job->slot >= 0) {
            last = (uint32_t)job->number;
            memcpy(state + job->slot, &last, 4);
        }
    }
    og_float_mode_leave(mode);
}

/* Rows of a part. Each part begins with rows that nothing has prefetched; eight parts a thread still end together. */
static int64_t grain_of(int64_t n, int32_t threads) {
    int64_t grain = n / (8 * (int64_t)threads);
    return grain < 64 ? 64 : grain > 1024 ? 1024 : grain;
}

static og_status check_grads(const og_store *store, int64_t n, int64_t stride, og_error *err) {
    if (n > 0 && stride < store->dim)
        return og_fail(err, OG_EINVAL, "grad_stride %lld: rows have %lld values", (long long)stride,
                       (long long)store->dim);
    return OG_OK;
}

og_status og_update_apply(og_store *store, const og_update_options *options, const int64_t *rows, int64_t n,
                          const float *grads, int64_t grad_stride, double grad_scale, int64_t step, og_pool *pool,
                          og_error *err) {
    OG_TRY(og_update_check(store, options, step, err));
    OG_TRY(check_grads(store, n, grad_stride, err));
    if (!isfinite(grad_scale)) return og_fail(err, OG_EINVAL, "grad_scale %g: must be finite", grad_scale);
    og_segments segments;
    void *extra;
    OG_TRY(og_segments_make(store, rows, n, pool, 0, &segments, &extra, err));
    apply_job job = {.store = store,
                     .options = options,
                     .segments = &segments,
                     .grads = grads,
                     .stride = grad_stride,
                     .ops = og_update_ops_of(og_cpu_level()),
                     .step = step_of(options, step),
                     .number = step,
                     .slot = step_slot(options, store->dim),
                     .grad_scale = (float)grad_scale,
                     .refused = INT64_MAX};
    if (options->rounding == OG_ROUND_STOCHASTIC && store->dtype != OG_F32)
        job.key = og_random_bits(options->seed, (uint64_t)step) | 1u;
    og_pool_for(pool, segments.n, grain_of(segments.n, og_pool_threads(pool)), apply_range, &job);
    og_segments_release(store, &segments);
    int64_t refused = atomic_load(&job.refused);
    if (refused != INT64_MAX)
        return og_fail(err, OG_EINVAL,
                       "row %lld became infinite or NaN, which %s rows cannot hold; it keeps its values",
                       (long long)refused, og_dtype_name(store->dtype));
    return OG_OK;
}

typedef struct norm_job {
    const og_store *store;
    const og_segments *segments;
    const float *grads;
    const og_update_ops *ops;
    int64_t stride;
    double *parts;
} norm_job;

enum { NORM_GRAIN = 256 };

static void norm_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    norm_job *job = context;
    float *sum = job->segments->buffers + worker * job->segments->buffer_floats;
    uint32_t mode = og_float_mode_enter();
    for (int64_t i = begin; i < end; i++) { /* a part may hold several grains: one total for each */
        const float *grad = og_segment_sum(job->segments, i, job->grads, job->stride, job->store->dim, job->ops, sum);
        if (i % NORM_GRAIN == 0) job->parts[i / NORM_GRAIN] = 0;
        job->parts[i / NORM_GRAIN] += (double)job->ops->square_sum(grad, 1.0f, job->store->dim);
    }
    og_float_mode_leave(mode);
}

og_status og_update_norm2(const og_store *store, const int64_t *rows, int64_t n, const float *grads,
                          int64_t grad_stride, og_pool *pool, double *out, og_error *err) {
    OG_TRY(check_grads(store, n, grad_stride, err));
    og_segments segments;
    void *parts;
    OG_TRY(og_segments_make(store, rows, n, pool, (n / NORM_GRAIN + 1) * 8, &segments, &parts, err));
    norm_job job = {store, &segments, grads, og_update_ops_of(og_cpu_level()), grad_stride, parts};
    og_pool_for(pool, segments.n, NORM_GRAIN, norm_range, &job);
    double sum = 0;
    for (int64_t part = 0; part * NORM_GRAIN < segments.n; part++) sum += job.parts[part];
    og_segments_release(store, &segments);
    *out = sum;
    return OG_OK;
}
