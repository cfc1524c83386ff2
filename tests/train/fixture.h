/* fixture.h: packs and a config for the C tests of train and eval. */
#ifndef OMNIGRAM_TESTS_TRAIN_FIXTURE_H
#define OMNIGRAM_TESTS_TRAIN_FIXTURE_H

#include <omnigram/train.h>

#include "test.h"

static const char config_text[] =
    "tables:\n"
    "  text: {stencil: lags, modality: text, orders: [2, 3], addressing: {scheme: mix64, rows: 257}, dim: 8}\n"
    "  image: {stencil: grid, cells: [[W], [N]], addressing: {scheme: mix64, rows: 127}, dim: 4}\n"
    "model: {width: 32, layers: 1, heads: 2}\n"
    "train: {batch: 2, threads: 1, lr: 0.01, warmup: 2}\n";

static inline og_config *make_config(const char *override) {
    og_error err;
    og_config *config = NULL;
    CHECK_OK(og_config_from_yaml(config_text, (int64_t)sizeof config_text - 1, "test", &config, &err));
    if (override) CHECK_OK(og_config_override(config, override, &err));
    return config;
}

static inline og_packs *make_packs(int64_t n_docs) {
    og_error err;
    og_id_map ids;
    og_documents_builder *builder = NULL;
    og_documents *documents = NULL;
    og_packs *packs = NULL;
    CHECK_OK(og_id_map_make(50, 16, 1, 8, 1, &ids, &err));
    CHECK_OK(og_documents_builder_new(&ids, 1, &builder, &err));
    int32_t codebook = 0;
    char fingerprint[OG_DIGEST_TEXT];
    CHECK_OK(og_digest_of("codes", 5, fingerprint, &err));
    CHECK_OK(og_documents_codebook(builder, fingerprint, &codebook, &err));
    for (int64_t d = 0; d < n_docs; d++) {
        int32_t text[9], image[6];
        for (int i = 0; i < 9; i++) text[i] = (int32_t)((d * 7 + i * i) % 50);
        for (int i = 0; i < 6; i++) image[i] = (int32_t)((d + i * 5) % 16);
        CHECK_OK(og_documents_begin(builder, 0, d, &err));
        CHECK_OK(og_documents_item(builder, OG_TEXT, text, 1, 3 + (int32_t)(d % 7), 1, -1, &err));
        CHECK_OK(og_documents_item(builder, OG_IMAGE, image, 2, 3, 1, codebook, &err));
        CHECK_OK(og_documents_end(builder, &err));
    }
    CHECK_OK(og_documents_finish(builder, NULL, &documents, &err));
    og_pack_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.capacity = 64;
    policy.seed = -1;
    CHECK_OK(og_packs_build(documents, &policy, &packs, &err));
    og_documents_free(documents);
    return packs;
}

#endif
