/* config_write_yaml.c: a config tree as YAML that both YAML 1.2 and 1.1 readers take as the same values. */
#include "config_tree.h"

#include <omnigram/memory.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST_KEY 900 /* libyaml takes no simple key over 1024 */

static int is_plain(const char *string) {
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}; /* of YAML 1.1 */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-./+";
    if (!*string || (!strchr(letters, *string) && *string != '/') || string[strspn(string, others)]) return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(string, words[i]) == 0) return 0;
    return 1;
}

static og_status put_string(og_text *text, const char *string, og_error *err) {
    return is_plain(string) ? og_text_put(text, string, err) : og_text_quoted(text, string, 1, err);
}

static og_status put_real(og_text *text, double value, og_error *err) {
    char number[OG_NUMBER_TEXT];
    og_scalar_real(value, number);
    if (isnan(value)) return og_text_put(text, ".nan", err);
    if (isinf(value)) return og_text_put(text, value < 0 ? "-.inf" : ".inf", err);
    char *e = strchr(number, 'e');
    if (e && !strchr(number, '.')) { /* YAML 1.1 takes 1e-05 for a string, but not 1.0e-05 */
        OG_TRY(og_text_add(text, number, e - number, err));
        OG_TRY(og_text_put(text, ".0", err));
        return og_text_put(text, e, err);
    }
    return og_text_put(text, number, err);
}

static og_status put_scalar(og_text *text, const og_config *node, og_error *err) {
    char number[OG_NUMBER_TEXT];
    switch (og_config_kind(node)) {
    case OG_CONFIG_BOOL: return og_text_put(text, node->boolean ? "true" : "false", err);
    case OG_CONFIG_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)node->integer);
        return og_text_put(text, number, err);
    case OG_CONFIG_REAL: return put_real(text, node->real, err);
    case OG_CONFIG_STRING:
        if (node->nul_bytes) return og_fail(err, OG_EINVAL, "%s: a text with a NUL", OG_WHERE(node));
        return put_string(text, node->string, err);
    case OG_CONFIG_LIST: return og_text_put(text, "[]", err); /* empty ones only */
    case OG_CONFIG_MAP: return og_text_put(text, "{}", err);
    default: return og_text_put(text, "null", err);
    }
}

static int is_leaf(const og_config *node) { return og_config_size(node) == 0; }

static int is_flow(const og_config *node) {
    if (node->kind != OG_CONFIG_LIST) return 0;
    for (int64_t i = 0; i < node->size; i++)
        if (!is_leaf(node->entries[i].value)) return 0;
    return 1;
}

static og_status put_flow(og_text *text, const og_config *list, og_error *err) {
    OG_TRY(og_text_put(text, "[", err));
    for (int64_t i = 0; i < list->size; i++) {
        if (i) OG_TRY(og_text_put(text, ", ", err));
        OG_TRY(put_scalar(text, list->entries[i].value, err));
    }
    return og_text_put(text, "]", err);
}

static og_status indent(og_text *text, int depth, og_error *err) {
    for (int i = 0; i < depth; i++) OG_TRY(og_text_put(text, "  ", err));
    return OG_OK;
}

/* Lines of a block at depth. first: the cursor stands behind "- " of its parent already. */
static og_status put_block(og_text *text, const og_config *node, int depth, int first, og_error *err) {
    for (int64_t i = 0; i < node->size; i++) {
        const og_entry *entry = &node->entries[i];
        if (!first || i) OG_TRY(indent(text, depth, err));
        if (node->kind == OG_CONFIG_MAP) {
            int64_t begin = text->bytes;
            OG_TRY(put_string(text, entry->key, err));
            if (text->bytes - begin > LONGEST_KEY) {
                text->bytes = begin;
                OG_TRY(og_text_put(text, "? ", err));
                OG_TRY(put_string(text, entry->key, err));
                OG_TRY(og_text_put(text, "\n", err));
                OG_TRY(indent(text, depth, err));
            }
            OG_TRY(og_text_put(text, ":", err));
        } else {
            OG_TRY(og_text_put(text, "-", err));
        }
        if (is_leaf(entry->value) || is_flow(entry->value)) {
            OG_TRY(og_text_put(text, " ", err));
            OG_TRY(is_leaf(entry->value) ? put_scalar(text, entry->value, err) : put_flow(text, entry->value, err));
            OG_TRY(og_text_put(text, "\n", err));
        } else if (node->kind == OG_CONFIG_LIST) {
            OG_TRY(og_text_put(text, " ", err));
            OG_TRY(put_block(text, entry->value, depth + 1, 1, err));
        } else {
            OG_TRY(og_text_put(text, "\n", err));
            OG_TRY(put_block(text, entry->value, depth + 1, 0, err));
        }
    }
    return OG_OK;
}

static og_status put_root(og_text *text, const og_config *node, og_error *err) {
    if (!node || is_leaf(node) || is_flow(node)) {
        OG_TRY(!node || is_leaf(node) ? put_scalar(text, node, err) : put_flow(text, node, err));
        return og_text_put(text, "\n", err);
    }
    return put_block(text, node, 0, 0, err);
}

og_status og_config_to_yaml(const og_config *node, char **out, og_error *err) {
    og_text text = {0};
    og_status status = put_root(&text, node, err);
    if (status == OG_OK)
        *out = text.data;
    else
        og_release(text.data);
    return status;
}
