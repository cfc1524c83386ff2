/* text.c: a growing text, and strings quoted as JSON. */
#include "text.h"

#include <omnigram/memory.h>

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

/* Length of the valid sequence at p, or 0. */
static int sequence(const unsigned char *p) {
    if (p[0] < 0x80) return 1;
    int bytes = p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : p[0] >= 0xE0 && p[0] < 0xF0 ? 3 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : 0;
    for (int i = 1; i < bytes; i++)
        if ((p[i] & 0xC0) != 0x80) return 0; /* the zero at the end too */
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0;
    if (p[0] == 0xED && p[1] >= 0xA0) return 0;
    if (p[0] == 0xF0 && p[1] < 0x90) return 0;
    if (p[0] == 0xF4 && p[1] >= 0x90) return 0;
    return bytes;
}

int og_text_is_utf8(const char *string) {
    const unsigned char *p = (const unsigned char *)string;
    while (*p) {
        int bytes = sequence(p);
        if (!bytes) return 0;
        p += bytes;
    }
    return 1;
}
