/* mix64_avx512.c: eight windows at a time. */
#include "addr/mix64.h"

#include <immintrin.h>

/* (code + 1) * m for eight windows; the sum's top half of the 32 x 64 product comes by two 32-bit
 * products. */
static inline __m512i product(__m256i code, __m512i m, __m512i m_high) {
    __m512i c = _mm512_cvtepu32_epi64(_mm256_add_epi32(code, _mm256_set1_epi32(1)));
    return _mm512_add_epi64(_mm512_mul_epu32(c, m), _mm512_slli_epi64(_mm512_mul_epu32(c, m_high), 32));
}

/* floor(z * rows / 2^64); wide: rows of 2^32 and more. */
static inline __m512i scale(__m512i z, __m512i rows, __m512i rows_high, int wide) {
    __m512i high = _mm512_srli_epi64(z, 32);
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(z, rows), 32);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(high, rows), low);
    if (!wide) return _mm512_srli_epi64(middle, 32);
    __m512i other = _mm512_mul_epu32(z, rows_high);
    __m512i carry = _mm512_add_epi64(_mm512_and_si512(middle, _mm512_set1_epi64(0xffffffff)),
                                     _mm512_and_si512(other, _mm512_set1_epi64(0xffffffff)));
    __m512i top = _mm512_add_epi64(_mm512_mul_epu32(high, rows_high), _mm512_srli_epi64(carry, 32));
    return _mm512_add_epi64(top, _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(other, 32)));
}

static void fold(const og_mix64 *mix, const og_cells *cells, int32_t cell, int32_t head, uint64_t *sum, int first) {
    const int32_t *code = cells->code[cell];
    const int8_t *tag = cells->tag[cell];
    const uint64_t *multipliers = mix->multipliers + (int64_t)cell * mix->heads + head;
    int64_t stride = (int64_t)mix->cells * mix->heads, n = cells->n, i = 0;
    __m512i m = _mm512_set1_epi64((int64_t)multipliers[(cells->constant_tag[cell] & (OG_MIX64_TAGS - 1)) * stride]);
    __m512i m_high = _mm512_srli_epi64(m, 32);
    for (; i + 8 <= n; i += 8) {
        if (tag) {
            __m512i t = _mm512_and_si512(_mm512_cvtepi8_epi64(_mm_loadl_epi64((const void *)(tag + i))),
                                         _mm512_set1_epi64(OG_MIX64_TAGS - 1));
            m = _mm512_i64gather_epi64(_mm512_mullo_epi64(t, _mm512_set1_epi64(stride)), (const void *)multipliers, 8);
            m_high = _mm512_srli_epi64(m, 32);
        }
        __m512i p = product(_mm256_loadu_si256((const void *)(code + i)), m, m_high);
        if (!first) p = _mm512_add_epi64(p, _mm512_loadu_si512(sum + i));
        _mm512_storeu_si512(sum + i, p);
    }
    for (; i < n; i++) {
        int32_t t = tag ? tag[i] : cells->constant_tag[cell];
        uint64_t p = (uint64_t)((uint32_t)code[i] + 1u) * multipliers[(t & (OG_MIX64_TAGS - 1)) * stride];
        sum[i] = first ? p : sum[i] + p;
    }
}

static inline __m512i finish(__m512i sum, const og_mix64_column *column) {
    __m512i z = _mm512_add_epi64(sum, _mm512_set1_epi64((int64_t)column->salt));
    z = _mm512_xor_si512(z, _mm512_srli_epi64(z, 32));
    z = _mm512_mullo_epi64(z, _mm512_set1_epi64((int64_t)OG_MIX64_A));
    z = _mm512_xor_si512(z, _mm512_srli_epi64(z, 29));
    z = _mm512_mullo_epi64(z, _mm512_set1_epi64((int64_t)OG_MIX64_B));
    __m512i rows = _mm512_set1_epi64((int64_t)column->rows);
    __m512i row = scale(z, rows, _mm512_srli_epi64(rows, 32), column->rows >> 32 != 0);
    return _mm512_add_epi64(row, _mm512_set1_epi64((int64_t)column->base));
}

enum { TURN_MOST = 16 }; /* columns that are computed one after the other and then turned: 32 KiB of the first level */

/* columns[n_columns][OG_BLOCK] to rows[n][n_columns], four by eight at a time: a scatter takes each id by itself. */
static void turn(const int64_t *columns, int64_t n_columns, int64_t n, int64_t *rows) {
    const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    for (int64_t i = 0; i < n; i += 8)
        for (int64_t c = 0; c < n_columns; c += 4) {
            const int64_t *from = columns + c * OG_BLOCK + i;
            __m512i w = _mm512_load_si512(from), x = _mm512_load_si512(from + OG_BLOCK);
            __m512i y = _mm512_load_si512(from + 2 * OG_BLOCK), z = _mm512_load_si512(from + 3 * OG_BLOCK);
            __m512i even = _mm512_unpacklo_epi64(w, x), odd = _mm512_unpackhi_epi64(w, x);
            __m512i even2 = _mm512_unpacklo_epi64(y, z), odd2 = _mm512_unpackhi_epi64(y, z);
            __m512i four[4] = {_mm512_permutex2var_epi64(even, low, even2), _mm512_permutex2var_epi64(odd, low, odd2),
                               _mm512_permutex2var_epi64(even, high, even2),
                               _mm512_permutex2var_epi64(odd, high, odd2)};
            int64_t *to = rows + i * n_columns + c, left = n - i; /* windows 0 2, 1 3, 4 6, 5 7 */
            for (int k = 0; k < 4; k++) {
                int64_t first = (k & 1) + (k & 2) * 2;
                if (first < left)
                    _mm256_storeu_si256((void *)(to + first * n_columns), _mm512_castsi512_si256(four[k]));
                if (first + 2 < left)
                    _mm256_storeu_si256((void *)(to + (first + 2) * n_columns), _mm512_extracti64x4_epi64(four[k], 1));
            }
        }
}

void og_mix64_avx512(const og_mix64 *mix, const og_cells *cells, int64_t *rows) {
    uint64_t sum[OG_BLOCK + 8] __attribute__((aligned(64)));
    int64_t n = cells->n, columns = mix->n_columns;
    __m512i step = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(columns));
    for (int64_t i = n; i < OG_BLOCK + 8 && i < n + 8; i++) sum[i] = 0; /* the last lanes are computed, not kept */
    int64_t block[TURN_MOST * OG_BLOCK] __attribute__((aligned(64)));
    int turned = columns <= TURN_MOST && columns % 4 == 0;
    for (int32_t head = 0; head < mix->heads; head++) {
        int32_t folded = 0;
        for (int32_t c = head; c < mix->n_columns; c += mix->heads) {
            const og_mix64_column *column = &mix->columns[c];
            for (; folded < column->order; folded++) fold(mix, cells, folded, head, sum, folded == 0);
            int64_t *out = rows + c, i = 0;
            for (; turned && i < n; i += 8)
                _mm512_store_si512(block + c * OG_BLOCK + i, finish(_mm512_loadu_si512(sum + i), column));
            for (; i < n; i += 8) {
                __mmask8 keep = (__mmask8)(n - i >= 8 ? 0xffu : (1u << (n - i)) - 1);
                _mm512_mask_i64scatter_epi64(out + i * columns, keep, step, finish(_mm512_loadu_si512(sum + i), column),
                                             8);
            }
        }
    }
    if (turned) turn(block, columns, n, rows);
}
