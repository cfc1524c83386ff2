/* Engram's canonical form against the published cases, and the id map that addressing reads. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/canonical.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>

#include <unistd.h>

static void cases(void) {
    og_error err;
    og_config *root;
    CHECK_OK(og_config_from_json_file(OG_TEST_DATA "/vectors/canonical.json", &root, &err));
    const og_config *list = og_config_get(root, "cases");
    CHECK(og_config_size(list) == 89);
    for (int64_t i = 0; i < og_config_size(list); i++) {
        const char *text, *want;
        char *got;
        int64_t bytes;
        CHECK_OK(og_config_string(og_config_get(og_config_at(list, i), "text"), &text, &err));
        CHECK_OK(og_config_string(og_config_get(og_config_at(list, i), "key"), &want, &err));
        CHECK_OK(og_canonical_key(text, (int64_t)strlen(text), &got, &bytes, &err));
        if (strcmp(got, want)) fprintf(stderr, "'%s' gave '%s', wanted '%s'\n", text, got, want);
        CHECK(!strcmp(got, want) && bytes == (int64_t)strlen(want));
        og_release(got);
    }
    og_config_free(root);
    char *key;
    int64_t bytes;
    CHECK_FAILS(og_canonical_key("a\xff", 2, &key, &bytes, &err), OG_EFORMAT, "UTF-8");
    CHECK_OK(og_canonical_key("a\0B", 3, &key, &bytes, &err)); /* a zero byte is a character like others */
    CHECK(bytes == 3 && !memcmp(key, "a\0b", 3));
    og_release(key);
}

static void map(void) {
    og_error err;
    static const char *const texts[] = {"<pad>", "A", "a", " a", "b", "\xC3\x81", "B ", "c", " ", "\t"};
    enum { N = 10 };
    int64_t bytes[N], compressed;
    int32_t ids[N];
    static const int32_t want[N] = {0, 1, 1, 1, 2, 1, 2, 3, 4, 4};
    for (int i = 0; i < N; i++) bytes[i] = (int64_t)strlen(texts[i]);
    CHECK_OK(og_canonical_map(texts, bytes, N, ids, &compressed, &err));
    CHECK(compressed == 5 && !memcmp(ids, want, sizeof want));

    /* Rows of raw ids through the file are those of compressed ids. */
    const char *path = OG_TEST_BINARY_DIR "/id_map.safetensors";
    CHECK_OK(og_canonical_write(path, ids, N, compressed, "test", &err));
    char yaml[2][512];
    snprintf(yaml[0], sizeof yaml[0],
             "{scheme: engram_xor, variant: v41, id_map: '%s', dead: 129264, pad: 2, "
             "start_rows_per_order: 1000}",
             path);
    snprintf(yaml[1], sizeof yaml[1],
             "{scheme: engram_xor, variant: v41, compressed_vocab: 5, dead: -1, pad: 2, "
             "start_rows_per_order: 1000}");
    int32_t raw[8] = {0, 3, 7, 129264, 9, 5, 2, 6}, mapped[8] = {0, 1, 3, -1, 4, 1, 1, 2};
    int64_t rows[2][8 * 24];
    for (int which = 0; which < 2; which++) {
        og_config *config;
        og_addr *addr;
        CHECK_OK(og_config_from_yaml(yaml[which], (int64_t)strlen(yaml[which]), "test", &config, &err));
        CHECK_OK(og_addr_new(config, &addr, &err));
        CHECK(og_addr_layout_of(addr)->n_columns == 24);
        og_stream s = {which ? mapped : raw, 8, 1, NULL, 0, NULL, NULL};
        CHECK_OK(og_addr_map(addr, &s, NULL, NULL, rows[which], NULL, NULL, &err));
        og_addr_free(addr);
        og_config_free(config);
    }
    CHECK(!memcmp(rows[0], rows[1], sizeof rows[0]));

    /* A vocabulary that grew moves every row: it is refused, with both sizes. */
    og_config *config;
    og_addr *addr;
    snprintf(yaml[0], sizeof yaml[0], "{scheme: engram_xor, id_map: '%s', compressed_vocab: 6}", path);
    CHECK_OK(og_config_from_yaml(yaml[0], (int64_t)strlen(yaml[0]), "test", &config, &err));
    CHECK_FAILS(og_addr_new(config, &addr, &err), OG_EINVAL, "compressed_vocab is 6");
    CHECK(strstr(err.message, "has 5 ids"));
    og_config_free(config);
    unlink(path);
    CHECK_OK(og_config_from_yaml(yaml[1], (int64_t)strlen(yaml[1]), "test", &config, &err));
    CHECK_OK(og_config_override(config, "id_map=/nowhere/map.safetensors", &err));
    CHECK_FAILS(og_addr_new(config, &addr, &err), OG_EIO, "/nowhere/map.safetensors");
    og_config_free(config);
}

static og_status key_of(const char *text, og_error *err) {
    char *key;
    int64_t bytes;
    OG_TRY(og_canonical_key(text, (int64_t)strlen(text), &key, &bytes, err));
    og_release(key);
    return OG_OK;
}

static void short_of_memory(void) {
    static const char *const texts[] = {"A", "a", "\xEF\xBF\xBD", ""};
    static const int64_t bytes[] = {1, 1, 3, 0};
    for (int64_t k = 1;; k++) {
        og_error err;
        int32_t ids[4];
        int64_t compressed = -1, before = og_alloc_count();
        og_fault_alloc(k);
        og_status status = og_canonical_map(texts, bytes, 4, ids, &compressed, &err);
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == before);
        CHECK(hit ? status == OG_ENOMEM && compressed == -1 : status == OG_OK && compressed == 3);
        if (!hit) break;
    }
    char path[300];
    og_error err;
    snprintf(path, sizeof path, "%s/test_canonical.%d.memory", OG_TEST_BINARY_DIR, (int)getpid());
    CHECK_ALLOC_FAILS(og_canonical_write(path, (const int32_t[]){0, 0, 1}, 3, 2, "three", &err), 3);
    CHECK_ALLOC_FAILS(key_of("\xC3\x89t\xC3\xA9", &err), 2);
    unlink(path);
}

int main(void) {
    char *key;
    int64_t bytes;
    og_error err;
    if (og_canonical_key("a", 1, &key, &bytes, &err) == OG_ENOTSUP) SKIP(err.message);
    og_release(key);
    cases();
    map();
    short_of_memory();
    CHECK(og_alloc_count() == 0);
    return 0;
}
