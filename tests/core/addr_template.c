/* addr_template.c: an addressing scheme to start from. Copy it to core/addr/addr_<name>.c, rename
 * what says template, build. The file's name is its registration: `{scheme: <name>}` works, and
 * tests/core/test_addr_conformance.c tests it (range, threads, any cut of a stream, shards,
 * isolation of documents, failure of every allocation) before you write a test of your own.
 *
 *  1. Keys. One row a parameter, with the source's default, limits and one line of help; `{scheme:
 * <name>}` alone must make a whole addressing. og_config_read names unknown keys, wrong types and
 * values out of limits; you check what one row cannot say.
 *  2. create. Columns (order-major) with og_addr_columns, which checks orders and rows, numbers
 * heads and sums the bases of global rows. Then the layout: width (codes of a position),
 * code_limit, nothing (a code that adds nothing to a key), and the source's boundary rule as
 * window.mode and window.fill. Users override it by the key `window`; you never walk tokens.
 *  3. rows. cells->code[k][i] is the k-th code of window i, newest first, broken and filled
 * already, and in range. Write base + row for each window and column; absent n-grams are
 * overwritten by the caller. No division in the loop: og_mod.
 *  4. Optional: live, signs, constants (what a checkpoint must carry, as JSON).
 *  5. What else to touch (vectors, oracle, aliases, documentation): docs/addressing.md, "Adding a
 * scheme". */
#include "addr/modulus.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common; /* scheme, window, global_rows */
    int64_t vocab, rows;
    og_i64_list orders;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "32000", 1, 2147483648.0, NULL, "codes are below it"},
    {"rows", OG_KEY_I64, offsetof(keys, rows), "1000003", 1, 0x1p60, NULL, "rows of every column"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "[2, 3]", 1, OG_MAX_ORDER, NULL, "orders of the n-grams"},
    {0},
};

struct og_addr_impl {
    int32_t n_columns;
    og_modulus modulus;
    og_column *columns;
};

static void destroy(og_addr_impl *impl) { /* also of a half-made one */
    if (impl) og_release(impl->columns);
    og_release(impl);
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    int64_t rows[OG_COLUMNS_MOST];
    OG_TRY(og_config_read(config, key_table, &k, err));
    for (int64_t c = 0; c < k.orders.n && c < OG_COLUMNS_MOST; c++) rows[c] = k.rows;
    OG_TRY(og_addr_columns(layout, OG_WHERE(config), k.orders.values, rows, k.orders.n, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (impl) impl->columns = og_alloc(layout->n_columns, sizeof *impl->columns);
    if (!impl || !impl->columns) {
        destroy(impl);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    for (int32_t c = 0; c < layout->n_columns; c++) impl->columns[c] = layout->columns[c];
    impl->n_columns = layout->n_columns;
    impl->modulus = og_modulus_of((uint64_t)k.rows);
    layout->width = 1;
    layout->code_limit = k.vocab;
    layout->nothing = 0;
    layout->window.fill = OG_FILL_ZERO_VEC; /* documents always break; here nothing else does */
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    for (int32_t c = 0; c < impl->n_columns; c++) {
        const og_column *column = &impl->columns[c];
        for (int64_t i = 0; i < cells->n; i++) {
            uint64_t key = 0;
            for (int32_t k = 0; k < column->order; k++)
                key = (key ^ (uint32_t)cells->code[k][i]) * UINT64_C(0x100000001b3);
            out[i * impl->n_columns + c] = column->base + (int64_t)og_mod(key, &impl->modulus);
        }
    }
}

const og_addr_type og_addr_template = {
    .abi = OG_ABI,
    .name = "template",
    .summary = "FNV-1a over the codes: shows the form, not a hash to use",
    .source = "Fowler, Noll, Vo",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
