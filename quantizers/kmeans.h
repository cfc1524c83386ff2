/* kmeans.h: the steps of k-means, each in its own file; quantizer_kmeans.c and quantizer_rvq.c put them together. Private to the layer. */
#ifndef OMNIGRAM_KMEANS_H
#define OMNIGRAM_KMEANS_H

#include <omnigram/pool.h>
#include <omnigram/status.h>

OG_BEGIN

enum { OG_FEW_PAD = 0, OG_FEW_SHRINK = 1, OG_FEW_ERROR = 2 }; /* fewer distinct vectors than codes */

typedef struct og_kmeans_options {
    int64_t size;       /* K */
    int64_t iterations; /* Lloyd iterations of FAISS; exact ones follow */
    int64_t seed;
    int32_t few;        /* OG_FEW_* */
} og_kmeans_options;

/* Codes of vectors [n][dim]: *codes [*size][dim], og_release. Not finite vectors are left out. */
og_status og_kmeans_fit(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                        float **codes, int64_t *size, og_error *err) OG_MUST_USE;

/* Walks the vectors in a seeded order and takes the first `wanted` that differ from those taken: rows[*found]. *found < wanted
 * means that there are no more. -0 equals 0. Vectors are finite, n < 2^31. */
og_status og_kmeans_start(const float *vectors, int64_t n, int64_t dim, int64_t wanted, uint64_t seed, int64_t *rows,
                          int64_t *found, og_error *err) OG_MUST_USE;

/* Improves codes [size][dim] in place by FAISS's Clustering; ENOTSUP in a build without FAISS. */
og_status og_kmeans_faiss(const float *vectors, int64_t n, int64_t dim, int64_t size, int64_t iterations, int64_t seed,
                          og_pool *pool, float *codes, og_error *err) OG_MUST_USE;

/* One exact iteration: every code becomes the mean (summed in double, in the order of the vectors) of the vectors nearest
 * to it; codes without vectors move to the worst-coded distinct vectors. *moved counts these. */
og_status og_kmeans_step(const float *vectors, int64_t n, int64_t dim, int64_t size, og_pool *pool, float *codes, int64_t *moved,
                         og_error *err) OG_MUST_USE;

OG_END
#endif
