/* poly_mod.c: polynomial hashes by running weights, so that nothing overflows at any order. */
#include "addr/poly_mod.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

og_poly_column *og_poly_new(const og_addr_layout *layout, uint64_t vocab, uint64_t limit) {
    og_poly_column *out = og_alloc_zero(layout->n_columns, sizeof *out);
    for (int32_t c = 0; out && c < layout->n_columns; c++) {
        const og_column *column = &layout->columns[c];
        og_poly_column *p = &out[c];
        uint64_t m = (uint64_t)column->rows, power = 1 % m;
        og_u128 most = 0;
        p->modulus = og_modulus_of(m);
        p->order = column->order;
        p->base = (uint64_t)column->base;
        for (int32_t k = 0; k < column->order; k++) {
            p->weight[k] = k == 0 ? 1 : power;
            most += (og_u128)p->weight[k] * (limit - 1);
            power = (uint64_t)((og_u128)power * (vocab % m) % m);
            if (k == 0) power = vocab % m;
        }
        p->wide = most >> 64 != 0;
    }
    return out;
}

void og_poly_rows(const og_poly_column *columns, int32_t n_columns, const int32_t *const *code, int64_t n,
                  int64_t *rows) {
    uint64_t sum[OG_BLOCK];
    for (int32_t c = 0; c < n_columns; c++) {
        const og_poly_column *p = &columns[c];
        int64_t *out = rows + c;
        if (p->wide) {
            for (int64_t i = 0; i < n; i++) {
                og_u128 s = 0;
                for (int32_t k = 0; k < p->order; k++) s += (og_u128)p->weight[k] * (uint64_t)code[k][i];
                out[i * n_columns] = (int64_t)((uint64_t)(s % p->modulus.m) + p->base);
            }
            continue;
        }
        for (int64_t i = 0; i < n; i++) sum[i] = (uint64_t)code[0][i];
        for (int32_t k = 1; k < p->order; k++) {
            uint64_t w = p->weight[k];
            if (w >> 32 == 0) {
                uint32_t small = (uint32_t)w;
                for (int64_t i = 0; i < n; i++) sum[i] += (uint64_t)(uint32_t)code[k][i] * small;
            } else {
                for (int64_t i = 0; i < n; i++) sum[i] += (uint64_t)code[k][i] * w;
            }
        }
        og_modulus modulus = p->modulus;
        uint64_t base = p->base;
        for (int64_t i = 0; i < n; i++) out[i * n_columns] = (int64_t)(og_mod(sum[i], &modulus) + base);
    }
}

og_status og_poly_split_columns(og_addr_layout *layout, const char *place, int64_t max_order, int64_t splits,
                                int64_t rows0, int64_t row_step, int32_t global_rows, og_error *err) {
    int64_t n = (max_order - 1) * splits;
    if (n < 1 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld orders of %lld splits; an addressing has 1 to %d columns", place,
                       (long long)(max_order - 1), (long long)splits, OG_COLUMNS_MOST);
    int64_t orders[OG_COLUMNS_MOST], rows[OG_COLUMNS_MOST];
    for (int64_t j = 0; j < n; j++) {
        orders[j] = 2 + j / splits;
        rows[j] = rows0 + row_step * j;
    }
    return og_addr_columns(layout, place, orders, rows, n, global_rows, err);
}
