/* image_header.c: size, components and EXIF of picture files, so that bombs and cut files never reach a decoder. */
#include "image/image.h"

#include <string.h>

typedef struct view {
    const char *place;
    const unsigned char *bytes;
    int64_t n;
    og_error *err;
} view;

static uint32_t be32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static uint32_t be16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t le32(const unsigned char *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}
static uint32_t le16(const unsigned char *p) { return (uint32_t)p[1] << 8 | p[0]; }

static og_status cut(const view *v, const char *format, int64_t needed) {
    return og_fail(v->err, OG_EFORMAT, "%s: truncated %s: %lld bytes, but its data reach to %lld", v->place, format,
                   (long long)v->n, (long long)needed);
}

static og_status probe_jpeg(const view *v, og_picture_header *out) {
    int64_t at = 2;
    while (at + 4 <= v->n) {
        if (v->bytes[at] != 0xFF)
            return og_fail(v->err, OG_EFORMAT, "%s: JPEG marker expected at byte %lld", v->place, (long long)at);
        unsigned marker = v->bytes[at + 1];
        if (marker == 0xFF) { /* fill byte */
            at++;
            continue;
        }
        int64_t length = be16(v->bytes + at + 2);
        const unsigned char *body = v->bytes + at + 4;
        if (marker == 0xD9 || length < 2 || at + 2 + length > v->n) break;
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC && length >= 8) {
            out->height = be16(body + 1);
            out->width = be16(body + 3);
            out->components = body[5];
        } else if (marker == 0xE1 && length >= 8 + 8 && !memcmp(body, "Exif\0\0", 6) && !out->exif_bytes) {
            out->exif_offset = at + 10;
            out->exif_bytes = length - 8;
        } else if (marker == 0xEE && length >= 14 && !memcmp(body, "Adobe", 5)) {
            out->adobe = 1;
        } else if (marker == 0xDA) {
            if (!out->components) break;
            /* The end marker may be followed by anything a camera appended, so look for it from behind. */
            for (int64_t i = v->n - 2; i >= at + 2 + length; i--)
                if (v->bytes[i] == 0xFF && v->bytes[i + 1] == 0xD9) return OG_OK;
            return og_fail(v->err, OG_EFORMAT, "%s: truncated JPEG: %lld bytes without an end marker", v->place,
                           (long long)v->n);
        }
        at += 2 + length;
    }
    return og_fail(v->err, OG_EFORMAT, "%s: truncated JPEG: its header ends at byte %lld of %lld", v->place,
                   (long long)at, (long long)v->n);
}

static og_status probe_bmp(const view *v, og_picture_header *out) {
    if (v->n < 30) return cut(v, "BMP", 30);
    int64_t data = le32(v->bytes + 10);
    if (le32(v->bytes + 14) == 12) {
        out->width = le16(v->bytes + 18);
        out->height = le16(v->bytes + 20);
    } else {
        int32_t height = (int32_t)le32(v->bytes + 22), width = (int32_t)le32(v->bytes + 18);
        out->width = width < 0 ? 0 : width;
        out->height = height < 0 ? -(int64_t)height : height; /* negative: rows run downwards */
        int64_t bits = le16(v->bytes + 28), compression = v->n >= 34 ? le32(v->bytes + 30) : 0;
        if (compression > 3)
            return og_fail(v->err, OG_EFORMAT, "%s: BMP with compression %lld; 0..3 are read", v->place,
                           (long long)compression);
        if (v->n >= 34 && compression == 0 && bits >= 1 && bits <= 32 && out->width < 1 << 24 &&
            out->height < 1 << 24) {
            int64_t end = data + (out->width * bits + 31) / 32 * 4 * out->height;
            if (end > v->n) return cut(v, "BMP", end);
        }
    }
    if (data > v->n) return cut(v, "BMP", data);
    return OG_OK;
}

static og_status probe_webp(const view *v, og_picture_header *out) {
    int64_t end = 8 + (int64_t)le32(v->bytes + 4);
    if (end > v->n || v->n < 30) return cut(v, "WebP", end > 30 ? end : 30);
    const unsigned char *chunk = v->bytes + 12;
    if (!memcmp(chunk, "VP8X", 4)) {
        out->animated = (chunk[8] & 2) != 0;
        out->width = 1 + (int64_t)(chunk[12] | chunk[13] << 8 | chunk[14] << 16);
        out->height = 1 + (int64_t)(chunk[15] | chunk[16] << 8 | chunk[17] << 16);
    } else if (!memcmp(chunk, "VP8L", 4)) {
        uint32_t bits = le32(chunk + 9);
        out->width = 1 + (int64_t)(bits & 0x3FFF);
        out->height = 1 + (int64_t)(bits >> 14 & 0x3FFF);
    } else {
        out->width = le16(chunk + 14) & 0x3FFF;
        out->height = le16(chunk + 16) & 0x3FFF;
    }
    return OG_OK;
}

/* P1..P6: kind, width, height and, but for bitmaps, the highest value as text; comments from # to the
 * end of the line. */
static og_status probe_pnm(const view *v, og_picture_header *out) {
    int64_t at = 2, values[3] = {0, 0, 0};
    int32_t bitmap = v->bytes[1] == '1' || v->bytes[1] == '4';
    for (int32_t k = 0; k < (bitmap ? 2 : 3); k++) {
        while (at < v->n && (v->bytes[at] == '#' || v->bytes[at] <= ' ')) {
            if (v->bytes[at] == '#')
                while (at < v->n && v->bytes[at] != '\n') at++;
            else
                at++;
        }
        int64_t start = at;
        while (at < v->n && v->bytes[at] >= '0' && v->bytes[at] <= '9' && values[k] < INT32_MAX)
            values[k] = values[k] * 10 + (v->bytes[at++] - '0');
        if (at == start)
            return og_fail(v->err, OG_EFORMAT, "%s: PNM without a width, a height and a highest value", v->place);
    }
    if (!bitmap && values[2] != 255 &&
        values[2] != 65535) /* the decoder scales others in some kinds and not in others */
        return og_fail(v->err, OG_EFORMAT, "%s: PNM with a highest value of %lld; 255 and 65535 are read", v->place,
                       (long long)values[2]);
    if (at < v->n && v->bytes[at] > ' ' && v->bytes[at] != '#')
        return og_fail(v->err, OG_EFORMAT, "%s: PNM with byte 0x%02x at offset %lld of its header", v->place,
                       v->bytes[at], (long long)at);
    out->width = values[0];
    out->height = values[1];
    if (v->bytes[1] == '5' || v->bytes[1] == '6') { /* binary: at least a byte a sample */
        int64_t samples =
            values[0] < 1 << 24 && values[1] < 1 << 24 ? values[0] * values[1] * (v->bytes[1] == '6' ? 3 : 1) : 0;
        if (samples > v->n - at) return cut(v, "PNM", at + samples);
    }
    return OG_OK;
}

static og_status probe_tiff(const view *v, og_picture_header *out) {
    int32_t little = v->bytes[0] == 'I';
    uint32_t (*u16)(const unsigned char *) = little ? le16 : be16;
    uint32_t (*u32)(const unsigned char *) = little ? le32 : be32;
    int64_t at = u32(v->bytes + 4);
    if (at + 2 > v->n) return cut(v, "TIFF", at + 2);
    int64_t entries = u16(v->bytes + at);
    if (at + 2 + 12 * entries > v->n) return cut(v, "TIFF", at + 2 + 12 * entries);
    for (int64_t i = 0; i < entries; i++) {
        const unsigned char *entry = v->bytes + at + 2 + 12 * i;
        uint32_t tag = u16(entry), value = u16(entry + 2) == 3 ? u16(entry + 8) : u32(entry + 8);
        if (tag == 256) out->width = value;
        if (tag == 257) out->height = value;
    }
    out->exif_offset = 0; /* the file itself is the TIFF structure */
    out->exif_bytes = v->n;
    return OG_OK;
}

og_status og_picture_probe(const char *place, const void *bytes, int64_t n, og_picture_header *out, og_error *err) {
    const view v = {place, bytes, n, err};
    og_picture_header found = {0};
    og_status status;
    if (n == 0) return og_fail(err, OG_EFORMAT, "%s: empty file (0 bytes)", place);
    if (n >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8)) {
        found.format = OG_PICTURE_PNG;
        status = og_png_probe(place, bytes, n, &found, err);
    } else if (n >= 3 && !memcmp(bytes, "\xFF\xD8\xFF", 3)) {
        found.format = OG_PICTURE_JPEG;
        status = probe_jpeg(&v, &found);
    } else if (n >= 2 && !memcmp(bytes, "BM", 2)) {
        found.format = OG_PICTURE_BMP;
        status = probe_bmp(&v, &found);
    } else if (n >= 12 && !memcmp(bytes, "RIFF", 4) && !memcmp(v.bytes + 8, "WEBP", 4)) {
        found.format = OG_PICTURE_WEBP;
        status = probe_webp(&v, &found);
    } else if (n >= 3 && v.bytes[0] == 'P' && v.bytes[1] >= '1' && v.bytes[1] <= '6' &&
               (v.bytes[2] <= ' ' || v.bytes[2] == '#')) {
        found.format = OG_PICTURE_PNM;
        status = probe_pnm(&v, &found);
    } else if (n >= 8 && (!memcmp(bytes, "II*\0", 4) || !memcmp(bytes, "MM\0*", 4))) {
        found.format = OG_PICTURE_TIFF;
        status = probe_tiff(&v, &found);
    } else {
        return og_fail(err, OG_EFORMAT,
                       "%s: not a picture this build reads (PNG, JPEG, BMP, WebP, PNM, TIFF); %lld bytes", place,
                       (long long)n);
    }
    if (status != OG_OK) return status;
    if (found.width <= 0 || found.height <= 0)
        return og_fail(err, OG_EFORMAT, "%s: picture of %lld x %lld pixels; each side must be at least 1", place,
                       (long long)found.width, (long long)found.height);
    *out = found;
    return OG_OK;
}
