/* test_alloc_fail.c: every allocation of the foundation fails once: no crash, no leak, a clear
 * answer. */
#include "test.h"

#include <omnigram/config.h>
#include <omnigram/digest.h>
#include <omnigram/file.h>
#include <omnigram/pool.h>
#include <omnigram/safetensors.h>

#include <unistd.h>

static og_error err;
static char path[512];

/* Hands `status` on when a step failed, after freeing. */
#define STEP(expression)                                                                                               \
    if (status == OG_OK) status = (expression)

static char big_yaml[40000];

static og_status use_yaml(const char *text) {
    og_config *root = NULL, *copy = NULL, *over = NULL;
    char *json = NULL, *yaml = NULL;
    og_status status = og_config_from_yaml(text, (int64_t)strlen(text), "a.yaml", &root, &err);
    STEP(og_config_override(root, "train.steps.x=[1, 2, {y: 3}]", &err));
    STEP(og_config_copy(root, &copy, &err));
    STEP(og_config_from_yaml("train: {lr: 2}", 14, "b", &over, &err));
    STEP(og_config_merge(copy, over, &err));
    STEP(og_config_to_json(copy, &json, &err));
    STEP(og_config_to_yaml(copy, &yaml, &err));
    og_release(yaml);
    og_release(json);
    og_config_free(over);
    og_config_free(copy);
    og_config_free(root);
    return status;
}

static og_status use_json(void) {
    const char *text = "{\"a\": [1, 2.5, {\"b\": \"c\"}], \"d\": null}";
    og_config *root = NULL;
    og_status status = og_config_from_json(text, (int64_t)strlen(text), "a.json", &root, &err);
    og_config_free(root);
    return status;
}

static og_status use_config_file(void) {
    og_config *root = NULL;
    og_status status = og_config_from_yaml_file(path, &root, &err);
    og_config_free(root);
    return status;
}

static og_status use_read(void) {
    typedef struct fields {
        og_i64_list list;
        const char *text;
    } fields;
    static const og_key keys[] = {
        {"list", OG_KEY_I64_LIST, offsetof(fields, list), "[5, 6, 7]", 0, 0, NULL, "list"},
        {"text", OG_KEY_STRING, offsetof(fields, text), "x", 0, 0, NULL, "text"},
        {0},
    };
    fields out;
    og_config *root = NULL;
    og_status status = og_config_from_yaml("text: y", 7, "a", &root, &err);
    STEP(og_config_read(root, keys, &out, &err));
    if (status == OG_OK && (out.list.n != 3 || out.list.values[2] != 7)) status = OG_EINTERNAL;
    og_config_free(root);
    return status;
}

static og_status write_arrays(void) {
    og_arrays_writer *w = NULL;
    int64_t shape[2] = {3, 5};
    char data[60] = {0};
    og_status status = og_arrays_writer_new(path, &w, &err);
    STEP(og_arrays_writer_metadata(w, "scheme", "mix64", &err));
    STEP(og_arrays_writer_metadata(w, "order", "3", &err));
    STEP(og_arrays_writer_declare(w, "a", OG_F32, 2, shape, &err));
    STEP(og_arrays_writer_declare(w, "b", OG_U8, 1, shape, &err));
    STEP(og_arrays_writer_append(w, data, 60, &err));
    STEP(og_arrays_writer_append(w, data, 3, &err));
    if (status == OG_OK) return og_arrays_writer_commit(w, &err);
    og_arrays_writer_abort(w);
    return status;
}

static og_status read_arrays(void) {
    og_arrays *a = NULL;
    void *data;
    og_status status = og_arrays_open(path, 0, &a, &err);
    STEP(og_arrays_get(a, "b", NULL, &data, &err));
    og_arrays_close(a);
    return status;
}

static og_status read_odd_arrays(void) { /* with the copy that a misaligned array needs */
    og_arrays *a = NULL;
    void *data;
    int64_t length;
    og_status status = og_arrays_open(path, 0, &a, &err);
    STEP(og_arrays_expect(a, "f", OG_F32, 1, &length, &data, &err));
    og_arrays_close(a);
    return status;
}

static og_status write_no_arrays(void) { /* then the header is made by commit */
    og_arrays_writer *w = NULL;
    og_status status = og_arrays_writer_new(path, &w, &err);
    if (status == OG_OK) return og_arrays_writer_commit(w, &err);
    return status;
}

static void unused(void *context, int64_t begin, int64_t end, int32_t worker) {
    (void)context;
    (void)begin;
    (void)end;
    (void)worker;
}

static og_status use_pool(void) {
    og_pool *pool = NULL;
    og_status status = og_pool_new(3, &pool, &err);
    if (status == OG_OK) og_pool_for(pool, 10, 1, unused, NULL);
    og_pool_free(pool);
    return status;
}

static og_status use_files(void) {
    char digest[OG_DIGEST_TEXT];
    og_map *map = NULL;
    char *text = NULL;
    int64_t bytes;
    og_status status = og_file_write(path, "abc: 1", 6, &err);
    STEP(og_file_read(path, 100, &text, &bytes, &err));
    STEP(og_map_open(path, 0, &map, &err));
    STEP(og_digest_of_file(path, digest, &err));
    STEP(og_folder_make(OG_TEST_BINARY_DIR, &err));
    og_map_close(map);
    og_release(text);
    return status;
}

static og_status use_grow(void) {
    void *array = NULL;
    int64_t room = 0;
    og_status status = og_grow(&array, &room, 10, 8, &err);
    STEP(og_grow(&array, &room, 1000, 8, &err));
    og_release(array);
    return status;
}

int main(void) {
    snprintf(path, sizeof path, "%s/alloc-fail-%ld", OG_TEST_BINARY_DIR, (long)getpid());
    size_t n = 0;
    for (int i = 0; i < 500; i++) n += (size_t)sprintf(big_yaml + n, "key%d: {a: [1, 2], b: text, c: [{d: 1.5}]}\n", i);
    sprintf(big_yaml + n, "train: {lr: &x [1]}\nalias: *x\n");
    CHECK_ALLOC_FAILS(use_yaml("train: {lr: 1, list: [1, 2, 3]}\ntext: 'x'\n"), 8);
    CHECK_ALLOC_FAILS(use_yaml(big_yaml), 12);
    CHECK_ALLOC_FAILS(use_json(), 2);
    CHECK_ALLOC_FAILS(use_read(), 2);
    CHECK_ALLOC_FAILS(use_files(), 7);
    CHECK_ALLOC_FAILS(use_config_file(), 3);
    CHECK_ALLOC_FAILS(use_pool(), 1);
    CHECK_ALLOC_FAILS(use_grow(), 2);
    CHECK_ALLOC_FAILS(write_arrays(), 10);
    CHECK_ALLOC_FAILS(read_arrays(), 4);
    CHECK_ALLOC_FAILS(write_no_arrays(), 3);
    char odd[8 + 136 + 13] = {(char)136};
    snprintf(odd + 8, 137, "%-136s",
             "{\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
             "\"f\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[1,13]}}");
    CHECK_OK(og_file_write(path, odd, sizeof odd, &err));
    CHECK_ALLOC_FAILS(read_odd_arrays(), 5);
    remove(path);
    return 0;
}
