/* config_json.c: JSON text to a config tree. jansson checks and decodes; a cursor over the same text counts lines. */
#include "config_tree.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

typedef struct cursor {
    og_tree *tree;
    const char *name, *at, *end;
    const char *place; /* of place_line */
    int64_t line, place_line;
} cursor;

/* To the next token. The text is valid JSON, so only blanks, ',' and ':' lie between tokens. */
static og_status next_place(cursor *c, og_error *err) {
    for (; c->at < c->end && strchr(" \t\r\n,:", *c->at); c->at++) c->line += *c->at == '\n';
    if (c->place && c->place_line == c->line) return OG_OK;
    char text[OG_WHERE_TEXT];
    int n = snprintf(text, sizeof text, "%.256s:%lld", c->name, (long long)c->line);
    OG_TRY(og_tree_string(c->tree, text, n, &c->place, err));
    c->place_line = c->line;
    return OG_OK;
}

static void skip_string(cursor *c) {
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\') c->at++;
    c->at++;
}

static void skip_word(cursor *c) {
    while (c->at < c->end && !strchr(" \t\r\n,:]}", *c->at)) c->at++;
}

static og_status build(cursor *c, json_t *json, int depth, og_config **out, og_error *err);

static og_status build_children(cursor *c, json_t *json, int depth, og_config *node, og_error *err) {
    c->at++; /* the bracket */
    og_config *value;
    if (node->kind == OG_CONFIG_MAP) {
        const char *key, *copy;
        json_t *child;
        json_object_foreach(json, key, child) { /* jansson keeps the order of the text */
            OG_TRY(next_place(c, err));
            skip_string(c);
            OG_TRY(build(c, child, depth + 1, &value, err));
            OG_TRY(og_tree_string(c->tree, key, (int64_t)strlen(key), &copy, err));
            OG_TRY(og_tree_append(node, copy, value, err));
        }
    } else {
        for (size_t i = 0; i < json_array_size(json); i++) {
            OG_TRY(build(c, json_array_get(json, i), depth + 1, &value, err));
            OG_TRY(og_tree_append(node, NULL, value, err));
        }
        OG_TRY(og_tree_seal(node, err));
    }
    OG_TRY(next_place(c, err));
    c->at++;
    return OG_OK;
}

static og_status build(cursor *c, json_t *json, int depth, og_config **out, og_error *err) {
    OG_TRY(next_place(c, err));
    og_config *node;
    OG_TRY(og_tree_node(c->tree, OG_CONFIG_NULL, c->place, &node, err));
    switch (json_typeof(json)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (depth == OG_CONFIG_DEPTH)
            return og_fail(err, OG_EFORMAT, "%s: nested deeper than %d levels", c->place, OG_CONFIG_DEPTH);
        node->kind = json_is_object(json) ? OG_CONFIG_MAP : OG_CONFIG_LIST;
        OG_TRY(build_children(c, json, depth, node, err));
        break;
    case JSON_STRING:
        node->kind = OG_CONFIG_STRING;
        if (memchr(json_string_value(json), 0, json_string_length(json)))
            node->nul_bytes = (int64_t)json_string_length(json);
        OG_TRY(og_tree_string(c->tree, json_string_value(json), (int64_t)json_string_length(json), &node->string, err));
        skip_string(c);
        break;
    case JSON_INTEGER:
        node->kind = OG_CONFIG_INTEGER;
        node->integer = json_integer_value(json);
        skip_word(c);
        break;
    case JSON_REAL:
        node->kind = OG_CONFIG_REAL;
        node->real = json_real_value(json);
        skip_word(c);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        node->kind = OG_CONFIG_BOOL;
        node->boolean = json_is_true(json);
        skip_word(c);
        break;
    case JSON_NULL: skip_word(c); break;
    }
    *out = node;
    return OG_OK;
}

static og_status build_root(cursor *c, json_t *json, og_error *err) {
    if (!json) return og_tree_node(c->tree, OG_CONFIG_MAP, c->name, &c->tree->root, err);
    return build(c, json, 0, &c->tree->root, err);
}

static og_status from_json(const char *text, int64_t bytes, const char *name, size_t flags, og_config **out,
                           og_error *err) {
    int64_t blank = 0;
    while (blank < bytes && text[blank] && strchr(" \t\r\n", text[blank])) blank++;
    json_t *json = NULL;
    if (blank < bytes) {
        json_error_t fault;
        json = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES | flags, &fault);
        if (!json && json_error_code(&fault) == json_error_out_of_memory)
            return og_fail(err, OG_ENOMEM, "%.256s: no memory to read JSON", name);
        if (!json) return og_fail(err, OG_EFORMAT, "%.256s:%d: JSON: %s", name, fault.line, fault.text);
    }
    cursor c = {.name = name, .at = text, .end = text + bytes, .line = 1};
    og_status status = og_tree_new(&c.tree, err);
    if (status == OG_OK) {
        const char *copy;
        status = og_tree_string(c.tree, name, (int64_t)strlen(name), &copy, err);
        if (status == OG_OK) {
            c.name = copy;
            status = build_root(&c, json, err);
        }
        if (status != OG_OK) og_tree_free(c.tree);
    }
    json_decref(json);
    if (status == OG_OK) *out = c.tree->root;
    return status;
}

og_status og_config_from_json(const char *text, int64_t bytes, const char *name, og_config **out, og_error *err) {
    return from_json(text, bytes, name, 0, out, err);
}

og_status og_config_from_json_data(const char *text, int64_t bytes, const char *name, og_config **out, og_error *err) {
    return from_json(text, bytes, name, JSON_ALLOW_NUL, out, err);
}

og_status og_config_from_json_file(const char *path, og_config **out, og_error *err) {
    char *text;
    int64_t bytes;
    OG_TRY(og_file_read(path, OG_CONFIG_FILE_LIMIT, &text, &bytes, err));
    og_status status = og_config_from_json(text, bytes, path, out, err);
    og_release(text);
    return status;
}
