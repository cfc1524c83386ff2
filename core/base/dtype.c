/* dtype.c: names, sizes and exact conversions of element types. Integer arithmetic only, so that neither the rounding
 * mode nor flushed subnormals of the calling thread change a result. */
#include <omnigram/dtype.h>

#include <string.h>

static const struct {
    const char *name, *alias;
    og_dtype dtype;
    int32_t bits;
} types[] = {
    {"F32", "FP32", OG_F32, 32},       {"BF16", "BF16", OG_BF16, 16},
    {"F16", "FP16", OG_F16, 16},       {"F8_E4M3", "FP8_E4M3", OG_FP8_E4M3, 8},
    {"I8", "INT8", OG_INT8, 8},        {"NF4", "NF4", OG_NF4, 4},
    {"F64", "FP64", OG_F64, 64},       {"U8", "UINT8", OG_U8, 8},
    {"I16", "INT16", OG_I16, 16},      {"I32", "INT32", OG_I32, 32},
    {"I64", "INT64", OG_I64, 64},      {"BOOL", "BOOL", OG_BOOL, 8},
    {"U16", "UINT16", OG_U16, 16},     {"U32", "UINT32", OG_U32, 32},
    {"U64", "UINT64", OG_U64, 64},     {"F8_E5M2", "FP8_E5M2", OG_FP8_E5M2, 8},
    {"F8_E8M0", "UE8M0", OG_UE8M0, 8},
};
enum { N_TYPES = sizeof types / sizeof *types };

const char *og_dtype_name(og_dtype dtype) {
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].dtype == dtype) return types[i].name;
    return NULL;
}

static int equal_folded(const char *word, const char *upper) {
    for (; *word && *upper; word++, upper++) {
        char c = *word >= 'a' && *word <= 'z' ? (char)(*word - 'a' + 'A') : *word;
        if (c != *upper) return 0;
    }
    return !*word && !*upper;
}

og_dtype og_dtype_from_name(const char *name) {
    for (int i = 0; name && i < N_TYPES; i++)
        if (equal_folded(name, types[i].name) || equal_folded(name, types[i].alias)) return types[i].dtype;
    return 0;
}

int64_t og_dtype_bits(og_dtype dtype) {
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].dtype == dtype) return types[i].bits;
    return 0;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* v / 2^shift, to nearest even; shift 1 .. 31. */
static uint32_t shift_even(uint32_t v, int shift) {
    return (v + ((UINT32_C(1) << (shift - 1)) - 1) + (v >> shift & 1)) >> shift;
}

uint16_t og_bf16_from_f32(float value) {
    uint32_t bits = bits_of(value), high = bits >> 16;
    if ((bits & 0x7FFFFFFF) > 0x7F800000) /* NaN: a payload that lay in the low half only must not become infinity */
        return (uint16_t)(high & 0x7F ? high : high | 0x40);
    return (uint16_t)((bits + 0x7FFF + (high & 1)) >> 16); /* cannot pass 2^32: -inf is 0xFF800000 */
}

float og_f32_from_bf16(uint16_t bits) { return from_bits((uint32_t)bits << 16); }

uint16_t og_f16_from_f32(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, a = bits & 0x7FFFFFFF;
    if (a > 0x7F800000) {
        uint32_t payload = a >> 13 & 0x3FF;
        return (uint16_t)(sign | 0x7C00 | (payload ? payload : 0x200));
    }
    if (a >= 0x477FF000) return (uint16_t)(sign | 0x7C00); /* 65520 and more round to infinity */
    if (a >= 0x38800000) return (uint16_t)(sign | (shift_even(a, 13) - (112 << 10))); /* 2^-14: normal */
    if (a < 0x33000000) return (uint16_t)sign;                                        /* below 2^-25 */
    int shift = 126 - (int)(a >> 23);                                                 /* units of 2^-24 */
    return (uint16_t)(sign | shift_even((a & 0x7FFFFF) | 0x800000, shift));
}

float og_f32_from_f16(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, a = bits & 0x7FFF;
    if (a >= 0x7C00) return from_bits(sign | 0x7F800000 | (a & 0x3FF) << 13);
    if (a >= 0x400) return from_bits(sign | ((a << 13) + (112u << 23)));
    if (a == 0) return from_bits(sign);
    int up = __builtin_clz(a) - 21; /* brings the leading one to bit 10 */
    return from_bits(sign | (uint32_t)(113 - up) << 23 | (a << up & 0x3FF) << 13);
}

uint8_t og_e4m3_from_f32(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 24 & 0x80, a = bits & 0x7FFFFFFF;
    if (a > 0x7F800000) return (uint8_t)(sign | 0x7F);
    if (a >= 0x43E00000) return (uint8_t)(sign | 0x7E);                             /* 448 and more */
    if (a >= 0x3C800000) return (uint8_t)(sign | (shift_even(a, 20) - (120 << 3))); /* 2^-6: normal */
    if (a < 0x3A800000) return (uint8_t)sign;                                       /* below 2^-10 */
    int shift = 141 - (int)(a >> 23);                                               /* units of 2^-9 */
    return (uint8_t)(sign | shift_even((a & 0x7FFFFF) | 0x800000, shift));
}

float og_f32_from_e4m3(uint8_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x80) << 24, a = bits & 0x7F;
    if (a == 0x7F) return from_bits(sign | 0x7FC00000);
    if (a >= 8) return from_bits(sign | ((a << 20) + (120u << 23)));
    if (a == 0) return from_bits(sign);
    int up = __builtin_clz(a) - 28; /* brings the leading one to bit 3 */
    return from_bits(sign | (uint32_t)(121 - up) << 23 | (a << up & 7) << 20);
}

float og_f32_from_ue8m0(uint8_t bits) {
    if (bits == 255) return from_bits(0x7FC00000);
    return from_bits(bits ? (uint32_t)bits << 23 : 0x00400000); /* 2^-127 is subnormal */
}
