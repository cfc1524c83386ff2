/* row_ops_scaled.h: rows with scales by the CPU's lanes. The including file defines OG_LANES and, for so many values at
 * a time, e4m3_lanes, int8_lanes and nf4_lanes. The products are those of the plain loops, bit by bit. */
static inline void widen_e4m3_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    int64_t i = 0;
    for (; i + OG_LANES <= n; i += OG_LANES) e4m3_lanes(in + first + i, scale, out + i);
    for (; i < n; i++) out[i] = og_widen_e4m3(in[first + i]) * scale;
}

static inline void widen_int8_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    int64_t i = 0;
    for (; i + OG_LANES <= n; i += OG_LANES) int8_lanes(in + first + i, scale, out + i);
    for (; i < n; i++) out[i] = (float)(int8_t)in[first + i] * scale;
}

static inline void widen_nf4_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    int64_t i = 0;
    if (first % 2 == 0) /* a group of odd size begins in the middle of a byte */
        for (; i + OG_LANES <= n; i += OG_LANES) nf4_lanes(in + (first + i) / 2, scale, out + i);
    for (; i < n; i++) out[i] = og_nf4_values[in[(first + i) / 2] >> ((first + i) % 2 * 4) & 15] * scale;
}
