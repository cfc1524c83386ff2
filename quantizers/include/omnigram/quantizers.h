/* omnigram quantizers: vectors to codes and back; codebook health. */
#ifndef OMNIGRAM_QUANTIZERS_H
#define OMNIGRAM_QUANTIZERS_H

#include <omnigram/core.h>

OG_BEGIN

typedef struct og_quantizer_type { /* one file quantizer_<name>.c (or .._faiss.cpp) each */
    uint32_t abi;
    const char *name, *summary, *source;
    const og_key *keys; /* size, iterations, seed ... */
    /* Fits codes [levels][size][dim] (og_release) to vectors [n][dim]; the same bits for the same input and seed.
     * Vectors that are not finite are left out and counted; too few or too few distinct vectors are a named policy, not
     * an exception from below. */
    og_status (*fit)(const og_config *config, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                     float **codes, int32_t *levels, int64_t *size, og_error *err);
    /* codes [n][levels] of vectors [n][dim]: nearest by fp32 direct differences summed in a fixed order, lowest index
     * on ties; the same for any batch size and pool. A vector that is not finite gets -1. margin (may be NULL) [n]:
     * second best minus best squared distance at level 0. */
    og_status (*encode)(const og_codebook *codebook, const float *vectors, int64_t n, int32_t *codes, float *margin,
                        og_pool *pool, og_error *err);
    /* vectors [n][dim] of codes [n][levels]; -1 adds nothing. */
    og_status (*decode)(const og_codebook *codebook, const int32_t *codes, int64_t n, float *vectors, og_error *err);
} og_quantizer_type;
extern OG_API const og_quantizer_type *const og_quantizer_types[];
OG_API const og_quantizer_type *og_quantizer_find(const char *name);

/* Figures of a codebook on vectors, named in docs/quantizers.md. */
typedef struct og_code_use {     /* of the codes of one level */
    int64_t used;                /* codes with at least one vector */
    int64_t used_tenth;          /* codes with at least a tenth of a uniform draw's vectors */
    double perplexity;           /* exp(entropy), plug-in */
    double perplexity_corrected; /* the same of the entropy + (used - 1) / 2n (Miller 1955; Madow 1948) */
    double gini;                 /* of the counts: 0 uniform, 1 - 1/K one code alone */
    double top_percent;          /* share of the vectors that the most used hundredth of the codes has, ceil(K / 100) */
} og_code_use;
typedef struct og_codebook_health {
    int64_t vectors, not_finite;
    og_code_use use;          /* level 0 */
    double expected_used;     /* what uniform draws would use: K(1 - (1 - 1/K)^n) */
    double mse, relative_mse; /* mean squared error, and that over the variance */
    double snr_db;            /* -10 log10(relative_mse); infinite without an error */
} og_codebook_health;
typedef struct og_level_health { /* of residual codes */
    og_code_use use;
    double relative_mse; /* of the vectors decoded from this level and those before */
} og_level_health;
/* levels: [codebook->levels], or NULL. */
OG_API og_status og_codebook_measure(const og_codebook *codebook, const float *vectors, int64_t n, og_pool *pool,
                                     og_codebook_health *out, og_level_health *levels, og_error *err) OG_MUST_USE;

OG_END
#endif
