/* vq.h: encoding and decoding by code tables: one level, or the sum of several (residual). Private to the layer. */
#ifndef OMNIGRAM_VQ_H
#define OMNIGRAM_VQ_H

#include <omnigram/codebook.h>
#include <omnigram/pool.h>

/* codes [n][levels]: level 0 is nearest to the vector, level l to what the levels before left. The codes of the first q
 * levels do not depend on the later ones. margin as in quantizers.h. */
og_status og_vq_encode(const og_codebook *codebook, const float *vectors, int64_t n, int32_t *codes, float *margin,
                       og_pool *pool, og_error *err) OG_MUST_USE;
/* vectors [n][dim]: the sum of the codes; -1 adds nothing; another code outside [0, size) is an error that names it. */
og_status og_vq_decode(const og_codebook *codebook, const int32_t *codes, int64_t n, float *vectors,
                       og_error *err) OG_MUST_USE;

#endif
