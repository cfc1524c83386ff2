/* quantizer_template.c: a quantizer to start from. It rounds each value to the nearest of two codes, and is compiled by
 * the tests.
 *   1. copy it to quantizers/quantizer_<name>.c; 2. rename og_quantizer_template to og_quantizer_<name>, and .name;
 *   3. build: `omnigram quantize --image.quantizer=<name>` knows it, and tests/quantizers/test_conformance.c runs over
 * it;
 *   4. change fit, encode and decode, keeping what omnigram/quantizers.h promises of each; 5. add tests of its own. */
#include <omnigram/memory.h>
#include <omnigram/quantizers.h>

#include <math.h>
#include <string.h>

typedef struct options {
    int64_t size; /* every key is a row below; og_config_read fills, checks limits and names unknown keys */
} options;

static const og_key keys[] = {
    {"size", OG_KEY_I64, offsetof(options, size), "2", 2, 1 << 20, NULL,
     "codes: even steps between the least and the greatest mean value"},
    {0},
};

static int finite_mean(const float *vector, int64_t dim, double *mean) {
    double sum = 0;
    for (int64_t j = 0; j < dim; j++) sum += (double)vector[j];
    *mean = sum / (double)dim;
    return isfinite(sum);
}

static og_status fit(const og_config *config, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                     float **codes, int32_t *levels, int64_t *size, og_error *err) {
    (void)pool; /* a pool may be used, but the result must not depend on it */
    options o;
    OG_TRY(og_config_read(config, keys, &o, err));
    double least = INFINITY, most = -INFINITY, mean;
    for (int64_t i = 0; i < n; i++) {
        if (!finite_mean(vectors + i * dim, dim, &mean)) continue; /* bad vectors change nothing */
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    if (!(least <= most)) return og_fail(err, OG_EINVAL, "template: none of %lld vectors is finite", (long long)n);
    float *out = og_alloc(o.size * dim, sizeof *out);
    if (!out) return og_fail(err, OG_ENOMEM, "template: no memory for %lld codes", (long long)o.size);
    for (int64_t k = 0; k < o.size; k++)
        for (int64_t j = 0; j < dim; j++)
            out[k * dim + j] = (float)(least + (most - least) * (double)k / (double)(o.size - 1));
    *codes = out; /* out-parameters are written when nothing can fail any more */
    *levels = 1;
    *size = o.size;
    return OG_OK;
}

static og_status encode(const og_codebook *codebook, const float *vectors, int64_t n, int32_t *codes, float *margin,
                        og_pool *pool, og_error *err) {
    (void)pool, (void)err;
    for (int64_t i = 0; i < n; i++) {
        double mean, best = INFINITY, second = INFINITY;
        int32_t code = -1;
        if (finite_mean(vectors + i * codebook->dim, codebook->dim, &mean))
            for (int64_t k = 0; k < codebook->size; k++) {
                double off = pow(mean - (double)codebook->codes[k * codebook->dim], 2);
                if (off < best) {
                    second = best;
                    best = off;
                    code = (int32_t)k;
                } else {
                    second = fmin(second, off);
                }
            }
        codes[i] = code;
        if (margin) margin[i] = code < 0 ? 0 : (float)(second - best);
    }
    return OG_OK;
}

static og_status decode(const og_codebook *codebook, const int32_t *codes, int64_t n, float *vectors, og_error *err) {
    for (int64_t i = 0; i < n; i++) {
        if (codes[i] < -1 || codes[i] >= codebook->size)
            return og_fail(err, OG_EINVAL,
                           "template: code %d of vector %lld is outside the codebook: codes are 0..%lld", codes[i],
                           (long long)i, (long long)(codebook->size - 1));
        float *out = vectors + i * codebook->dim;
        memset(out, 0, (size_t)codebook->dim * sizeof *out);
        if (codes[i] >= 0) memcpy(out, codebook->codes + codes[i] * codebook->dim, (size_t)codebook->dim * sizeof *out);
    }
    return OG_OK;
}

extern const og_quantizer_type og_quantizer_template; /* not needed in quantizers/: the registry declares it */
const og_quantizer_type og_quantizer_template = {
    .abi = OG_ABI,
    .name = "template",
    .summary = "even steps of the mean value",
    .source = "none: a template",
    .keys = keys,
    .fit = fit,
    .encode = encode,
    .decode = decode,
};
