/* text.h: a growing text, and strings quoted as JSON. */
#ifndef OMNIGRAM_BASE_TEXT_H
#define OMNIGRAM_BASE_TEXT_H

#include <omnigram/status.h>

typedef struct og_text {
    char *data; /* zero-terminated once anything was added; og_release it */
    int64_t bytes, capacity;
} og_text;

og_status og_text_add(og_text *text, const char *data, int64_t bytes, og_error *err) OG_MUST_USE;
og_status og_text_put(og_text *text, const char *string, og_error *err) OG_MUST_USE;
/* A quoted JSON string of valid UTF-8; yaml also escapes what YAML calls line breaks and unprintable. */
og_status og_text_quoted(og_text *text, const char *string, int yaml, og_error *err) OG_MUST_USE;
/* 1 when the string is UTF-8 as RFC 3629 has it: shortest forms, no surrogates, at most U+10FFFF. */
int og_text_is_utf8(const char *string);

#endif
