/* quantizer_rvq.c: residual quantization: level l codes what the levels before left. */
#include "kmeans.h"
#include "nearest.h"
#include "vq.h"

#include <omnigram/memory.h>
#include <omnigram/quantizers.h>

#include <string.h>

typedef struct options {
    og_kmeans_options level;
    int64_t levels;
} options;

static const og_key keys[] = {
    {"levels", OG_KEY_I64, offsetof(options, levels), "4", 1, 64, NULL, "codes of a vector"},
    {"size", OG_KEY_I64, offsetof(options, level.size), "256", 1, 1 << 20, NULL, "codes of a level, K"},
    {"iterations", OG_KEY_I64, offsetof(options, level.iterations), "25", 0, 10000, NULL,
     "Lloyd iterations of a level (25: FAISS's default)"},
    {"seed", OG_KEY_I64, offsetof(options, level.seed), "0", 0, 2147483647 - 64, NULL,
     "of level 0; level l takes seed + l"},
    /* Levels have one size, so fewer codes for one of them is no choice here. */
    {"few", OG_KEY_CHOICE, offsetof(options, level.few), "pad", 0, 0, "pad|shrink|error",
     "fewer distinct residuals than codes: unused copies, or an error (shrink is refused)"},
    {0},
};

/* Level after level on the residuals of the levels before: a level starts only when those are fitted, for before that
 * its residuals would say nothing. residual [n][dim] is used up. */
static og_status fit_levels(const options *o, float *residual, int64_t n, int64_t dim, og_pool *pool, float *codes,
                            int32_t *code, og_error *err) {
    for (int64_t level = 0; level < o->levels; level++) {
        og_kmeans_options of_level = o->level;
        of_level.seed += level;
        float *made;
        int64_t size, values = o->level.size * dim;
        og_status status = og_kmeans_fit(&of_level, residual, n, dim, pool, &made, &size, err);
        if (status != OG_OK) return og_fail_at(err, status, "rvq level %lld", (long long)level);
        memcpy(codes + level * values, made, (size_t)values * sizeof *codes);
        og_release(made);
        if (level + 1 == o->levels) break;
        OG_TRY(og_nearest_once(codes + level * values, size, dim, residual, n, pool, code, NULL, err));
        for (int64_t i = 0; i < n; i++) {
            if (code[i] < 0) continue;
            const float *row = codes + level * values + code[i] * dim;
            for (int64_t j = 0; j < dim; j++) residual[i * dim + j] -= row[j];
        }
    }
    return OG_OK;
}

static og_status fit(const og_config *config, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                     float **codes, int32_t *levels, int64_t *size, og_error *err) {
    options o;
    OG_TRY(og_config_read(config, keys, &o, err));
    if (o.level.few == OG_FEW_SHRINK)
        return og_fail(err, OG_EINVAL, "rvq: few: shrink would give levels of different sizes; use pad or error");
    int64_t values;
    if (n < 0 || dim < 1 || __builtin_mul_overflow(o.levels * o.level.size, dim, &values))
        return og_fail(err, OG_EINVAL, "rvq of %lld vectors of %lld values", (long long)n, (long long)dim);
    float *made = og_alloc(values, sizeof *made), *residual = og_alloc(n * dim, sizeof *residual);
    int32_t *code = og_alloc(n, sizeof *code);
    og_status status;
    if (!made || !residual || !code) {
        status =
            og_fail(err, OG_ENOMEM, "rvq: no memory for %lld vectors of %lld values", (long long)n, (long long)dim);
    } else {
        memcpy(residual, vectors, (size_t)(n * dim) * sizeof *residual);
        status = fit_levels(&o, residual, n, dim, pool, made, code, err);
    }
    og_release(residual);
    og_release(code);
    if (status != OG_OK) {
        og_release(made);
        return status;
    }
    *codes = made;
    *levels = (int32_t)o.levels;
    *size = o.level.size;
    return OG_OK;
}

const og_quantizer_type og_quantizer_rvq = {
    .abi = OG_ABI,
    .name = "rvq",
    .summary = "residual vector quantization: a stack of k-means levels",
    .source = "Zeghidour et al. 2021 (SoundStream); Chen, Guan, Wang 2010",
    .keys = keys,
    .fit = fit,
    .encode = og_vq_encode,
    .decode = og_vq_decode,
};
