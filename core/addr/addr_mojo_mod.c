/* addr_mojo_mod.c: mojo_opset's over-encoding: the base-V number of the window modulo each table's
 * size. */
#include "addr/poly_mod.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int64_t vocab;
    og_i64_list orders, rows;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "129280", 1, 2147483648.0, NULL, "V, the base and the limit of ids"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "[2, 3, 4, 5]", 1, OG_MAX_ORDER, NULL, "order of each table"},
    {"rows", OG_KEY_I64_LIST, offsetof(keys, rows), "[16000057, 16000063, 16000067, 16000073]", 1, 0x1p61, NULL,
     "rows of each table, or one number for all; keep them coprime to vocab"},
    {0},
};

struct og_addr_impl {
    int32_t n_columns;
    og_poly_column *columns;
};

static void destroy(og_addr_impl *impl) {
    if (impl) og_release(impl->columns);
    og_release(impl);
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_addr_listed_columns(layout, OG_WHERE(config), k.orders, k.rows, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (impl) impl->columns = og_poly_new(layout, (uint64_t)k.vocab, (uint64_t)k.vocab);
    if (!impl || !impl->columns) {
        destroy(impl);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    impl->n_columns = layout->n_columns;
    layout->width = 1;
    layout->code_limit = k.vocab;
    layout->window.fill = OG_FILL_ZERO_ID;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    og_poly_rows(impl->columns, impl->n_columns, cells->code, cells->n, out);
}

const og_addr_type og_addr_mojo_mod = {
    .abi = OG_ABI,
    .name = "mojo_mod",
    .summary = "ByteDance mojo_opset over-encoding: base-V modulo each table's size, by residues",
    .source = "XPU-Forces/mojo_opset operators/over_encoding.py @b97e98b",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
