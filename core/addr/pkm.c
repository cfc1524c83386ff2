/* pkm.c: product-key search. */
#include <omnigram/pkm.h>

#include <omnigram/memory.h>

#include <math.h>

static int before(double score, int64_t index, const og_pkm_hit *hit) {
    return score > hit->score || (score == hit->score && index < hit->index);
}

/* Keeps the best knn of what is offered, best first. */
static void offer(og_pkm_hit *best, int64_t *n, int64_t knn, int64_t index, double score) {
    int64_t at = *n;
    if (at == knn) {
        if (!before(score, index, &best[knn - 1])) return;
        at--;
    } else {
        (*n)++;
    }
    for (; at > 0 && before(score, index, &best[at - 1]); at--) best[at] = best[at - 1];
    best[at] = (og_pkm_hit){index, score, 0};
}

static void nearest(const double *query, const double *keys, int64_t n, int64_t dim, int64_t knn, og_pkm_hit *best) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        double score = 0;
        for (int64_t d = 0; d < dim; d++) score += query[d] * keys[i * dim + d];
        offer(best, &kept, knn, i, score);
    }
}

og_status og_pkm_search(const double *query, const double *first, const double *second, int64_t n, int64_t dim,
                        int64_t knn, og_pkm_hit *hits, og_error *err) {
    if (n < 1 || dim < 1 || knn < 1 || knn > n || n > INT64_C(1) << 31)
        return og_fail(err, OG_EINVAL,
                       "%lld hits among %lld sub-keys of %lld values; hits are 1 to the number of sub-keys",
                       (long long)knn, (long long)n, (long long)dim);
    og_pkm_hit *halves = og_alloc(2 * knn, sizeof *halves);
    if (!halves) return og_fail(err, OG_ENOMEM, "no memory for %lld hits", (long long)knn);
    nearest(query, first, n, dim, knn, halves);
    nearest(query + dim, second, n, dim, knn, halves + knn);
    int64_t kept = 0;
    for (int64_t a = 0; a < knn; a++)
        for (int64_t b = 0; b < knn; b++) {
            int64_t index = halves[a].index * n + halves[knn + b].index;
            offer(hits, &kept, knn, index, halves[a].score + halves[knn + b].score);
        }
    og_release(halves);
    double sum = 0;
    for (int64_t i = 0; i < knn; i++) sum += hits[i].weight = exp(hits[i].score - hits[0].score);
    for (int64_t i = 0; i < knn; i++) hits[i].weight /= sum;
    return OG_OK;
}
