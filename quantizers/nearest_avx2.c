/* nearest_avx2.c: one tile (two registers) by four vectors at a time; a lane is a code. */
#include "nearest.h"

#include <immintrin.h>

enum { LANES = OG_NEAREST_LANES, ROWS = OG_NEAREST_ROWS, AT_ONCE = 4 };

static inline void take(og_nearest_state *state, int half, __m256 d, int64_t tile) {
    float *best_at = state->best + 8 * half, *second_at = state->second + 8 * half;
    __m256i *tile_at = (__m256i *)(void *)(state->tile + 8 * half);
    __m256 best = _mm256_loadu_ps(best_at), second = _mm256_loadu_ps(second_at);
    __m256 less = _mm256_cmp_ps(d, best, _CMP_LT_OQ);
    __m256 loser = _mm256_blendv_ps(d, best, less);
    __m256 closer = _mm256_cmp_ps(loser, second, _CMP_LT_OQ);
    _mm256_storeu_ps(second_at, _mm256_blendv_ps(second, loser, closer));
    _mm256_storeu_ps(best_at, _mm256_blendv_ps(best, d, less));
    __m256i now = _mm256_set1_epi32((int32_t)tile), was = _mm256_loadu_si256(tile_at);
    _mm256_storeu_si256(tile_at, _mm256_blendv_epi8(was, now, _mm256_castps_si256(less)));
}

void og_nearest_tiles_avx2(const float *const *vectors, og_nearest_state *const *states, int64_t dim,
                           const float *tiles, int64_t first, int64_t n) {
    for (int64_t t = first; t < first + n; t++) {
        const float *tile = tiles + t * dim * LANES;
        for (int group = 0; group < ROWS; group += AT_ONCE) {
            __m256 sum[AT_ONCE][2];
            for (int r = 0; r < AT_ONCE; r++) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
            const float *const *rows = vectors + group;
            for (int64_t j = 0; j < dim; j++) {
                __m256 a = _mm256_loadu_ps(tile + j * LANES), b = _mm256_loadu_ps(tile + j * LANES + 8);
#pragma GCC unroll 4
                for (int r = 0; r < AT_ONCE; r++) {
                    __m256 v = _mm256_broadcast_ss(&rows[r][j]);
                    __m256 da = _mm256_sub_ps(a, v), db = _mm256_sub_ps(b, v);
                    sum[r][0] = _mm256_fmadd_ps(da, da, sum[r][0]);
                    sum[r][1] = _mm256_fmadd_ps(db, db, sum[r][1]);
                }
            }
            for (int r = 0; r < AT_ONCE; r++) {
                take(states[group + r], 0, sum[r][0], t);
                take(states[group + r], 1, sum[r][1], t);
            }
        }
    }
}
