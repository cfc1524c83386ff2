/* tuxpaint_captions.c: reads a caption file. */
#include "data/tuxpaint.h"

#include "utf8.h"

#include <string.h>

const char *og_captions_find(const og_captions *captions, const char *language) {
    for (int64_t i = 0; i < captions->n; i++)
        if (!strcmp(captions->list[i].language, language)) return captions->list[i].text;
    return NULL;
}

static og_status add(og_captions *out, const char *language, int64_t language_bytes, const char *text, int64_t bytes,
                     og_strings *strings, og_error *err) {
    while (bytes && (text[0] == ' ' || text[0] == '\t')) text++, bytes--;
    while (bytes && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t' || text[bytes - 1] == '\r')) bytes--;
    if (bytes == 0 || og_utf8_fault(text, bytes) >= 0 || memchr(text, 0, (size_t)bytes)) {
        out->bad_lines++;
        return OG_OK;
    }
    og_caption made = {og_strings_add(strings, language, language_bytes), og_strings_add(strings, text, bytes)};
    if (!made.language || !made.text) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory for captions");
    if (og_captions_find(out, made.language)) {
        out->bad_lines++;
        return OG_OK;
    }
    OG_TRY(og_grow((void **)&out->list, &out->capacity, out->n + 1, sizeof *out->list, err));
    out->list[out->n++] = made;
    return OG_OK;
}

static int32_t is_language(const char *text, int64_t n) { /* "pt_BR", "ca@valencia", "zh_CN" */
    if (n < 2 || n > 24) return 0;
    for (int64_t i = 0; i < n; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@' || c == '-')) return 0;
    }
    return 1;
}

og_status og_captions_parse(const char *text, int64_t bytes, og_strings *strings, og_captions *out, og_error *err) {
    og_captions made = {0};
    og_status status = OG_OK;
    int64_t at = bytes >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0;
    for (int64_t line = 0; at < bytes && status == OG_OK; line++) {
        const char *start = text + at, *end = memchr(start, '\n', (size_t)(bytes - at));
        int64_t n = end ? end - start : bytes - at;
        at += n + (end != NULL);
        if (n && start[n - 1] == '\r') n--;
        if (line == 0) {
            status = add(&made, "en", 2, start, n, strings, err);
            continue;
        }
        if (n == 0) continue;
        const char *equals = memchr(start, '=', (size_t)n);
        int64_t key = equals ? equals - start : 0;
        if (key < 7 || memcmp(equals - 5, ".utf8", 5) || !is_language(start, key - 5)) {
            made.bad_lines++;
            continue;
        }
        status = add(&made, start, key - 5, equals + 1, n - key - 1, strings, err);
    }
    if (status != OG_OK) {
        og_release(made.list);
        return status;
    }
    *out = made;
    return OG_OK;
}
