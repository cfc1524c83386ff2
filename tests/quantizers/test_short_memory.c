/* test_short_memory.c: every allocation of fitting, encoding, measuring and of the codebook file
 * fails once: no crash, no leak, ENOMEM. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/quantizers.h>
#include <omnigram/random.h>

#include <unistd.h>

static og_error err;
static char path[512];
enum { N = 300, D = 4 };
static float vectors[N * D];

#define STEP(expression)                                                                                               \
    if (status == OG_OK) status = (expression)

static og_status use_file(void) {
    static const char json[] = "{\"patch\":8}";
    og_config *preprocess = NULL, *health = NULL;
    og_codebook *made = NULL, *read = NULL;
    og_status status = og_config_from_json(json, sizeof json - 1, "a", &preprocess, &err);
    STEP(og_config_from_json(json, sizeof json - 1, "a", &health, &err));
    STEP(og_codebook_new("rvq", OG_IMAGE, 2, 8, D, vectors, preprocess, health, &made, &err));
    if (!made) { /* not taken */
        og_config_free(preprocess);
        og_config_free(health);
    }
    STEP(og_codebook_save(made, path, &err));
    STEP(og_codebook_load(path, &read, &err));
    og_codebook_free(made);
    og_codebook_free(read);
    return status;
}

static og_status use_codes(const char *quantizer, int32_t levels) {
    og_codebook *codebook = NULL;
    const og_quantizer_type *type = og_quantizer_find(quantizer);
    int32_t codes[N * 2];
    float decoded[N * D];
    og_codebook_health health;
    og_status status = og_codebook_new(quantizer, OG_AUDIO, levels, 16, D, vectors, NULL, NULL, &codebook, &err);
    STEP(type->encode(codebook, vectors, N, codes, NULL, NULL, &err));
    STEP(type->decode(codebook, codes, N, decoded, &err));
    STEP(og_codebook_measure(codebook, vectors, N, NULL, &health, NULL, &err));
    og_codebook_free(codebook);
    return status;
}

#ifdef OG_HAVE_FAISS
static og_status use_fit(const char *quantizer, const char *yaml) {
    og_config *config = NULL;
    float *codes = NULL;
    int32_t levels;
    int64_t size;
    og_status status = og_config_from_yaml(yaml, (int64_t)strlen(yaml), "a", &config, &err);
    STEP(og_quantizer_find(quantizer)->fit(config, vectors, N, D, NULL, &codes, &levels, &size, &err));
    og_release(codes);
    og_config_free(config);
    return status;
}
#endif

int main(void) {
    snprintf(path, sizeof path, "%s/short-memory-%ld", OG_TEST_BINARY_DIR, (long)getpid());
    for (int64_t i = 0; i < N * D; i++) vectors[i] = (float)og_random_normal(1, (uint64_t)i);
    CHECK_ALLOC_FAILS(use_file(), 15);
    CHECK_ALLOC_FAILS(use_codes("kmeans", 1), 8);
    CHECK_ALLOC_FAILS(use_codes("rvq", 2), 10);
#ifdef OG_HAVE_FAISS
    vectors[7] = NAN; /* so that the finite ones are copied */
    CHECK_ALLOC_FAILS(use_fit("kmeans", "{size: 8, iterations: 2}"), 12);
    CHECK_ALLOC_FAILS(use_fit("kmeans", "{size: 400}"), 5);
    CHECK_ALLOC_FAILS(use_fit("rvq", "{size: 8, levels: 2, iterations: 2}"), 20);
#endif
    remove(path);
    return 0;
}
