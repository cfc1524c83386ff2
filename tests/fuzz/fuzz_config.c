/* fuzz_config.c: YAML and JSON of any bytes: no crash, no leak, and what is read can be written and
 * read again. */
#include "fuzz.h"

#include <omnigram/config.h>
#include <omnigram/memory.h>

#include <string.h>

typedef struct fields {
    int64_t n;
    double x;
    int32_t yes, choice;
    const char *text;
    og_i64_list list;
    const og_config *node;
} fields;

static const og_key keys[] = {
    {"n", OG_KEY_I64, offsetof(fields, n), "3", -10, 1e6, NULL, "n"},
    {"x", OG_KEY_F64, offsetof(fields, x), "", 0, 1, NULL, "x"},
    {"yes", OG_KEY_BOOL, offsetof(fields, yes), "true", 0, 0, NULL, "yes"},
    {"choice", OG_KEY_CHOICE, offsetof(fields, choice), "a", 0, 0, "a|bc|7", "choice"},
    {"text", OG_KEY_STRING, offsetof(fields, text), "", 0, 100, NULL, "text"},
    {"list", OG_KEY_I64_LIST, offsetof(fields, list), "[1, 2]", 0, 9, NULL, "list"},
    {"node", OG_KEY_NODE, offsetof(fields, node), "", 0, 0, NULL, "node"},
    {0},
};

/* Both texts of a tree give the tree again; equal trees give equal JSON. */
static void check_texts(const og_config *root) {
    og_error err;
    char *json, *yaml, *again;
    if (og_config_to_json(root, &json, &err) != OG_OK) return; /* not a finite number */
    og_config *copy;
    HOLDS(og_config_to_yaml(root, &yaml, &err) == OG_OK);
    HOLDS(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "again", &copy, &err) == OG_OK);
    HOLDS(og_config_to_json(copy, &again, &err) == OG_OK);
    HOLDS(strcmp(json, again) == 0);
    og_release(again);
    og_config_free(copy);
    HOLDS(og_config_from_json(json, (int64_t)strlen(json), "again", &copy, &err) == OG_OK);
    HOLDS(og_config_to_json(copy, &again, &err) == OG_OK);
    HOLDS(strcmp(json, again) == 0);
    og_release(again);
    HOLDS(og_config_merge(copy, root, &err) == OG_OK || og_config_kind(root) == OG_CONFIG_LIST);
    og_config_free(copy);
    og_release(yaml);
    og_release(json);
}

static void check_tree(og_config *root) {
    og_error err;
    fields out;
    check_texts(root);
    if (og_config_read(root, keys, &out, &err) == OG_OK)
        HOLDS(out.n >= -10 && out.n <= 1000000 && out.x >= 0 && out.x <= 1);
    for (int64_t i = 0; i < og_config_size(root); i++) {
        HOLDS(og_config_place(og_config_at(root, i)) != NULL);
        HOLDS(og_config_read(og_config_at(root, i), keys, &out, &err) == OG_OK || err.message[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_error err;
    og_config *root;
    if (og_config_from_yaml((const char *)data, (int64_t)size, "fuzz.yaml", &root, &err) == OG_OK) {
        check_tree(root);
        og_config_free(root);
    }
    if (og_config_from_json((const char *)data, (int64_t)size, "fuzz.json", &root, &err) == OG_OK) {
        check_tree(root);
        og_config_free(root);
    }
    char line[256];
    size_t n = size < sizeof line - 1 ? size : sizeof line - 1;
    if (n) memcpy(line, data, n);
    line[n] = 0;
    HOLDS(og_config_from_yaml("a: {b: [1, {c: 2}]}", 19, "base", &root, &err) == OG_OK);
    if (og_config_override(root, line, &err) == OG_OK) check_tree(root);
    og_config_free(root);
    HOLDS(og_alloc_count() == 0);
    return 0;
}
