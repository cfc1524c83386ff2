/* image_png.c: walks the chunks of a PNG file (ISO/IEC 15948, section 5). */
#include "image/image.h"

#include <string.h>

static int64_t be32(const unsigned char *p) { return (int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }

/* CRC-32 of ISO 3309, bit-reversed polynomial 0xEDB88320, four bits at a time. */
static uint32_t crc32(const unsigned char *p, int64_t n) {
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = 0xFFFFFFFF;
    for (int64_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = table[crc & 15] ^ crc >> 4;
        crc = table[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}

og_status og_png_probe(const char *place, const unsigned char *bytes, int64_t n, og_picture_header *out,
                       og_error *err) {
    int64_t at = 8;
    int32_t data = 0;
    for (;;) {
        int64_t length = at + 12 > n ? 0 : be32(bytes + at);
        if (at + 12 + length > n)
            return og_fail(err, OG_EFORMAT, "%s: truncated PNG: %lld bytes, but its data reach to %lld", place,
                           (long long)n, (long long)(at + 12 + length));
        const unsigned char *type = bytes + at + 4;
        if (crc32(type, length + 4) != (uint32_t)be32(type + 4 + length))
            return og_fail(err, OG_EFORMAT, "%s: damaged PNG: wrong check sum of the chunk at byte %lld of %lld", place,
                           (long long)at, (long long)n);
        if (at == 8) {
            if (memcmp(type, "IHDR", 4) || length != 13)
                return og_fail(err, OG_EFORMAT, "%s: PNG without an IHDR of 13 bytes", place);
            out->width = be32(type + 4);
            out->height = be32(type + 8);
        } else if (!memcmp(type, "acTL", 4)) {
            out->animated = 1;
        } else if (!memcmp(type, "IDAT", 4)) {
            data = 1;
        } else if (!memcmp(type, "eXIf", 4)) {
            out->exif_offset = at + 8;
            out->exif_bytes = length;
        } else if (!memcmp(type, "IEND", 4)) {
            break;
        }
        at += 12 + length;
    }
    if (!data) return og_fail(err, OG_EFORMAT, "%s: PNG without picture data (no IDAT)", place);
    return OG_OK;
}

int64_t og_png_essence(const unsigned char *bytes, int64_t n, unsigned char *out) {
    static const char kept[][5] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
    int64_t written = 8;
    memcpy(out, bytes, 8);
    for (int64_t at = 8; at + 12 <= n;) {
        int64_t whole = 12 + be32(bytes + at);
        if (at + whole > n) break;
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (!memcmp(bytes + at + 4, kept[k], 4)) {
                memcpy(out + written, bytes + at, (size_t)whole);
                written += whole;
            }
        if (!memcmp(bytes + at + 4, "IEND", 4)) break;
        at += whole;
    }
    return written;
}
