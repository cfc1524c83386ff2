/* The codebook file and the encode callback. Core defines both, so that tables check fingerprints and readers encode
 * without knowing a quantizer. */
#ifndef OMNIGRAM_CODEBOOK_H
#define OMNIGRAM_CODEBOOK_H

#include <omnigram/config.h>
#include <omnigram/digest.h>
#include <omnigram/status.h>

OG_BEGIN

typedef struct og_codebook {
    int32_t modality;                 /* OG_IMAGE, OG_AUDIO (pack.h) */
    int32_t levels;                   /* 1 for plain VQ */
    int64_t size;                     /* codes of each level, K */
    int64_t dim;                      /* values of a vector */
    float *codes;                     /* [levels][size][dim], owned */
    og_config *preprocess;            /* what made the vectors (patch, resize, mel ...), owned */
    og_config *health;                /* figures of the fit, owned, may be NULL; not in the fingerprint */
    char quantizer[32];               /* which plugin reads codes: "kmeans" */
    char fingerprint[OG_DIGEST_TEXT]; /* SHA-256 of canonical JSON of {quantizer, modality, levels, size, dim,
                                         preprocess} and the raw codes */
} og_codebook;

/* On success the codebook owns preprocess and health (both may be NULL). Copies codes, which must be finite; computes
 * the fingerprint. */
OG_API og_status og_codebook_new(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim,
                                 const float *codes, og_config *preprocess, og_config *health, og_codebook **out,
                                 og_error *err) OG_MUST_USE;
OG_API void og_codebook_free(og_codebook *codebook);
/* safetensors: array "codes" F32 [levels][size][dim]; metadata: kind, quantizer, modality, preprocess, health,
 * fingerprint. */
OG_API og_status og_codebook_save(const og_codebook *codebook, const char *path, og_error *err) OG_MUST_USE;
/* The stored fingerprint must be that of the contents. */
OG_API og_status og_codebook_load(const char *path, og_codebook **out, og_error *err) OG_MUST_USE;

OG_END
#endif
