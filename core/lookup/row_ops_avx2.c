/* row_ops_avx2.c: the kernels of lookups for AVX2 with F16C. */
#include "store/numbers.h"

#include <immintrin.h>

static inline void copy_lines(uint8_t *out, const uint8_t *row, int64_t lines, int32_t stream) {
    for (int64_t i = 0; i < lines; i++, out += 64, row += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)row);
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(row + 32));
        if (stream) {
            _mm256_stream_si256((__m256i *)(void *)out, a);
            _mm256_stream_si256((__m256i *)(void *)(out + 32), b);
        } else {
            _mm256_storeu_si256((__m256i *)(void *)out, a);
            _mm256_storeu_si256((__m256i *)(void *)(out + 32), b);
        }
    }
}
static inline void copy_part(uint8_t *out, const uint8_t *row, int64_t bytes) { memcpy(out, row, (size_t)bytes); }
#define OG_STREAMS 1
#define OG_FENCE() _mm_sfence()

#define OG_OWN_HALF
#define OG_LANES 8
static inline void widen_lanes(const uint16_t *in, float *out) {
    _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)in)));
}
static inline void narrow_lanes(const float *in, uint16_t *out) {
    _mm_storeu_si128((__m128i *)(void *)out,
                     _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline void narrow_bf16_lanes(const float *in, uint16_t *out) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)in), high = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    __m256i bare = _mm256_cmpeq_epi32(_mm256_and_si256(high, _mm256_set1_epi32(0x7f)), _mm256_setzero_si256());
    __m256i quiet = _mm256_or_si256(high, _mm256_and_si256(bare, _mm256_set1_epi32(0x40)));
    __m256 nan = _mm256_cmp_ps(_mm256_castsi256_ps(bits), _mm256_castsi256_ps(bits), _CMP_UNORD_Q);
    rounded = _mm256_blendv_epi8(_mm256_srli_epi32(rounded, 16), quiet, _mm256_castps_si256(nan));
    __m128i low = _mm256_castsi256_si128(rounded), rest = _mm256_extracti128_si256(rounded, 1);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_packus_epi32(low, rest));
}
#include "lookup/row_ops_half.h"

#define OG_OWN_SCALED
static inline void e4m3_lanes(const uint8_t *in, float scale, float *out) {
    __m256i byte = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)in));
    __m256i rest = _mm256_and_si256(byte, _mm256_set1_epi32(0x7f)), sign = _mm256_slli_epi32(byte, 24);
    sign = _mm256_and_si256(sign, _mm256_set1_epi32(INT32_MIN));
    __m256i bits = _mm256_add_epi32(_mm256_slli_epi32(rest, 20), _mm256_set1_epi32(120 << 23));
    /* below 8 steps of 2^-9, no subnormal f32 on the way */
    __m256 small = _mm256_mul_ps(_mm256_cvtepi32_ps(rest), _mm256_set1_ps(0x1p-9f));
    bits = _mm256_blendv_epi8(bits, _mm256_castps_si256(small), _mm256_cmpgt_epi32(_mm256_set1_epi32(8), rest));
    bits = _mm256_or_si256(bits, sign);
    bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7fc00000), _mm256_cmpeq_epi32(rest, _mm256_set1_epi32(0x7f)));
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(scale)));
}
static inline void int8_lanes(const uint8_t *in, float scale, float *out) {
    __m256i whole = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)in));
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(whole), _mm256_set1_ps(scale)));
}
static inline void nf4_lanes(const uint8_t *in, float scale, float *out) {
    __m128i pairs = _mm_loadu_si32(in);
    __m256i code = _mm256_cvtepu8_epi32(_mm_unpacklo_epi8(pairs, pairs));
    code = _mm256_srlv_epi32(code, _mm256_set1_epi64x(INT64_C(4) << 32)); /* the low half of a byte is first */
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(og_nf4_values), code);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(og_nf4_values + 8), code);
    __m256 value = _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(code, 28))); /* by bit 3 */
    _mm256_storeu_ps(out, _mm256_mul_ps(value, _mm256_set1_ps(scale)));
}
#include "lookup/row_ops_scaled.h"

#define OG_OPS      og_row_ops_avx2
#define OG_OPS_NAME "avx2"
#include "lookup/row_ops_body.h"
