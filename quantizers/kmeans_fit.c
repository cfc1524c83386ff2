/* kmeans_fit.c: k-means from vectors to codes: draw, FAISS, exact steps, and the policies for odd input. */
#include "kmeans.h"

#include "nearest.h"

#include <omnigram/memory.h>

#include <string.h>

enum { EXACT_STEPS = 8 }; /* after FAISS: one to settle the means in double, more while unused codes still move */

#ifndef OG_HAVE_FAISS
og_status og_kmeans_faiss(const float *vectors, int64_t n, int64_t dim, int64_t size, int64_t iterations, int64_t seed,
                          og_pool *pool, float *codes, og_error *err) {
    (void)vectors, (void)n, (void)dim, (void)size, (void)iterations, (void)seed, (void)pool, (void)codes;
    return og_fail(err, OG_ENOTSUP, "fitting k-means needs FAISS, and this omnigram was built without FAISS: install libfaiss-dev "
                                    "and libopenblas-dev and build again (encoding with a fitted codebook works)");
}
#endif

/* Fewer distinct vectors than codes: each is a code of its own; what is left is the policy's. */
static og_status fit_few(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, const int64_t *rows,
                         int64_t found, float **codes, int64_t *size, og_error *err) {
    if (found < options->size && options->few == OG_FEW_ERROR)
        return og_fail(err, OG_EINVAL, "%lld codes are wanted, but the %lld finite vectors hold only %lld distinct ones (few: error)",
                       (long long)options->size, (long long)n, (long long)found);
    int64_t made = options->few == OG_FEW_SHRINK ? found : options->size;
    float *out = og_alloc(made * dim, sizeof *out);
    if (!out) return og_fail(err, OG_ENOMEM, "no memory for %lld codes of %lld values", (long long)made, (long long)dim);
    /* Copies of the first code stand behind it, so the lowest-code rule never chooses them: they count as unused. */
    for (int64_t k = 0; k < made; k++)
        memcpy(out + k * dim, vectors + rows[k < found ? k : 0] * dim, (size_t)dim * sizeof *out);
    *codes = out;
    *size = made;
    return OG_OK;
}

static og_status fit_finite(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                            int64_t *rows, float **codes, int64_t *size, og_error *err) {
    int64_t found;
    OG_TRY(og_kmeans_start(vectors, n, dim, options->size, (uint64_t)options->seed, rows, &found, err));
    if (found < options->size || n == options->size) return fit_few(options, vectors, n, dim, rows, found, codes, size, err);
    float *out = og_alloc(found * dim, sizeof *out);
    if (!out) return og_fail(err, OG_ENOMEM, "no memory for %lld codes of %lld values", (long long)found, (long long)dim);
    for (int64_t k = 0; k < found; k++) memcpy(out + k * dim, vectors + rows[k] * dim, (size_t)dim * sizeof *out);
    og_status status = og_kmeans_faiss(vectors, n, dim, found, options->iterations, options->seed, pool, out, err);
    int64_t moved = 1;
    for (int step = 0; step < EXACT_STEPS && moved && status == OG_OK; step++)
        status = og_kmeans_step(vectors, n, dim, found, pool, out, &moved, err);
    if (status != OG_OK) {
        og_release(out);
        return status;
    }
    *codes = out;
    *size = found;
    return OG_OK;
}

og_status og_kmeans_fit(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                        float **codes, int64_t *size, og_error *err) {
    if (n < 0 || n >= INT32_MAX || dim < 1 || dim > INT32_MAX)
        return og_fail(err, OG_EINVAL, "k-means of %lld vectors of %lld values: the limits are %d vectors (fit to a sample) and %d values",
                       (long long)n, (long long)dim, INT32_MAX - 1, INT32_MAX);
    int64_t finite = 0;
    for (int64_t i = 0; i < n; i++) finite += og_all_finite(vectors + i * dim, dim);
    if (!finite)
        return og_fail(err, OG_EINVAL, "k-means needs at least one finite vector; all %lld given are empty, NaN or infinite", (long long)n);
    float *kept = NULL;
    if (finite < n) { /* a bad vector changes nothing: the rest is fitted as if it had not been there */
        kept = og_alloc(finite * dim, sizeof *kept);
        if (!kept) return og_fail(err, OG_ENOMEM, "no memory for %lld vectors of %lld values", (long long)finite, (long long)dim);
        int64_t to = 0;
        for (int64_t i = 0; i < n; i++)
            if (og_all_finite(vectors + i * dim, dim))
                memcpy(kept + to++ * dim, vectors + i * dim, (size_t)dim * sizeof *kept);
    }
    int64_t *rows = og_alloc(options->size, sizeof *rows);
    og_status status = rows ? fit_finite(options, kept ? kept : vectors, finite, dim, pool, rows, codes, size, err)
                            : og_fail(err, OG_ENOMEM, "no memory for %lld codes", (long long)options->size);
    og_release(rows);
    og_release(kept);
    return status;
}
