/* test_conformance.c: what quantizers.h promises, for every quantizer of the registry and for the template. */
#include "quantizer_template.c"
#include "test.h"

#include <omnigram/pack.h>
#include <omnigram/random.h>

static og_error err;

enum { N = 600, D = 6 };

static void make_vectors(float *vectors) {
    for (int64_t i = 0; i < N * D; i++)
        vectors[i] =
            (float)(og_random_normal(1, (uint64_t)i) + 4 * og_random_normal(2, (uint64_t)(i / D % 12 * D + i % D)));
    for (int64_t i = 590; i < N; i++) memcpy(vectors + i * D, vectors, D * sizeof *vectors); /* copies */
}

static og_codebook *fit_new(const og_quantizer_type *type, const float *vectors, int64_t n, og_pool *pool) {
    float *codes;
    int32_t levels;
    int64_t size;
    og_config *config;
    CHECK_OK(og_config_from_yaml("size: 16", 8, "test", &config, &err));
    CHECK_OK(type->fit(config, vectors, n, D, pool, &codes, &levels, &size, &err));
    CHECK(levels >= 1 && size >= 1);
    og_codebook *codebook;
    CHECK_OK(og_codebook_new(type->name, OG_IMAGE, levels, size, D, codes, NULL, NULL, &codebook, &err));
    og_release(codes);
    og_config_free(config);
    return codebook;
}

static void bad_codes(const og_quantizer_type *type, const og_codebook *codebook) {
    int32_t codes[64] = {0};
    float out[D], zero[D] = {0};
    static const int32_t wrong[] = {-2, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 3; i++) {
        codes[codebook->levels - 1] = wrong[i];
        CHECK_FAILS(type->decode(codebook, codes, 1, out, &err), OG_EINVAL, "outside the codebook");
    }
    codes[codebook->levels - 1] = (int32_t)codebook->size;
    CHECK_FAILS(type->decode(codebook, codes, 1, out, &err), OG_EINVAL, "outside the codebook");
    for (int l = 0; l < codebook->levels; l++) codes[l] = -1;
    CHECK_OK(type->decode(codebook, codes, 1, out, &err)); /* -1 adds nothing */
    CHECK(!memcmp(out, zero, sizeof zero));
}

static void conform(const og_quantizer_type *type) {
    printf("%s\n", type->name);
    CHECK(type->abi == OG_ABI && type->name && type->summary && type->source && type->keys);
    static float vectors[N * D], decoded[N * D];
    make_vectors(vectors);
    og_codebook *codebook = fit_new(type, vectors, N, NULL);
    int32_t levels = codebook->levels;
    int32_t *codes = og_alloc(N * levels, sizeof *codes), *again = og_alloc(N * levels, sizeof *again);
    float margin[N], margin_again[N];
    CHECK_OK(type->encode(codebook, vectors, N, codes, margin, NULL, &err));
    for (int64_t i = 0; i < N * levels; i++) CHECK(codes[i] >= 0 && codes[i] < codebook->size);
    for (int64_t i = 0; i < N; i++) CHECK(margin[i] >= 0);
    for (int64_t i = 590; i < N; i++) CHECK(!memcmp(codes, codes + i * levels, (size_t)levels * sizeof *codes));

    og_pool *pool; /* any pool: the same codebook and codes */
    CHECK_OK(og_pool_new(2, &pool, &err));
    og_codebook *threaded = fit_new(type, vectors, N, pool);
    CHECK(!strcmp(threaded->fingerprint, codebook->fingerprint));
    CHECK_OK(type->encode(codebook, vectors, N, again, margin_again, pool, &err));
    CHECK(!memcmp(codes, again, (size_t)(N * levels) * sizeof *codes) && !memcmp(margin, margin_again, sizeof margin));
    og_pool_free(pool);
    og_codebook_free(threaded);
    for (int64_t i = 0; i < N; i += 7) { /* any batch */
        int64_t n = N - i < 7 ? N - i : 7;
        CHECK_OK(type->encode(codebook, vectors + i * D, n, again + i * levels, NULL, NULL, &err));
    }
    CHECK(!memcmp(codes, again, (size_t)(N * levels) * sizeof *codes));

    CHECK_OK(type->decode(codebook, codes, N, decoded, &err));
    CHECK_OK(type->encode(codebook, decoded, N, again, NULL, NULL, &err));
    static float twice[N * D];
    CHECK_OK(type->decode(codebook, again, N, twice, &err));
    if (levels == 1) CHECK(!memcmp(decoded, twice, sizeof twice)); /* a code is nearest to itself */

    static float with_bad[N * D];
    memcpy(with_bad, vectors, sizeof vectors);
    with_bad[5 * D + 2] = NAN;
    with_bad[17 * D] = INFINITY;
    CHECK_OK(type->encode(codebook, with_bad, N, again, margin, NULL, &err));
    for (int64_t i = 0; i < N; i++)
        for (int l = 0; l < levels; l++)
            CHECK(again[i * levels + l] == (i == 5 || i == 17 ? -1 : codes[i * levels + l]));
    CHECK_OK(type->encode(codebook, NULL, 0, NULL, NULL, NULL, &err)); /* an empty batch */
    og_codebook *without_bad = fit_new(type, with_bad, N, NULL);
    for (int64_t i = 0; i < levels * codebook->size * D; i++) CHECK(isfinite(without_bad->codes[i]));
    og_codebook_free(without_bad);
    bad_codes(type, codebook);
    og_release(codes);
    og_release(again);
    og_codebook_free(codebook);

    static float extreme[64 * D];
    for (int kind = 0; kind < 4; kind++) { /* all equal, two distinct, huge, subnormal: a defined outcome */
        for (int64_t i = 0; i < 64 * D; i++)
            extreme[i] = kind == 0   ? 3.0f
                         : kind == 1 ? (float)(i / D % 2)
                                     : (float)og_random_normal(9, (uint64_t)i) * (kind == 2 ? 1e30f : 1e-40f);
        og_codebook *of_extreme = fit_new(type, extreme, 64, NULL);
        int32_t code[64 * 64];
        CHECK_OK(type->encode(of_extreme, extreme, 64, code, NULL, NULL, &err));
        for (int64_t i = 0; i < 64 * of_extreme->levels; i++) CHECK(code[i] >= 0 && code[i] < of_extreme->size);
        og_codebook_free(of_extreme);
    }
}

int main(void) {
    conform(&og_quantizer_template);
    int n = 0;
    for (; og_quantizer_types[n]; n++) {
        CHECK(og_quantizer_find(og_quantizer_types[n]->name) == og_quantizer_types[n]);
#ifndef OG_HAVE_FAISS
        if (!strcmp(og_quantizer_types[n]->name, "kmeans") || !strcmp(og_quantizer_types[n]->name, "rvq")) {
            printf("%s: fits only with FAISS\n", og_quantizer_types[n]->name);
            continue;
        }
#endif
        conform(og_quantizer_types[n]);
    }
    CHECK(n >= 2 && !og_quantizer_find("nothing") && !og_quantizer_find(NULL));
    CHECK(og_alloc_count() == 0);
    return 0;
}
