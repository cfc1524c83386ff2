/* nearest_avx512.c: two tiles by eight vectors at a time; a lane is a code. */
#include "nearest.h"

#include <immintrin.h>

enum { LANES = OG_NEAREST_LANES, ROWS = OG_NEAREST_ROWS };

static inline void take(og_nearest_state *state, __m512 d, int64_t tile) {
    __m512 best = _mm512_loadu_ps(state->best);
    __mmask16 less = _mm512_cmp_ps_mask(d, best, _CMP_LT_OQ);
    __m512 loser = _mm512_mask_blend_ps(less, d, best);
    __m512 second = _mm512_loadu_ps(state->second);
    __mmask16 closer = _mm512_cmp_ps_mask(loser, second, _CMP_LT_OQ);
    _mm512_mask_storeu_ps(state->second, closer, loser);
    _mm512_mask_storeu_ps(state->best, less, d);
    _mm512_mask_storeu_epi32(state->tile, less, _mm512_set1_epi32((int32_t)tile));
}

void og_nearest_tiles_avx512(const float *const *vectors, og_nearest_state *const *states, int64_t dim,
                             const float *tiles, int64_t first, int64_t n) {
    int64_t t = first, end = first + n;
    for (; t + 2 <= end; t += 2) {
        const float *one = tiles + t * dim * LANES, *two = one + dim * LANES;
        __m512 sum[ROWS][2];
        for (int r = 0; r < ROWS; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
        for (int64_t j = 0; j < dim; j++) {
            __m512 a = _mm512_loadu_ps(one + j * LANES), b = _mm512_loadu_ps(two + j * LANES);
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++) {
                __m512 v = _mm512_set1_ps(vectors[r][j]);
                __m512 da = _mm512_sub_ps(a, v), db = _mm512_sub_ps(b, v);
                sum[r][0] = _mm512_fmadd_ps(da, da, sum[r][0]);
                sum[r][1] = _mm512_fmadd_ps(db, db, sum[r][1]);
            }
        }
        for (int r = 0; r < ROWS; r++) {
            take(states[r], sum[r][0], t);
            take(states[r], sum[r][1], t + 1);
        }
    }
    for (; t < end; t++) {
        const float *one = tiles + t * dim * LANES;
        __m512 sum[ROWS];
        for (int r = 0; r < ROWS; r++) sum[r] = _mm512_setzero_ps();
        for (int64_t j = 0; j < dim; j++) {
            __m512 a = _mm512_loadu_ps(one + j * LANES);
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++) {
                __m512 da = _mm512_sub_ps(a, _mm512_set1_ps(vectors[r][j]));
                sum[r] = _mm512_fmadd_ps(da, da, sum[r]);
            }
        }
        for (int r = 0; r < ROWS; r++) take(states[r], sum[r], t);
    }
}
