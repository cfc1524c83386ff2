/* modality_image.c: pictures to patches on a grid, and back. */
#include "image/image.h"
#include "json_tree.h"

#include <math.h>
#include <string.h>

enum { CENTER_NONE, CENTER_IMAGE };
enum { COLOUR_RGB, COLOUR_GRAY };

struct og_modality_impl {
    int64_t size, patch, max_pixels;
    int32_t fit, center, colour, orientation;
    og_i64_list background_list;
    og_picture_policy policy;
};

#define FIELD(name) offsetof(struct og_modality_impl, name)
static const og_key keys[] = {
    {"size", OG_KEY_I64, FIELD(size), "96", 1, 4096, NULL, "side of the canvas, pixels"},
    {"patch", OG_KEY_I64, FIELD(patch), "8", 1, 1024, NULL, "side of a patch, pixels; divides size"},
    {"fit", OG_KEY_CHOICE, FIELD(fit), "pad", 0, 0, "pad|squash|crop",
     "how a picture that is not square meets the canvas"},
    {"background", OG_KEY_I64_LIST, FIELD(background_list), "", 0, 255, NULL,
     "[r, g, b] under alpha and around the picture; default white"},
    {"colour", OG_KEY_CHOICE, FIELD(colour), "rgb", 0, 0, "rgb|gray", "channels of a patch"},
    {"center", OG_KEY_CHOICE, FIELD(center), "none", 0, 0, "none|image",
     "image: the mean of the picture is taken off (codes stand brightness shifts; restore gives a picture of mean "
     "gray)"},
    {"orientation", OG_KEY_CHOICE, FIELD(orientation), "exif", 0, 0, "raw|exif",
     "whether the EXIF orientation is applied"},
    {"max_pixels", OG_KEY_I64, FIELD(max_pixels), "64000000", 1, 1 << 30, NULL,
     "most pixels a file may claim (read before decoding); OpenCV takes no more than 2^30"},
    {0},
};

static og_status create(const og_config *config, og_modality_impl **impl, og_error *err) {
    struct og_modality_impl read = {0};
    OG_TRY(og_config_read(config, keys, &read, err));
    if (read.size % read.patch)
        return og_fail(err, OG_EINVAL, "%s: size %lld is not a multiple of patch %lld", OG_WHERE(config),
                       (long long)read.size, (long long)read.patch);
    const og_i64_list *list = &read.background_list;
    if (list->n && list->n != 3)
        return og_fail(err, OG_EINVAL, "%s: background has %lld values, must be [r, g, b]", OG_WHERE(config),
                       (long long)list->n);
    for (int64_t i = 0; i < 3; i++) {
        int64_t value = list->n ? list->values[i] : 255;
        if (value < 0 || value > 255)
            return og_fail(err, OG_EINVAL, "%s: background holds %lld, must be in 0..255", OG_WHERE(config),
                           (long long)value);
        read.policy.background[i] = (double)value;
    }
    read.policy.orientation = read.orientation;
    read.policy.max_pixels = read.max_pixels;
    read.background_list = (og_i64_list){0}; /* borrowed from the config, not kept */
    og_modality_impl *self = og_alloc(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "image: no memory");
    *self = read;
    *impl = self;
    return OG_OK;
}

static void destroy(og_modality_impl *impl) { og_release(impl); }

static og_status decode(const og_modality_impl *impl, const char *place, const void *bytes, int64_t n, og_media *out,
                        og_error *err) {
    return og_picture_decode(&impl->policy, place, bytes, n, out, err);
}

static og_status check(const og_media *media, og_error *err) {
    if (media->modality != OG_IMAGE || media->dtype != OG_U8 || media->rank != 3 || media->shape[2] != 3)
        return og_fail(err, OG_EINVAL, "image: media must be U8 [height][width][3], got %s of rank %d",
                       og_dtype_name(media->dtype), media->rank);
    if (media->shape[0] < 1 || media->shape[1] < 1)
        return og_fail(err, OG_EINVAL, "image: picture of %lld x %lld pixels; each side must be at least 1",
                       (long long)media->shape[1], (long long)media->shape[0]);
    return OG_OK;
}

static og_status fit(const og_modality_impl *impl, const og_media *media, const double crop[4], int32_t flip,
                     og_media *out, og_error *err) {
    OG_TRY(check(media, err));
    return og_picture_fit(media, crop, flip, impl->fit, impl->size, impl->policy.background, out, err);
}

static int64_t dim(const og_modality_impl *impl) {
    return impl->patch * impl->patch * (impl->colour == COLOUR_RGB ? 3 : 1);
}

/* ITU-R BT.601 luma in integers, rounded; libraries differ by one here, so the formula is ours and written down. */
static int32_t gray(const uint8_t *p) { return (299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000; }

static og_status vectors(const og_modality_impl *impl, const og_media *media, float **out, int32_t *rows,
                         int32_t *columns, og_error *err) {
    OG_TRY(check(media, err));
    og_media fitted = {0};
    if (media->shape[0] != impl->size || media->shape[1] != impl->size) {
        OG_TRY(fit(impl, media, NULL, 0, &fitted, err));
        media = &fitted;
    }
    int64_t side = impl->size / impl->patch, d = dim(impl), channels = impl->colour == COLOUR_RGB ? 3 : 1;
    float *v = og_alloc(side * side * d, sizeof *v);
    if (!v) {
        og_media_free(&fitted);
        return og_fail(err, OG_ENOMEM, "image: no memory for %lld patches", (long long)(side * side));
    }
    const uint8_t *pixels = media->data;
    /* Raster order of patches; inside one: row, column, channel. */
    float *to = v;
    int64_t sum[3] = {0, 0, 0};
    for (int64_t py = 0; py < side; py++)
        for (int64_t px = 0; px < side; px++)
            for (int64_t y = 0; y < impl->patch; y++)
                for (int64_t x = 0; x < impl->patch; x++) {
                    const uint8_t *p = pixels + 3 * ((py * impl->patch + y) * impl->size + px * impl->patch + x);
                    for (int64_t c = 0; c < channels; c++) {
                        int32_t value = channels == 3 ? p[c] : gray(p);
                        sum[c] += value;
                        *to++ = (float)(value / 127.5 - 1);
                    }
                }
    if (impl->center == CENTER_IMAGE) {
        int64_t n = impl->size * impl->size;
        float mean[3];
        for (int64_t c = 0; c < channels; c++) mean[c] = (float)((double)sum[c] / (double)n / 127.5 - 1);
        for (int64_t i = 0; i < side * side * d; i++) v[i] -= mean[i % channels];
    }
    og_media_free(&fitted);
    *out = v;
    *rows = *columns = (int32_t)side;
    return OG_OK;
}

static og_status restore(const og_modality_impl *impl, const float *vectors_in, int32_t rows, int32_t columns,
                         og_media *out, og_error *err) {
    int64_t patch = impl->patch, width = columns * patch, height = rows * patch,
            channels = impl->colour == COLOUR_RGB ? 3 : 1;
    if (rows < 1 || columns < 1)
        return og_fail(err, OG_EINVAL, "image: a grid of %d x %d patches cannot be a picture", rows, columns);
    uint8_t *pixels = og_alloc(width * height, 3);
    if (!pixels)
        return og_fail(err, OG_ENOMEM, "image: no memory for %lld x %lld pixels", (long long)width, (long long)height);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const float *v = vectors_in + ((y / patch) * columns + x / patch) * dim(impl) +
                             ((y % patch) * patch + x % patch) * channels;
            for (int64_t c = 0; c < 3; c++) {
                double value = floor(((double)v[channels == 3 ? c : 0] + 1) * 127.5 + 0.5);
                pixels[3 * (y * width + x) + c] = (uint8_t)(value > 255 ? 255
                                                            : value > 0 ? value
                                                                        : 0); /* NaN becomes 0 */
            }
        }
    *out = (og_media){.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {height, width, 3}, .data = pixels};
    return OG_OK;
}

static og_status describe(const og_modality_impl *impl, og_config **preprocess, og_error *err) {
    static const char *const fits[] = {"pad", "squash", "crop"};
    json_t *json = json_pack(
        "{ss si si ss ss ss s[iii] ss ss ss}", "modality", "image", "size", (int)impl->size, "patch", (int)impl->patch,
        "fit", fits[impl->fit], "colour", impl->colour == COLOUR_RGB ? "rgb" : "gray", "center",
        impl->center == CENTER_NONE ? "none" : "image", "background", (int)impl->policy.background[0],
        (int)impl->policy.background[1], (int)impl->policy.background[2], "orientation",
        impl->orientation ? "exif" : "raw", "resize", "area", "order", "raster;row,column,channel;srgb;[-1,1]");
    return og_json_tree(json, "image", preprocess, err);
}

const og_modality_type og_modality_image = {
    .abi = OG_ABI,
    .name = "image",
    .summary = "RGB patches on a grid",
    .source = "decoding: OpenCV imgcodecs; orientation: EXIF 2.32 by libexif",
    .modality = OG_IMAGE,
    .keys = keys,
    .create = create,
    .destroy = destroy,
    .decode = decode,
    .vectors = vectors,
    .dim = dim,
    .restore = restore,
    .fit = fit,
    .describe = describe,
};
