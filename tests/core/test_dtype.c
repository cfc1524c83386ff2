/* test_dtype.c: every 16-bit and 8-bit pattern, and rounding against a slow oracle that searches the neighbours. */
#include "test.h"

#include <omnigram/dtype.h>
#include <omnigram/random.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* A format by its definition only: sign, e bits of exponent, m bits of mantissa. */
typedef struct format {
    int e, m, has_infinity;
} format;
static const format bf16 = {8, 7, 1}, f16 = {5, 10, 1}, e4m3 = {4, 3, 0};

/* The value of a pattern without sign; finite patterns only. */
static double value_of(format f, uint32_t pattern) {
    int bias = (1 << (f.e - 1)) - 1;
    uint32_t exponent = pattern >> f.m, mantissa = pattern & ((1u << f.m) - 1);
    if (exponent == 0) return ldexp(mantissa, 1 - bias - f.m);
    return ldexp((double)(mantissa | 1u << f.m), (int)exponent - bias - f.m);
}

static uint32_t largest(format f) { return f.has_infinity ? (((1u << f.e) - 1) << f.m) - 1 : (1u << (f.e + f.m)) - 2; }

/* Nearest pattern by bisection over all finite ones, ties to even, overflow as the format says. */
static uint32_t oracle(format f, double value) {
    uint32_t low = 0, high = largest(f);
    double a = fabs(value), top = value_of(f, high), step = top - value_of(f, high - 1);
    uint32_t sign = signbit(value) ? 1u << (f.e + f.m) : 0;
    if (a > top) return sign | (f.has_infinity && a >= top + step / 2 ? high + 1 : high);
    while (low < high) { /* last pattern with value <= a */
        uint32_t middle = (low + high + 1) / 2;
        if (value_of(f, middle) <= a)
            low = middle;
        else
            high = middle - 1;
    }
    if (low == largest(f)) return sign | low;
    double below = a - value_of(f, low), above = value_of(f, low + 1) - a;
    return sign | (below < above || (below == above && !(low & 1)) ? low : low + 1);
}

static void check_one(float x) {
    if (isnan(x)) {
        CHECK(isnan(og_f32_from_bf16(og_bf16_from_f32(x))));
        CHECK(isnan(og_f32_from_f16(og_f16_from_f32(x))));
        CHECK((og_e4m3_from_f32(x) & 0x7F) == 0x7F);
        CHECK(og_bf16_from_f32(x) >> 15 == bits_of(x) >> 31 && og_f16_from_f32(x) >> 15 == bits_of(x) >> 31);
        return;
    }
    CHECK(og_bf16_from_f32(x) == oracle(bf16, (double)x));
    CHECK(og_f16_from_f32(x) == oracle(f16, (double)x));
    CHECK(og_e4m3_from_f32(x) == oracle(e4m3, (double)x));
}

static void test_all_patterns(void) {
    for (uint32_t p = 0; p < 65536; p++) {
        uint32_t a = p & 0x7FFF;
        float b = og_f32_from_bf16((uint16_t)p), h = og_f32_from_f16((uint16_t)p);
        CHECK(og_bf16_from_f32(b) == p && og_f16_from_f32(h) == p); /* NaN payloads and -0 too */
        double sign = p & 0x8000 ? -1 : 1;
        if (a < 0x7F80)
            CHECK((double)b == sign * value_of(bf16, a) && (uint32_t) !!signbit(b) == p >> 15);
        else
            CHECK(a == 0x7F80 ? isinf(b) : isnan(b));
        if (a < 0x7C00)
            CHECK((double)h == sign * value_of(f16, a) && (uint32_t) !!signbit(h) == p >> 15);
        else
            CHECK(a == 0x7C00 ? isinf(h) : isnan(h));
    }
    for (uint32_t p = 0; p < 256; p++) {
        float v = og_f32_from_e4m3((uint8_t)p);
        CHECK(og_e4m3_from_f32(v) == p);
        if ((p & 0x7F) == 0x7F)
            CHECK(isnan(v));
        else
            CHECK((double)v == (p & 0x80 ? -1 : 1) * value_of(e4m3, p & 0x7F));
        float scale = og_f32_from_ue8m0((uint8_t)p);
        CHECK(p == 255 ? isnan(scale) : (double)scale == ldexp(1, (int)p - 127));
    }
    CHECK(og_f32_from_e4m3(0x7E) == 448 && og_f32_from_f16(0x7BFF) == 65504); /* the formats' published maxima */
}

static void test_boundaries(void) { /* each value, each midpoint, and the floats next to them */
    const format formats[] = {bf16, f16, e4m3};
    for (int k = 0; k < 3; k++)
        for (uint32_t p = 0; p < largest(formats[k]); p++) {
            float ends[2] = {(float)value_of(formats[k], p),
                             (float)((value_of(formats[k], p) + value_of(formats[k], p + 1)) / 2)};
            for (int i = 0; i < 2; i++)
                for (int d = -1; d <= 1; d++) {
                    float x = from_bits(bits_of(ends[i]) + (uint32_t)(bits_of(ends[i]) ? d : 0));
                    check_one(x);
                    check_one(-x);
                }
        }
    const float others[] = {INFINITY, 448, 464, 463.99997f, 480, 65519.996f, 65520, 3.4028235e38f, 1e-45f, 0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        check_one(others[i]);
        check_one(-others[i]);
    }
}

static void test_random(void) {
    for (uint64_t i = 0; i < 300000; i++) check_one(from_bits((uint32_t)og_random_bits(1, i)));
    for (uint64_t i = 0; i < 300000; i++) /* the range that f16 and e4m3 resolve */
        check_one(from_bits((uint32_t)(og_random_bits(2, i) & 0x80FFFFFF) | (uint32_t)(100 + i % 48) << 23));
    for (uint32_t payload = 1; payload < 0x800000; payload += 0x3FF) {
        check_one(from_bits(0x7F800000 | payload));
        check_one(from_bits(0xFF800000 | payload));
    }
    check_one(from_bits(0x7F800001)); /* a payload that no short format can hold */
    CHECK(og_bf16_from_f32(from_bits(0x7FA50000)) == 0x7FA5);
}

static void test_names(void) {
    int known = 0;
    for (og_dtype d = -2; d < 40; d++) {
        const char *name = og_dtype_name(d);
        CHECK((name != NULL) == (og_dtype_bits(d) > 0));
        if (!name) continue;
        known++;
        CHECK(og_dtype_from_name(name) == d);
    }
    CHECK(known == 17);
    CHECK(og_dtype_from_name("bf16") == OG_BF16 && og_dtype_from_name("int8") == OG_INT8);
    CHECK(og_dtype_from_name("F8_E4M3") == OG_FP8_E4M3 && og_dtype_from_name("fp8_e4m3") == OG_FP8_E4M3);
    CHECK(og_dtype_from_name("F3") == 0 && og_dtype_from_name("F322") == 0 && og_dtype_from_name(NULL) == 0);
    CHECK(og_dtype_bits(OG_NF4) == 4 && og_dtype_bits(OG_I64) == 64);
}

int main(void) {
    test_all_patterns();
    test_boundaries();
    test_random();
    test_names();
    return 0;
}
