/* kmeans_fit.c: k-means from vectors to codes: draw, FAISS, exact steps, and the policies for odd input. */
#include "kmeans.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <string.h>

enum { EXACT_STEPS = 8 }; /* after FAISS: one to settle the means in double, more while unused codes still move */

/* No more distinct vectors than codes: each is a code of its own; what is left is the policy's. */
static og_status fit_few(const og_kmeans_options *options, const og_kmeans_distinct *distinct, int64_t dim,
                         float **codes, int64_t *size, og_error *err) {
    if (distinct->n < options->size && options->few == OG_FEW_ERROR)
        return og_fail(err, OG_EINVAL,
                       "%lld codes are wanted, but the %lld finite vectors hold only %lld distinct ones (few: error)",
                       (long long)options->size, (long long)distinct->n_finite, (long long)distinct->n);
    int64_t made = options->few == OG_FEW_SHRINK ? distinct->n : options->size;
    float *out = og_alloc(made * dim, sizeof *out);
    if (!out)
        return og_fail(err, OG_ENOMEM, "no memory for %lld codes of %lld values", (long long)made, (long long)dim);
    /* Copies of the first code stand behind it, so the lowest-code rule never chooses them: they count as unused. */
    for (int64_t k = 0; k < made; k++)
        memcpy(out + k * dim, distinct->vectors + (k < distinct->n ? k : 0) * dim, (size_t)dim * sizeof *out);
    *codes = out;
    *size = made;
    return OG_OK;
}

/* A seeded draw of `size` different vectors into codes: Fisher-Yates, as far as it is needed. */
static og_status draw(const og_kmeans_distinct *distinct, int64_t dim, int64_t size, uint64_t seed, float *codes,
                      og_error *err) {
    int64_t *order = og_alloc(distinct->n, sizeof *order);
    if (!order) return og_fail(err, OG_ENOMEM, "no memory to draw from %lld vectors", (long long)distinct->n);
    for (int64_t i = 0; i < distinct->n; i++) order[i] = i;
    for (int64_t k = 0; k < size; k++) {
        int64_t at = k + (int64_t)og_random_below(seed, (uint64_t)k, (uint64_t)(distinct->n - k));
        memcpy(codes + k * dim, distinct->vectors + order[at] * dim, (size_t)dim * sizeof *codes);
        order[at] = order[k];
    }
    og_release(order);
    return OG_OK;
}

static og_status fit_distinct(const og_kmeans_options *options, const og_kmeans_distinct *distinct, int64_t dim,
                              og_pool *pool, float **codes, int64_t *size, og_error *err) {
    int64_t n = distinct->n, wanted = options->size, moved = 1;
    if (n <= wanted) return fit_few(options, distinct, dim, codes, size, err);
    float *out = og_alloc(wanted * dim, sizeof *out);
    if (!out)
        return og_fail(err, OG_ENOMEM, "no memory for %lld codes of %lld values", (long long)wanted, (long long)dim);
    og_status status = draw(distinct, dim, wanted, (uint64_t)options->seed, out, err);
    if (status == OG_OK)
        status = og_kmeans_train(distinct->vectors, distinct->weights, n, dim, wanted, options->iterations,
                                 options->seed, pool, out, err);
    for (int step = 0; step < EXACT_STEPS && moved && status == OG_OK; step++)
        status = og_kmeans_step(distinct->vectors, distinct->weights, n, dim, wanted, pool, out, &moved, err);
    if (status != OG_OK) {
        og_release(out);
        return status;
    }
    *codes = out;
    *size = wanted;
    return OG_OK;
}

og_status og_kmeans_fit(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                        float **codes, int64_t *size, og_error *err) {
    if (n < 0 || n >= INT32_MAX || dim < 1 || dim > INT32_MAX)
        return og_fail(
            err, OG_EINVAL,
            "k-means of %lld vectors of %lld values: the limits are %d vectors (fit to a sample) and %d values",
            (long long)n, (long long)dim, INT32_MAX - 1, INT32_MAX);
    og_kmeans_distinct distinct;
    OG_TRY(og_kmeans_distinct_new(vectors, n, dim, &distinct, err));
    og_status status =
        distinct.n ? fit_distinct(options, &distinct, dim, pool, codes, size, err)
                   : og_fail(err, OG_EINVAL,
                             "k-means needs at least one finite vector; all %lld given are empty, NaN or infinite",
                             (long long)n);
    og_kmeans_distinct_drop(&distinct);
    return status;
}
