/* row_ops_body.h: the kernels of row_ops.h, compiled once for each instruction set. The including file defines OG_OPS
 * (the name of the table), OG_OPS_NAME, OG_STREAMS (1 where there are stores past the caches), copy_lines (whole
 * 64-byte lines, with or without such stores), copy_part (less than a line) and OG_FENCE; the loops vectorise for its
 * flags. */
#include "lookup/row_ops.h"
#include "store/numbers.h"
#include "store/prefetch.h"

#include <omnigram/addr.h>

#include <string.h>

/* Stores past the caches want whole lines of the output; the ends of a row that share a line with its neighbours are
 * stored as usual. */
static inline void copy_row(uint8_t *out, const uint8_t *row, int64_t bytes, int32_t stream) {
    if (OG_STREAMS && stream) {
        int64_t head = (int64_t)(-(uintptr_t)out & 63);
        if (head) {
            if (head > bytes) head = bytes;
            copy_part(out, row, head);
            out += head;
            row += head;
            bytes -= head;
        }
    }
    int64_t lines = bytes / 64;
    copy_lines(out, row, lines, stream);
    if (bytes % 64) copy_part(out + lines * 64, row + lines * 64, bytes % 64);
}

static void copy(uint8_t *out, const uint8_t *row, int64_t bytes, int32_t stream) { copy_row(out, row, bytes, stream); }

static void fence(void) { OG_FENCE(); }

static inline void prefetch_values(const uint8_t *row, int64_t bytes, int32_t far) {
    if (far)
        og_prefetch_far(row, bytes);
    else
        og_prefetch_near(row, bytes);
}

enum { IDS_AHEAD = 128 };

/* Rows as they are. The fields are read once: a store of bytes may change *g for all the compiler knows, and what it
 * then does between two rows is time in which fewer of their lines are on the way (a sixth at 512 bytes a row). */
static inline __attribute__((always_inline)) void gather_values(const og_gather *g, int64_t n, int64_t bytes,
                                                                int32_t far, int32_t stream) {
    const uint8_t *values = g->values;
    const int64_t *rows = g->rows;
    const int64_t step = g->row_step, base = g->base, stride = g->value_stride;
    const int64_t out_stride = g->out_stride, ahead = g->prefetch < n ? g->prefetch : n;
    uint8_t *out = g->out;
    for (int64_t i = 0; i < ahead; i++)
        if (rows[i * step] >= 0) prefetch_values(values + (rows[i * step] - base) * stride, bytes, far);
    for (int64_t i = 0; i < n; i++, out += out_stride) {
        if (ahead && i < n - ahead) {
            /* The rows have driven the ids out of the first level since they were checked. */
            __builtin_prefetch((const void *)((uintptr_t)(rows + i * step) + (uintptr_t)step * 8 * IDS_AHEAD), 0, 3);
            int64_t next = rows[(i + ahead) * step];
            if (next >= 0) prefetch_values(values + (next - base) * stride, bytes, far);
        }
        int64_t id = rows[i * step];
        if (id < 0)
            memset(out, 0, (size_t)bytes);
        else
            copy_row(out, values + (id - base) * stride, bytes, stream);
    }
}

static inline void prefetch_row(const og_gather *g, int64_t i) {
    int64_t id = g->rows[i * g->row_step];
    if (id < 0) return;
    prefetch_values(g->values + (id - g->base) * g->value_stride, g->value_bytes, g->far);
    if (g->scales) og_prefetch_near(g->scales + (id - g->base) * g->scale_stride, 1);
}

/* No conversion writes whole lines: a row is made in the first-level cache and then written past the caches. */
static void gather_converted(const og_gather *g, int64_t n) {
    uint8_t row[OG_CONVERT_PAST_MOST] __attribute__((aligned(64)));
    int64_t ahead = g->prefetch;
    int past = OG_STREAMS && g->stream;
    for (int64_t i = 0; i < ahead && i < n; i++) prefetch_row(g, i);
    for (int64_t i = 0; i < n; i++) {
        if (ahead && i + ahead < n) prefetch_row(g, i + ahead);
        int64_t id = g->rows[i * g->row_step];
        uint8_t *out = g->out + i * g->out_stride;
        if (id < 0) {
            memset(out, 0, (size_t)g->out_bytes);
            continue;
        }
        g->convert(g->values + (id - g->base) * g->value_stride,
                   g->scales ? g->scales + (id - g->base) * g->scale_stride : NULL, past ? row : out, g->dim, g->group);
        if (past) copy_row(out, row, g->out_bytes, 1);
    }
    if (past) OG_FENCE();
}

/* Copies of usual sizes are straight code. */
#define OG_GATHER_VALUES(name, far, stream)                                                                            \
    static void name(const og_gather *g, int64_t n) {                                                                  \
        switch (g->out_bytes) {                                                                                        \
        case 256: gather_values(g, n, 256, far, stream); break;                                                        \
        case 512: gather_values(g, n, 512, far, stream); break;                                                        \
        case 1024: gather_values(g, n, 1024, far, stream); break;                                                      \
        default: gather_values(g, n, g->out_bytes, far, stream); break;                                                \
        }                                                                                                              \
    }
OG_GATHER_VALUES(gather_near, 0, 0)
OG_GATHER_VALUES(gather_far, 1, 0)
OG_GATHER_VALUES(gather_past, 1, 1)

static void gather(const og_gather *g, int64_t n) {
    if (g->convert) {
        gather_converted(g, n);
    } else if (g->stream) {
        gather_past(g, n);
        OG_FENCE();
    } else {
        (g->far ? gather_far : gather_near)(g, n);
    }
}

static int32_t outside(const int64_t *restrict ids, int64_t n, const uint64_t *restrict base,
                       const uint64_t *restrict limit, int64_t period) {
    uint64_t bad = 0;
    for (int64_t at = 0; at < n; at += period) {
        int64_t here = n - at < period ? n - at : period;
        for (int64_t i = 0; i < here; i++) {
            uint64_t id = (uint64_t)ids[at + i];
            bad |= (uint64_t)(id - base[i] >= limit[i]) & (uint64_t)(id != (uint64_t)OG_ROW_NONE);
        }
    }
    return bad != 0;
}

#ifndef OG_OWN_RANK_FEW
#define OG_PART_IDS 100
static inline int rank_few(const uint16_t *entry, uint32_t n, uint64_t first, int64_t d, int64_t *distinct,
                           uint32_t *rank) {
    (void)entry, (void)first, (void)d, (void)distinct, (void)rank;
    return n == 0;
}
#endif

#include "lookup/draw_body.h"
#include "lookup/rank_body.h"

/* Types without scales: one loop each. */
#define OG_PLAIN(name, from, to, expression)                                                                           \
    static void name(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {            \
        (void)scales, (void)group;                                                                                     \
        const from *restrict in = (const from *)(const void *)values;                                                  \
        to *restrict o = out;                                                                                          \
        for (int64_t i = 0; i < dim; i++) {                                                                            \
            from x = in[i];                                                                                            \
            o[i] = expression;                                                                                         \
        }                                                                                                              \
    }
OG_PLAIN(bf16_to_f32, uint16_t, float, og_widen_bf16(x))
#ifndef OG_OWN_HALF
OG_PLAIN(f32_to_bf16, float, uint16_t, og_narrow_bf16(x))
OG_PLAIN(f32_to_f16, float, uint16_t, og_narrow_f16(x))
OG_PLAIN(bf16_to_f16, uint16_t, uint16_t, og_narrow_f16(og_widen_bf16(x)))
OG_PLAIN(f16_to_f32, uint16_t, float, og_widen_f16(x))
OG_PLAIN(f16_to_bf16, uint16_t, uint16_t, og_narrow_bf16(og_widen_f16(x)))
static inline void narrow_bf16_block(const float *in, uint16_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = og_narrow_bf16(in[i]);
}
static inline void narrow_f16_block(const float *in, uint16_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = og_narrow_f16(in[i]);
}
#endif

#ifndef OG_OWN_SCALED
static inline void widen_e4m3_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    for (int64_t i = 0; i < n; i++) out[i] = og_widen_e4m3(in[first + i]) * scale;
}
static inline void widen_int8_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)(int8_t)in[first + i] * scale;
}
static inline void widen_nf4_block(const uint8_t *in, int64_t first, int64_t n, float scale, float *restrict out) {
    for (int64_t i = 0; i < n; i++) out[i] = og_nf4_values[in[(first + i) / 2] >> ((first + i) % 2 * 4) & 15] * scale;
}
#endif
static inline float scale_ue8m0(const uint8_t *scales, int64_t g) { return og_widen_ue8m0(scales[g]); }
static inline float scale_f32(const uint8_t *scales, int64_t g) {
    float scale;
    memcpy(&scale, scales + g * 4, 4);
    return scale;
}

/* Types with a scale for each group. */
#define OG_SCALED_TO_F32(name, widen, scale_at)                                                                        \
    static void name(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {            \
        for (int64_t begin = 0, g = 0; begin < dim; begin += group, g++)                                               \
            widen(values, begin, begin + group < dim ? group : dim - begin, scale_at(scales, g),                       \
                  (float *)out + begin);                                                                               \
    }
OG_SCALED_TO_F32(e4m3_to_f32, widen_e4m3_block, scale_ue8m0)
OG_SCALED_TO_F32(int8_to_f32, widen_int8_block, scale_f32)
OG_SCALED_TO_F32(nf4_to_f32, widen_nf4_block, scale_f32)

/* To 16 bits: through a block of f32 that stays in the first-level cache. */
#define OG_SCALED(name, widen, scale_at, narrow)                                                                       \
    static void name(const uint8_t *values, const uint8_t *scales, void *out, int64_t dim, int32_t group) {            \
        float block[64];                                                                                               \
        uint16_t *o = out;                                                                                             \
        for (int64_t begin = 0, g = 0; begin < dim; begin += group, g++) {                                             \
            int64_t end = begin + group < dim ? begin + group : dim;                                                   \
            float scale = scale_at(scales, g);                                                                         \
            for (int64_t at = begin; at < end; at += 64) {                                                             \
                int64_t n = end - at < 64 ? end - at : 64;                                                             \
                widen(values, at, n, scale, block);                                                                    \
                narrow(block, o + at, n);                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }
OG_SCALED(e4m3_to_bf16, widen_e4m3_block, scale_ue8m0, narrow_bf16_block)
OG_SCALED(e4m3_to_f16, widen_e4m3_block, scale_ue8m0, narrow_f16_block)
OG_SCALED(int8_to_bf16, widen_int8_block, scale_f32, narrow_bf16_block)
OG_SCALED(int8_to_f16, widen_int8_block, scale_f32, narrow_f16_block)
OG_SCALED(nf4_to_bf16, widen_nf4_block, scale_f32, narrow_bf16_block)
OG_SCALED(nf4_to_f16, widen_nf4_block, scale_f32, narrow_f16_block)

const og_row_ops OG_OPS = {
    .name = OG_OPS_NAME,
    .gather = gather,
    .copy = copy,
    .fence = fence,
    .outside = outside,
    .draw = draw,
    .rank = rank,
    .part_ids = OG_PART_IDS,
    .rank_parts = rank_parts,
    .convert = {{NULL, f32_to_bf16, f32_to_f16},
                {bf16_to_f32, NULL, bf16_to_f16},
                {f16_to_f32, f16_to_bf16, NULL},
                {e4m3_to_f32, e4m3_to_bf16, e4m3_to_f16},
                {int8_to_f32, int8_to_bf16, int8_to_f16},
                {nf4_to_f32, nf4_to_bf16, nf4_to_f16}},
};
