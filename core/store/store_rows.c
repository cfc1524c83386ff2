/* store_rows.c: whole rows as f32: read, write, fill. */
#include "store/store_internal.h"

#include <omnigram/random.h>

#include <stdio.h>

og_status og_row_outside(const og_store *store, int64_t id, int64_t position, int32_t column, int32_t table,
                         int64_t base, og_error *err) {
    char place[64] = "";
    if (column >= 0) snprintf(place, sizeof place, ", column %d (table %d)", column, table);
    return og_fail(err, OG_EINVAL, "row id %lld at position %lld%s: the table%s%.200s has %lld rows, ids %lld..%lld",
                   (long long)id, (long long)position, place, store->name ? " " : "", store->name ? store->name : "",
                   (long long)store->rows, (long long)base, (long long)(base + store->rows - 1));
}

/* Every id is checked before a byte is touched. */
static og_status check_rows(const og_store *store, const int64_t *rows, int64_t n, og_error *err) {
    if (n < 0) return og_fail(err, OG_EINVAL, "%lld rows: the count is negative", (long long)n);
    for (int64_t i = 0; i < n; i++)
        if ((uint64_t)rows[i] >= (uint64_t)store->rows) return og_row_outside(store, rows[i], i, -1, 0, 0, err);
    return OG_OK;
}

og_status og_store_read(const og_store *store, const int64_t *rows, int64_t n, float *values, og_error *err) {
    OG_TRY(check_rows(store, rows, n, err));
    for (int64_t i = 0; i < n; i++) og_row_decode(store, rows[i], values + i * store->dim);
    return OG_OK;
}

og_status og_store_write(og_store *store, const int64_t *rows, int64_t n, const float *values, og_error *err) {
    if (!store->writable)
        return og_fail(err, OG_EINVAL, "the store%s%s is read-only", store->name ? " " : "",
                       store->name ? store->name : "");
    OG_TRY(check_rows(store, rows, n, err));
    if (store->group) /* what a scaled type cannot hold is found before the first row changes */
        for (int64_t i = 0; i < n * store->dim; i++)
            if (!(values[i] - values[i] == 0.0f))
                return og_fail(err, OG_EINVAL, "value %g of row %lld, channel %lld: %s rows hold finite values only",
                               (double)values[i], (long long)rows[i / store->dim], (long long)(i % store->dim),
                               og_dtype_name(store->dtype));
    for (int64_t i = 0; i < n; i++) (void)og_row_encode(store, rows[i], values + i * store->dim, 0);
    return OG_OK;
}

typedef struct fill_job {
    og_store *store;
    uint64_t seed;
    double scale;
    int64_t first;
    float *buffers; /* [threads][dim] */
} fill_job;

static void fill_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    fill_job *job = context;
    float *values = job->buffers + worker * job->store->dim;
    for (int64_t row = begin; row < end; row++) {
        uint64_t key = og_random_bits(job->seed, (uint64_t)(job->first + row));
        for (int64_t c = 0; c < job->store->dim; c++)
            values[c] = job->scale == 0 ? 0.0f : (float)(job->scale * og_random_normal(key, (uint64_t)c));
        (void)og_row_encode(job->store, row, values, 0);
    }
}

og_status og_store_fill(og_store *store, uint64_t seed, double scale, og_pool *pool, og_error *err) {
    return og_store_fill_shard(store, seed, scale, 0, pool, err);
}

og_status og_store_fill_shard(og_store *store, uint64_t seed, double scale, int64_t first, og_pool *pool,
                              og_error *err) {
    if (first < 0) return og_fail(err, OG_EINVAL, "fill from row %lld of a table: must be 0 or more", (long long)first);
    if (!store->writable)
        return og_fail(err, OG_EINVAL, "the store%s%s is read-only", store->name ? " " : "",
                       store->name ? store->name : "");
    if (!(scale >= 0 && scale <= 1e30)) return og_fail(err, OG_EINVAL, "fill scale %g: must be in 0..1e30", scale);
    fill_job job = {store, seed, scale, first, og_alloc(og_pool_threads(pool) * store->dim, sizeof(float))};
    if (!job.buffers) return og_fail(err, OG_ENOMEM, "no memory to fill rows of %lld values", (long long)store->dim);
    og_pool_for(pool, store->rows, 1024, fill_range, &job);
    og_release(job.buffers);
    return OG_OK;
}
