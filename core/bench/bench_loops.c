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

void og_bench_gather_ceiling(const void *table, int64_t stride, int64_t rows, const int64_t *ids, uint64_t seed,
                             int64_t n, int64_t row_bytes, int32_t stream, void *out) {
    const og_row_ops *ops = og_row_ops_of(og_cpu_level());
    og_gather g = {.values = table,
                   .value_stride = stride,
                   .value_bytes = row_bytes,
                   .rows = ids,
                   .row_step = 1,
                   .prefetch = 32,
                   .far = 1,
                   .stream = stream,
                   .out_bytes = row_bytes,
                   .out = out,
                   .out_stride = row_bytes};
    if (ids)
        ops->gather(&g, n);
    else
        ops->draw(&g, n, og_splitmix64(seed), rows);
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
