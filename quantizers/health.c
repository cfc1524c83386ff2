/* health.c: figures of a codebook on vectors. */
#include <omnigram/memory.h>
#include <omnigram/quantizers.h>

#include "nearest.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 8192 };

/* Sums over all vectors, in their order, in double: the same for any thread count. */
typedef struct sums {
    double *mean; /* [dim] */
    double error, spread;
    int64_t *counts; /* [size], level 0 */
    int64_t finite;
} sums;

static void add_means(const float *vectors, int64_t n, int64_t dim, sums *s) {
    for (int64_t i = 0; i < n; i++) {
        if (!og_all_finite(vectors + i * dim, dim)) continue;
        s->finite++;
        for (int64_t j = 0; j < dim; j++) s->mean[j] += (double)vectors[i * dim + j];
    }
    for (int64_t j = 0; j < dim && s->finite; j++) s->mean[j] /= (double)s->finite;
}

static void add_errors(const og_codebook *codebook, const float *vectors, const int32_t *codes, const float *decoded,
                       int64_t n, sums *s) {
    int64_t dim = codebook->dim;
    for (int64_t i = 0; i < n; i++) {
        int32_t code = codes[i * codebook->levels];
        if (code < 0) continue;
        s->counts[code]++;
        for (int64_t j = 0; j < dim; j++) {
            double value = (double)vectors[i * dim + j];
            double off = value - (double)decoded[i * dim + j], from_mean = value - s->mean[j];
            s->error += off * off;
            s->spread += from_mean * from_mean;
        }
    }
}

static og_status measure(const og_codebook *codebook, const og_quantizer_type *type, const float *vectors, int64_t n,
                         og_pool *pool, int32_t *codes, float *decoded, sums *s, og_error *err) {
    add_means(vectors, n, codebook->dim, s);
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
        const float *chunk = vectors + begin * codebook->dim;
        OG_TRY(type->encode(codebook, chunk, count, codes, NULL, pool, err));
        OG_TRY(type->decode(codebook, codes, count, decoded, err));
        add_errors(codebook, chunk, codes, decoded, count, s);
    }
    return OG_OK;
}

static void conclude(const og_codebook *codebook, const sums *s, int64_t n, og_codebook_health *out) {
    double size = (double)codebook->size, finite = (double)s->finite, values = finite * (double)codebook->dim;
    *out = (og_codebook_health){.vectors = n, .not_finite = n - s->finite};
    double entropy = 0;
    for (int64_t k = 0; k < codebook->size; k++) {
        if (!s->counts[k]) continue; /* where p > 0: a constant inside the logarithm would bias large codebooks */
        out->used++;
        double p = (double)s->counts[k] / finite;
        entropy -= p * log(p);
    }
    out->expected_used = -size * expm1(finite * log1p(-1.0 / size));
    if (codebook->size == 1) out->expected_used = s->finite ? 1 : 0;
    out->perplexity = s->finite ? exp(entropy) : 0;
    out->mse = s->finite ? s->error / values : 0;
    out->relative_mse = s->spread > 0 ? s->error / s->spread : s->error > 0 ? INFINITY : 0;
}

og_status og_codebook_measure(const og_codebook *codebook, const float *vectors, int64_t n, og_pool *pool,
                              og_codebook_health *out, og_error *err) {
    const og_quantizer_type *type = og_quantizer_find(codebook->quantizer);
    if (!type)
        return og_fail(err, OG_ENOTSUP,
                       "the codebook %.12s was made by the quantizer '%s', which this build does not have",
                       codebook->fingerprint, codebook->quantizer);
    int64_t chunk = n < CHUNK ? n : CHUNK;
    sums s = {.mean = og_alloc_zero(codebook->dim, sizeof(double)),
              .counts = og_alloc_zero(codebook->size, sizeof(int64_t))};
    int32_t *codes = og_alloc(chunk * codebook->levels, sizeof *codes);
    float *decoded = og_alloc(chunk * codebook->dim, sizeof *decoded);
    og_status status =
        s.mean && s.counts && codes && decoded
            ? measure(codebook, type, vectors, n, pool, codes, decoded, &s, err)
            : og_fail(err, OG_ENOMEM, "no memory to measure a codebook of %lld codes", (long long)codebook->size);
    if (status == OG_OK) conclude(codebook, &s, n, out);
    og_release(s.mean);
    og_release(s.counts);
    og_release(codes);
    og_release(decoded);
    return status;
}
