/* kmeans.h: the steps of k-means, each in its own file; quantizer_kmeans.c and quantizer_rvq.c put them together.
 * Private to the layer. */
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
    int32_t few; /* OG_FEW_* */
} og_kmeans_options;

/* Codes of vectors [n][dim]: *codes [*size][dim], og_release. Not finite vectors are left out. */
og_status og_kmeans_fit(const og_kmeans_options *options, const float *vectors, int64_t n, int64_t dim, og_pool *pool,
                        float **codes, int64_t *size, og_error *err) OG_MUST_USE;

/* Each distinct finite vector once, in the order of its first copy: pictures with a plain background repeat a patch by
 * the thousand, and a weight does the work of all copies. -0 equals 0. */
typedef struct og_kmeans_distinct {
    const float *vectors; /* [n][dim]: owned, or those given when all are distinct and finite */
    float *weights;       /* [n], owned */
    int64_t n, n_finite, n_given;
    float *owned;
} og_kmeans_distinct;
og_status og_kmeans_distinct_new(const float *vectors, int64_t n, int64_t dim, og_kmeans_distinct *out,
                                 og_error *err) OG_MUST_USE;
void og_kmeans_distinct_drop(og_kmeans_distinct *distinct);

/* Improves codes [size][dim] in place by FAISS's Clustering of weighted vectors; ENOTSUP in a build without FAISS. */
og_status og_kmeans_train(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                          int64_t iterations, int64_t seed, og_pool *pool, float *codes, og_error *err) OG_MUST_USE;

/* One exact iteration over distinct vectors: every code becomes the weighted mean (summed in double, in the order of
 * the vectors) of those nearest to it; codes without vectors move to the worst-coded vectors. *moved counts these. */
og_status og_kmeans_step(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                         og_pool *pool, float *codes, int64_t *moved, og_error *err) OG_MUST_USE;

OG_END
#endif
