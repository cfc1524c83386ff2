/* vq.c: codes of vectors and vectors of codes, over one level or a residual stack. */
#include "vq.h"

#include "nearest.h"

#include <omnigram/memory.h>

#include <string.h>

enum { CHUNK = 16384 }; /* vectors whose residuals are held at a time */

/* What the code leaves of each vector. A vector without a code stays as it is. */
static void subtract(const og_codebook *codebook, int32_t level, const int32_t *codes, int64_t n, float *residual) {
    int64_t dim = codebook->dim;
    const float *table = codebook->codes + level * codebook->size * dim;
    for (int64_t i = 0; i < n; i++) {
        int32_t code = codes[i * codebook->levels + level];
        if (code < 0) continue;
        for (int64_t j = 0; j < dim; j++) residual[i * dim + j] -= table[code * dim + j];
    }
}

static og_status encode_level(const og_codebook *codebook, int32_t level, const float *vectors, int64_t n,
                              int32_t *codes, float *margin, og_pool *pool, og_error *err) {
    og_nearest nearest;
    OG_TRY(og_nearest_make(codebook->codes + level * codebook->size * codebook->dim, codebook->size, codebook->dim,
                           &nearest, err));
    og_nearest_find(&nearest, vectors, n, pool, codes + level, codebook->levels, NULL, margin);
    og_nearest_drop(&nearest);
    return OG_OK;
}

og_status og_vq_encode(const og_codebook *codebook, const float *vectors, int64_t n, int32_t *codes, float *margin,
                       og_pool *pool, og_error *err) {
    if (n < 0) return og_fail(err, OG_EINVAL, "%lld vectors to encode", (long long)n);
    if (codebook->levels == 1) return encode_level(codebook, 0, vectors, n, codes, margin, pool, err);
    float *residual = og_alloc((n < CHUNK ? n : CHUNK) * codebook->dim, sizeof *residual);
    if (!residual) return og_fail(err, OG_ENOMEM, "no memory for residuals of %lld values", (long long)codebook->dim);
    og_status status = OG_OK;
    for (int64_t begin = 0; begin < n && status == OG_OK; begin += CHUNK) {
        int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
        int32_t *out = codes + begin * codebook->levels;
        memcpy(residual, vectors + begin * codebook->dim, (size_t)(count * codebook->dim) * sizeof *residual);
        for (int32_t level = 0; level < codebook->levels && status == OG_OK; level++) {
            if (level) subtract(codebook, level - 1, out, count, residual);
            status = encode_level(codebook, level, residual, count, out, level == 0 && margin ? margin + begin : NULL,
                                  pool, err);
        }
        for (int64_t i = 0; i < count; i++) /* a bad vector has no code at any level */
            if (out[i * codebook->levels] < 0)
                for (int32_t level = 1; level < codebook->levels; level++) out[i * codebook->levels + level] = -1;
    }
    og_release(residual);
    return status;
}

og_status og_vq_decode(const og_codebook *codebook, const int32_t *codes, int64_t n, float *vectors, og_error *err) {
    int64_t dim = codebook->dim, levels = codebook->levels;
    for (int64_t i = 0; i < n * levels; i++)
        if (codes[i] < -1 || codes[i] >= codebook->size)
            return og_fail(
                err, OG_EINVAL,
                "code %d of vector %lld, level %lld is outside the codebook %.12s: codes are 0..%lld, or -1 for none",
                codes[i], (long long)(i / levels), (long long)(i % levels), codebook->fingerprint,
                (long long)(codebook->size - 1));
    for (int64_t i = 0; i < n; i++) {
        float *out = vectors + i * dim;
        memset(out, 0, (size_t)dim * sizeof *out);
        for (int64_t level = 0; level < levels; level++) {
            int32_t code = codes[i * levels + level];
            if (code < 0) continue;
            const float *row = codebook->codes + (level * codebook->size + code) * dim;
            for (int64_t j = 0; j < dim; j++) out[j] += row[j];
        }
    }
    return OG_OK;
}
