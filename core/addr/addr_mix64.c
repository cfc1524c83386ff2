/* addr_mix64.c: omnigram's own hash: radix-free, 64-bit, sound for any vocabulary and any number of
 * rows.
 *
 *   s_n  = sum over k < n of (code_k + 1) * multiplier[tag_k][k][head]      mod 2^64, multipliers
 * odd and random z    = s_n + salt[n][head];  z ^= z >> 32;  z *= A;  z ^= z >> 29;  z *= B row  =
 * floor(z * rows / 2^64)
 *
 * Order n continues the sum of order n-1. Code -1 adds nothing. The range is cut by a
 * multiplication and not by a modulus: it costs one instruction, uses the best-mixed bits, and is
 * as even for 2^k rows as for a prime; sizes need no special numbers (still, `prime: true` gives
 * distinct primes to those who compare with systems that need them). */
#include "addr/mix64.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

typedef struct keys {
    og_addr_keys common;
    og_hashed_keys columns;
    int64_t seed, vocab;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    OG_HASHED_KEYS(keys),
    {"seed", OG_KEY_I64, offsetof(keys, seed), "0", 0, 0x1p62, NULL, "seed of the multipliers"},
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "2147483648", 1, 2147483648.0, NULL, "codes are below it (checked)"},
    {0},
};

struct og_addr_impl {
    og_mix64 mix;
    int64_t seed;
};

static void destroy(og_addr_impl *impl) {
    if (!impl) return;
    og_release(impl->mix.columns);
    og_release(impl->mix.multipliers);
    og_release(impl);
}

static og_status fill_in(const keys *k, const char *place, og_addr_impl *impl, og_addr_layout *layout, og_error *err) {
    OG_TRY(og_addr_hashed_columns(layout, place, &k->columns, k->common.global_rows, err));
    og_mix64 *mix = &impl->mix;
    int64_t n = layout->n_columns;
    int32_t cells = layout->window.max_order, heads = (int32_t)k->columns.heads;
    mix->n_columns = (int32_t)n;
    mix->heads = heads;
    mix->cells = cells;
    mix->columns = og_alloc(n, sizeof *mix->columns);
    mix->multipliers = og_alloc((int64_t)OG_MIX64_TAGS * cells * heads, sizeof *mix->multipliers);
    if (!mix->columns || !mix->multipliers) return og_fail(err, OG_ENOMEM, "no memory for %lld columns", (long long)n);
    uint64_t key = og_splitmix64((uint64_t)k->seed);
    for (int32_t tag = 0; tag < OG_MIX64_TAGS; tag++)
        for (int32_t cell = 0; cell < cells; cell++)
            for (int32_t h = 0; h < heads; h++)
                mix->multipliers[(tag * cells + cell) * heads + h] =
                    og_splitmix64(key + (uint64_t)(h * 1024 + tag * 64 + cell)) | 1;
    for (int64_t c = 0; c < n; c++) {
        const og_column *column = &layout->columns[c];
        mix->columns[c] = (og_mix64_column){.order = column->order,
                                            .head = column->head,
                                            .salt = og_splitmix64(~key + (uint64_t)(column->head * 64 + column->order)),
                                            .rows = (uint64_t)column->rows,
                                            .base = (uint64_t)column->base};
    }
    return OG_OK;
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->seed = k.seed;
    layout->width = 1;
    layout->nothing = -1;
    layout->code_limit = k.vocab;
    og_status status = fill_in(&k, OG_WHERE(config), impl, layout, err);
    if (status != OG_OK) {
        destroy(impl);
        return status;
    }
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    og_mix64_best()(&impl->mix, cells, out);
}

const og_addr_type og_addr_mix64 = {
    .abi = OG_ABI,
    .name = "mix64",
    .summary = "multilinear sum of codes with 64-bit multipliers, finally mixed; any vocabulary, "
               "any rows (the default)",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
