/* pack_maker.h: documents from a line of text, for the tests of packing:
 *   "t3 i2x4 t1 | a5 | t0"   a text of 3, an image of 2 rows x 4 columns, a text of 1; an audio of
 * 5 frames; an empty document Codes are a running count, so that every token of a modality is told
 * from its neighbours. */
#ifndef OMNIGRAM_PACK_MAKER_H
#define OMNIGRAM_PACK_MAKER_H

#include "test.h"

#include <omnigram/pack.h>

enum { MAKER_TEXT = 1000, MAKER_IMAGE = 256, MAKER_AUDIO = 64, MAKER_LEVELS = 3 };

static inline og_documents *make_documents(const char *text, int32_t row_end) {
    og_error err = {{0}};
    og_id_map ids;
    og_documents_builder *builder;
    og_documents *documents;
    int32_t image, audio, codes[4096];
    CHECK_OK(og_id_map_make(MAKER_TEXT, MAKER_IMAGE, 1, MAKER_AUDIO, MAKER_LEVELS, &ids, &err));
    CHECK_OK(og_documents_builder_new(&ids, row_end, &builder, &err));
    CHECK_OK(og_documents_codebook(builder, "aa11", &image, &err));
    CHECK_OK(og_documents_codebook(builder, "bb22", &audio, &err));
    int64_t doc = 0;
    int32_t next = 1;
    CHECK_OK(og_documents_begin(builder, 7, doc, &err));
    while (*text) {
        int32_t a = 0, b = 0, used = 0;
        if (*text == ' ') {
            text++;
        } else if (*text == '|') {
            CHECK_OK(og_documents_end(builder, &err));
            CHECK_OK(og_documents_begin(builder, 7, ++doc, &err));
            text++;
        } else if (sscanf(text, "t%d%n", &a, &used) == 1) {
            for (int32_t i = 0; i < a; i++) codes[i] = next++ % MAKER_TEXT;
            CHECK_OK(og_documents_item(builder, OG_TEXT, codes, 1, a, 1, -1, &err));
            text += used;
        } else if (sscanf(text, "i%dx%d%n", &a, &b, &used) == 2) {
            for (int32_t i = 0; i < a * b; i++) codes[i] = next++ % MAKER_IMAGE;
            CHECK_OK(og_documents_item(builder, OG_IMAGE, codes, a, b, 1, image, &err));
            text += used;
        } else if (sscanf(text, "a%dx%d%n", &a, &b, &used) == 2) { /* frames x levels */
            for (int32_t i = 0; i < a * b; i++) codes[i] = next++ % MAKER_AUDIO;
            CHECK_OK(og_documents_item(builder, OG_AUDIO, codes, 1, a, b, audio, &err));
            text += used;
        } else {
            CHECK(!"a line that make_documents understands");
        }
    }
    CHECK_OK(og_documents_end(builder, &err));
    CHECK_OK(og_documents_finish(builder, NULL, &documents, &err));
    CHECK_OK(og_documents_check(documents, &err));
    return documents;
}

static inline int64_t counter(const og_packs *packs, const char *key) {
    og_error err = {{0}};
    int64_t value = -1;
    CHECK_OK(og_config_i64(og_config_get(og_packs_counters(packs), key), &value, &err));
    return value;
}

/* read = kept + cut + dropped by cause; returns read. */
static inline int64_t balanced(const og_packs *packs, const char *what) {
    static const char *const parts[] = {
        "kept", "cut", "dropped.long", "dropped.image_document", "dropped.image", "dropped.truncated"};
    char key[96];
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(key, sizeof key, "packing.%s.%s", what, parts[i]);
        sum += counter(packs, key);
    }
    snprintf(key, sizeof key, "packing.%s.read", what);
    CHECK(sum == counter(packs, key));
    return sum;
}

#endif
