/* Product-key search: the address of a memory is found, not hashed (arXiv 1907.05242;
 * facebookresearch/memory). */
#ifndef OMNIGRAM_PKM_H
#define OMNIGRAM_PKM_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_pkm_hit {
    int64_t index; /* first * n + second sub-key: a row of n * n */
    double score;  /* sum of the two products */
    double weight; /* softmax of the scores over the hits */
} og_pkm_hit;

/* One head. query [2 * dim]: its halves meet first and second [n][dim]. The knn best of each half,
 * all their sums, the knn best of those, best first; equal scores go to the lower index. 1 <= knn
 * <= n. hits [knn]. */
OG_API og_status og_pkm_search(const double *query, const double *first, const double *second, int64_t n, int64_t dim,
                               int64_t knn, og_pkm_hit *hits, og_error *err) OG_MUST_USE;

OG_END
#endif
