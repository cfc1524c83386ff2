/* image_resize.c: one resampler for every picture (plain C, so codes do not depend on a library's SIMD level): area
 * average when it shrinks, linear when it grows; crop, mirror and fit onto the canvas. */
#include "image/image.h"

#include <math.h>
#include <string.h>

typedef struct axis { /* output sample o = sum over k < count of weight[k] * input[first + k] */
    int64_t *first, *count;
    double *weights; /* [outputs][most] */
    int64_t most;
} axis;

static void axis_free(axis *a) {
    og_release(a->first);
    og_release(a->count);
    og_release(a->weights);
}

/* The part [start, start + length) of n input samples as `outputs` samples. */
static og_status axis_make(int64_t n, double start, double length, int64_t outputs, axis *out, og_error *err) {
    double scale = length / (double)outputs;
    axis a = {.most = scale > 1 ? (int64_t)ceil(scale) + 2 : 2};
    a.first = og_alloc(outputs, sizeof *a.first);
    a.count = og_alloc(outputs, sizeof *a.count);
    a.weights = og_alloc_zero(outputs, (size_t)a.most * sizeof *a.weights);
    if (!a.first || !a.count || !a.weights) {
        axis_free(&a);
        return og_fail(err, OG_ENOMEM, "no memory to resize a picture to %lld", (long long)outputs);
    }
    for (int64_t o = 0; o < outputs; o++) {
        double *w = a.weights + o * a.most;
        int64_t first, count;
        if (scale > 1) { /* share of each input sample that lies under the output sample */
            double from = fmax(start + (double)o * scale, 0), to = fmin(start + (double)(o + 1) * scale, (double)n);
            first = (int64_t)floor(from);
            if (first > n - 1) first = n - 1;
            count = (int64_t)ceil(to) - first;
            if (count < 1) count = 1;
            if (count > a.most) count = a.most;
            double sum = 0;
            for (int64_t k = 0; k < count; k++) {
                double share = fmin(to, (double)(first + k + 1)) - fmax(from, (double)(first + k));
                w[k] = share > 0 ? share : 0;
                sum += w[k];
            }
            if (sum <= 0) sum = w[0] = 1;
            for (int64_t k = 0; k < count; k++) w[k] /= sum;
        } else { /* centres of pixels at .5; clamped at the sides of the window, so that a crop sees
                  * nothing outside it */
            double at = start + ((double)o + 0.5) * scale - 0.5;
            at = fmin(fmax(at, fmax(floor(start), 0)), fmin(ceil(start + length), (double)n) - 1);
            first = (int64_t)floor(at);
            if (first > n - 2) first = n > 1 ? n - 2 : 0;
            count = n > 1 ? 2 : 1;
            w[0] = count == 2 ? 1 - (at - (double)first) : 1;
            if (count == 2) w[1] = at - (double)first;
        }
        a.first[o] = first;
        a.count[o] = count;
    }
    *out = a;
    return OG_OK;
}

og_status og_picture_resample(const uint8_t *pixels, int64_t width, int64_t height, const double window[4], float *out,
                              int64_t ow, int64_t oh, og_error *err) {
    axis across = {0}, down = {0};
    OG_TRY(axis_make(width, window[0], window[2], ow, &across, err));
    og_status status = axis_make(height, window[1], window[3], oh, &down, err);
    if (status != OG_OK) {
        axis_free(&across);
        return status;
    }
    int64_t top = down.first[0], rows = down.first[oh - 1] + down.count[oh - 1] - top;
    float *rowwise = og_alloc(rows * ow * 3, sizeof *rowwise);
    if (!rowwise) {
        status = og_fail(err, OG_ENOMEM, "no memory to resize a picture of %lld x %lld", (long long)width,
                         (long long)height);
    } else {
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < ow; x++) {
                const uint8_t *p = pixels + 3 * ((top + y) * width + across.first[x]);
                const double *w = across.weights + x * across.most;
                double sum[3] = {0, 0, 0};
                for (int64_t k = 0; k < across.count[x]; k++, p += 3)
                    for (int32_t c = 0; c < 3; c++) sum[c] += w[k] * p[c];
                for (int32_t c = 0; c < 3; c++) rowwise[3 * (y * ow + x) + c] = (float)sum[c];
            }
        for (int64_t y = 0; y < oh; y++)
            for (int64_t i = 0; i < 3 * ow; i++) {
                const float *p = rowwise + 3 * ow * (down.first[y] - top) + i;
                const double *w = down.weights + y * down.most;
                double sum = 0;
                for (int64_t k = 0; k < down.count[y]; k++) sum += w[k] * p[3 * ow * k];
                out[3 * ow * y + i] = (float)sum;
            }
        og_release(rowwise);
    }
    axis_free(&across);
    axis_free(&down);
    return status;
}

og_status og_picture_fit(const og_media *media, const double crop[4], int32_t flip, int32_t fit, int64_t size,
                         const double background[3], og_media *out, og_error *err) {
    int64_t height = media->shape[0], width = media->shape[1];
    double window[4] = {0, 0, (double)width, (double)height};
    if (crop && crop[2] > 0) {
        if (!(crop[0] >= 0 && crop[1] >= 0 && crop[3] > 0 && crop[0] + crop[2] <= 1 + 1e-9 &&
              crop[1] + crop[3] <= 1 + 1e-9))
            return og_fail(err, OG_EINVAL, "crop of %g, %g, %g x %g leaves the picture; shares lie in [0, 1]", crop[0],
                           crop[1], crop[2], crop[3]);
        window[0] = crop[0] * (double)width;
        window[1] = crop[1] * (double)height;
        window[2] = fmax(crop[2] * (double)width, 1);
        window[3] = fmax(crop[3] * (double)height, 1);
        window[0] = fmin(window[0], (double)width - window[2]);
        window[1] = fmin(window[1], (double)height - window[3]);
    }
    int64_t ow = size, oh = size;
    if (fit == OG_FIT_CROP) { /* the largest square in the middle */
        double side = fmin(window[2], window[3]);
        window[0] += (window[2] - side) / 2;
        window[1] += (window[3] - side) / 2;
        window[2] = window[3] = side;
    } else if (fit == OG_FIT_PAD) {
        if (window[2] > window[3])
            oh = (int64_t)fmax(1, floor((double)size * window[3] / window[2] + 0.5));
        else
            ow = (int64_t)fmax(1, floor((double)size * window[2] / window[3] + 0.5));
    }
    float *resized = og_alloc(ow * oh * 3, sizeof *resized);
    uint8_t *canvas = og_alloc(size * size, 3);
    og_status status = resized && canvas ? og_picture_resample(media->data, width, height, window, resized, ow, oh, err)
                                         : og_fail(err, OG_ENOMEM, "no memory for a canvas of %lld x %lld",
                                                   (long long)size, (long long)size);
    if (status == OG_OK) {
        int64_t left = (size - ow) / 2, top = (size - oh) / 2;
        for (int64_t y = 0; y < size; y++)
            for (int64_t x = 0; x < size; x++) {
                int64_t ix = (flip ? size - 1 - x : x) - left, iy = y - top;
                int32_t inside = ix >= 0 && ix < ow && iy >= 0 && iy < oh;
                for (int32_t c = 0; c < 3; c++) {
                    double value = inside ? (double)resized[3 * (iy * ow + ix) + c] : background[c];
                    canvas[3 * (y * size + x) + c] = (uint8_t)fmin(255, fmax(0, floor(value + 0.5)));
                }
            }
        *out = (og_media){.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {size, size, 3}, .data = canvas};
        canvas = NULL;
    }
    og_release(resized);
    og_release(canvas);
    return status;
}
