/* bench_loops.c: the loops of bench.h. */
#include "lookup/row_ops.h"
#include "store/numbers.h"

#include <omnigram/bench.h>
#include <omnigram/random.h>

#include <math.h>
#include <string.h>

void og_bench_gather_plain(const void *table, int64_t stride, const int64_t *ids, int64_t n, int64_t row_bytes,
                           void *out) {
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)out + i * row_bytes, (const char *)table + ids[i] * stride, (size_t)row_bytes);
}

/* A place in [0, rows) by multiplication of 32 random bits; rows < 2^32 in every benchmark. */
static inline int64_t place(uint64_t *state, int64_t rows) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 32) * (uint64_t)rows >> 32);
}

void og_bench_gather_ceiling(const void *table, int64_t stride, int64_t rows, uint64_t seed, int64_t n,
                             int64_t row_bytes, int32_t stream, void *out) {
    enum { AHEAD = 32 };
    const og_row_ops *ops = og_row_ops_of(og_cpu_level());
    const char *ring[AHEAD];
    stream = stream && (uintptr_t)out % 64 == 0 && row_bytes % 64 == 0;
    uint64_t state = og_splitmix64(seed);
    for (int64_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD)
            ops->copy((uint8_t *)out + (i - AHEAD) * row_bytes, (const uint8_t *)ring[i % AHEAD], row_bytes, stream);
        if (i >= n) continue;
        const char *row = (const char *)table + place(&state, rows) * stride;
        for (int64_t b = 0; b < row_bytes; b += 64) __builtin_prefetch(row + b, 0, 2);
        ring[i % AHEAD] = row;
    }
}

void og_bench_adagrad_plain(void *table, int64_t stride, int64_t state_offset, const int64_t *ids, int64_t n,
                            const float *grads, int64_t dim, float lr, float eps) {
    for (int64_t i = 0; i < n; i++) {
        char *row = (char *)table + ids[i] * stride;
        uint16_t *w = (uint16_t *)(void *)row;
        float *state = (float *)(void *)(row + state_offset);
        const float *g = grads + i * dim;
        float sum = 0;
        for (int64_t c = 0; c < dim; c++) sum += g[c] * g[c];
        *state += sum / (float)dim;
        float step = lr / (sqrtf(*state) + eps);
        for (int64_t c = 0; c < dim; c++) w[c] = og_narrow_bf16(og_widen_bf16(w[c]) - step * g[c]);
    }
}

float og_bench_compute(int64_t steps) {
    float lane[64];
    for (int j = 0; j < 64; j++) lane[j] = (float)j * 0.01f;
    for (int64_t s = 0; s < steps; s++)
        for (int j = 0; j < 64; j++) lane[j] = lane[j] * 0.999f + 0.001f;
    float sum = 0;
    for (int j = 0; j < 64; j++) sum += lane[j];
    return sum;
}
