/* test_kmeans.c: fitting: determinism, odd input, and quality against published objectives. */
#include "kmeans.h"
#include "nearest.h"
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/quantizers.h>
#include <omnigram/random.h>

#include <float.h>

static og_error err;

static double objective(const float *vectors, int64_t n, int64_t dim, const float *codes, int64_t size) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double least = INFINITY;
        for (int64_t k = 0; k < size; k++) {
            double d = 0;
            for (int64_t j = 0; j < dim; j++) {
                double off = (double)vectors[i * dim + j] - (double)codes[k * dim + j];
                d += off * off;
            }
            least = fmin(least, d);
        }
        sum += least;
    }
    return sum;
}

static int64_t count_used(const float *vectors, int64_t n, int64_t dim, const float *codes, int64_t size) {
    int32_t *code = og_alloc(n, sizeof *code);
    int64_t *hits = og_alloc_zero(size, sizeof *hits), used = 0;
    CHECK_OK(og_nearest_once(codes, size, dim, vectors, n, NULL, code, NULL, &err));
    for (int64_t i = 0; i < n; i++) used += code[i] >= 0 && !hits[code[i]]++;
    og_release(code);
    og_release(hits);
    return used;
}

static og_status fit(int64_t size, int64_t seed, int32_t few, const float *vectors, int64_t n, int64_t dim,
                     og_pool *pool, float **codes, int64_t *made) {
    og_kmeans_options options = {.size = size, .iterations = 25, .seed = seed, .few = few};
    return og_kmeans_fit(&options, vectors, n, dim, pool, codes, made, &err);
}

/* Fewer distinct vectors than codes, n < K, n == K: these paths need no FAISS. */
static void few(void) {
    float five[500 * 2], *codes;
    for (int i = 0; i < 500; i++)
        five[2 * i] = (float)(i % 5), five[2 * i + 1] = (float)(i % 5 == 2); /* five values, x100 */
    int64_t made;
    CHECK_OK(fit(8, 0, OG_FEW_PAD, five, 500, 2, NULL, &codes, &made));
    CHECK(made == 8 && objective(five, 500, 2, codes, made) == 0 && count_used(five, 500, 2, codes, made) == 5);
    og_release(codes);
    CHECK_OK(fit(8, 0, OG_FEW_SHRINK, five, 500, 2, NULL, &codes, &made));
    CHECK(made == 5 && objective(five, 500, 2, codes, made) == 0);
    og_release(codes);
    CHECK_FAILS(fit(8, 0, OG_FEW_ERROR, five, 500, 2, NULL, &codes, &made), OG_EINVAL, "only 5 distinct");
    for (int i = 0; i < 1000; i++) five[i] = 3;
    CHECK_OK(fit(16, 0, OG_FEW_PAD, five, 500, 2, NULL, &codes, &made)); /* all equal */
    CHECK(made == 16 && count_used(five, 500, 2, codes, made) == 1);
    for (int i = 0; i < 32; i++) CHECK(codes[i] == 3);
    og_release(codes);
    float noisy[64 * 3]; /* 64 rows all but equal, 256 codes: finite codes, and no more used than there are vectors */
    for (int i = 0; i < 64 * 3; i++) noisy[i] = 0.5f + 1e-7f * (float)(i % 7);
    CHECK_OK(fit(256, 0, OG_FEW_PAD, noisy, 64, 3, NULL, &codes, &made));
    CHECK(made == 256 && og_all_finite(codes, 256 * 3) && count_used(noisy, 64, 3, codes, made) <= 7);
    og_release(codes);
    const float zeros[] = {0.0f, -0.0f, 0.0f, 1.0f};
    CHECK_OK(fit(4, 0, OG_FEW_SHRINK, zeros, 4, 1, NULL, &codes, &made)); /* -0 is 0 */
    CHECK(made == 2);
    og_release(codes);
    const float corners[] = {1, 1, 1, -1, -1, 1, -1, -1};
    for (int64_t seed = 0; seed < 100; seed++) { /* n == K */
        CHECK_OK(fit(4, seed, OG_FEW_ERROR, corners, 4, 2, NULL, &codes, &made));
        CHECK(made == 4 && objective(corners, 4, 2, codes, 4) == 0);
        og_release(codes);
    }
}

static void no_vectors(void) {
    const float zero = 0;
    float *codes, bad[] = {NAN, INFINITY, -INFINITY};
    int64_t made;
    CHECK_FAILS(fit(2, 0, OG_FEW_PAD, bad, 0, 1, NULL, &codes, &made), OG_EINVAL, "at least one finite");
    CHECK_FAILS(fit(2, 0, OG_FEW_PAD, bad, 3, 1, NULL, &codes, &made), OG_EINVAL, "all 3");
    CHECK_FAILS(fit(2, 0, OG_FEW_PAD, bad, INT64_C(1) << 31, 1, NULL, &codes, &made), OG_EINVAL, "2147483648");
    og_config *config;
    CHECK_OK(og_config_from_yaml("size: 0", 7, "test", &config, &err));
    int32_t levels;
    const og_quantizer_type *kmeans = og_quantizer_find("kmeans");
    CHECK_FAILS(kmeans->fit(config, &zero, 1, 1, NULL, &codes, &levels, &made, &err), OG_EINVAL, "size");
    og_config_free(config);
    CHECK_OK(og_config_from_yaml("sise: 3", 7, "test", &config, &err));
    CHECK_FAILS(kmeans->fit(config, &zero, 1, 1, NULL, &codes, &levels, &made, &err), OG_EINVAL, "size");
    og_config_free(config);
}

/* Distinct vectors with weights stand for all copies, NaN aside; one step gives the means of the copies, by hand. */
static void weights(void) {
    const float given[] = {1, 5, NAN, 1, -0.0f, 0.0f, 5, 1};
    og_kmeans_distinct distinct;
    CHECK_OK(og_kmeans_distinct_new(given, 8, 1, &distinct, &err));
    CHECK(distinct.n == 3 && distinct.n_finite == 7 && distinct.n_given == 8);
    const float want[] = {1, 5, 0}, copies[] = {3, 2, 2};
    for (int i = 0; i < 3; i++) CHECK(distinct.vectors[i] == want[i]); /* -0 is 0 */
    CHECK(!memcmp(distinct.weights, copies, sizeof copies));
    float codes[] = {0.4f, 6, 100};
    int64_t moved;
    CHECK_OK(og_kmeans_step(distinct.vectors, distinct.weights, 3, 1, 3, NULL, codes, &moved, &err));
    CHECK(codes[0] == 3.0f / 5 && codes[1] == 5 && moved == 1 &&
          codes[2] == 5); /* the worst-coded vector is 5, off by 1 */
    og_kmeans_distinct_drop(&distinct);
    CHECK_OK(og_kmeans_distinct_new(want, 3, 1, &distinct, &err));
    CHECK(distinct.n == 3 && distinct.vectors == want); /* nothing to leave out, nothing copied */
    og_kmeans_distinct_drop(&distinct);
}

enum { N = 3000, D = 9, K = 40 };

/* K well-parted clusters, some of them heavy with exact copies. */
static void make(float *vectors, uint64_t key) {
    for (int64_t i = 0; i < N; i++) {
        int64_t c = i % 3 ? (int64_t)og_random_below(key, (uint64_t)i, K) : 0;
        for (int64_t j = 0; j < D; j++)
            vectors[i * D + j] = (float)(10 * og_random_normal(key + 1, (uint64_t)(c * D + j)) +
                                         (c ? 0.5 * og_random_normal(key + 2, (uint64_t)(i * D + j)) : 0));
    }
}

#ifdef OG_HAVE_FAISS
/* Same bytes for any number of threads, another seed differs, a bad row changes nothing, and every code is used. */
static void with_faiss(void) {
    static float vectors[N * D], with_bad[(N + 2) * D];
    make(vectors, 77);
    float *first, *codes;
    int64_t made;
    CHECK_OK(fit(K, 3, OG_FEW_ERROR, vectors, N, D, NULL, &first, &made));
    CHECK(made == K);
    for (int32_t threads = 1; threads <= 3; threads++) {
        og_pool *pool;
        CHECK_OK(og_pool_new(threads, &pool, &err));
        CHECK_OK(fit(K, 3, OG_FEW_ERROR, vectors, N, D, pool, &codes, &made));
        CHECK(!memcmp(first, codes, sizeof(float) * K * D));
        og_release(codes);
        og_pool_free(pool);
    }
    CHECK_OK(fit(K, 4, OG_FEW_ERROR, vectors, N, D, NULL, &codes, &made));
    CHECK(memcmp(first, codes, sizeof(float) * K * D));
    og_release(codes);
    memcpy(with_bad, vectors, sizeof(float) * D * 10);
    memcpy(with_bad + 11 * D, vectors + 10 * D, sizeof(float) * D * (N - 10));
    for (int64_t j = 0; j < D; j++) with_bad[10 * D + j] = with_bad[(N + 1) * D + j] = 0;
    with_bad[10 * D + 4] = NAN;
    with_bad[(N + 1) * D] = INFINITY;
    CHECK_OK(fit(K, 3, OG_FEW_ERROR, with_bad, N + 2, D, NULL, &codes, &made));
    CHECK(!memcmp(first, codes, sizeof(float) * K * D));
    og_release(codes);
    CHECK(count_used(vectors, N, D, first, K) == K);
    /* A start from the same draw without Lloyd is worse; the fit is a fixed point up to one more exact step. */
    double end = objective(vectors, N, D, first, K);
    og_kmeans_options none = {.size = K, .iterations = 0, .seed = 3};
    CHECK_OK(og_kmeans_fit(&none, vectors, N, D, NULL, &codes, &made, &err));
    CHECK(end < 0.9 * objective(vectors, N, D, codes, K));
    og_release(codes);
    int64_t moved;
    static float ones[N];
    for (int64_t i = 0; i < N; i++) ones[i] = 1;
    CHECK_OK(og_kmeans_step(vectors, ones, N, D, K, NULL, first, &moved, &err));
    double once_more = objective(vectors, N, D, first, K);
    CHECK(moved == 0 && once_more <= end * (1 + 1e-6) && once_more > 0.98 * end);
    og_release(first);
}

/* Extremes: outliers near the end of the range, subnormals, an offset of many deviations, 64 copies of two points. */
static void extremes(void) {
    static float vectors[N * D];
    float *codes;
    int64_t made;
    make(vectors, 5);
    for (int64_t i = 0; i < N; i += 100)
        for (int64_t j = 0; j < D; j++) vectors[i * D + j] = (i / 100 % 2 ? 1.0f : -0.9f) * FLT_MAX;
    CHECK_OK(fit(K, 0, OG_FEW_PAD, vectors, N, D, NULL, &codes, &made));
    CHECK(made == K && og_all_finite(codes, K * D));
    og_release(codes);
    for (int64_t i = 0; i < N * D; i++) vectors[i] = 1e-41f * (float)og_random_normal(6, (uint64_t)i);
    CHECK_OK(fit(K, 0, OG_FEW_PAD, vectors, N, D, NULL, &codes, &made));
    CHECK(made == K && og_all_finite(codes, K * D));
    og_release(codes);
    for (int64_t i = 0; i < N * D; i++)
        vectors[i] = 1e4f + (float)og_random_normal(7, (uint64_t)i); /* offset data collapses EMA codebooks */
    CHECK_OK(fit(K, 0, OG_FEW_PAD, vectors, N, D, NULL, &codes, &made));
    CHECK(made == K && count_used(vectors, N, D, codes, K) == K);
    og_release(codes);
    /* One point a thousand times over and K - 1 others once: random rows would start on copies of the first. */
    for (int64_t i = 0; i < N * D; i++) vectors[i] = i / D < N - K + 1 ? 7.0f : (float)(i / D);
    CHECK_OK(fit(K, 0, OG_FEW_PAD, vectors, N, D, NULL, &codes, &made));
    CHECK(made == K && objective(vectors, N, D, codes, K) == 0);
    og_release(codes);
}

/* A unit square, uniform: the best 4-code quantizer is the 2 x 2 grid, of MSE 1/48 a value. */
static void uniform_square(void) {
    enum { M = 4096 };
    static float square[M * 2];
    for (int i = 0; i < M; i++)
        square[2 * i] = ((float)(i % 64) + 0.5f) / 64, square[2 * i + 1] = ((float)(i / 64) + 0.5f) / 64;
    double best = INFINITY;
    for (int64_t seed = 0; seed < 5; seed++) {
        float *codes;
        int64_t made;
        CHECK_OK(fit(4, seed, OG_FEW_PAD, square, M, 2, NULL, &codes, &made));
        best = fmin(best, objective(square, M, 2, codes, 4) / (2 * M));
        og_release(codes);
    }
    CHECK(best > 0.0207 && best < 0.0210); /* 1/48 = 0.02083, less the grid's own grain */
}

#endif

int main(void) {
    few();
    no_vectors();
    weights();
#ifdef OG_HAVE_FAISS
    with_faiss();
    extremes();
    uniform_square();
#else
    static float vectors[N * D];
    float *codes;
    int64_t made;
    make(vectors, 77);
    CHECK_FAILS(fit(K, 3, OG_FEW_ERROR, vectors, N, D, NULL, &codes, &made), OG_ENOTSUP,
                "built without FAISS: install libfaiss-dev");
#endif
    CHECK(og_alloc_count() == 0);
    return 0;
}
