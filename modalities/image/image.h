/* image.h: what the files of the image modality share. */
#ifndef OMNIGRAM_MODALITIES_IMAGE_H
#define OMNIGRAM_MODALITIES_IMAGE_H

#include <omnigram/modalities.h>

/* ---- the header of a picture file, read by our own code before a decoder sees the file ---- */
enum { OG_PICTURE_PNG = 1, OG_PICTURE_JPEG, OG_PICTURE_BMP, OG_PICTURE_WEBP, OG_PICTURE_PNM, OG_PICTURE_TIFF };
typedef struct og_picture_header {
    int32_t format;
    int64_t width, height;
    int32_t components;              /* JPEG: 1, 3 or 4; else 0 */
    int32_t adobe;                   /* JPEG: an Adobe marker is there, so inks are stored inverted */
    int32_t animated;                /* APNG, animated WebP: the first frame is used */
    int64_t exif_offset, exif_bytes; /* a TIFF structure inside the file; 0 bytes: none */
} og_picture_header;
/* EFORMAT for what is no known picture, has a side of 0, or ends before its data do. */
og_status og_picture_probe(const char *place, const void *bytes, int64_t n, og_picture_header *out, og_error *err);
/* The same for PNG, chunk by chunk up to IEND, with every check sum. */
og_status og_png_probe(const char *place, const unsigned char *bytes, int64_t n, og_picture_header *out, og_error *err);
/* Copies the chunks that make the pixels (IHDR, PLTE, tRNS, IDAT, IEND) of a probed PNG to out [n]; returns the bytes
 * written. libpng prints warnings about the others (colour profiles), which OpenCV does not apply anyway. */
int64_t og_png_essence(const unsigned char *bytes, int64_t n, unsigned char *out);
/* 1..8 by libexif; 1 when absent or out of range; 0 when memory is short. */
int32_t og_picture_orientation(const void *bytes, const og_picture_header *header);

/* ---- the decoder module (OpenCV) ---- */
typedef struct og_raw_picture {
    int64_t width, height;
    int32_t channels; /* 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA */
    int32_t depth;    /* 8 or 16 bits */
    void *pixels;     /* uint8_t or uint16_t [height][width][channels], from `allocate` */
} og_raw_picture;
typedef void *og_allocate_fn(int64_t n, size_t size);
typedef og_status og_opencv_decode_fn(const void *bytes, int64_t n, og_allocate_fn *allocate, og_raw_picture *out,
                                      og_error *err);

/* ---- pixels ---- */
typedef struct og_picture_policy {
    double background[3]; /* 0..255 */
    int32_t orientation;  /* 1: apply EXIF */
    int64_t max_pixels;
} og_picture_policy;
/* File to RGB8 by the policy. */
og_status og_picture_decode(const og_picture_policy *policy, const char *place, const void *bytes, int64_t n,
                            og_media *out, og_error *err);
/* Applies an EXIF orientation 1..8; takes the media. */
og_status og_picture_orient(og_media *media, int32_t orientation, og_error *err);

enum { OG_FIT_PAD = 0, OG_FIT_SQUASH = 1, OG_FIT_CROP = 2 };
/* Resamples the window (x, y, w, h in pixels, may be fractional) of RGB8 [height][width][3] to out [oh][ow][3] floats
 * 0..255: area average when it shrinks, linear when it grows, each axis by itself. */
og_status og_picture_resample(const uint8_t *pixels, int64_t width, int64_t height, const double window[4], float *out,
                              int64_t ow, int64_t oh, og_error *err);
/* Crop, mirror and fit onto a size x size canvas, RGB8. */
og_status og_picture_fit(const og_media *media, const double crop[4], int32_t flip, int32_t fit, int64_t size,
                         const double background[3], og_media *out, og_error *err);

#endif
