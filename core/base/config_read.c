/* config_read.c: a map into a struct by a table of keys; every fault of a config is found here. */
#include "config_fallback.h"
#include "config_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "file:12: a.b" of a key below map, for keys that have no node. No override set it, so none is named. */
static const char *key_where(const og_config *map, const char *key, char text[OG_WHERE_TEXT]) {
    char path[OG_PATH_TEXT] = "";
    if (map) og_config_path(map, path);
    int overridden = map && !strncmp(map->place, "--", 2);
    snprintf(text, OG_WHERE_TEXT, "%.120s%s%s%s%.70s",
             !map         ? "config"
             : overridden ? ""
                          : map->place,
             overridden ? "" : ": ", path, *path ? "." : "", key);
    return text;
}

/* v < d and v > d without rounding v. */
static int below(int64_t v, double d) {
    if (d >= 0x1p63) return 1;
    return d < -0x1p63 ? 0 : v < (int64_t)ceil(d);
}
static int above(int64_t v, double d) {
    if (d >= 0x1p63) return 0;
    return d < -0x1p63 ? 1 : v > (int64_t)floor(d);
}

static int has_limits(const og_key *key) { return key->least != 0 || key->most != 0; }

static const char *limit_text(double limit, char text[OG_NUMBER_TEXT]) {
    if (fabs(limit) < 0x1p63 && limit == floor(limit))
        snprintf(text, OG_NUMBER_TEXT, "%lld", (long long)limit);
    else
        og_scalar_real(limit, text);
    return text;
}

static og_status fail_limits(const og_config *node, const og_key *key, const char *unit, og_error *err) {
    char where[OG_WHERE_TEXT], what[OG_WHAT_TEXT], least[OG_NUMBER_TEXT], most[OG_NUMBER_TEXT];
    return og_fail(err, OG_EINVAL, "%s: %s is out of limits: %s .. %s%s", og_config_where(node, where),
                   og_config_what(node, what), limit_text(key->least, least), limit_text(key->most, most), unit);
}

static og_status read_integer(const og_config *node, const og_key *key, int64_t *out, og_error *err) {
    int64_t value;
    OG_TRY(og_config_i64(node, &value, err));
    if (has_limits(key) && (below(value, key->least) || above(value, key->most)))
        return fail_limits(node, key, "", err);
    *out = value;
    return OG_OK;
}

static og_status read_list(const og_config *node, const og_key *key, og_i64_list *out, og_error *err) {
    if (node->kind == OG_CONFIG_INTEGER) {
        int64_t value;
        OG_TRY(read_integer(node, key, &value, err));
        *out = (og_i64_list){&node->integer, 1};
        return OG_OK;
    }
    if (node->kind != OG_CONFIG_LIST) {
        char where[OG_WHERE_TEXT], what[OG_WHAT_TEXT];
        return og_fail(err, OG_EINVAL, "%s: wants a list of integers, not %s", og_config_where(node, where),
                       og_config_what(node, what));
    }
    for (int64_t i = 0; i < node->size; i++) {
        int64_t value;
        OG_TRY(read_integer(node->entries[i].value, key, &value, err));
    }
    *out = (og_i64_list){node->integers, node->size};
    return OG_OK;
}

/* Index of word in "a|b|c", or -1; *nearest names the choice it may have meant. */
static int32_t find_choice(const char *choices, const char *word, char nearest[64]) {
    int32_t index = 0, best = -1;
    nearest[0] = 0;
    for (const char *p = choices;; index++) {
        size_t n = strcspn(p, "|");
        if (strlen(word) == n && strncmp(p, word, n) == 0) return index;
        int32_t distance = og_nearest_distance(word, p, n);
        if (distance >= 0 && (best < 0 || distance < best)) {
            best = distance;
            snprintf(nearest, 64, "%.*s", (int)n, p);
        }
        if (!p[n]) return -1;
        p += n + 1;
    }
}

static og_status read_choice(const og_config *node, const og_key *key, int32_t *out, og_error *err) {
    char nearest[64], number[OG_NUMBER_TEXT], where[OG_WHERE_TEXT], what[OG_WHAT_TEXT];
    const char *word = NULL;
    if (node->kind == OG_CONFIG_STRING && !node->nul_bytes) word = node->string;
    if (node->kind == OG_CONFIG_BOOL) word = node->boolean ? "true" : "false";
    if (node->kind == OG_CONFIG_INTEGER) {
        snprintf(number, sizeof number, "%lld", (long long)node->integer);
        word = number;
    }
    int32_t index = word ? find_choice(key->choices, word, nearest) : -1;
    if (index < 0)
        return og_fail(err, OG_EINVAL, "%s: %s is none of %s%s%s%s", og_config_where(node, where),
                       og_config_what(node, what), key->choices, word && nearest[0] ? "; did you mean '" : "",
                       word ? nearest : "", word && nearest[0] ? "'?" : "");
    *out = index;
    return OG_OK;
}

static og_status read_string(const og_config *node, const og_key *key, const char **out, og_error *err) {
    const char *value;
    OG_TRY(og_config_string(node, &value, err));
    double bytes = (double)strlen(value);
    if (has_limits(key) && (bytes < key->least || bytes > key->most)) return fail_limits(node, key, " bytes", err);
    *out = value;
    return OG_OK;
}

static og_status read_real(const og_config *node, const og_key *key, double *out, og_error *err) {
    double value;
    OG_TRY(og_config_f64(node, &value, err));
    if (has_limits(key) && !(value >= key->least && value <= key->most)) return fail_limits(node, key, "", err);
    *out = value;
    return OG_OK;
}

static og_status read_node(const og_config *node, const og_key *key, void *field, og_error *err) {
    switch (key->type) {
    case OG_KEY_I64: return read_integer(node, key, field, err);
    case OG_KEY_F64: return read_real(node, key, field, err);
    case OG_KEY_BOOL: return og_config_bool(node, field, err);
    case OG_KEY_STRING: return read_string(node, key, field, err);
    case OG_KEY_CHOICE: return read_choice(node, key, field, err);
    case OG_KEY_I64_LIST: return read_list(node, key, field, err);
    case OG_KEY_NODE: *(const og_config **)field = node; return OG_OK;
    default: return og_fail(err, OG_EINTERNAL, "key '%s' has the unknown type %d", key->name, (int)key->type);
    }
}

static void set_absent(const og_key *key, void *field) {
    switch (key->type) {
    case OG_KEY_I64: *(int64_t *)field = 0; break;
    case OG_KEY_F64: *(double *)field = 0; break;
    case OG_KEY_BOOL:
    case OG_KEY_CHOICE: *(int32_t *)field = 0; break;
    case OG_KEY_STRING: *(const char **)field = NULL; break;
    case OG_KEY_I64_LIST: *(og_i64_list *)field = (og_i64_list){0}; break;
    case OG_KEY_NODE: *(const og_config **)field = NULL; break;
    default: break;
    }
}

/* The default goes through the same checks as a value, so that a wrong table fails its first test. */
static og_status read_fallback(const og_key *key, void *field, og_error *err) {
    if (!*key->fallback) {
        set_absent(key, field);
        return OG_OK;
    }
    if (key->type == OG_KEY_STRING) {
        *(const char **)field = key->fallback;
        return OG_OK;
    }
    og_config node = {.kind = OG_CONFIG_STRING, .string = key->fallback, .place = "(default)"};
    og_status status = OG_OK;
    if (key->type == OG_KEY_I64_LIST)
        status = og_fallback_list(key->fallback, field, err);
    else if (key->type == OG_KEY_NODE)
        status = og_fail(err, OG_EINTERNAL, "a node has no default text");
    else {
        if (key->type != OG_KEY_CHOICE) status = og_scalar_resolve(&node, key->fallback, err);
        if (status == OG_OK) status = read_node(&node, key, field, err);
    }
    if (status != OG_OK && status != OG_ENOMEM)
        return og_fail_at(err, OG_EINTERNAL, "the key table's default of '%s'", key->name);
    return status;
}

static og_status check_unknown(const og_config *map, const og_key *keys, og_error *err) {
    for (int64_t i = 0; i < map->size; i++) {
        const char *word = map->entries[i].key, *nearest = NULL;
        int32_t best = -1;
        const og_key *key = keys;
        for (; key->name && strcmp(key->name, word) != 0; key++) {
            int32_t distance = og_nearest_distance(word, key->name, strlen(key->name));
            if (distance >= 0 && (best < 0 || distance < best)) {
                best = distance;
                nearest = key->name;
            }
        }
        if (key->name) continue;
        char where[OG_WHERE_TEXT], known[160] = "";
        og_config_where(map->entries[i].value, where);
        if (nearest) return og_fail(err, OG_EINVAL, "%s: unknown key; did you mean '%s'?", where, nearest);
        size_t n = 0;
        for (key = keys; key->name && n < sizeof known; key++)
            n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", key == keys ? "" : ", ", key->name);
        return og_fail(err, OG_EINVAL, "%s: unknown key; known are: %s%s", where, known,
                       n >= sizeof known ? " ..." : "");
    }
    return OG_OK;
}

og_status og_config_read(const og_config *map, const og_key *keys, void *out, og_error *err) {
    char where[OG_WHERE_TEXT], what[OG_WHAT_TEXT];
    int32_t kind = og_config_kind(map);
    if (kind != OG_CONFIG_NULL && kind != OG_CONFIG_MAP) /* "image:" with nothing behind it is an empty map */
        return og_fail(err, OG_EINVAL, "%s: wants a map (key: value), not %s", og_config_where(map, where),
                       og_config_what(map, what));
    if (kind == OG_CONFIG_MAP) OG_TRY(check_unknown(map, keys, err));
    for (const og_key *key = keys; key->name; key++) {
        void *field = (char *)out + key->offset;
        int64_t i = kind == OG_CONFIG_MAP ? og_tree_find(map, key->name, strlen(key->name)) : -1;
        const og_config *node = i >= 0 ? map->entries[i].value : NULL;
        if (node && node->kind != OG_CONFIG_NULL)
            OG_TRY(read_node(node, key, field, err));
        else if (key->fallback)
            OG_TRY(read_fallback(key, field, err));
        else
            return og_fail(err, OG_EINVAL, "%s: missing; it is %s", key_where(map, key->name, where),
                           key->help ? key->help : "required");
    }
    return OG_OK;
}
