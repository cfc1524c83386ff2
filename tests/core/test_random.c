/* test_random.c: published outputs, fixed bits, and moments. */
#include "test.h"

#include <omnigram/random.h>

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static void test_published(void) {
    CHECK(og_splitmix64(0) == UINT64_C(0xe220a8397b1dcdaf));
    /* SplitMix64 with seed 1234567, as Rosetta Code lists it */
    const uint64_t listed[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                               UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                               UINT64_C(16408922859458223821)};
    for (uint64_t i = 0; i < 5; i++) CHECK(og_splitmix64(1234567 + i * UINT64_C(0x9e3779b97f4a7c15)) == listed[i]);
    CHECK(og_random_bits(7, 3) == og_splitmix64(og_splitmix64(7) + 3 * UINT64_C(0x9e3779b97f4a7c15)));
}

static void test_normal_is_the_quantile(void) {
    for (uint64_t i = 0; i < 200000; i++) {
        double p = ((double)(og_random_bits(5, i) >> 12) + 0.5) * 0x1p-52, x = og_random_normal(5, i);
        double tail = erfc(fabs(x) / sqrt(2)) / 2; /* libm as the oracle */
        double wanted = p < 0.5 ? p : 1 - p;
        CHECK(fabs(tail - wanted) <= 1e-13 * wanted);
        CHECK((x < 0) == (p < 0.5));
    }
}

/* Equal bits on every platform: if one of these changes, seeds stop meaning what they meant. */
static void test_fixed_bits(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 100000; i++) sum = og_splitmix64(sum ^ bits_of(og_random_normal(42, i)));
    CHECK(sum == UINT64_C(0x682624878087634b));
    CHECK(og_random_bits(42, 0) == UINT64_C(0x57e1faba65107204));
    /* what Python's statistics.NormalDist().inv_cdf, another AS 241, gives for the same uniforms */
    CHECK(og_random_normal(42, 0) == -0x1.9d2de389eff8bp-2);
    CHECK(og_random_normal(42, 1) == 0x1.b40d5bbeaad18p+0);
    CHECK(og_random_normal(42, 2) == -0x1.185b7fce57287p-5);
}

static void test_moments(void) {
    enum { N = 1000000 };
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, u = 0;
    for (uint64_t i = 0; i < N; i++) {
        double x = og_random_normal(1, i);
        m1 += x;
        m2 += x * x;
        m3 += x * x * x;
        m4 += x * x * x * x;
        double v = og_random_unit(1, i);
        CHECK(v >= 0 && v < 1);
        u += v;
    }
    CHECK(fabs(m1 / N) < 5 / sqrt(N) && fabs(m2 / N - 1) < 5 * sqrt(2.0 / N));
    CHECK(fabs(m3 / N) < 5 * sqrt(15.0 / N) && fabs(m4 / N - 3) < 5 * sqrt(96.0 / N));
    CHECK(fabs(u / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
}

static void test_below(void) {
    int64_t seen[7] = {0};
    for (uint64_t i = 0; i < 70000; i++) {
        uint64_t v = og_random_below(9, i, 7);
        CHECK(v < 7);
        seen[v]++;
    }
    double chi2 = 0;
    for (int i = 0; i < 7; i++) chi2 += ((double)seen[i] - 10000) * ((double)seen[i] - 10000) / 10000;
    CHECK(chi2 < 30);
    for (uint64_t i = 0; i < 100; i++) CHECK(og_random_below(9, i, 1) == 0);
    CHECK(og_random_below(9, 0, UINT64_MAX) < UINT64_MAX);
}

static void test_keys_and_counters_are_independent(void) {
    int64_t flips = 0; /* avalanche: each bit of key and counter flips half of the output */
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t base = og_random_bits(1000 + i, i);
        for (int b = 0; b < 64; b++) {
            flips += __builtin_popcountll(base ^ og_random_bits((1000 + i) ^ UINT64_C(1) << b, i));
            flips += __builtin_popcountll(base ^ og_random_bits(1000 + i, i ^ UINT64_C(1) << b));
        }
    }
    double share = (double)flips / (64.0 * 64 * 2 * 64);
    CHECK(share > 0.495 && share < 0.505);
    CHECK(og_random_bits(1, 2) != og_random_bits(2, 1));
}

int main(void) {
    test_published();
    test_normal_is_the_quantile();
    test_fixed_bits();
    test_moments();
    test_below();
    test_keys_and_counters_are_independent();
    return 0;
}
