/* nearest.h: the code nearest to a vector, the same for any batch, thread count and instruction set. Private to the
 * layer.
 *
 * distance(v, c) = d_{dim-1} where d_j = fmaf(v_j - c_j, v_j - c_j, d_{j-1}) in fp32, j ascending from d_{-1} = 0. A
 * lane of a register holds one code, so no width changes the order of a sum; FMA is one rounding
 * wherever it is done. */
#ifndef OMNIGRAM_NEAREST_H
#define OMNIGRAM_NEAREST_H

#include <omnigram/pool.h>
#include <omnigram/status.h>

OG_BEGIN

#define OG_NEAREST_LANES 16 /* codes of a tile */
#define OG_NEAREST_ROWS  8  /* vectors of a kernel call */

/* What a vector has met so far in each lane. */
typedef struct og_nearest_state {
    float best[OG_NEAREST_LANES], second[OG_NEAREST_LANES];
    int32_t tile[OG_NEAREST_LANES]; /* of best */
} og_nearest_state;

/* Takes tiles [first, first + n) of tiles[...][dim][LANES] into the states of OG_NEAREST_ROWS vectors; pointers may
 * repeat. */
typedef void og_nearest_fn(const float *const *vectors, og_nearest_state *const *states, int64_t dim,
                           const float *tiles, int64_t first, int64_t n);
void og_nearest_tiles_c(const float *const *vectors, og_nearest_state *const *states, int64_t dim, const float *tiles,
                        int64_t first, int64_t n);
void og_nearest_tiles_avx2(const float *const *vectors, og_nearest_state *const *states, int64_t dim,
                           const float *tiles, int64_t first, int64_t n);
void og_nearest_tiles_avx512(const float *const *vectors, og_nearest_state *const *states, int64_t dim,
                             const float *tiles, int64_t first, int64_t n);

/* OG_LEVEL_*; NULL where this build or this CPU lacks the level, or OG_CPU masks it. */
og_nearest_fn *og_nearest_level(int32_t level);

typedef struct og_nearest { /* a code set laid out for the search */
    float *tiles;           /* [n_tiles][dim][LANES], the last one padded with codes at infinity; owned */
    const float *codes;     /* [size][dim], borrowed */
    int64_t size, dim, n_tiles;
    og_nearest_fn *take;
} og_nearest;

/* codes must be finite and outlive *out. The fastest level of this CPU; tests set out->take. */
og_status og_nearest_make(const float *codes, int64_t size, int64_t dim, og_nearest *out, og_error *err) OG_MUST_USE;
void og_nearest_drop(og_nearest *nearest);

/* code[i * stride] = the nearest code of vectors[i], the lowest on ties; -1 where a value is not finite. distance and
 * margin [n] (second best minus best; infinity when size is 1) may be NULL; both are 0 for a code of -1. Where fp32
 * distances all overflow, double decides. */
void og_nearest_find(const og_nearest *nearest, const float *vectors, int64_t n, og_pool *pool, int32_t *code,
                     int64_t stride, float *distance, float *margin);

/* The same for one call: lays out, searches, drops. */
og_status og_nearest_once(const float *codes, int64_t size, int64_t dim, const float *vectors, int64_t n, og_pool *pool,
                          int32_t *code, float *distance, og_error *err) OG_MUST_USE;

/* 1 when all n values are finite. */
int32_t og_all_finite(const float *values, int64_t n);

OG_END
#endif
