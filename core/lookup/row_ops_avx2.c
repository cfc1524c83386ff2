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

#define OG_OWN_F16
#define OG_LANES 8
static inline void widen_lanes(const uint16_t *in, float *out) {
    _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)in)));
}
static inline void narrow_lanes(const float *in, uint16_t *out) {
    _mm_storeu_si128((__m128i *)(void *)out,
                     _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#include "lookup/row_ops_f16.h"

#define OG_OPS      og_row_ops_avx2
#define OG_OPS_NAME "avx2"
#include "lookup/row_ops_body.h"
