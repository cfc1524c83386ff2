/* numbers.h: the conversions of dtype.h as inline integer arithmetic, so that loops over rows vectorise. They do not
 * depend on the thread's denormal mode. A test compares each with dtype.c. */
#ifndef OMNIGRAM_STORE_NUMBERS_H
#define OMNIGRAM_STORE_NUMBERS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t og_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static inline float og_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline float og_widen_bf16(uint16_t bits) { return og_float_of((uint32_t)bits << 16); }

/* NaN keeps the upper half of its payload, or becomes quiet where that half is zero. */
static inline uint16_t og_narrow_bf16(float value) {
    uint32_t u = og_bits_of(value);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    uint32_t nan = u >> 16;
    nan |= (nan & 0x7fu) == 0 ? 0x40u : 0u;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/* random: 16 uniform bits. Rounds up with the probability of the fraction cut off; infinities and NaN as above. */
static inline uint16_t og_narrow_bf16_stochastic(float value, uint32_t random) {
    uint32_t u = og_bits_of(value);
    uint32_t exact = og_narrow_bf16(value);
    return (uint16_t)((u & 0x7f800000u) == 0x7f800000u ? exact : (u + (random & 0xffffu)) >> 16);
}

/* Like the F16C instructions: a signalling NaN becomes quiet, the payload stays. */
static inline float og_widen_f16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t rest = half & 0x7fffu;
    uint32_t exponent = rest >> 10;
    uint32_t normal = (rest << 13) + (112u << 23);
    /* 2^-14 * (1 + m/1024) - 2^-14 = m * 2^-24, without a subnormal f32 on the way */
    uint32_t small = og_bits_of(og_float_of((113u << 23) | ((rest & 0x3ffu) << 13)) - og_float_of(113u << 23));
    uint32_t special = (rest << 13) + (224u << 23);
    special |= (rest & 0x3ffu) ? 0x400000u : 0u;
    return og_float_of(sign | (exponent == 31u ? special : exponent == 0u ? small : normal));
}

static inline uint16_t og_narrow_f16(float value) {
    uint32_t u = og_bits_of(value);
    uint32_t sign = (u >> 16) & 0x8000u;
    uint32_t rest = u & 0x7fffffffu;
    uint32_t half;
    if (rest > 0x7f800000u) {
        half = 0x7e00u | ((rest >> 13) & 0x3ffu);
    } else if (rest >= 0x477ff000u) { /* rounds past 65504 */
        half = 0x7c00u;
    } else if (rest >= 0x38800000u) { /* normal: 2^-14 and up */
        half = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    } else if (rest < 0x33000000u) { /* below half of 2^-24 */
        half = 0;
    } else {
        uint32_t shift = 126u - (rest >> 23); /* 14 .. 24 */
        uint32_t mantissa = (rest & 0x7fffffu) | 0x800000u;
        uint32_t kept = mantissa >> shift;
        uint32_t cut = mantissa & ((1u << shift) - 1u);
        uint32_t tie = 1u << (shift - 1u);
        half = kept + (cut > tie || (cut == tie && (kept & 1u)));
    }
    return (uint16_t)(sign | half);
}

/* random: 13 uniform bits and more (subnormal halves use up to 24). */
static inline uint16_t og_narrow_f16_stochastic(float value, uint32_t random) {
    uint32_t u = og_bits_of(value);
    uint32_t rest = u & 0x7fffffffu;
    if (rest >= 0x477fe000u) return og_narrow_f16(value); /* 65504 and up, infinity, NaN */
    uint32_t half;
    if (rest >= 0x38800000u) {
        half = (rest - (112u << 23) + (random & 0x1fffu)) >> 13;
    } else if (rest < 0x33800000u - (7u << 23)) {
        half = 0; /* below 2^-31 the chance of a step is under 1/128 and is dropped */
    } else {
        uint32_t shift = 126u - (rest >> 23); /* 14 .. 30 */
        uint64_t mantissa = (rest & 0x7fffffu) | 0x800000u;
        half = (uint32_t)((mantissa + (random & ((UINT64_C(1) << shift) - 1u))) >> shift);
    }
    return (uint16_t)(((u >> 16) & 0x8000u) | half);
}

static inline float og_widen_e4m3(uint8_t byte) {
    uint32_t sign = (uint32_t)(byte & 0x80u) << 24;
    uint32_t rest = byte & 0x7fu;
    uint32_t normal = (rest << 20) + (120u << 23);
    uint32_t small = og_bits_of(og_float_of((121u << 23) | ((rest & 7u) << 20)) - og_float_of(121u << 23));
    /* one NaN only: a product of two unlike ones would depend on the order of operands the compiler chose */
    return og_float_of(rest == 0x7fu ? 0x7fc00000u : sign | (rest < 8u ? small : normal));
}

/* 2^(b - 127): 0 is the subnormal 2^-127, 255 is NaN. */
static inline float og_widen_ue8m0(uint8_t byte) {
    return og_float_of(byte == 255 ? 0x7fc00000u : byte == 0 ? 0x00400000u : (uint32_t)byte << 23);
}

/* Quantiles of a normal distribution, as bitsandbytes and QLoRA (Dettmers 2023, appendix E) have them. */
static const float og_nf4_values[16] = {-1.0f,
                                        -0.6961928009986877f,
                                        -0.5250730514526367f,
                                        -0.39491748809814453f,
                                        -0.28444138169288635f,
                                        -0.18477343022823334f,
                                        -0.09105003625154495f,
                                        0.0f,
                                        0.07958029955625534f,
                                        0.16093020141124725f,
                                        0.24611230194568634f,
                                        0.33791524171829224f,
                                        0.44070982933044434f,
                                        0.5626170039176941f,
                                        0.7229568362236023f,
                                        1.0f};

/* 32 random bits of one channel of one row: an integer hash (Wellons, "lowbias32") of a counter, which vectorises. key
 * comes from (seed, step, row) by random.h. */
static inline uint32_t og_channel_random(uint64_t key, uint32_t channel) {
    uint32_t x = ((uint32_t)key + channel * 0x9e3779b9u) ^ (uint32_t)(key >> 32);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

#endif
