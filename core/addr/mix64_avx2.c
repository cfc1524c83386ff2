/* mix64_avx2.c: the plain loops' shape, four windows at a time. */
#include "addr/mix64.h"
#include "addr/modulus.h"

#include <immintrin.h>

/* a * b modulo 2^64. */
static inline __m256i times(__m256i a, __m256i b, __m256i b_high) {
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b), _mm256_mul_epu32(a, b_high));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}

static void fold(const og_mix64 *mix, const og_cells *cells, int32_t cell, int32_t head, uint64_t *sum, int first) {
    const int32_t *code = cells->code[cell];
    const int8_t *tag = cells->tag[cell];
    const uint64_t *multipliers = mix->multipliers + (int64_t)cell * mix->heads + head;
    int64_t stride = (int64_t)mix->cells * mix->heads, n = cells->n, i = 0;
    if (!tag) {
        __m256i m =
            _mm256_set1_epi64x((int64_t)multipliers[(cells->constant_tag[cell] & (OG_MIX64_TAGS - 1)) * stride]);
        __m256i m_high = _mm256_srli_epi64(m, 32);
        for (; i + 4 <= n; i += 4) {
            __m128i plus = _mm_add_epi32(_mm_loadu_si128((const void *)(code + i)), _mm_set1_epi32(1));
            __m256i c = _mm256_cvtepu32_epi64(plus);
            __m256i p = _mm256_add_epi64(_mm256_mul_epu32(c, m), _mm256_slli_epi64(_mm256_mul_epu32(c, m_high), 32));
            if (!first) p = _mm256_add_epi64(p, _mm256_loadu_si256((const void *)(sum + i)));
            _mm256_storeu_si256((void *)(sum + i), p);
        }
    }
    for (; i < n; i++) {
        int32_t t = tag ? tag[i] : cells->constant_tag[cell];
        uint64_t p = (uint64_t)((uint32_t)code[i] + 1u) * multipliers[(t & (OG_MIX64_TAGS - 1)) * stride];
        sum[i] = first ? p : sum[i] + p;
    }
}

/* Mixes in vectors, cuts the range in scalars: a 64-bit high product has no vector instruction. */
static void finish(const og_mix64_column *column, const uint64_t *sum, int64_t n, int64_t columns, int64_t *out) {
    const __m256i a = _mm256_set1_epi64x((int64_t)OG_MIX64_A), b = _mm256_set1_epi64x((int64_t)OG_MIX64_B);
    const __m256i a_high = _mm256_srli_epi64(a, 32), b_high = _mm256_srli_epi64(b, 32);
    const __m256i salt = _mm256_set1_epi64x((int64_t)column->salt);
    uint64_t z[4] __attribute__((aligned(32)));
    for (int64_t i = 0; i < n; i += 4) {
        __m256i v = _mm256_add_epi64(_mm256_loadu_si256((const void *)(sum + i)), salt);
        v = times(_mm256_xor_si256(v, _mm256_srli_epi64(v, 32)), a, a_high);
        v = times(_mm256_xor_si256(v, _mm256_srli_epi64(v, 29)), b, b_high);
        _mm256_store_si256((void *)z, v);
        for (int64_t j = 0; j < 4 && i + j < n; j++)
            out[(i + j) * columns] = (int64_t)(og_high64(z[j], column->rows) + column->base);
    }
}

void og_mix64_avx2(const og_mix64 *mix, const og_cells *cells, int64_t *rows) {
    uint64_t sum[OG_BLOCK + 4] __attribute__((aligned(32)));
    for (int64_t i = cells->n; i < cells->n + 4; i++) sum[i] = 0; /* the last lanes are computed, not kept */
    for (int32_t head = 0; head < mix->heads; head++) {
        int32_t folded = 0;
        for (int32_t c = head; c < mix->n_columns; c += mix->heads) {
            const og_mix64_column *column = &mix->columns[c];
            for (; folded < column->order; folded++) fold(mix, cells, folded, head, sum, folded == 0);
            finish(column, sum, cells->n, mix->n_columns, rows + c);
        }
    }
}
