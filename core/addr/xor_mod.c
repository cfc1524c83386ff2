/* xor_mod.c: products of codes and odd multipliers, joined by XOR, modulo a prime for each head. */
#include "addr/xor_mod.h"
#include "addr/scheme.h"

#include <omnigram/internal/cpu.h>
#include <omnigram/memory.h>

#include <string.h>

og_status og_xor_make(og_xor_hash *hash, const og_addr_layout *layout, og_error *err) {
    hash->n_columns = layout->n_columns;
    hash->cells = layout->window.max_order;
    hash->modulus = og_alloc(hash->n_columns, sizeof *hash->modulus);
    hash->columns = og_alloc(hash->n_columns, sizeof *hash->columns);
    if (!hash->modulus || !hash->columns) return og_fail(err, OG_ENOMEM, "no memory for %d columns", hash->n_columns);
    memcpy(hash->columns, layout->columns, (size_t)hash->n_columns * sizeof *hash->columns);
    hash->wide = 1;
    for (int32_t c = 0; c < hash->n_columns; c++) {
        uint64_t m = (uint64_t)layout->columns[c].rows;
        hash->modulus[c] = og_modulus_of(m);
        hash->wide &= m >= OG_XOR_WIDE_LEAST && m < OG_XOR_WIDE_MOST;
    }
    return OG_OK;
}

void og_xor_free(og_xor_hash *hash) {
    og_release(hash->modulus);
    og_release(hash->columns);
}

void og_xor_rows(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows) {
#ifdef OG_HAVE_AVX512
    if (hash->wide && og_cpu_level() == OG_LEVEL_AVX512) {
        og_xor_rows_avx512(hash, code, n, rows);
        return;
    }
#endif
    og_xor_rows_plain(hash, code, n, rows);
}

void og_xor_rows_plain(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows) {
    uint64_t mix[OG_BLOCK];
    int32_t folded = 0, n_columns = hash->n_columns;
    for (int64_t i = 0; i < n; i++) mix[i] = 0;
    for (int32_t c = 0; c < n_columns; c++) {
        for (; folded < hash->columns[c].order; folded++) {
            uint64_t m = hash->multiplier[folded];
            const int32_t *cell = code[folded];
            for (int64_t i = 0; i < n; i++) mix[i] ^= (uint64_t)(int64_t)cell[i] * m;
        }
        og_modulus modulus = hash->modulus[c];
        int64_t base = hash->columns[c].base, *out = rows + c;
        /* Signed, as the published code is: its multipliers keep the products below 2^63, a
         * checkpoint's own may not. */
        for (int64_t i = 0; i < n; i++) out[i * n_columns] = base + (int64_t)og_floor_mod(mix[i], &modulus);
    }
}

og_status og_xor_constants(const og_xor_hash *hash, char **json, og_error *err) {
    char *text = NULL;
    int64_t length = 0, capacity = 0;
    og_status status = og_addr_text(&text, &length, &capacity, err, "{\"multipliers\":[");
    for (int32_t k = 0; status == OG_OK && k < hash->cells; k++)
        status = og_addr_text(&text, &length, &capacity, err, "%s%lld", k ? "," : "", (long long)hash->multiplier[k]);
    if (status == OG_OK) status = og_addr_text(&text, &length, &capacity, err, "],\"primes\":[");
    for (int32_t c = 0; status == OG_OK && c < hash->n_columns; c++)
        status = og_addr_text(&text, &length, &capacity, err, "%s%lld",
                              c == 0                       ? "["
                              : hash->columns[c].head == 0 ? "],["
                                                           : ",",
                              (long long)hash->columns[c].rows);
    if (status == OG_OK) status = og_addr_text(&text, &length, &capacity, err, "]]}");
    if (status != OG_OK) {
        og_release(text);
        return status;
    }
    *json = text;
    return OG_OK;
}
