/* kmeans_train.c: Lloyd's iterations by FAISS, whose module is opened when a codebook is first
 * fitted. */
#include "kmeans.h"

#ifdef OG_HAVE_FAISS
#include "kmeans_module.h"
#include "nearest.h"

#include <omnigram/internal/module.h>

#include <string.h>

static og_status assign(void *context, const float *codes, int64_t size, int64_t dim, const float *vectors, int64_t n,
                        int32_t *code, float *distance, og_error *err) {
    return og_nearest_once(codes, size, dim, vectors, n, context, code, distance, err);
}

og_status og_kmeans_train(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                          int64_t iterations, int64_t seed, og_pool *pool, float *codes, og_error *err) {
    /* FAISS brings OpenBLAS, which starts its threads as soon as it is loaded: only a process that
     * fits pays for that. */
    void *symbol;
    og_faiss_kmeans_fn *train;
    OG_TRY(og_module_symbol("libomnigram_faiss.so", "og_faiss_kmeans", &symbol, err));
    memcpy(&train, &symbol, sizeof train); /* ISO C has no cast from void * to a function */
    return train(vectors, weights, n, dim, size, iterations, seed, og_pool_threads(pool), assign, pool, codes, err);
}
#else
og_status og_kmeans_train(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                          int64_t iterations, int64_t seed, og_pool *pool, float *codes, og_error *err) {
    (void)vectors, (void)weights, (void)n, (void)dim, (void)size, (void)iterations, (void)seed, (void)pool, (void)codes;
    return og_fail(err, OG_ENOTSUP,
                   "fitting k-means needs FAISS, and this omnigram was built without FAISS: "
                   "install libfaiss-dev "
                   "and libopenblas-dev and build again (encoding with a fitted codebook works)");
}
#endif
