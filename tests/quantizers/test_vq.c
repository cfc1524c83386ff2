/* test_vq.c: encoding and decoding with given code tables, and residual stacks. */
#include "test.h"
#include "vq.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/quantizers.h>
#include <omnigram/random.h>

static og_error err;

static og_codebook *make(const char *name, int32_t levels, int64_t size, int64_t dim, const float *codes) {
    og_codebook *codebook;
    CHECK_OK(og_codebook_new(name, OG_AUDIO, levels, size, dim, codes, NULL, NULL, &codebook, &err));
    return codebook;
}

static void by_hand(void) {
    const float codes[] = {0, 0, 10, 10, /* level 1 */ 1, 0, 0, -2};
    og_codebook *codebook = make("rvq", 2, 2, 2, codes);
    const float vectors[] = {1, 0.1f, 10, 8, 5, 5};
    int32_t code[6];
    float margin[3], out[6];
    CHECK_OK(og_vq_encode(codebook, vectors, 3, code, margin, NULL, &err));
    const int32_t want[] = {0, 0, 1, 1,
                            0, 0}; /* (5, 5) ties at level 0; its residual (5, 5) is nearer to (1, 0) than to (0, -2) */
    CHECK(!memcmp(code, want, sizeof want) && margin[2] == 0 && margin[1] == 164 - 4);
    CHECK_OK(og_vq_decode(codebook, code, 3, out, &err));
    const float decoded[] = {1, 0, 10, 8, 1, 0};
    CHECK(!memcmp(out, decoded, sizeof decoded));
    code[1] = -1; /* a dropped level adds nothing */
    CHECK_OK(og_vq_decode(codebook, code, 1, out, &err));
    CHECK(out[0] == 0 && out[1] == 0);
    code[3] = 2;
    CHECK_FAILS(og_vq_decode(codebook, code, 3, out, &err), OG_EINVAL, "code 2 of vector 1, level 1");
    CHECK_FAILS(og_quantizer_find("kmeans")->encode(codebook, vectors, 1, code, NULL, NULL, &err), OG_EINVAL,
                "2 levels, not 1");
    og_codebook_free(codebook);
}

/* The codes of the first q levels are those of a q-level codebook, across the border of a chunk, and more levels are
 * never worse. */
static void prefix(void) {
    enum { N = 17000, D = 3, K = 8, L = 4 };
    float *codes = og_alloc(L * K * D, sizeof *codes), *vectors = og_alloc(N * D, sizeof *vectors),
          *out = og_alloc(N * D, sizeof *out);
    int32_t *full = og_alloc(N * L, sizeof *full), *part = og_alloc(N * L, sizeof *part);
    for (int64_t i = 0; i < L * K * D; i++) /* code 0 of each level is zero, so that a level can always abstain */
        codes[i] = i / D % K ? (float)(og_random_normal(1, (uint64_t)i) * pow(0.5, (double)(i / (K * D)))) : 0;
    for (int64_t i = 0; i < N * D; i++) vectors[i] = (float)og_random_normal(2, (uint64_t)i);
    og_codebook *codebook = make("rvq", L, K, D, codes);
    CHECK_OK(og_vq_encode(codebook, vectors, N, full, NULL, NULL, &err));
    double before = INFINITY;
    for (int32_t q = 1; q <= L; q++) {
        og_codebook *shorter = make("rvq", q, K, D, codes);
        CHECK_OK(og_vq_encode(shorter, vectors, N, part, NULL, NULL, &err));
        for (int64_t i = 0; i < N; i++) CHECK(!memcmp(part + i * q, full + i * L, (size_t)q * sizeof *full));
        CHECK_OK(og_vq_decode(shorter, part, N, out, &err));
        double mse = 0;
        for (int64_t i = 0; i < N * D; i++) mse += pow((double)vectors[i] - (double)out[i], 2);
        CHECK(mse < before);
        before = mse;
        og_codebook_free(shorter);
    }
    og_codebook_free(codebook);
    og_release(codes);
    og_release(vectors);
    og_release(out);
    og_release(full);
    og_release(part);
}

#ifdef OG_HAVE_FAISS
/* Fitted levels: the mean squared error falls with each, and silence (a zero residual from level 1 on) stays finite. */
static void fitted(void) {
    enum { N = 2000, D = 8 };
    static float vectors[N * D];
    for (int64_t i = 0; i < N * D; i++) vectors[i] = i / D % 4 ? (float)og_random_normal(3, (uint64_t)i) : 0.0f;
    const og_quantizer_type *rvq = og_quantizer_find("rvq");
    og_config *config;
    const char *yaml = "{size: 32, levels: 4}";
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    float *codes;
    int32_t levels;
    int64_t size;
    CHECK_OK(rvq->fit(config, vectors, N, D, NULL, &codes, &levels, &size, &err));
    CHECK(levels == 4 && size == 32);
    double before = 1;
    for (int32_t q = 1; q <= 4; q++) {
        og_codebook *codebook = make("rvq", q, 32, D, codes);
        og_codebook_health health;
        CHECK_OK(og_codebook_measure(codebook, vectors, N, NULL, &health, NULL, &err));
        CHECK(health.relative_mse < 0.8 * before);
        before = health.relative_mse;
        og_codebook_free(codebook);
    }
    og_release(codes);
    og_config_free(config);
    const char *shrink = "{few: shrink}";
    CHECK_OK(og_config_from_yaml(shrink, (int64_t)strlen(shrink), "test", &config, &err));
    CHECK_FAILS(rvq->fit(config, vectors, N, D, NULL, &codes, &levels, &size, &err), OG_EINVAL, "shrink");
    og_config_free(config);
}
#endif

int main(void) {
    by_hand();
    prefix();
#ifdef OG_HAVE_FAISS
    fitted();
#endif
    CHECK(og_alloc_count() == 0);
    return 0;
}
