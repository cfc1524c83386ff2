/* quantizer_kmeans.c: plain vector quantization; one code a vector. */
#include "kmeans.h"
#include "vq.h"

#include <omnigram/quantizers.h>

static const og_key keys[] = {
    {"size", OG_KEY_I64, offsetof(og_kmeans_options, size), "512", 1, 1 << 20, NULL, "codes, K"},
    {"iterations", OG_KEY_I64, offsetof(og_kmeans_options, iterations), "25", 0, 10000, NULL,
     "Lloyd iterations (25: FAISS's default)"},
    {"seed", OG_KEY_I64, offsetof(og_kmeans_options, seed), "0", 0, 2147483647, NULL,
     "of the first codes and of splits"},
    {"few", OG_KEY_CHOICE, offsetof(og_kmeans_options, few), "pad", 0, 0, "pad|shrink|error",
     "fewer distinct vectors than codes: unused copies, fewer codes, or an error"},
    {0},
};

static og_status fit(const og_config *config, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                     float **codes, int32_t *levels, int64_t *size, og_error *err) {
    og_kmeans_options options;
    OG_TRY(og_config_read(config, keys, &options, err));
    OG_TRY(og_kmeans_fit(&options, vectors, n, dim, pool, codes, size, err));
    *levels = 1;
    return OG_OK;
}

static og_status check(const og_codebook *codebook, og_error *err) {
    if (codebook->levels != 1)
        return og_fail(err, OG_EINVAL, "kmeans: the codebook %.12s has %d levels, not 1", codebook->fingerprint,
                       codebook->levels);
    return OG_OK;
}

static og_status encode(const og_codebook *codebook, const float *vectors, int64_t n, int32_t *codes, float *margin,
                        og_pool *pool, og_error *err) {
    OG_TRY(check(codebook, err));
    return og_vq_encode(codebook, vectors, n, codes, margin, pool, err);
}

static og_status decode(const og_codebook *codebook, const int32_t *codes, int64_t n, float *vectors, og_error *err) {
    OG_TRY(check(codebook, err));
    return og_vq_decode(codebook, codes, n, vectors, err);
}

const og_quantizer_type og_quantizer_kmeans = {
    .abi = OG_ABI,
    .name = "kmeans",
    .summary = "vector quantization: the nearest of K means",
    .source = "Lloyd 1982; FAISS Clustering (Johnson, Douze, Jegou 2017)",
    .keys = keys,
    .fit = fit,
    .encode = encode,
    .decode = decode,
};
