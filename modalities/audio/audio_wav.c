/* audio_wav.c: walks the chunks of a RIFF/WAVE file. */
#include "audio/audio_wav.h"

#include <string.h>

void og_wav_probe(const void *bytes, int64_t n, og_wav_header *out) {
    const unsigned char *s = bytes;
    *out = (og_wav_header){0};
    if (n < 12 || (memcmp(s, "RIFF", 4) && memcmp(s, "RIFX", 4)) || memcmp(s + 8, "WAVE", 4)) return;
    int32_t big = s[3] == 'X';
    for (int64_t at = 12; at + 8 <= n;) {
        const unsigned char *p = s + at + 4;
        int64_t size = big ? (int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]
                           : (int64_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
        if (!memcmp(s + at, "fmt ", 4) && at + 8 + 14 <= n) {
            const unsigned char *align = s + at + 8 + 12;
            out->frame_bytes = big ? align[0] << 8 | align[1] : align[1] << 8 | align[0];
        }
        if (!memcmp(s + at, "data", 4)) {
            out->found = 1;
            out->claimed_bytes = size >= 0x7FFFFF00 ? -1 : size;
            out->present_bytes = n - at - 8;
            return;
        }
        at += 8 + size + (size & 1);
    }
}
