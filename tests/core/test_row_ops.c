/* test_row_ops.c: every instruction-set level of lookups and updates against plain C, and plain C against dtype.c. */
#include "test.h"

#include "lookup/row_ops.h"
#include "store/numbers.h"
#include "update/update_internal.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

static og_error err;

/* All 16-bit values, and f32 values at every rounding boundary, as dtype.c has them. */
static void numbers_equal_dtype(void) {
    for (uint32_t b = 0; b < 65536; b++) {
        float x = og_widen_bf16((uint16_t)b), y = og_f32_from_bf16((uint16_t)b);
        CHECK(memcmp(&x, &y, 4) == 0);
        x = og_widen_f16((uint16_t)b), y = og_f32_from_f16((uint16_t)b);
        CHECK(isnan(x) ? isnan(y) : memcmp(&x, &y, 4) == 0);
        for (uint32_t k = 0; k < 5; k++) { /* low halves: exact, just above, tie, around it */
            const uint32_t low[5] = {0, 1, 0x7fff, 0x8000, 0x8001};
            float value = og_float_of(b << 16 | low[k]);
            uint16_t got = og_narrow_bf16(value), want = og_bf16_from_f32(value);
            CHECK(isnan(value) ? isnan(og_f32_from_bf16(got)) && isnan(og_f32_from_bf16(want)) : got == want);
        }
        for (uint32_t k = 0; k < 6; k++) {
            const uint32_t low[6] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff};
            float value = og_float_of((b << 16 | (b & 3) << 13) | low[k]);
            uint16_t got = og_narrow_f16(value), want = og_f16_from_f32(value);
            CHECK(isnan(value) ? isnan(og_f32_from_f16(got)) && isnan(og_f32_from_f16(want)) : got == want);
        }
    }
    for (int b = 0; b < 256; b++) {
        float x = og_widen_e4m3((uint8_t)b), y = og_f32_from_e4m3((uint8_t)b);
        CHECK(isnan(x) ? isnan(y) : memcmp(&x, &y, 4) == 0);
        x = og_widen_ue8m0((uint8_t)b), y = og_f32_from_ue8m0((uint8_t)b);
        CHECK(isnan(x) ? isnan(y) : memcmp(&x, &y, 4) == 0);
    }
}

enum { MOST = 1100, GUARD = 64 };

/* Random bytes: for f32 and 16-bit types they hold NaN, infinities, subnormals and zeros of both signs in plenty. */
static void fill_bytes(uint8_t *bytes, int64_t n, uint64_t key, int kind) {
    const uint32_t odd[8] = {0x80000000u, 0x7f800001u, 0x00000001u, 0x807fffffu,
                             0x7f7fffffu, 0xff800000u, 0x477fefffu, 0x33000001u};
    for (int64_t i = 0; i < n; i++) bytes[i] = (uint8_t)og_random_bits(key, (uint64_t)i);
    if (kind == 1)
        for (int64_t i = 0; i + 4 <= n; i += 4) memcpy(bytes + i, &odd[og_random_below(key, (uint64_t)i, 8)], 4);
}

static void converts_alike(const og_row_ops *ops, int from, int to) {
    og_convert_fn *fast = ops->convert[from][to], *plain = og_row_ops_c.convert[from][to];
    CHECK((fast == NULL) == (plain == NULL));
    if (!fast) return;
    static uint8_t in[MOST * 4 + 64] __attribute__((aligned(64)));
    static uint8_t want[MOST * 4 + 2 * GUARD] __attribute__((aligned(64))),
        got[MOST * 4 + 2 * GUARD] __attribute__((aligned(64)));
    static float scales[MOST];
    const int64_t dims[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 256, 511, 1024, 1099};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (int kind = 0; kind < 2; kind++)
            for (int32_t g = 0; g < 6; g++) {
                const int32_t group =
                    (const int32_t[]){16, 32, 64, 128, 5, 37}[g]; /* odd: an nf4 group starts in a byte */
                int64_t dim = dims[d], bytes = dim * (to == 0 ? 4 : 2);
                fill_bytes(in, MOST * 4, (uint64_t)(dim * 131 + group), kind);
                for (int i = 0; i < MOST; i++) scales[i] = (float)og_random_normal(4, (uint64_t)i);
                const uint8_t *s = from == 3 ? in + 7 : (const uint8_t *)(const void *)scales;
                memset(want, 0xcd, sizeof want);
                memset(got, 0xcd, sizeof got);
                plain(in, s, want + GUARD, dim, group);
                fast(in, s, got + GUARD, dim, group);
                CHECK(memcmp(want, got, sizeof want) == 0);
                for (int i = 0; i < GUARD; i++) CHECK(got[i] == 0xcd && got[GUARD + bytes + i] == 0xcd);
            }
}

static void gathers_alike(const og_row_ops *ops) {
    enum { ROWS = 50, N = 97 };
    const int64_t sizes[] = {1, 3, 63, 64, 65, 128, 192, 256, 320, 512, 1000, 1024};
    uint8_t *table = og_alloc(ROWS * 1088, 1), *want = og_alloc(N * 1152 + 128, 1), *got = og_alloc(N * 1152 + 128, 1);
    int64_t ids[N];
    for (int i = 0; i < N; i++)
        ids[i] = og_random_below(1, (uint64_t)i, 8) == 0 ? -1 : 5 + (int64_t)og_random_below(2, (uint64_t)i, ROWS);
    fill_bytes(table, ROWS * 1088, 3, 0);
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++)
        for (int32_t prefetch = 0; prefetch <= 128; prefetch += 32)
            for (int32_t stream = 0; stream < 2; stream++)
                for (int64_t at = 0; at < 6; at++) { /* outputs that are not aligned */
                    const int64_t shift = (const int64_t[]){0, 1, 2, 3, 16, 63}[at];
                    og_gather g = {.values = table,
                                   .value_stride = 1088,
                                   .value_bytes = sizes[z],
                                   .dim = sizes[z],
                                   .prefetch = prefetch,
                                   .far = stream,
                                   .stream = stream,
                                   .rows = ids,
                                   .row_step = 1,
                                   .base = 5,
                                   .out_bytes = sizes[z],
                                   .out_stride = 1088};
                    memset(want, 0xee, N * 1152 + 128);
                    memset(got, 0xee, N * 1152 + 128);
                    for (int i = 0; i < N; i++)
                        for (int64_t b = 0; b < sizes[z]; b++)
                            want[64 + shift + i * 1088 + b] = ids[i] < 0 ? 0 : table[(ids[i] - 5) * 1088 + b];
                    g.out = got + 64 + shift;
                    ops->gather(&g, N);
                    CHECK(memcmp(want, got, N * 1152 + 128) == 0);
                }
    og_release(table);
    og_release(want);
    og_release(got);
}

/* Conversions straight to the output and past the caches, against one row at a time. */
static void gathers_converted_alike(const og_row_ops *ops, int from, int to) {
    enum { ROWS = 40, N = 90, STRIDE = 1100 };
    og_convert_fn *convert = ops->convert[from][to];
    if (!convert) return;
    static uint8_t table[ROWS * STRIDE] __attribute__((aligned(64)));
    static uint8_t want[N * STRIDE + 128] __attribute__((aligned(64))),
        got[N * STRIDE + 128] __attribute__((aligned(64)));
    int64_t ids[N];
    for (int i = 0; i < N; i++)
        ids[i] = og_random_below(5, (uint64_t)i, 8) == 0 ? -1 : 9 + (int64_t)og_random_below(6, (uint64_t)i, ROWS);
    fill_bytes(table, ROWS * STRIDE, 11, from < 3);
    const int64_t dims[] = {1, 31, 64, 150, 256}, size = to == 0 ? 4 : 2;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (int32_t stream = 0; stream < 2; stream++)
            for (int64_t shift = 0; shift < 64; shift += 4 + (shift > 4) * 24) { /* whole floats */
                og_gather g = {.values = table,
                               .scales = from < 3 ? NULL : table + STRIDE - 64,
                               .value_stride = STRIDE,
                               .scale_stride = STRIDE,
                               .value_bytes = dims[d],
                               .dim = dims[d],
                               .group = 32,
                               .prefetch = 8,
                               .far = stream,
                               .stream = stream,
                               .convert = convert,
                               .rows = ids,
                               .row_step = 1,
                               .base = 9,
                               .out_bytes = dims[d] * size,
                               .out_stride = STRIDE};
                memset(want, 0xee, sizeof want);
                memset(got, 0xee, sizeof got);
                for (int i = 0; i < N; i++) {
                    uint8_t *out = want + 64 + shift + i * STRIDE;
                    if (ids[i] < 0)
                        memset(out, 0, (size_t)g.out_bytes);
                    else
                        convert(g.values + (ids[i] - 9) * STRIDE, g.scales ? g.scales + (ids[i] - 9) * STRIDE : NULL,
                                out, g.dim, g.group);
                }
                g.out = got + 64 + shift;
                ops->gather(&g, N);
                CHECK(memcmp(want, got, sizeof want) == 0);
            }
}

/* One id at a time out of range, at every place of a period and past it; absent ones are in every column. */
static void finds_outside(const og_row_ops *ops) {
    enum { PERIOD = 66, N = 3 * PERIOD + 5 };
    static uint64_t base[PERIOD], limit[PERIOD];
    static int64_t ids[N];
    for (int i = 0; i < PERIOD; i++) {
        base[i] = (uint64_t)(i % 3) * 1000;
        limit[i] = (uint64_t)(i % 3) == 2 ? UINT64_C(1) << 40 : 7 + (uint64_t)(i % 3);
    }
    for (int i = 0; i < N; i++)
        ids[i] = i % 5 == 0 ? -1 : (int64_t)(base[i % PERIOD] + og_random_below(3, (uint64_t)i, limit[i % PERIOD]));
    CHECK(!ops->outside(ids, 0, base, limit, PERIOD));
    for (int64_t n = 1; n <= N; n++) CHECK(!ops->outside(ids, n, base, limit, PERIOD));
    for (int i = 0; i < N; i++) {
        int64_t kept = ids[i], first = (int64_t)base[i % PERIOD], rows = (int64_t)limit[i % PERIOD];
        const int64_t bad[] = {first + rows, first - 1 == -1 ? -2 : first - 1, INT64_MIN, INT64_MAX};
        for (int k = 0; k < 4; k++) {
            ids[i] = bad[k];
            CHECK(ops->outside(ids, N, base, limit, PERIOD));
            CHECK(!ops->outside(ids, i, base, limit, PERIOD));
        }
        ids[i] = first + rows - 1;
        CHECK(!ops->outside(ids, N, base, limit, PERIOD));
        ids[i] = kept;
    }
}

/* The ceiling reads whole rows of the table and no others. */
static void draws_rows(const og_row_ops *ops) {
    enum { ROWS = 19, N = 100, STRIDE = 1088 };
    const int64_t sizes[] = {64, 200, 512, 1024};
    uint8_t *table = og_alloc(ROWS * STRIDE, 1), *want = og_alloc(N * STRIDE, 1), *got = og_alloc(N * STRIDE, 1);
    fill_bytes(table, ROWS * STRIDE, 3, 0);
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++)
        for (int32_t stream = 0; stream < 2; stream++) {
            og_gather g = {.values = table,
                           .value_stride = STRIDE,
                           .stream = stream,
                           .out_bytes = sizes[z],
                           .out = got,
                           .out_stride = STRIDE};
            memset(want, 0xee, N * STRIDE);
            memset(got, 0xee, N * STRIDE);
            ops->draw(&g, N, 5, ROWS);
            uint32_t seen = 0;
            for (int i = 0; i < N; i++)
                for (int row = 0; row < ROWS; row++) {
                    if (memcmp(got + i * STRIDE, table + row * STRIDE, (size_t)sizes[z])) continue;
                    memcpy(want + i * STRIDE, got + i * STRIDE, (size_t)sizes[z]);
                    seen |= UINT32_C(1) << row;
                }
            CHECK(memcmp(want, got, N * STRIDE) == 0);
            CHECK(seen == (UINT32_C(1) << ROWS) - 1);
        }
    og_release(table);
    og_release(want);
    og_release(got);
}

static void updates_alike(const og_update_ops *ops) {
    const int64_t dims[] = {1, 5, 16, 63, 64, 65, 100, 256, 511};
    static float grad[512], state_a[1100], state_b[1100];
    static uint8_t a[2100], b[2100];
    for (int32_t type = 0; type < 3; type++)
        for (int32_t kind = OG_SGD; kind <= OG_RMSPROP; kind++)
            for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
                for (uint64_t key = 0; key < 2; key++) {
                    int64_t dim = dims[d];
                    og_step step = {kind, 0.01f, 0.9f, 0.1f, 0.999f, 0.001f, 1.5f, 1e-8f, 0.99f};
                    for (int i = 0; i < 512; i++)
                        grad[i] = (float)og_random_normal(8, (uint64_t)i) * (i % 7 == 0 ? 1e-30f : 1);
                    for (int i = 0; i < 1100; i++) state_a[i] = state_b[i] = (float)og_random_unit(9, (uint64_t)i);
                    for (int i = 0; i < 525; i++) {
                        float w = (float)og_random_normal(10, (uint64_t)i);
                        uint16_t half = type == 1 ? og_bf16_from_f32(w) : og_f16_from_f32(w);
                        if (type == 0)
                            memcpy(a + i * 4, &w, 4);
                        else
                            memcpy(a + i * 2, &half, 2);
                    }
                    memcpy(b, a, sizeof b);
                    og_update_ops_c.apply[type](&step, a, state_a, grad, 0.7f, dim, key * 77);
                    ops->apply[type](&step, b, state_b, grad, 0.7f, dim, key * 77);
                    CHECK(memcmp(a, b, sizeof a) == 0);
                    CHECK(memcmp(state_a, state_b, sizeof state_a) == 0);
                    float x = og_update_ops_c.square_sum(grad, 0.3f, dim), y = ops->square_sum(grad, 0.3f, dim);
                    CHECK(memcmp(&x, &y, 4) == 0);
                    memcpy(a, b, sizeof a);
                    og_update_ops_c.add((float *)(void *)a, grad, dim);
                    ops->add((float *)(void *)b, grad, dim);
                    CHECK(memcmp(a, b, sizeof a) == 0);
                }
}

int main(void) {
    (void)err;
    numbers_equal_dtype();
    for (int32_t level = OG_LEVEL_C; level <= OG_LEVEL_AVX512; level++) {
        const og_row_ops *ops = og_row_ops_of(level);
        const og_update_ops *updates = og_update_ops_of(level);
        if (!ops) {
            printf("level %d: this CPU or build lacks it\n", level);
            continue;
        }
        for (int from = 0; from < OG_ROW_TYPES; from++)
            for (int to = 0; to < OG_OUT_TYPES; to++) {
                converts_alike(ops, from, to);
                gathers_converted_alike(ops, from, to);
            }
        gathers_alike(ops);
        finds_outside(ops);
        draws_rows(ops);
        updates_alike(updates);
        printf("level %s: equal to plain C\n", ops->name);
    }
    return 0;
}
