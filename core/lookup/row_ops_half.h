/* row_ops_half.h: 16-bit rows by the CPU's lanes. The including file defines OG_LANES and, for so many values at a
 * time, f16's widen_lanes and narrow_lanes, and narrow_bf16_lanes. */
static inline void narrow_bf16_block(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
    for (; i + OG_LANES <= n; i += OG_LANES) narrow_bf16_lanes(in + i, out + i);
    for (; i < n; i++) out[i] = og_narrow_bf16(in[i]);
}

static inline void narrow_f16_block(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
    for (; i + OG_LANES <= n; i += OG_LANES) narrow_lanes(in + i, out + i);
    for (; i < n; i++) out[i] = og_narrow_f16(in[i]);
}

static void f32_to_f16(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {
    (void)scales, (void)group;
    narrow_f16_block((const float *)(const void *)values, out, dim);
}

static void f32_to_bf16(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {
    (void)scales, (void)group;
    narrow_bf16_block((const float *)(const void *)values, out, dim);
}

static void f16_to_f32(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {
    (void)scales, (void)group;
    const uint16_t *in = (const uint16_t *)(const void *)values;
    float *o = out;
    int64_t i = 0;
    for (; i + OG_LANES <= dim; i += OG_LANES) widen_lanes(in + i, o + i);
    for (; i < dim; i++) o[i] = og_widen_f16(in[i]);
}

static void bf16_to_f16(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {
    (void)scales, (void)group;
    const uint16_t *in = (const uint16_t *)(const void *)values;
    float block[64];
    for (int64_t at = 0; at < dim; at += 64) {
        int64_t n = dim - at < 64 ? dim - at : 64;
        for (int64_t i = 0; i < n; i++) block[i] = og_widen_bf16(in[at + i]);
        narrow_f16_block(block, (uint16_t *)out + at, n);
    }
}

static void f16_to_bf16(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {
    (void)scales, (void)group;
    const uint16_t *in = (const uint16_t *)(const void *)values;
    uint16_t *o = out;
    float block[64];
    for (int64_t at = 0; at < dim; at += 64) {
        int64_t n = dim - at < 64 ? dim - at : 64;
        f16_to_f32((const uint8_t *)(const void *)(in + at), NULL, block, n, 0);
        narrow_bf16_block(block, o + at, n);
    }
}
