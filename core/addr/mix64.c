/* mix64.c: the hash in plain C, and the choice among the instruction sets. */
#include "addr/mix64.h"
#include "addr/modulus.h"

#include <omnigram/internal/cpu.h>

static void fold(const og_mix64 *mix, const og_cells *cells, int32_t cell, int32_t head, uint64_t *sum) {
    const int32_t *code = cells->code[cell];
    const uint64_t *multipliers = mix->multipliers + (int64_t)cell * mix->heads + head;
    int64_t stride = (int64_t)mix->cells * mix->heads;
    if (!cells->tag[cell]) {
        uint64_t m = multipliers[(cells->constant_tag[cell] & (OG_MIX64_TAGS - 1)) * stride];
        for (int64_t i = 0; i < cells->n; i++) sum[i] += (uint64_t)((uint32_t)code[i] + 1u) * m;
    } else {
        const int8_t *tag = cells->tag[cell];
        for (int64_t i = 0; i < cells->n; i++)
            sum[i] += (uint64_t)((uint32_t)code[i] + 1u) * multipliers[(tag[i] & (OG_MIX64_TAGS - 1)) * stride];
    }
}

void og_mix64_plain(const og_mix64 *mix, const og_cells *cells, int64_t *rows) {
    uint64_t sum[OG_BLOCK];
    for (int32_t head = 0; head < mix->heads; head++) {
        int32_t folded = 0;
        for (int64_t i = 0; i < cells->n; i++) sum[i] = 0;
        for (int32_t c = head; c < mix->n_columns; c += mix->heads) {
            const og_mix64_column column = mix->columns[c];
            for (; folded < column.order; folded++) fold(mix, cells, folded, head, sum);
            int64_t *out = rows + c;
            for (int64_t i = 0; i < cells->n; i++) {
                uint64_t z = sum[i] + column.salt;
                z ^= z >> 32;
                z *= OG_MIX64_A;
                z ^= z >> 29;
                z *= OG_MIX64_B;
                out[i * mix->n_columns] = (int64_t)(og_high64(z, column.rows) + column.base);
            }
        }
    }
}

og_mix64_fn *og_mix64_level(int32_t level) {
    if (level == OG_LEVEL_C) return og_mix64_plain;
    if (level > og_cpu_level()) return 0;
#ifdef OG_HAVE_AVX2
    if (level == OG_LEVEL_AVX2) return og_mix64_avx2;
#endif
#ifdef OG_HAVE_AVX512
    if (level == OG_LEVEL_AVX512) return og_mix64_avx512;
#endif
    return 0;
}

og_mix64_fn *og_mix64_best(void) { return og_mix64_level(og_cpu_level()); }
