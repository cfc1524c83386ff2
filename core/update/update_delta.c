/* update_delta.c: atomic additions to rows that several processes share. */
#include "store/float_mode.h"
#include "store/numbers.h"
#include "update/update_internal.h"

#include <omnigram/addr.h>

typedef struct delta_job {
    og_store *store;
    const int64_t *rows;
    const float *deltas;
    int64_t stride;
} delta_job;

/* The value in memory may change between load and exchange; then the addition is done again with what is there now. */
static void add_f32(_Atomic uint32_t *to, float delta) {
    uint32_t before = atomic_load_explicit(to, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(to, &before, og_bits_of(og_float_of(before) + delta),
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void add_16(_Atomic uint16_t *to, float delta, int bf16) {
    uint16_t before = atomic_load_explicit(to, memory_order_relaxed), after;
    do {
        after = bf16 ? og_narrow_bf16(og_widen_bf16(before) + delta) : og_narrow_f16(og_widen_f16(before) + delta);
    } while (!atomic_compare_exchange_weak_explicit(to, &before, after, memory_order_relaxed, memory_order_relaxed));
}

static void delta_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    const delta_job *job = context;
    og_store *store = job->store;
    (void)worker;
    uint32_t mode = og_float_mode_enter();
    for (int64_t i = begin; i < end; i++) {
        if (job->rows[i] == OG_ROW_NONE) continue;
        void *row = og_store_values(store, job->rows[i]);
        const float *delta = job->deltas + i * job->stride;
        for (int64_t c = 0; c < store->dim; c++) {
            if (delta[c] == 0) continue;
            if (store->dtype == OG_F32)
                add_f32((_Atomic uint32_t *)row + c, delta[c]);
            else
                add_16((_Atomic uint16_t *)row + c, delta[c], store->dtype == OG_BF16);
        }
    }
    og_float_mode_leave(mode);
}

og_status og_update_delta(og_store *store, const int64_t *rows, int64_t n, const float *deltas, int64_t delta_stride,
                          og_pool *pool, og_error *err) {
    if (!store->writable)
        return og_fail(err, OG_EINVAL, "delta update of a read-only store%s%s", store->name ? " " : "",
                       store->name ? store->name : "");
    if (store->group)
        return og_fail(err, OG_EINVAL, "delta update of %s rows: a scaled type cannot be added to atomically",
                       og_dtype_name(store->dtype));
    if (n > 0 && delta_stride < store->dim)
        return og_fail(err, OG_EINVAL, "delta_stride %lld: rows have %lld values", (long long)delta_stride,
                       (long long)store->dim);
    OG_TRY(og_update_check_rows(store, rows, n, err));
    delta_job job = {store, rows, deltas, delta_stride};
    og_pool_for(pool, n, 64, delta_range, &job);
    return OG_OK;
}
