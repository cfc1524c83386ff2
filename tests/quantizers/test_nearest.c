/* test_nearest.c: every instruction-set level against plain C to the bit, and the search against a brute force in
 * double. */
#include "nearest.h"
#include "test.h"

#include <omnigram/internal/cpu.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <fenv.h>
#include <float.h>

static og_error err;

enum { GUARD = 64, N_KINDS = 8 };

/* Values that tempt a search to be wrong. */
static float value_of(int kind, uint64_t key, uint64_t i) {
    double normal = og_random_normal(key, i);
    switch (kind) {
    case 0: return (float)normal;
    case 1: return (float)og_random_below(key, i, 3) - 1.0f;            /* many exact ties */
    case 2: return 1000.0f + (float)og_random_below(key, i, 2) * 1e-4f; /* near duplicates far from 0 */
    case 3: return 1e-40f * (float)normal;                              /* subnormal */
    case 4: return 1e30f * (float)normal;                               /* squares overflow */
    case 5: return 1e19f * (float)normal;                               /* some sums overflow, some do not */
    case 6: return 0.0f;
    default: return (float)(normal * pow(10, og_random_normal(key, i + (1u << 30)) * 4));
    }
}

static void fill(float *out, int64_t n, int kind, uint64_t key) {
    for (int64_t i = 0; i < n; i++) out[i] = value_of(kind, key, (uint64_t)i);
}

static double exact_distance(const float *a, const float *b, int64_t dim) {
    double sum = 0;
    for (int64_t j = 0; j < dim; j++) sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sum;
}

static void levels_agree(int64_t n, int64_t size, int64_t dim, int kind) {
    float *vectors = og_alloc(n * dim, sizeof(float)), *codes = og_alloc(size * dim, sizeof(float));
    fill(vectors, n * dim, kind, 1);
    fill(codes, size * dim, kind, 2);
    if (size > 7) memcpy(codes + 7 * dim, codes + 3 * dim, (size_t)dim * sizeof(float));     /* a duplicate code */
    if (n > 2) memcpy(vectors + dim, codes + (size - 1) * dim, (size_t)dim * sizeof(float)); /* an exact hit */
    og_nearest nearest;
    CHECK_OK(og_nearest_make(codes, size, dim, &nearest, &err));
    int32_t *want = og_alloc(n, sizeof *want);
    float *want_distance = og_alloc(n, sizeof(float)), *want_margin = og_alloc(n, sizeof(float));
    nearest.take = og_nearest_level(OG_LEVEL_C);
    og_nearest_find(&nearest, vectors, n, NULL, want, 1, want_distance, want_margin);
    for (int32_t level = 1; level <= OG_LEVEL_AVX512; level++) {
        nearest.take = og_nearest_level(level);
        if (!nearest.take) continue;
        unsigned char *out = og_alloc(3 * (n * 4 + 2 * GUARD), 1);
        memset(out, 0xA5, (size_t)(3 * (n * 4 + 2 * GUARD)));
        unsigned char *at[3];
        for (int i = 0; i < 3; i++) at[i] = out + i * (n * 4 + 2 * GUARD) + GUARD;
        og_nearest_find(&nearest, vectors, n, NULL, (int32_t *)(void *)at[0], 1, (float *)(void *)at[1],
                        (float *)(void *)at[2]);
        CHECK(!memcmp(at[0], want, (size_t)n * 4));
        CHECK(!memcmp(at[1], want_distance, (size_t)n * 4));
        CHECK(!memcmp(at[2], want_margin, (size_t)n * 4));
        for (int i = 0; i < 3; i++)
            for (int g = 1; g <= GUARD; g++) CHECK(at[i][-g] == 0xA5 && at[i][n * 4 + g - 1] == 0xA5);
        og_release(out);
    }
    for (int64_t i = 0; i < n; i++) { /* the winner is one, up to fp32 rounding of the sums */
        double least = INFINITY;
        for (int64_t k = 0; k < size; k++) least = fmin(least, exact_distance(vectors + i * dim, codes + k * dim, dim));
        double got = exact_distance(vectors + i * dim, codes + want[i] * dim, dim);
        CHECK(got <= least * (1 + 4e-7 * (double)dim) + 1e-43);
        for (int64_t k = 0; k < want[i]; k++) /* of equal codes the lowest */
            CHECK(memcmp(codes + k * dim, codes + want[i] * dim, (size_t)dim * sizeof(float)));
        CHECK(want_margin[i] >= 0);
    }
    og_nearest_drop(&nearest);
    og_release(want);
    og_release(want_distance);
    og_release(want_margin);
    og_release(vectors);
    og_release(codes);
}

/* The same code alone, in any batch, in any order, on any number of threads, and whatever the caller's
 * float mode is. */
static void invariant(void) {
    enum { N = 777, K = 100, D = 37 };
    float *vectors = og_alloc(N * D, sizeof(float)), *codes = og_alloc(K * D, sizeof(float));
    fill(vectors, N * D, 2, 5);
    fill(codes, K * D, 2, 6);
    og_nearest nearest;
    CHECK_OK(og_nearest_make(codes, K, D, &nearest, &err));
    int32_t all[N], other[N];
    float margin[N], other_margin[N];
    og_nearest_find(&nearest, vectors, N, NULL, all, 1, NULL, margin);
    static const int64_t batches[] = {1, 2, 7, 19, 20, 25, 26, 64, 65};
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        for (int64_t i = 0; i < N; i += batches[b]) {
            int64_t n = N - i < batches[b] ? N - i : batches[b];
            og_nearest_find(&nearest, vectors + i * D, n, NULL, other + i, 1, NULL, other_margin + i);
        }
        CHECK(!memcmp(all, other, sizeof all) && !memcmp(margin, other_margin, sizeof margin));
    }
    for (int32_t threads = 1; threads <= 3; threads++) {
        og_pool *pool;
        CHECK_OK(og_pool_new(threads, &pool, &err));
        og_nearest_find(&nearest, vectors, N, pool, other, 1, NULL, other_margin);
        og_pool_free(pool);
        CHECK(!memcmp(all, other, sizeof all) && !memcmp(margin, other_margin, sizeof margin));
    }
    float *reversed = og_alloc(N * D, sizeof(float));
    for (int64_t i = 0; i < N; i++) memcpy(reversed + i * D, vectors + (N - 1 - i) * D, D * sizeof(float));
    og_nearest_find(&nearest, reversed, N, NULL, other, 1, NULL, NULL);
    for (int64_t i = 0; i < N; i++) CHECK(other[i] == all[N - 1 - i]);
    og_release(reversed);
    og_nearest_drop(&nearest);

    fill(vectors, N * D, 3, 5); /* subnormals: a flushing thread would see only zeros */
    fill(codes, K * D, 3, 6);
    for (int64_t i = 0; i < N * D; i++) vectors[i] *= 1e-2f;
    fill(codes, K * D, 0, 6);
    for (int64_t i = 0; i < K * D; i++) codes[i] *= 1e-20f; /* squares are subnormal */
    CHECK_OK(og_nearest_make(codes, K, D, &nearest, &err));
    og_nearest_find(&nearest, vectors, N, NULL, all, 1, NULL, margin);
#if defined(__x86_64__)
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040u);
    og_nearest_find(&nearest, vectors, N, NULL, other, 1, NULL, other_margin);
    CHECK((__builtin_ia32_stmxcsr() & 0x8040u) == 0x8040u); /* the caller's mode is back */
    __builtin_ia32_ldmxcsr(before);
    CHECK(!memcmp(all, other, sizeof all) && !memcmp(margin, other_margin, sizeof margin));
#endif
    fesetround(FE_UPWARD);
    og_nearest_find(&nearest, vectors, N, NULL, other, 1, NULL, other_margin);
    CHECK(fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK(!memcmp(all, other, sizeof all) && !memcmp(margin, other_margin, sizeof margin));
    og_nearest_drop(&nearest);
    og_release(vectors);
    og_release(codes);
}

/* A row that is not finite has code -1 and touches no other. */
static void not_finite(void) {
    enum { N = 100, K = 33, D = 5 };
    float vectors[N * D], codes[K * D], margin[N];
    fill(vectors, N * D, 0, 8);
    fill(codes, K * D, 0, 9);
    og_nearest nearest;
    CHECK_OK(og_nearest_make(codes, K, D, &nearest, &err));
    int32_t clean[N], got[N];
    og_nearest_find(&nearest, vectors, N, NULL, clean, 1, NULL, NULL);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++)
        for (int64_t row = 0; row < N; row += 9) {
            float kept = vectors[row * D + D - 1];
            vectors[row * D + D - 1] = bad[b];
            og_nearest_find(&nearest, vectors, N, NULL, got, 1, NULL, margin);
            for (int64_t i = 0; i < N; i++) CHECK(got[i] == (i == row ? -1 : clean[i]));
            CHECK(margin[row] == 0);
            vectors[row * D + D - 1] = kept;
        }
    og_nearest_drop(&nearest);
}

/* Cases worked out by hand. */
static void by_hand(void) {
    const float codes[] = {0, 0, 3, 4, 0, 0, FLT_MAX, FLT_MAX};
    og_nearest nearest;
    CHECK_OK(og_nearest_make(codes, 4, 2, &nearest, &err));
    const float vectors[] = {0, 0, 3, 0, 1.5f, 2, FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX};
    int32_t code[10];
    float distance[5], margin[5];
    og_nearest_find(&nearest, vectors, 5, NULL, code, 2, distance, margin); /* stride 2: only even places are written */
    CHECK(code[0] == 0 && distance[0] == 0 && margin[0] == 0);              /* code 2 is a copy of 0 */
    CHECK(code[2] == 0 && distance[1] == 9 && margin[1] == 0);              /* 9 against 16 */
    CHECK(code[4] == 0 && distance[2] == 6.25f && margin[2] == 0);          /* a tie with code 1 */
    CHECK(code[6] == 0); /* 2 FLT_MAX^2 beats 4 FLT_MAX^2, which only double can tell */
    CHECK(code[8] == 3 && distance[4] == 0);
    og_nearest_drop(&nearest);
    const float one[] = {5};
    CHECK_OK(og_nearest_make(one, 1, 1, &nearest, &err));
    og_nearest_find(&nearest, vectors, 1, NULL, code, 1, distance, margin);
    CHECK(code[0] == 0 && distance[0] == 25 && margin[0] == INFINITY);
    og_nearest_find(&nearest, vectors, 0, NULL, code, 1, NULL, NULL);
    og_nearest_drop(&nearest);
    CHECK_FAILS(og_nearest_make(one, 0, 1, &nearest, &err), OG_EINVAL, "0 codes");
    CHECK_FAILS(og_nearest_make(one, INT64_C(1) << 31, 1, &nearest, &err), OG_EINVAL, "2147483648");
}

int main(void) {
    static const int64_t shapes[][3] = {{1, 1, 1},   {3, 2, 1},      {9, 15, 3},   {8, 16, 8},
                                        {65, 17, 7}, {130, 100, 16}, {33, 257, 5}, {20, 1100, 12}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = 0; kind < N_KINDS; kind++) levels_agree(shapes[s][0], shapes[s][1], shapes[s][2], kind);
    levels_agree(40, 64, 192, 0);
    levels_agree(40, 64, 192, 2);
    invariant();
    not_finite();
    by_hand();
    CHECK(og_alloc_count() == 0);
    return 0;
}
