/* fixtures.h: picture and sound files built byte by byte, so that a test's input is in the test. */
#ifndef OMNIGRAM_TEST_FIXTURES_H
#define OMNIGRAM_TEST_FIXTURES_H

#include "test.h"

#include <omnigram/modalities.h>

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bytes {
    unsigned char data[70000];
    int64_t n;
} bytes;

static inline void put(bytes *b, const void *data, size_t n) {
    CHECK(b->n + (int64_t)n <= (int64_t)sizeof b->data);
    if (n) memcpy(b->data + b->n, data, n);
    b->n += (int64_t)n;
}
static inline void put_be32(bytes *b, uint32_t v) {
    const unsigned char p[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16), (unsigned char)(v >> 8),
                                (unsigned char)v};
    put(b, p, 4);
}
static inline void put_le(bytes *b, uint32_t v, size_t n) {
    const unsigned char p[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 24)};
    put(b, p, n);
}

/* ---- PNG: stored (uncompressed) deflate blocks; plain bitwise CRC and Adler ---- */
static inline void png_chunk(bytes *b, const char *type, const void *data, size_t n) {
    put_be32(b, (uint32_t)n);
    int64_t start = b->n;
    put(b, type, 4);
    put(b, data, n);
    uint32_t crc = 0xFFFFFFFF;
    for (int64_t i = start; i < b->n; i++) {
        crc ^= b->data[i];
        for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    put_be32(b, ~crc);
}
static inline void png_begin(bytes *b, uint32_t w, uint32_t h, int depth, int colour) {
    bytes header = {.n = 0};
    b->n = 0;
    put(b, "\x89PNG\r\n\x1a\n", 8);
    put_be32(&header, w);
    put_be32(&header, h);
    const unsigned char rest[5] = {(unsigned char)depth, (unsigned char)colour, 0, 0, 0};
    put(&header, rest, 5);
    png_chunk(b, "IHDR", header.data, 13);
}
/* rows: filter byte 0 and samples of each row, already laid out */
static inline void png_end(bytes *b, const void *rows, size_t n) {
    static bytes z;
    const unsigned char *p = rows;
    uint32_t a = 1, c = 0;
    z.n = 0;
    put(&z, "\x78\x01\x01", 3);
    put_le(&z, (uint32_t)n, 2);
    put_le(&z, ~(uint32_t)n & 0xFFFF, 2);
    put(&z, rows, n);
    for (size_t i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        c = (c + a) % 65521;
    }
    put_be32(&z, c << 16 | a);
    png_chunk(b, "IDAT", z.data, (size_t)z.n);
    png_chunk(b, "IEND", "", 0);
}
/* colour: 0 gray, 2 RGB, 4 gray + alpha, 6 RGBA; samples [h][w][channels] of 8 or 16 bits, big-endian */
static inline void png(bytes *b, uint32_t w, uint32_t h, int depth, int colour, const void *samples) {
    static unsigned char rows[66000];
    size_t channels = colour == 0   ? 1
                      : colour == 2 ? 3
                      : colour == 4 ? 2
                                    : 4,
           row = (size_t)w * channels * (size_t)depth / 8;
    CHECK((row + 1) * h <= 65535);
    for (size_t y = 0; y < h; y++) {
        rows[y * (row + 1)] = 0;
        memcpy(rows + y * (row + 1) + 1, (const char *)samples + y * row, row);
    }
    png_begin(b, w, h, depth, colour);
    png_end(b, rows, (row + 1) * h);
}

/* ---- JPEG: 16 x 8 gray, the left half black, the right half white, by DC terms alone ----
 * All quantisers 8; one DC code '0' for category 8, one AC code '0' for end of block. Block 1: DC -128 (category 8,
 * bits 01111111). Block 2: difference +255 (bits 11111111). Bits: 0 01111111 0 | 0 11111111 0, filled with ones.
 * orientation 0: no EXIF. */
static inline void jpeg(bytes *b, int orientation) {
    unsigned char table[65];
    b->n = 0;
    put(b, "\xFF\xD8", 2);
    if (orientation) {
        const unsigned char exif[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,
                                      'M',  'M',  0, 42, 0,   0,   0,   8,   0, 1,
                                      0x01, 0x12, 0, 3,  0,   0,   0,   1,   0, (unsigned char)orientation,
                                      0,    0,    0, 0,  0,   0};
        put(b, exif, sizeof exif);
    }
    table[0] = 0;
    memset(table + 1, 8, 64);
    put(b, "\xFF\xDB\x00\x43", 4);
    put(b, table, 65);
    put(b, "\xFF\xC0\x00\x0B\x08\x00\x08\x00\x10\x01\x01\x11\x00", 13);
    put(b, "\xFF\xC4\x00\x14\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08", 22);
    put(b, "\xFF\xC4\x00\x14\x10\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x00", 22);
    put(b, "\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00", 10);
    put(b, "\x3F\x9F\xEF\xFF\xD9", 5);
}
/* The header of a CMYK JPEG with or without Adobe's marker: enough to be judged. */
static inline void jpeg_cmyk(bytes *b, int adobe) {
    b->n = 0;
    put(b, "\xFF\xD8", 2);
    if (adobe)
        put(b,
            "\xFF\xEE\x00\x0E"
            "Adobe"
            "\x00\x64\x00\x00\x00\x00\x00",
            16);
    put(b, "\xFF\xC0\x00\x14\x08\x00\x01\x00\x01\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00", 22);
    put(b, "\xFF\xDA\x00\x0E\x04\x01\x00\x02\x00\x03\x00\x04\x00\x00\x3F\x00", 16);
    put(b, "\x00\xFF\xD9", 3);
}

/* ---- WAV: format 1 (integers) or 3 (floats) ---- */
static inline void wav_claim(bytes *b, int format, int channels, int rate, int bits, const void *data, uint32_t n,
                             uint32_t claimed) {
    b->n = 0;
    put(b, "RIFF", 4);
    put_le(b, 36 + claimed, 4);
    put(b, "WAVEfmt ", 8);
    put_le(b, 16, 4);
    put_le(b, (uint32_t)format, 2);
    put_le(b, (uint32_t)channels, 2);
    put_le(b, (uint32_t)rate, 4);
    put_le(b, (uint32_t)(rate * channels * bits / 8), 4);
    put_le(b, (uint32_t)(channels * bits / 8), 2);
    put_le(b, (uint32_t)bits, 2);
    put(b, "data", 4);
    put_le(b, claimed, 4);
    put(b, data, n);
    if (n & 1) put(b, "", 1);
}
static inline void wav(bytes *b, int format, int channels, int rate, int bits, const void *data, uint32_t n) {
    wav_claim(b, format, channels, rate, bits, data, n, n);
}

/* ---- configs, folders ---- */
static inline og_config *yaml(const char *text) {
    og_config *config = NULL;
    og_error err = {0};
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "test", &config, &err));
    return config;
}
static inline og_modality_impl *make(const og_modality_type *type, const char *text) {
    og_config *config = yaml(text);
    og_modality_impl *impl = NULL;
    og_error err = {0};
    CHECK_OK(type->create(config, &impl, &err));
    og_config_free(config);
    return impl;
}
static inline char *temporary_folder(void) {
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/omnigram-test-XXXXXX");
    CHECK(mkdtemp(folder));
    return folder;
}
static inline void remove_tree(const char *folder) {
    char command[512];
    CHECK(!strncmp(folder, "/tmp/omnigram-test-", 19));
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}
static inline void write_file(const char *folder, const char *name, const void *data, int64_t n) {
    char path[600];
    og_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    CHECK_OK(og_folder_make(path, &err));
    *slash = '/';
    CHECK_OK(og_file_write(path, data, n, &err));
}

#endif
