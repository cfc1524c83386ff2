/* utf8.c: strict UTF-8 validation. */
#include "utf8.h"

int32_t og_utf8_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

int64_t og_utf8_fault(const char *text, int64_t bytes) {
    const unsigned char *s = (const unsigned char *)text;
    int64_t i = 0;
    while (i < bytes) {
        unsigned char c = s[i];
        if (c < 0x80) {
            i++;
            continue;
        }
        if (c < 0xC2 || c > 0xF4) return i; /* continuation, overlong two-byte form, above U+10FFFF */
        int32_t n = og_utf8_length(c);
        /* the second byte's range rules out overlong forms, surrogates and values above U+10FFFF */
        unsigned char least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
        unsigned char most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
        for (int32_t k = 1; k < n; k++) {
            if (i + k >= bytes || s[i + k] < least || s[i + k] > most) return i;
            least = 0x80;
            most = 0xBF;
        }
        i += n;
    }
    return -1;
}

og_status og_utf8_check(const char *place, const char *text, int64_t bytes, og_error *err) {
    int64_t fault = og_utf8_fault(text, bytes);
    if (fault < 0) return OG_OK;
    return og_fail(err, OG_EFORMAT, "%s: not UTF-8: byte 0x%02x at offset %lld of %lld", place,
                   (unsigned char)text[fault], (long long)fault, (long long)bytes);
}
