/* row_ops_avx512.c: the kernels of lookups for AVX-512 (F, BW, VL, DQ). */
#include "store/numbers.h"

#include <immintrin.h>

#define OG_FOUR_LINES(store)                                                                                           \
    for (; row != fours; out += 256, row += 256) {                                                                     \
        __m512i a = _mm512_loadu_si512(row), b = _mm512_loadu_si512(row + 64);                                         \
        __m512i c = _mm512_loadu_si512(row + 128), d = _mm512_loadu_si512(row + 192);                                  \
        store((void *)out, a);                                                                                         \
        store((void *)(out + 64), b);                                                                                  \
        store((void *)(out + 128), c);                                                                                 \
        store((void *)(out + 192), d);                                                                                 \
    }                                                                                                                  \
    for (; row != end; out += 64, row += 64) store((void *)out, _mm512_loadu_si512(row));

static inline void copy_lines(uint8_t *out, const uint8_t *row, int64_t lines, int32_t stream) {
    const uint8_t *fours = row + (lines & ~INT64_C(3)) * 64, *end = row + lines * 64;
    if (stream) {
        OG_FOUR_LINES(_mm512_stream_si512)
    } else {
        OG_FOUR_LINES(_mm512_storeu_si512)
    }
}

static inline void copy_part(uint8_t *out, const uint8_t *row, int64_t bytes) { /* 1 to 63 */
    __mmask64 keep = ~UINT64_C(0) >> (64 - bytes);
    _mm512_mask_storeu_epi8(out, keep, _mm512_maskz_loadu_epi8(keep, row));
}
#define OG_STREAMS 1
#define OG_FENCE() _mm_sfence()

#define OG_OWN_HALF
#define OG_LANES 16
static inline void widen_lanes(const uint16_t *in, float *out) {
    _mm512_storeu_ps(out, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)in)));
}
static inline void narrow_lanes(const float *in, uint16_t *out) {
    _mm256_storeu_si256((__m256i *)(void *)out,
                        _mm512_cvtps_ph(_mm512_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline void narrow_bf16_lanes(const float *in, uint16_t *out) {
    __m512i bits = _mm512_loadu_si512(in), high = _mm512_srli_epi32(bits, 16);
    __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    __m512i quiet = _mm512_mask_or_epi32(high, _mm512_testn_epi32_mask(high, _mm512_set1_epi32(0x7f)), high,
                                         _mm512_set1_epi32(0x40));
    __mmask16 nan = _mm512_cmp_ps_mask(_mm512_castsi512_ps(bits), _mm512_castsi512_ps(bits), _CMP_UNORD_Q);
    rounded = _mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), nan, quiet);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi32_epi16(rounded));
}
#include "lookup/row_ops_half.h"

#define OG_OWN_SCALED
static inline void e4m3_lanes(const uint8_t *in, float scale, float *out) {
    __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)in)),
            rest = _mm512_and_si512(byte, _mm512_set1_epi32(0x7f));
    __m512i sign = _mm512_slli_epi32(_mm512_andnot_si512(_mm512_set1_epi32(0x7f), byte), 24);
    __m512i bits = _mm512_add_epi32(_mm512_slli_epi32(rest, 20), _mm512_set1_epi32(120 << 23));
    /* below 8 steps of 2^-9, no subnormal f32 on the way */
    __m512 small = _mm512_mul_ps(_mm512_cvtepi32_ps(rest), _mm512_set1_ps(0x1p-9f));
    bits = _mm512_mask_mov_epi32(bits, _mm512_cmplt_epi32_mask(rest, _mm512_set1_epi32(8)), _mm512_castps_si512(small));
    bits = _mm512_or_si512(bits, sign);
    bits = _mm512_mask_mov_epi32(bits, _mm512_cmpeq_epi32_mask(rest, _mm512_set1_epi32(0x7f)),
                                 _mm512_set1_epi32(0x7fc00000));
    _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(scale)));
}
static inline void int8_lanes(const uint8_t *in, float scale, float *out) {
    __m512i whole = _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)in));
    _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(scale)));
}
static inline void nf4_lanes(const uint8_t *in, float scale, float *out) {
    __m128i pairs = _mm_loadl_epi64((const void *)in);
    __m512i code = _mm512_cvtepu8_epi32(_mm_unpacklo_epi8(pairs, pairs));
    code = _mm512_srlv_epi32(code, _mm512_set1_epi64(INT64_C(4) << 32)); /* the low half of a byte is first */
    __m512 value = _mm512_permutexvar_ps(code, _mm512_loadu_ps(og_nf4_values));
    _mm512_storeu_ps(out, _mm512_mul_ps(value, _mm512_set1_ps(scale)));
}
#include "lookup/row_ops_scaled.h"

/* Up to 64 different ids of a part: what an id is among them is how many are less. Returns 0 where some are equal. */
#define OG_OWN_RANK_FEW
static inline int rank_few(const uint16_t *entry, uint32_t n, uint64_t first, int64_t d, int64_t *distinct,
                           uint32_t *rank) {
    if (n > 64) return 0;
    const uint64_t live = n ? ~UINT64_C(0) >> (64 - n) : 0;
    const __mmask32 some = (__mmask32)live, more = (__mmask32)(live >> 32);
    const __m512i a = _mm512_maskz_loadu_epi16(some, entry), b = _mm512_maskz_loadu_epi16(more, entry + 32);
    uint32_t sum = 0;
    for (uint32_t e = 0; e < n; e++) {
        __m512i id = _mm512_set1_epi16((short)entry[e]);
        uint32_t less = (uint32_t)(__builtin_popcount(_mm512_mask_cmplt_epu16_mask(some, a, id)) +
                                   __builtin_popcount(_mm512_mask_cmplt_epu16_mask(more, b, id)));
        rank[e] = (uint32_t)d + less;
        distinct[less] = (int64_t)(first + entry[e]);
        sum += less;
    }
    return sum == n * (n - 1) / 2;
}
#define OG_PART_IDS 20

#define OG_OPS      og_row_ops_avx512
#define OG_OPS_NAME "avx512"
#include "lookup/row_ops_body.h"
