/* image_decode.c: a picture file to RGB8 by the policies; OpenCV decodes. */
#include "image/image.h"

#include <omnigram/internal/module.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_SIDE = 1 << 20 }; /* CV_IO_MAX_IMAGE_WIDTH and _HEIGHT, by default */

/* OpenCV pulls in 140 libraries (140 ms), so only a process that decodes a picture pays for it. */
static og_status find_decoder(og_opencv_decode_fn **out, og_error *err) {
#ifdef OG_HAVE_OPENCV
    static _Atomic(og_opencv_decode_fn *) known; /* asking the loader for each picture would open the file each time */
    og_opencv_decode_fn *decode = atomic_load_explicit(&known, memory_order_acquire);
    if (!decode) {
        void *symbol;
        OG_TRY(og_module_symbol("libomnigram_opencv.so", "og_opencv_decode", &symbol, err));
        memcpy(&decode, &symbol, sizeof decode); /* ISO C has no cast from void * to a function */
        atomic_store_explicit(&known, decode, memory_order_release);
    }
    *out = decode;
    return OG_OK;
#else
    (void)out;
    return og_fail(err, OG_ENOTSUP,
                   "built without OpenCV, so no picture file can be decoded; install libopencv-imgcodecs-dev, "
                   "libopencv-imgproc-dev and libopencv-core-dev and build again");
#endif
}

/* Raw planes to RGB8: gray is spread, 16 bits are scaled by 255/65535, alpha is composited in sRGB over
 * the background. */
static og_status to_rgb(const og_raw_picture *raw, const double background[3], og_media *out, og_error *err) {
    int64_t n = raw->width * raw->height;
    int32_t c = raw->channels, colours = c >= 3 ? 3 : 1, alpha = c == 2 || c == 4;
    uint8_t *rgb = og_alloc(n, 3);
    if (!rgb) return og_fail(err, OG_ENOMEM, "no memory for %lld pixels", (long long)n);
    const uint8_t *p8 = raw->pixels;
    const uint16_t *p16 = raw->pixels;
    double full = raw->depth == 16 ? 65535.0 : 255.0;
    if (raw->depth == 8 && c == 3) {
        memcpy(rgb, p8, (size_t)(3 * n));
    } else {
        for (int64_t i = 0; i < n; i++) {
            double a = 1;
            if (alpha) a = (raw->depth == 16 ? p16[c * i + c - 1] : p8[c * i + c - 1]) / full;
            for (int32_t k = 0; k < 3; k++) {
                int64_t at = c * i + (colours == 3 ? k : 0);
                double value = (raw->depth == 16 ? p16[at] : p8[at]) * 255.0 / full;
                rgb[3 * i + k] = (uint8_t)floor(a * value + (1 - a) * background[k] + 0.5);
            }
        }
    }
    *out =
        (og_media){.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {raw->height, raw->width, 3}, .data = rgb};
    return OG_OK;
}

og_status og_picture_decode(const og_picture_policy *policy, const char *place, const void *bytes, int64_t n,
                            og_media *out, og_error *err) {
    og_picture_header header;
    OG_TRY(og_picture_probe(place, bytes, n, &header, err));
    if (header.width > policy->max_pixels / header.height)
        return og_fail(err, OG_EFORMAT,
                       "%s: picture of %lld x %lld pixels is over the limit of %lld pixels (image.max_pixels)", place,
                       (long long)header.width, (long long)header.height, (long long)policy->max_pixels);
    if (header.width > MOST_SIDE || header.height > MOST_SIDE)
        return og_fail(err, OG_EFORMAT, "%s: picture of %lld x %lld pixels; OpenCV decodes sides of at most %d", place,
                       (long long)header.width, (long long)header.height, MOST_SIDE);
    if (header.components == 4) /* the file is at fault, so bad_item: skip may pass over it */
        return og_fail(
            err, OG_EFORMAT,
            "%s: CMYK JPEG (4 inks, %s) is refused: its colours depend on a profile; convert it to RGB first", place,
            header.adobe ? "stored inverted by Adobe's marker" : "no Adobe marker");
    og_opencv_decode_fn *decode;
    OG_TRY(find_decoder(&decode, err));
    og_raw_picture raw = {0};
    unsigned char *essence = NULL;
    const void *pixels = bytes;
    int64_t n_pixels = n;
    if (header.format == OG_PICTURE_PNG) {
        essence = og_alloc(n, 1);
        if (!essence) return og_fail(err, OG_ENOMEM, "%s: no memory for %lld bytes", place, (long long)n);
        n_pixels = og_png_essence(bytes, n, essence);
        pixels = essence;
    }
    og_status status = decode(pixels, n_pixels, og_alloc, &raw, err);
    og_release(essence);
    if (status != OG_OK) return og_fail_at(err, status, "%s", place);
    if (raw.width != header.width || raw.height != header.height) {
        og_release(raw.pixels);
        return og_fail(err, OG_EFORMAT, "%s: header says %lld x %lld pixels, the decoder gave %lld x %lld", place,
                       (long long)header.width, (long long)header.height, (long long)raw.width, (long long)raw.height);
    }
    og_media media = {0};
    status = to_rgb(&raw, policy->background, &media, err);
    og_release(raw.pixels);
    int32_t orientation = policy->orientation ? og_picture_orientation(bytes, &header) : 1;
    if (status == OG_OK && !orientation) status = og_fail(err, OG_ENOMEM, "no memory to read the orientation");
    if (status == OG_OK) status = og_picture_orient(&media, orientation, err);
    media.notes = (orientation > 1 ? OG_NOTE_ROTATED : 0u) | (header.animated ? OG_NOTE_FIRST_FRAME : 0u);
    if (status != OG_OK) {
        og_media_free(&media);
        return og_fail_at(err, status, "%s", place);
    }
    *out = media;
    return OG_OK;
}
