/* audio_payload.c: the bytes that are sound (Ogg: RFC 3533, section 6; WAV: the data chunk). */
#include "audio/audio_payload.h"
#include "audio/audio_wav.h"

#include <string.h>

static og_status add_pages(const unsigned char *s, int64_t n, og_digest *digest, int64_t *bodies, og_error *err) {
    static const unsigned char header_position[8] = {0};
    for (int64_t at = 0; at + 27 <= n && !memcmp(s + at, "OggS", 4);) {
        int64_t segments = s[at + 26], body = 0;
        if (at + 27 + segments > n) break;
        for (int64_t i = 0; i < segments; i++) body += s[at + 27 + i];
        int64_t start = at + 27 + segments;
        if (start + body > n) break;
        if (memcmp(s + at + 6, header_position, 8)) {
            OG_TRY(og_digest_add(digest, s + start, body, err));
            *bodies += body;
        }
        at = start + body;
    }
    return OG_OK;
}

og_status og_sound_digest(const void *bytes, int64_t n, char out[OG_DIGEST_TEXT], og_error *err) {
    og_wav_header wav;
    og_wav_probe(bytes, n, &wav);
    if (wav.found) return og_digest_of((const char *)bytes + n - wav.present_bytes, wav.present_bytes, out, err);
    og_digest *digest = NULL;
    int64_t bodies = 0;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = add_pages(bytes, n, digest, &bodies, err);
    if (status == OG_OK && bodies) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status == OG_OK ? og_digest_of(bytes, n, out, err) : status;
}
