/* kmeans_step.c: an exact Lloyd iteration, and a place for codes that no vector uses. */
#include "kmeans.h"

#include "nearest.h"

#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>

typedef struct worst {
    float distance;
    int64_t row;
} worst;

static int by_distance(const void *a, const void *b) {
    const worst *x = a, *y = b;
    if (x->distance != y->distance) return x->distance > y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Gives unused codes the worst-coded vectors, none twice: they are distinct. */
static og_status revive(const float *vectors, int64_t n, int64_t dim, int64_t size, const double *counts,
                        const float *distance, float *codes, int64_t *moved, og_error *err) {
    worst *order = og_alloc(n, sizeof *order);
    if (!order) return og_fail(err, OG_ENOMEM, "no memory to order %lld vectors by their error", (long long)n);
    for (int64_t i = 0; i < n; i++) order[i] = (worst){distance[i], i};
    qsort(order, (size_t)n, sizeof *order, by_distance);
    int64_t next = 0, n_moved = 0;
    for (int64_t k = 0; k < size && next < n; k++) {
        if (counts[k] > 0) continue;
        if (!(order[next].distance > 0)) break;
        memcpy(codes + k * dim, vectors + order[next].row * dim, (size_t)dim * sizeof(float));
        next++;
        n_moved++;
    }
    og_release(order);
    *moved = n_moved;
    return OG_OK;
}

og_status og_kmeans_step(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                         og_pool *pool, float *codes, int64_t *moved, og_error *err) {
    og_nearest nearest;
    OG_TRY(og_nearest_make(codes, size, dim, &nearest, err));
    int32_t *code = og_alloc(n, sizeof *code);
    float *distance = og_alloc(n, sizeof *distance);
    double *sums = og_alloc_zero(size * dim, sizeof *sums);
    double *counts = og_alloc_zero(size, sizeof *counts);
    og_status status = OG_OK;
    if (!code || !distance || !sums || !counts) {
        status = og_fail(err, OG_ENOMEM, "no memory to average %lld vectors", (long long)n);
    } else {
        og_nearest_find(&nearest, vectors, n, pool, code, 1, distance, NULL);
        for (int64_t i = 0; i < n; i++) {
            double *sum = sums + code[i] * dim, weight = (double)weights[i];
            for (int64_t j = 0; j < dim; j++) sum[j] += weight * (double)vectors[i * dim + j];
            counts[code[i]] += weight;
        }
        int64_t unused = 0;
        for (int64_t k = 0; k < size; k++) {
            unused += !(counts[k] > 0);
            for (int64_t j = 0; counts[k] > 0 && j < dim; j++)
                codes[k * dim + j] = (float)(sums[k * dim + j] / counts[k]);
        }
        int64_t n_moved = 0;
        if (unused) status = revive(vectors, n, dim, size, counts, distance, codes, &n_moved, err);
        if (status == OG_OK) *moved = n_moved;
    }
    og_nearest_drop(&nearest);
    og_release(code);
    og_release(distance);
    og_release(sums);
    og_release(counts);
    return status;
}
