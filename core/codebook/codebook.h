/* codebook.h: what the codebook in memory and the codebook file share. Private to core. */
#ifndef OMNIGRAM_CORE_CODEBOOK_H
#define OMNIGRAM_CORE_CODEBOOK_H

#include <omnigram/codebook.h>

/* Names, modality and sizes are allowed; *values = levels * size * dim. */
og_status og_codebook_check(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim, int64_t *values,
                            og_error *err) OG_MUST_USE;
og_status og_codebook_fingerprint(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim,
                                  const og_config *preprocess, const float *codes, char out[OG_DIGEST_TEXT], og_error *err)
    OG_MUST_USE;

#endif
