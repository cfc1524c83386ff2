/* fuzz_picture_header.c: probing a picture file reads nothing outside it; what passes has sides
 * and, as PNG, a shorter essence. */
#include "fuzz.h"

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_picture_header header = {0};
    og_error err = {0};
    if (og_picture_probe("fuzz", data, (int64_t)size, &header, &err) != OG_OK) {
        if (!err.message[0]) abort();
        return 0;
    }
    if (header.width < 1 || header.height < 1) abort();
    if (header.exif_offset < 0 || header.exif_bytes < 0 || header.exif_offset + header.exif_bytes > (int64_t)size)
        abort();
    int32_t orientation = og_picture_orientation(data, &header);
    if (orientation < 1 || orientation > 8) abort();
    if (header.format == OG_PICTURE_PNG) {
        unsigned char *out = og_alloc((int64_t)size, 1);
        og_picture_header again = {0};
        if (!out) return 0;
        int64_t n = og_png_essence(data, (int64_t)size, out);
        if (n > (int64_t)size) abort();
        if (og_picture_probe("essence", out, n, &again, &err) != OG_OK || again.width != header.width) abort();
        og_release(out);
    }
    return 0;
}
