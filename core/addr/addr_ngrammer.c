/* addr_ngrammer.c: N-Grammer: bigrams of each head's own codes by a universal hash. */
#include "addr/modulus.h"
#include "addr/primes.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int64_t codes_per_head, heads, rows;
    og_i64_list primes;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"codes_per_head", OG_KEY_I64, offsetof(keys, codes_per_head), "1024", 1, 1 << 24, NULL,
     "K, codes of a head's codebook"},
    {"heads", OG_KEY_I64, offsetof(keys, heads), "4", 1, 1024, NULL, "heads: codes of a position and tables"},
    {"rows", OG_KEY_I64, offsetof(keys, rows), "196608", 1, 0x1p48, NULL, "rows of each head's table (768 * 256)"},
    {"primes", OG_KEY_I64_LIST, offsetof(keys, primes), "", 1, 0x1p61, NULL,
     "prime of each head (absent: the primes above rows)"},
    {0},
};

typedef struct head {
    og_modulus prime, rows;
    int64_t base;
} head;

struct og_addr_impl {
    int32_t n;
    uint64_t codes;
    head heads[];
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    const char *place = OG_WHERE(config);
    int64_t orders[1024], sizes[1024];
    if (k.primes.n && k.primes.n != k.heads)
        return og_fail(err, OG_EINVAL, "%s: %lld primes for %lld heads", place, (long long)k.primes.n,
                       (long long)k.heads);
    for (int64_t h = 0; h < k.heads; h++) orders[h] = 2, sizes[h] = k.rows;
    OG_TRY(og_addr_columns(layout, place, orders, sizes, k.heads, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero((int64_t)sizeof *impl + k.heads * (int64_t)sizeof(head), 1);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->n = (int32_t)k.heads;
    impl->codes = (uint64_t)k.codes_per_head;
    uint64_t prime = (uint64_t)k.rows;
    for (int64_t h = 0; h < k.heads; h++) {
        prime = og_prime_above(prime);
        impl->heads[h] = (head){og_modulus_of(k.primes.n ? (uint64_t)k.primes.values[h] : prime),
                                og_modulus_of((uint64_t)k.rows), layout->columns[h].base};
    }
    layout->width = (int32_t)k.heads;
    layout->code_limit = k.codes_per_head;
    layout->window.fill = OG_FILL_ZERO_ID;
    *out = impl;
    return OG_OK;
}

static og_status fit(og_config *config, int64_t codes, int32_t width, og_error *err) {
    if (width) OG_TRY(og_addr_fit_key(config, "heads", width, err));
    return og_addr_fit_key(config, "codes_per_head", codes, err);
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    const int32_t *now = cells->code[0], *before = cells->code[1];
    for (int64_t i = 0; i < cells->n; i++)
        for (int32_t h = 0; h < impl->n; h++) {
            const head *at = &impl->heads[h];
            int64_t j = i * impl->n + h;
            uint64_t pair = (uint64_t)(int64_t)now[j] + impl->codes * (uint64_t)(int64_t)before[j],
                     one = (uint64_t)h + 1;
            out[j] = at->base + (int64_t)og_mod(og_mod(pair * one + one, &at->prime), &at->rows);
        }
}

const og_addr_type og_addr_ngrammer = {
    .abi = OG_ABI,
    .name = "ngrammer",
    .summary = "N-Grammer: bigrams of product-quantised codes, one universal hash a head",
    .source = "arXiv 2207.06366; lucidrains/n-grammer-pytorch @611010cf",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .fit = fit,
};
