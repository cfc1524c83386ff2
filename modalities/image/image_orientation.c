/* image_orientation.c: a picture's EXIF orientation (libexif) and what it does to pixels. */
#include "image/image.h"

#include <string.h>

#ifdef OG_HAVE_EXIF
#include <libexif/exif-data.h>
#endif

int32_t og_picture_orientation(const void *bytes, const og_picture_header *header) {
    int32_t orientation = 1;
#ifdef OG_HAVE_EXIF
    if (header->exif_bytes < 8) return 1;
    /* libexif wants the JPEG form: "Exif", two zeros, the TIFF structure. An EXIF block fits into
     * 64 KiB. */
    int64_t n = header->exif_bytes < 65536 ? header->exif_bytes : 65536;
    unsigned char *block = og_alloc(n + 6, 1);
    if (!block) return 0;
    memcpy(block, "Exif\0\0", 6);
    memcpy(block + 6, (const char *)bytes + header->exif_offset, (size_t)n);
    ExifData *data = exif_data_new_from_data(block, (unsigned)(n + 6));
    og_release(block);
    if (!data) return 0;
    ExifEntry *entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
    if (entry && entry->format == EXIF_FORMAT_SHORT && entry->size >= 2)
        orientation = exif_get_short(entry->data, exif_data_get_byte_order(data));
    exif_data_unref(data);
#else
    (void)bytes;
    (void)header;
#endif
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

og_status og_picture_orient(og_media *media, int32_t orientation, og_error *err) {
    if (orientation <= 1 || orientation > 8) return OG_OK;
    int64_t h = media->shape[0], w = media->shape[1];
    int32_t swap = orientation >= 5;
    int64_t oh = swap ? w : h, ow = swap ? h : w;
    const uint8_t *in = media->data;
    uint8_t *out = og_alloc(h * w, 3);
    if (!out) return og_fail(err, OG_ENOMEM, "no memory to turn a picture of %lld x %lld", (long long)w, (long long)h);
    for (int64_t y = 0; y < oh; y++)
        for (int64_t x = 0; x < ow; x++) {
            int64_t sy, sx; /* where the pixel that belongs at (y, x) was stored (EXIF 2.32, tag 0x0112) */
            switch (orientation) {
            case 2: sy = y, sx = w - 1 - x; break;
            case 3: sy = h - 1 - y, sx = w - 1 - x; break;
            case 4: sy = h - 1 - y, sx = x; break;
            case 5: sy = x, sx = y; break;
            case 6: sy = h - 1 - x, sx = y; break;
            case 7: sy = h - 1 - x, sx = w - 1 - y; break;
            default: sy = x, sx = w - 1 - y; break; /* 8 */
            }
            memcpy(out + 3 * (y * ow + x), in + 3 * (sy * w + sx), 3);
        }
    og_release(media->data);
    media->data = out;
    media->shape[0] = oh;
    media->shape[1] = ow;
    return OG_OK;
}
