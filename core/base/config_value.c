/* config_value.c: the value of one node, and the words for nodes in messages. */
#include "config_tree.h"

#include <stdio.h>
#include <string.h>

/* Writes the steps from the root of the whole config to node; returns the length, which may pass the room. */
static size_t put_path(const og_config *node, char *text, size_t room) {
    if (!node->parent) /* a default of a key table is in no tree */
        return (size_t)snprintf(text, room, "%s", node->tree && node->tree->path ? node->tree->path : "");
    size_t n = put_path(node->parent, text, room);
    char *at = text + (n < room ? n : room - 1);
    size_t left = n < room ? room - n : 1;
    if (node->key) return n + (size_t)snprintf(at, left, "%s%s", n ? "." : "", node->key);
    int64_t i = 0;
    while (i < node->parent->size && node->parent->entries[i].value != node) i++;
    return n + (size_t)snprintf(at, left, "[%lld]", (long long)i);
}

const char *og_config_path(const og_config *node, char text[OG_PATH_TEXT]) {
    put_path(node, text, OG_PATH_TEXT);
    return text;
}

/* Whether path is prefix or lies below it. */
static int begins_with_path(const char *path, const char *prefix) {
    size_t n = strlen(prefix);
    return !strncmp(path, prefix, n) && (!path[n] || path[n] == '.' || path[n] == '[');
}

const char *og_config_where(const og_config *node, char text[OG_WHERE_TEXT]) {
    if (!node) return "config";
    char path[OG_PATH_TEXT];
    og_config_path(node, path);
    const char *key =
        strncmp(node->place, "--", 2) ? NULL : node->place + 2; /* an override's place is the key it set */
    if (!path[0])
        snprintf(text, OG_WHERE_TEXT, "%.*s", OG_WHERE_TEXT - 1, node->place);
    else if (key && begins_with_path(path, key))
        snprintf(text, OG_WHERE_TEXT, "--%s", path);
    else if (key && begins_with_path(key, path)) /* a map that the override made on its way */
        snprintf(text, OG_WHERE_TEXT, "%s", path);
    else
        snprintf(text, OG_WHERE_TEXT, "%.120s: %s", node->place, path);
    return text;
}

const char *og_config_what(const og_config *node, char text[OG_WHAT_TEXT]) {
    char number[OG_NUMBER_TEXT];
    switch (og_config_kind(node)) {
    case OG_CONFIG_BOOL: return node->boolean ? "the bool true" : "the bool false";
    case OG_CONFIG_INTEGER: snprintf(text, OG_WHAT_TEXT, "the integer %lld", (long long)node->integer); return text;
    case OG_CONFIG_REAL:
        og_scalar_real(node->real, number);
        snprintf(text, OG_WHAT_TEXT, "the number %s", number);
        return text;
    case OG_CONFIG_STRING:
        snprintf(text, OG_WHAT_TEXT, "the text '%.60s'%s", node->string, node->nul_bytes ? " with a NUL" : "");
        return text;
    case OG_CONFIG_LIST: snprintf(text, OG_WHAT_TEXT, "a list of %lld", (long long)node->size); return text;
    case OG_CONFIG_MAP: snprintf(text, OG_WHAT_TEXT, "a map of %lld keys", (long long)node->size); return text;
    default: return "nothing";
    }
}

static og_status fail_kind(const og_config *node, const char *wanted, const char *hint, og_error *err) {
    char where[OG_WHERE_TEXT], what[OG_WHAT_TEXT];
    return og_fail(err, OG_EINVAL, "%s: wants %s, not %s%s", og_config_where(node, where), wanted,
                   og_config_what(node, what), hint);
}

og_status og_config_bool(const og_config *node, int32_t *out, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_BOOL) return fail_kind(node, "true or false", "", err);
    *out = node->boolean;
    return OG_OK;
}

og_status og_config_i64(const og_config *node, int64_t *out, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_INTEGER) {
        char hint[64] = "";
        double real = og_config_kind(node) == OG_CONFIG_REAL ? node->real : 0.5;
        if (real > -9e15 && real < 9e15 && (double)(int64_t)real == real)
            snprintf(hint, sizeof hint, " (write %lld)", (long long)real);
        return fail_kind(node, "an integer", hint, err);
    }
    *out = node->integer;
    return OG_OK;
}

og_status og_config_f64(const og_config *node, double *out, og_error *err) {
    int32_t kind = og_config_kind(node);
    if (kind != OG_CONFIG_REAL && kind != OG_CONFIG_INTEGER) return fail_kind(node, "a number", "", err);
    *out = kind == OG_CONFIG_REAL ? node->real : (double)node->integer;
    return OG_OK;
}

og_status og_config_string(const og_config *node, const char **out, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_STRING) return fail_kind(node, "text", " (quote it)", err);
    if (node->nul_bytes) return fail_kind(node, "text without a NUL", "", err);
    *out = node->string;
    return OG_OK;
}

og_status og_config_text(const og_config *node, const char **out, int64_t *bytes, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_STRING) return fail_kind(node, "text", " (quote it)", err);
    *out = node->string;
    *bytes = node->nul_bytes ? node->nul_bytes : (int64_t)strlen(node->string);
    return OG_OK;
}
