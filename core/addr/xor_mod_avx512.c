/* xor_mod_avx512.c: eight columns of one window at a time, which are neighbours in memory. */
#include "addr/xor_mod.h"

#include <immintrin.h>

/* x modulo m, never negative, for any 64-bit x and m in OG_XOR_WIDE_*. The quotient in doubles is off by less than
 * 3 * 2^-52 * 2^63 / m < 1, whatever the rounding mode; so the remainder is in (-m, 2 m), and as unsigned numbers the
 * smaller of two says which side it left. */
static inline __m512i floor_mod(__m512i x, __m512i m, __m512d inverse) {
    __m512i quotient = _mm512_cvt_roundpd_epi64(_mm512_mul_pd(_mm512_cvtepi64_pd(x), inverse),
                                                _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512i r = _mm512_sub_epi64(x, _mm512_mullo_epi64(quotient, m));
    r = _mm512_min_epu64(r, _mm512_add_epi64(r, m));
    return _mm512_min_epu64(r, _mm512_sub_epi64(r, m));
}

void og_xor_rows_avx512(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows) {
    int64_t mix[OG_BLOCK], m[8], base[8];
    double inverse[8];
    int32_t folded = 0, n_columns = hash->n_columns;
    for (int64_t i = 0; i < n; i++) mix[i] = 0;
    for (int32_t c = 0, wide; c < n_columns; c += wide) {
        int32_t order = hash->columns[c].order;
        for (; folded < order; folded++) {
            uint64_t multiplier = hash->multiplier[folded];
            const int32_t *cell = code[folded];
            for (int64_t i = 0; i < n; i++) mix[i] ^= (int64_t)((uint64_t)(int64_t)cell[i] * multiplier);
        }
        for (wide = 0; wide < 8 && c + wide < n_columns && hash->columns[c + wide].order == order; wide++) {
            m[wide] = (int64_t)hash->modulus[c + wide].m;
            base[wide] = hash->columns[c + wide].base;
            inverse[wide] = 1.0 / (double)m[wide];
        }
        __mmask8 keep = (__mmask8)((1u << wide) - 1);
        __m512i ms = _mm512_maskz_loadu_epi64(keep, m), bases = _mm512_maskz_loadu_epi64(keep, base);
        __m512d inverses = _mm512_maskz_loadu_pd(keep, inverse);
        int64_t *out = rows + c;
        for (int64_t i = 0; i < n; i++, out += n_columns) {
            __m512i row = _mm512_add_epi64(floor_mod(_mm512_set1_epi64(mix[i]), ms, inverses), bases);
            if (wide == 8)
                _mm512_storeu_si512(out, row);
            else
                _mm512_mask_storeu_epi64(out, keep, row);
        }
    }
}
