/* config_write.c: a config tree as canonical JSON: the bytes of Python's
 * json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False). */
#include "config_tree.h"

#include <omnigram/memory.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

og_status og_text_add(og_text *text, const char *data, int64_t bytes, og_error *err) {
    void *grown = text->data;
    OG_TRY(og_grow(&grown, &text->capacity, text->bytes + bytes + 1, 1, err));
    text->data = grown;
    memcpy(text->data + text->bytes, data, (size_t)bytes);
    text->bytes += bytes;
    text->data[text->bytes] = 0;
    return OG_OK;
}

og_status og_text_put(og_text *text, const char *string, og_error *err) {
    return og_text_add(text, string, (int64_t)strlen(string), err);
}

/* The code point of valid UTF-8 at p (trees hold no other) and its length; stops at the zero whatever p is. */
static uint32_t decode(const unsigned char *p, int *bytes) {
    int wanted = p[0] < 0xC0 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t c = wanted == 1 ? p[0] : p[0] & (0x7Fu >> wanted);
    for (*bytes = 1; *bytes < wanted && p[*bytes]; ++*bytes) c = c << 6 | (p[*bytes] & 0x3F);
    return c;
}

/* Unprintable, or a line break that a YAML reader would fold. */
static int yaml_escapes(uint32_t c) {
    return (c >= 0x7F && c <= 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

/* The letter behind the backslash in JSON's short escapes, or 0. */
static char short_escape(uint32_t c) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c && c < 0x80 ? strchr(from, (int)c) : NULL;
    return found ? to[found - from] : 0;
}

og_status og_text_quoted(og_text *text, const char *string, int yaml, og_error *err) {
    OG_TRY(og_text_add(text, "\"", 1, err));
    int bytes;
    for (const char *p = string; *p; p += bytes) {
        uint32_t c = decode((const unsigned char *)p, &bytes);
        char escape[8];
        if (short_escape(c)) {
            snprintf(escape, sizeof escape, "\\%c", short_escape(c));
            OG_TRY(og_text_put(text, escape, err));
        } else if (c < 0x20 || (yaml && yaml_escapes(c))) {
            snprintf(escape, sizeof escape, "\\u%04x", c & 0xFFFF);
            OG_TRY(og_text_put(text, escape, err));
        } else {
            OG_TRY(og_text_add(text, p, bytes, err));
        }
    }
    return og_text_add(text, "\"", 1, err);
}

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
    case OG_CONFIG_STRING: return og_text_quoted(text, node->string, 0, err);
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
