/* test_health.c: figures of a codebook against values worked out by hand. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/quantizers.h>
#include <omnigram/random.h>

static og_error err;

static og_codebook *line(int64_t size) { /* codes 0, 1, 2 ... on a line */
    float *codes = og_alloc(size, sizeof *codes);
    for (int64_t k = 0; k < size; k++) codes[k] = (float)k;
    og_codebook *codebook;
    CHECK_OK(og_codebook_new("kmeans", OG_IMAGE, 1, size, 1, codes, NULL, NULL, &codebook, &err));
    og_release(codes);
    return codebook;
}

static int close_to(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(1, fabs(b)); }

/* Two levels: 0 or 10, then -1, 0 or 1. Errors by hand after each. */
static void test_levels(void) {
    const float codes[2][3] = {{0, 10, 100}, {-1, 0, 1}}, vectors[] = {1, 11, 9, 10.25f, NAN};
    og_codebook *codebook;
    og_codebook_health health;
    og_level_health levels[2];
    CHECK_OK(og_codebook_new("rvq", OG_AUDIO, 2, 3, 1, &codes[0][0], NULL, NULL, &codebook, &err));
    CHECK_OK(og_codebook_measure(codebook, vectors, 5, NULL, &health, levels, &err));
    double mean = 31.25 / 4, spread = pow(1 - mean, 2) + pow(11 - mean, 2) + pow(9 - mean, 2) + pow(10.25 - mean, 2);
    CHECK(close_to(levels[0].relative_mse, (1 + 1 + 1 + 0.0625) / spread));
    CHECK(close_to(levels[1].relative_mse, 0.0625 / spread) && health.relative_mse == levels[1].relative_mse);
    CHECK(levels[0].use.used == 2 && levels[1].use.used == 3 && health.use.used == 2);
    CHECK(close_to(levels[0].use.perplexity, exp(0.25 * log(4) + 0.75 * log(4.0 / 3))));
    CHECK(close_to(levels[1].use.gini, (0.25 * 0 + 0.5 * 2 - 0.25 * 2) / 3));
    og_codebook_health alone;
    CHECK_OK(og_codebook_measure(codebook, vectors, 5, NULL, &alone, NULL, &err));
    CHECK(alone.relative_mse == health.relative_mse && alone.mse == health.mse);
    og_codebook_free(codebook);
}

/* Whatever its length. */
static void a_constant_stream_uses_one_code(void) {
    og_codebook *codebook = line(8);
    og_codebook_health health;
    float *fives = og_alloc(70000, sizeof *fives);
    for (int i = 0; i < 70000; i++) fives[i] = 5;
    CHECK_OK(og_codebook_measure(codebook, fives, 70000, NULL, &health, NULL, &err));
    CHECK(health.use.used == 1 && health.use.perplexity == 1 && health.mse == 0 && health.relative_mse == 0);
    for (int i = 0; i < 70000; i++) fives[i] = 5.25f; /* no variance, yet an error */
    CHECK_OK(og_codebook_measure(codebook, fives, 70000, NULL, &health, NULL, &err));
    CHECK(close_to(health.mse, 0.0625) && isinf(health.relative_mse));
    CHECK(close_to(health.use.gini, 1 - 1.0 / 8) && health.use.top_percent == 1 &&
          health.use.perplexity_corrected == 1);
    og_release(fives);
    og_codebook_free(codebook);
}

static void no_counts_are_no_nan(void) {
    og_codebook *codebook = line(8);
    og_codebook_health health;
    const float bad[] = {NAN, INFINITY};
    for (int64_t n = 0; n < 3; n++) {
        CHECK_OK(og_codebook_measure(codebook, bad, n, NULL, &health, NULL, &err));
        CHECK(health.vectors == n && health.not_finite == n && health.use.used == 0 && health.use.perplexity == 0);
        CHECK(health.expected_used == 0 && health.mse == 0 && !isnan(health.relative_mse));
        CHECK(!isnan(health.use.gini) && !isnan(health.use.top_percent) && !isnan(health.use.perplexity_corrected));
    }
    og_codebook_free(codebook);
}

/* Perplexity is K exactly, which a constant inside the logarithm would hide; the ceiling of used codes is known. */
static void uniform_codes(void) {
    enum { K = 4096 };
    og_codebook *codebook = line(K);
    og_codebook_health health;
    float *all = og_alloc(4 * K, sizeof *all);
    for (int64_t i = 0; i < 4 * K; i++) all[i] = (float)(i % K);
    og_pool *pool;
    CHECK_OK(og_pool_new(2, &pool, &err));
    CHECK_OK(og_codebook_measure(codebook, all, 4 * K, pool, &health, NULL, &err));
    og_pool_free(pool);
    CHECK(fabs(health.use.perplexity / K - 1) < 1e-9 && health.use.used == K);
    CHECK(fabs(health.expected_used / K - 0.982) <
          0.0005); /* 98.2 % for four draws a code, as in a window of 65,536 tokens for 16,384 codes */
    og_release(all);
    og_codebook_free(codebook);
}

int main(void) {
    og_codebook *codebook = line(8);
    og_codebook_health health;
    const float few[] = {0.25f, 0.75f, 3, 3, NAN};
    CHECK_OK(og_codebook_measure(codebook, few, 5, NULL, &health, NULL, &err));
    CHECK(health.vectors == 5 && health.not_finite == 1 && health.use.used == 3);
    CHECK(close_to(health.expected_used, 8 * (1 - pow(7.0 / 8, 4))));
    CHECK(close_to(health.use.perplexity, exp(0.25 * log(4) + 0.25 * log(4) + 0.5 * log(2))));
    CHECK(close_to(health.mse, (0.0625 + 0.0625) / 4));
    double mean = 7.0 / 4, spread = pow(0.25 - mean, 2) + pow(0.75 - mean, 2) + 2 * pow(3 - mean, 2);
    CHECK(close_to(health.relative_mse, 0.125 / spread));

    CHECK(close_to(health.snr_db, -10 * log10(0.125 / spread)));
    /* Counts 1, 1, 0, 2, 0 ... of 8: sorted 0 0 0 0 0 1 1 2 with weights 2i - 9 = 3, 5, 7 for the last three. */
    CHECK(close_to(health.use.gini, (3.0 + 5.0 + 2 * 7.0) / (8 * 4)));
    CHECK(close_to(health.use.top_percent, 0.5) && health.use.used_tenth == 3);
    CHECK(close_to(log(health.use.perplexity_corrected), log(health.use.perplexity) + 2.0 / (2 * 4)));
    og_codebook_free(codebook);
    a_constant_stream_uses_one_code();
    no_counts_are_no_nan();
    uniform_codes();
    test_levels();
    const float zero[] = {0};
    CHECK_OK(og_codebook_new("gone", OG_IMAGE, 1, 1, 1, zero, NULL, NULL, &codebook, &err));
    CHECK_FAILS(og_codebook_measure(codebook, zero, 1, NULL, &health, NULL, &err), OG_ENOTSUP, "'gone'");
    og_codebook_free(codebook);
    CHECK(og_alloc_count() == 0);
    return 0;
}
