/* row_codec.c: one row of any type as f32 and back: the plain reference that the fast kernels are tested against. */
#include "store/numbers.h"
#include "store/store_internal.h"

#include <omnigram/dtype.h>

#include <math.h>

static float scale_of(const og_store *store, const uint8_t *scales, int64_t group) {
    if (store->dtype == OG_FP8_E4M3) return og_widen_ue8m0(scales[group]);
    float scale;
    memcpy(&scale, scales + group * 4, 4);
    return scale;
}

void og_row_decode(const og_store *store, int64_t row, float *out) {
    const uint8_t *values = og_store_values(store, row);
    const uint16_t *halves = (const uint16_t *)(const void *)values;
    int64_t dim = store->dim;
    switch (store->dtype) {
    case OG_F32: memcpy(out, values, (size_t)dim * 4); return;
    case OG_BF16:
        for (int64_t i = 0; i < dim; i++) out[i] = og_widen_bf16(halves[i]);
        return;
    case OG_F16:
        for (int64_t i = 0; i < dim; i++) out[i] = og_widen_f16(halves[i]);
        return;
    default: break;
    }
    const uint8_t *scales = og_store_scales(store, row);
    for (int64_t begin = 0, g = 0; begin < dim; begin += store->group, g++) {
        float scale = scale_of(store, scales, g);
        int64_t end = begin + store->group < dim ? begin + store->group : dim;
        for (int64_t i = begin; i < end; i++) {
            float value = store->dtype == OG_FP8_E4M3 ? og_widen_e4m3(values[i])
                          : store->dtype == OG_INT8   ? (float)(int8_t)values[i]
                                                      : og_nf4_values[values[i / 2] >> (i % 2 * 4) & 15];
            out[i] = value * scale;
        }
    }
}

/* Integer of a real: nearest even, or up with the probability of the fraction. */
static double round_one(double value, uint64_t key, int64_t channel) {
    if (!key) return nearbyint(value);
    double down = floor(value);
    double unit = (double)og_channel_random(key, (uint32_t)channel) * 0x1p-32;
    return unit < value - down ? down + 1 : down;
}

/* value / 2^e in e4m3 steps, |value| <= 448 * 2^e. */
static uint8_t encode_e4m3(float value, uint64_t key, int64_t channel) {
    if (!key) return og_e4m3_from_f32(value);
    double size = fabs((double)value);
    int exponent;
    (void)frexp(size, &exponent);
    exponent = size == 0 || exponent - 1 < -6 ? -6 : exponent - 1;
    double step = ldexp(1.0, exponent - 3);
    double rounded = round_one(size / step, key, channel) * step;
    return og_e4m3_from_f32((float)(value < 0 ? -rounded : rounded));
}

static uint8_t encode_nf4(double value, uint64_t key, int64_t channel) {
    int below = 0; /* the largest code whose value is <= value */
    while (below < 14 && (double)og_nf4_values[below + 1] <= value) below++;
    double low = og_nf4_values[below], high = og_nf4_values[below + 1];
    double share = (value - low) / (high - low);
    double unit = key ? (double)og_channel_random(key, (uint32_t)channel) * 0x1p-32 : 0.5;
    return (uint8_t)(share > unit ? below + 1 : below);
}

static int64_t encode_scaled(const og_store *store, uint8_t *values, uint8_t *scales, const float *in, uint64_t key) {
    for (int64_t i = 0; i < store->dim; i++)
        if (!isfinite(in[i])) return i;
    for (int64_t begin = 0, g = 0; begin < store->dim; begin += store->group, g++) {
        int64_t end = begin + store->group < store->dim ? begin + store->group : store->dim;
        float most = 0;
        for (int64_t i = begin; i < end; i++) most = fabsf(in[i]) > most ? fabsf(in[i]) : most;
        float scale;
        if (store->dtype == OG_FP8_E4M3) { /* the least power of two that holds the group */
            int exponent;
            if (frexp((double)most / 448.0, &exponent) == 0.5) exponent--;
            exponent = most == 0 || exponent < -127 ? -127 : exponent;
            scales[g] = (uint8_t)(exponent + 127);
            scale = og_widen_ue8m0(scales[g]);
        } else {
            scale = store->dtype == OG_INT8 ? most / 127.0f : most;
            memcpy(scales + g * 4, &scale, 4);
        }
        for (int64_t i = begin; i < end; i++) {
            double value = scale > 0 ? (double)in[i] / (double)scale : 0;
            if (store->dtype == OG_FP8_E4M3) {
                values[i] = encode_e4m3((float)value, key, i);
            } else if (store->dtype == OG_INT8) {
                double q = round_one(value, key, i);
                values[i] = (uint8_t)(int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
            } else {
                uint8_t code = encode_nf4(value, key, i), *pair = values + i / 2;
                *pair = (uint8_t)(i % 2 ? (*pair & 0x0f) | code << 4 : code);
            }
        }
    }
    return -1;
}

int64_t og_row_encode(const og_store *store, int64_t row, const float *in, uint64_t key) {
    uint8_t *values = og_store_values(store, row);
    uint16_t *halves = (uint16_t *)(void *)values;
    int64_t dim = store->dim;
    switch (store->dtype) {
    case OG_F32: memcpy(values, in, (size_t)dim * 4); return -1;
    case OG_BF16:
        for (int64_t i = 0; i < dim; i++)
            halves[i] =
                key ? og_narrow_bf16_stochastic(in[i], og_channel_random(key, (uint32_t)i)) : og_narrow_bf16(in[i]);
        return -1;
    case OG_F16:
        for (int64_t i = 0; i < dim; i++)
            halves[i] =
                key ? og_narrow_f16_stochastic(in[i], og_channel_random(key, (uint32_t)i)) : og_narrow_f16(in[i]);
        return -1;
    default: return encode_scaled(store, values, og_store_scales(store, row), in, key);
    }
}
