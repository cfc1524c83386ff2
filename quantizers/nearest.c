/* nearest.c: nearest code by direct fp32 differences in one fixed order. */
#include "nearest.h"

#include <omnigram/internal/cpu.h>
#include <omnigram/memory.h>

#include <fenv.h>
#include <math.h>
#include <string.h>

enum {
    LANES = OG_NEAREST_LANES,
    ROWS = OG_NEAREST_ROWS,
    BLOCK = 64,      /* vectors of one part of the work */
    TILE_GROUP = 64, /* tiles that stay in the caches while a block passes */
};

void og_nearest_tiles_c(const float *const *vectors, og_nearest_state *const *states, int64_t dim, const float *tiles,
                        int64_t first, int64_t n) {
    for (int64_t t = first; t < first + n; t++) {
        const float *tile = tiles + t * dim * LANES;
        for (int r = 0; r < ROWS; r++) {
            float sum[LANES] = {0};
            for (int64_t j = 0; j < dim; j++)
                for (int lane = 0; lane < LANES; lane++) {
                    float difference = tile[j * LANES + lane] - vectors[r][j];
                    sum[lane] = fmaf(difference, difference, sum[lane]);
                }
            og_nearest_state *state = states[r];
            for (int lane = 0; lane < LANES; lane++) {
                float d = sum[lane], best = state->best[lane];
                float loser = d < best ? best : d;
                if (loser < state->second[lane]) state->second[lane] = loser;
                if (d < best) {
                    state->best[lane] = d;
                    state->tile[lane] = (int32_t)t;
                }
            }
        }
    }
}

og_nearest_fn *og_nearest_level(int32_t level) {
    if (level > og_cpu_level()) return NULL;
#ifdef OG_HAVE_AVX512
    if (level == OG_LEVEL_AVX512) return og_nearest_tiles_avx512;
#endif
#ifdef OG_HAVE_AVX2
    if (level == OG_LEVEL_AVX2) return og_nearest_tiles_avx2;
#endif
    return level == OG_LEVEL_C ? og_nearest_tiles_c : NULL;
}

og_status og_nearest_make(const float *codes, int64_t size, int64_t dim, og_nearest *out, og_error *err) {
    OG_TRY(og_cpu_check(err));
    if (size < 1 || size > INT32_MAX - LANES || dim < 1)
        return og_fail(err, OG_EINVAL, "a search over %lld codes of %lld values: sizes are 1..%d and at least 1",
                       (long long)size, (long long)dim, INT32_MAX - LANES);
    og_nearest made = {.codes = codes, .size = size, .dim = dim, .n_tiles = (size + LANES - 1) / LANES};
    int64_t values;
    if (__builtin_mul_overflow(made.n_tiles * LANES, dim, &values) || !(made.tiles = og_alloc(values, sizeof(float))))
        return og_fail(err, OG_ENOMEM, "no memory to search %lld codes of %lld values", (long long)size,
                       (long long)dim);
    for (int64_t k = 0; k < made.n_tiles * LANES; k++) {
        float *lane = made.tiles + k / LANES * dim * LANES + k % LANES;
        for (int64_t j = 0; j < dim; j++) lane[j * LANES] = k < size ? codes[k * dim + j] : INFINITY;
    }
    for (int32_t level = og_cpu_level(); level >= 0 && !made.take; level--) made.take = og_nearest_level(level);
    *out = made;
    return OG_OK;
}

void og_nearest_drop(og_nearest *nearest) {
    og_release(nearest->tiles);
    nearest->tiles = NULL;
}

int32_t og_all_finite(const float *values, int64_t n) {
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/* All fp32 distances were infinite: values near the end of the range, where double still tells codes apart. */
static int32_t nearest_in_double(const og_nearest *nearest, const float *vector, double *best, double *second) {
    int32_t code = 0;
    *best = *second = INFINITY;
    for (int64_t k = 0; k < nearest->size; k++) {
        double sum = 0;
        for (int64_t j = 0; j < nearest->dim; j++) {
            double difference = (double)nearest->codes[k * nearest->dim + j] - (double)vector[j];
            sum += difference * difference;
        }
        if (sum < *best) {
            *second = *best;
            *best = sum;
            code = (int32_t)k;
        } else if (sum < *second) {
            *second = sum;
        }
    }
    return code;
}

/* The lanes' best into one: the smallest distance, then the lowest code. */
static int32_t settle(const og_nearest *nearest, const og_nearest_state *state, const float *vector, float *distance,
                      float *margin) {
    int winner = 0;
    for (int lane = 1; lane < LANES; lane++)
        if (state->best[lane] < state->best[winner] ||
            (state->best[lane] == state->best[winner] && state->tile[lane] < state->tile[winner]))
            winner = lane;
    float best = state->best[winner];
    if (!(best < INFINITY)) {
        double wide_best, wide_second;
        int32_t code = nearest_in_double(nearest, vector, &wide_best, &wide_second);
        *distance = (float)wide_best;
        *margin = (float)(wide_second - wide_best);
        return code;
    }
    float second = state->second[winner];
    for (int lane = 0; lane < LANES; lane++)
        if (lane != winner && state->best[lane] < second) second = state->best[lane];
    *distance = best;
    *margin = second - best;
    return state->tile[winner] * LANES + winner;
}

typedef struct search {
    const og_nearest *nearest;
    const float *vectors;
    int32_t *code;
    int64_t stride;
    float *distance, *margin;
} search;

static void clear(og_nearest_state *state) {
    for (int lane = 0; lane < LANES; lane++) {
        state->best[lane] = state->second[lane] = INFINITY;
        state->tile[lane] = 0;
    }
}

static void find_block(const search *s, int64_t begin, int64_t n) {
    const og_nearest *nearest = s->nearest;
    og_nearest_state states[BLOCK], unused; /* unused: what a short last group computes beyond its end */
    for (int64_t i = 0; i < n; i++) clear(&states[i]);
    clear(&unused);
    for (int64_t first = 0; first < nearest->n_tiles; first += TILE_GROUP) {
        int64_t tiles = nearest->n_tiles - first < TILE_GROUP ? nearest->n_tiles - first : TILE_GROUP;
        for (int64_t group = 0; group < n; group += ROWS) {
            const float *rows[ROWS];
            og_nearest_state *into[ROWS];
            for (int r = 0; r < ROWS; r++) {
                int64_t i = group + r < n ? group + r : group;
                rows[r] = s->vectors + (begin + i) * nearest->dim;
                into[r] = group + r < n ? &states[i] : &unused;
            }
            nearest->take(rows, into, nearest->dim, nearest->tiles, first, tiles);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const float *vector = s->vectors + (begin + i) * nearest->dim;
        float distance = 0, margin = 0;
        int32_t code = -1;
        if (og_all_finite(vector, nearest->dim)) code = settle(nearest, &states[i], vector, &distance, &margin);
        s->code[(begin + i) * s->stride] = code;
        if (s->distance) s->distance[begin + i] = distance;
        if (s->margin) s->margin[begin + i] = margin;
    }
}

static void find_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    (void)worker;
    /* A training thread may flush subnormals or round otherwise; codes must not depend on who asks. */
    fenv_t caller;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    for (int64_t i = begin; i < end; i += BLOCK) find_block(context, i, end - i < BLOCK ? end - i : BLOCK);
    fesetenv(&caller);
}

void og_nearest_find(const og_nearest *nearest, const float *vectors, int64_t n, og_pool *pool, int32_t *code,
                     int64_t stride, float *distance, float *margin) {
    search s = {nearest, vectors, code, stride, distance, margin};
    if (pool)
        og_pool_for(pool, n, BLOCK, find_range, &s);
    else if (n > 0)
        find_range(&s, 0, n, 0);
}

og_status og_nearest_once(const float *codes, int64_t size, int64_t dim, const float *vectors, int64_t n, og_pool *pool,
                          int32_t *code, float *distance, og_error *err) {
    og_nearest nearest;
    OG_TRY(og_nearest_make(codes, size, dim, &nearest, err));
    og_nearest_find(&nearest, vectors, n, pool, code, 1, distance, NULL);
    og_nearest_drop(&nearest);
    return OG_OK;
}
