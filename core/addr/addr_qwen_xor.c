/* addr_qwen_xor.c: Qwen3.8-Flash-Next's n-gram layer: Engram's hash over raw ids, with splitmix
 * multipliers, eos as a latch. */
#include "addr/primes.h"
#include "addr/scheme.h"
#include "addr/xor_mod.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

typedef struct keys {
    og_addr_keys common;
    int64_t vocab, max_order, heads_per_order, base_rows, seed, layer_index, eos;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "248320", 1, 2147483648.0, NULL,
     "raw vocabulary; multipliers derive from it"},
    {"max_order", OG_KEY_I64, offsetof(keys, max_order), "3", 2, OG_MAX_ORDER, NULL,
     "orders are 2 .. max_order (ngram_size)"},
    {"heads_per_order", OG_KEY_I64, offsetof(keys, heads_per_order), "8", 1, 1024, NULL, "heads of each order"},
    {"base_rows", OG_KEY_I64, offsetof(keys, base_rows), "20000000", 1, 0x1p60, NULL,
     "the primes are those from here on, without a restart"},
    {"seed", OG_KEY_I64, offsetof(keys, seed), "1234", -0x1p62, 0x1p62, NULL, "seed of the multipliers"},
    {"layer_index", OG_KEY_I64, offsetof(keys, layer_index), "0", 0, 1 << 16, NULL,
     "0-based index into the list of n-gram layers"},
    {"eos", OG_KEY_I64, offsetof(keys, eos), "248044", 0, 2147483647.0, NULL,
     "once met, all older tokens read as it; so does what is before the start"},
    {0},
};

struct og_addr_impl {
    og_xor_hash hash;
    int64_t eos;
};

static void destroy(og_addr_impl *impl) {
    if (!impl) return;
    og_xor_free(&impl->hash);
    og_release(impl);
}

static og_status fill_in(const keys *k, const char *place, og_addr_impl *impl, og_addr_layout *layout, og_error *err) {
    int64_t n = (k->max_order - 1) * k->heads_per_order, orders[OG_COLUMNS_MOST], rows[OG_COLUMNS_MOST];
    if (n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld columns; an addressing has at most %d", place, (long long)n,
                       OG_COLUMNS_MOST);
    if (k->layer_index * n > 1 << 20)
        return og_fail(err, OG_EINVAL, "%s: layer_index %lld asks for the primes after %lld others; the limit is 2^20",
                       place, (long long)k->layer_index, (long long)(k->layer_index * n));
    if (k->eos >= k->vocab)
        return og_fail(err, OG_EINVAL, "%s: eos %lld is not below vocab %lld", place, (long long)k->eos,
                       (long long)k->vocab);
    uint64_t p = (uint64_t)k->base_rows - 1;
    for (int64_t skip = 0; skip < k->layer_index * n; skip++) p = og_prime_above(p);
    for (int64_t c = 0; c < n; c++) {
        orders[c] = 2 + c / k->heads_per_order;
        p = og_prime_above(p);
        rows[c] = (int64_t)p;
    }
    OG_TRY(og_addr_columns(layout, place, orders, rows, n, k->common.global_rows, err));
    OG_TRY(og_xor_make(&impl->hash, layout, err));
    uint64_t half = (uint64_t)INT64_MAX / (uint64_t)k->vocab / 2,
             base = (uint64_t)k->seed + 10007 * (uint64_t)k->layer_index;
    if (!half) half = 1;
    for (int64_t i = 0; i < k->max_order; i++)
        impl->hash.multiplier[i] =
            2 * (og_splitmix64(base + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1)) % half) + 1;
    impl->eos = k->eos;
    layout->width = 1;
    layout->code_limit = k->vocab;
    og_window *window = &layout->window;
    window->fill = OG_FILL_EOS_ID;
    window->mode[OG_AT_EOS] = OG_BREAK_LATCH;
    window->eos = &impl->eos;
    window->n_eos = 1;
    return OG_OK;
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    og_status status = fill_in(&k, OG_WHERE(config), impl, layout, err);
    if (status != OG_OK) {
        destroy(impl);
        return status;
    }
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    og_xor_rows(&impl->hash, cells->code, cells->n, out);
}

static og_status constants(const og_addr_impl *impl, char **json, og_error *err) {
    return og_xor_constants(&impl->hash, json, err);
}

const og_addr_type og_addr_qwen_xor = {
    .abi = OG_ABI,
    .name = "qwen_xor",
    .summary = "Qwen3.8-Flash-Next: Engram's hash over raw ids with splitmix multipliers and "
               "consecutive primes",
    .source = "transformers models/qwen4_exp @01377e76",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .constants = constants,
};
