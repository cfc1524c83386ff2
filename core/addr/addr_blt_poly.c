/* addr_blt_poly.c: BLT's hash n-gram embeddings: a polynomial of the window in one of eleven
 * primes, in wrapping int64. */
#include "addr/modulus.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

static const uint64_t primes[] = {1000000007, 5915587277, 1500450271, 3267000013, 5754853343, 4093082899,
                                  9576890767, 3628273133, 2860486313, 5463458053, 3367900313};
#define N_PRIMES ((int64_t)(sizeof primes / sizeof *primes))

typedef struct keys {
    og_addr_keys common;
    og_i64_list order, function, rows;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"order", OG_KEY_I64_LIST, offsetof(keys, order), "[3, 4, 5, 6, 7, 8]", 1, OG_MAX_ORDER, NULL,
     "group sizes, in bytes"},
    {"function", OG_KEY_I64_LIST, offsetof(keys, function), "[0, 1, 2]", 0, 10, NULL,
     "hash functions: indices into the eleven primes (loop outside order)"},
    {"rows", OG_KEY_I64_LIST, offsetof(keys, rows), "30000", 1, 0x1p61, NULL,
     "rows of every table, or one number a table"},
    {0},
};

typedef struct column {
    int32_t order;
    int64_t base;
    og_modulus modulus;
    uint64_t power[OG_MAX_ORDER]; /* of the code at lag k */
} column;

struct og_addr_impl {
    int32_t n_columns;
    column columns[];
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    const char *place = OG_WHERE(config);
    int64_t n = k.order.n * k.function.n, orders[OG_COLUMNS_MOST], sizes[OG_COLUMNS_MOST];
    if (n < 1 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld columns; an addressing has 1 to %d", place, (long long)n,
                       OG_COLUMNS_MOST);
    for (int64_t c = 0; c < n; c++) orders[c] = k.order.values[c % k.order.n];
    OG_TRY(og_addr_expand(place, "rows", k.rows, n, sizes, err));
    OG_TRY(og_addr_columns(layout, place, orders, sizes, n, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero((int64_t)sizeof *impl + n * (int64_t)sizeof(column), 1);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->n_columns = (int32_t)n;
    for (int64_t c = 0; c < n; c++) {
        column *at = &impl->columns[c];
        uint64_t prime = primes[k.function.values[c / k.order.n]], power = 1;
        at->order = layout->columns[c].order;
        at->base = layout->columns[c].base;
        at->modulus = og_modulus_of((uint64_t)layout->columns[c].rows);
        for (int32_t lag = at->order - 1; lag >= 0; lag--, power *= prime)
            at->power[lag] = power; /* the oldest is digit 0 */
    }
    layout->width = 1;
    layout->code_limit = (int64_t)INT32_MAX + 1;
    layout->window.fill = OG_FILL_ZERO_ID;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    uint64_t sum[OG_BLOCK];
    for (int32_t c = 0; c < impl->n_columns; c++) {
        const column *at = &impl->columns[c];
        for (int64_t i = 0; i < cells->n; i++) sum[i] = 0;
        for (int32_t k = 0; k < at->order; k++) {
            uint64_t power = at->power[k];
            const int32_t *code = cells->code[k];
            for (int64_t i = 0; i < cells->n; i++) sum[i] += (uint64_t)(int64_t)code[i] * power;
        }
        og_modulus modulus = at->modulus;
        for (int64_t i = 0; i < cells->n; i++)
            out[i * impl->n_columns + c] = at->base + (int64_t)og_floor_mod(sum[i], &modulus);
    }
}

const og_addr_type og_addr_blt_poly = {
    .abi = OG_ABI,
    .name = "blt_poly",
    .summary = "BLT's byte n-grams: a polynomial in a large prime, wrapping in int64",
    .source = "facebookresearch/blt @9774ed4f",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
