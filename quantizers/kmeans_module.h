/* kmeans_module.h: the call between libomnigram and its FAISS module, which uses nothing of omnigram but this. */
#ifndef OMNIGRAM_KMEANS_MODULE_H
#define OMNIGRAM_KMEANS_MODULE_H

#include <omnigram/status.h>

OG_BEGIN

/* The nearest of codes [size][dim] to each of vectors [n][dim], and its squared distance. */
typedef og_status og_kmeans_assign_fn(void *context, const float *codes, int64_t size, int64_t dim,
                                      const float *vectors, int64_t n, int32_t *code, float *distance, og_error *err);

typedef og_status og_faiss_kmeans_fn(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                                     int64_t iterations, int64_t seed, int32_t threads, og_kmeans_assign_fn *assign,
                                     void *context, float *codes, og_error *err);
OG_API og_faiss_kmeans_fn og_faiss_kmeans;

OG_END
#endif
