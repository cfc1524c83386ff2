/* draw_body.h: the ceiling of a gather, for benchmarks: gather_values of rows that a generator draws instead of ids
 * that are read, compiled with the same copies. Included by row_ops_body.h. */

static inline __attribute__((always_inline)) void draw_values(const og_gather *g, int64_t n, uint64_t seed,
                                                              uint64_t rows, int64_t bytes, int32_t stream) {
    enum { AHEAD = 32 };
    const uint8_t *ring[AHEAD], *values = g->values;
    const int64_t stride = g->value_stride, out_stride = g->out_stride;
    uint8_t *out = g->out;
    for (int64_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD) {
            copy_row(out, ring[i % AHEAD], bytes, stream);
            out += out_stride;
        }
        if (i >= n) continue;
        /* a place in [0, rows) by multiplication of 32 random bits; rows < 2^32 in every benchmark */
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ring[i % AHEAD] = values + (int64_t)((seed >> 32) * rows >> 32) * stride;
        prefetch_values(ring[i % AHEAD], bytes, 1);
    }
    if (stream) OG_FENCE();
}

static void draw(const og_gather *g, int64_t n, uint64_t seed, int64_t rows) {
    switch (g->out_bytes + g->stream) {
    case 512: draw_values(g, n, seed, (uint64_t)rows, 512, 0); break;
    case 513: draw_values(g, n, seed, (uint64_t)rows, 512, 1); break;
    case 1024: draw_values(g, n, seed, (uint64_t)rows, 1024, 0); break;
    case 1025: draw_values(g, n, seed, (uint64_t)rows, 1024, 1); break;
    default: draw_values(g, n, seed, (uint64_t)rows, g->out_bytes, g->stream); break;
    }
}
