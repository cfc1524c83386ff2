/* config_write.c: a config tree as canonical JSON: the bytes of Python's
 * json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False). */
#include "config_tree.h"

#include <omnigram/memory.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static og_status put_json(og_text *text, const og_config *node, og_error *err);

static og_status put_children(og_text *text, const og_config *node, og_error *err) {
    int map = node->kind == OG_CONFIG_MAP;
    OG_TRY(og_text_put(text, map ? "{" : "[", err));
    for (int64_t i = 0; i < node->size; i++) {
        const og_entry *entry = &node->entries[map ? node->order[i] : i];
        if (i) OG_TRY(og_text_put(text, ",", err));
        if (map) {
            OG_TRY(og_text_quoted(text, entry->key, 0, err));
            OG_TRY(og_text_put(text, ":", err));
        }
        OG_TRY(put_json(text, entry->value, err));
    }
    return og_text_put(text, map ? "}" : "]", err);
}

static og_status put_json(og_text *text, const og_config *node, og_error *err) {
    char number[OG_NUMBER_TEXT], where[OG_WHERE_TEXT];
    switch (og_config_kind(node)) {
    case OG_CONFIG_BOOL: return og_text_put(text, node->boolean ? "true" : "false", err);
    case OG_CONFIG_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)node->integer);
        return og_text_put(text, number, err);
    case OG_CONFIG_REAL:
        og_scalar_real(node->real, number);
        if (!isfinite(node->real))
            return og_fail(err, OG_EINVAL, "%s: JSON cannot say %s", og_config_where(node, where), number);
        return og_text_put(text, number, err);
    case OG_CONFIG_STRING:
        if (node->nul_bytes) return og_fail(err, OG_EINVAL, "%s: a text with a NUL", OG_WHERE(node));
        return og_text_quoted(text, node->string, 0, err);
    case OG_CONFIG_LIST:
    case OG_CONFIG_MAP: return put_children(text, node, err);
    default: return og_text_put(text, "null", err);
    }
}

og_status og_config_to_json(const og_config *node, char **out, og_error *err) {
    og_text text = {0};
    og_status status = put_json(&text, node, err);
    if (status == OG_OK)
        *out = text.data;
    else
        og_release(text.data);
    return status;
}
