/* addr_ott_mod.c: Over-Tokenized Transformer: the base-V number of the window modulo m + 2j, k
 * splits an order. */
#include "addr/poly_mod.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int64_t vocab, max_order, splits, rows0, row_step;
    int32_t fill;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "100278", 1, 2147483648.0, NULL,
     "V, the base and the limit of ids (OLMo 2)"},
    {"max_order", OG_KEY_I64, offsetof(keys, max_order), "3", 2, OG_MAX_ORDER, NULL,
     "orders are 2 .. max_order (paper: n = 3)"},
    {"splits", OG_KEY_I64, offsetof(keys, splits), "2", 1, 1024, NULL, "tables k of each order"},
    {"rows0", OG_KEY_I64, offsetof(keys, rows0), "12800000", 1, 0x1p60, NULL,
     "rows of table 0; keep it coprime to vocab"},
    {"row_step", OG_KEY_I64, offsetof(keys, row_step), "2", 0, 0x1p40, NULL, "table j has rows0 + row_step * j"},
    {"fill", OG_KEY_CHOICE, offsetof(keys, fill), "zero_id", 0, 0, "zero_id|zero_vec",
     "an absent lag is id 0 (paper), or voids the n-gram"},
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
    OG_TRY(og_poly_split_columns(layout, OG_WHERE(config), k.max_order, k.splits, k.rows0, k.row_step,
                                 k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (impl) impl->columns = og_poly_new(layout, (uint64_t)k.vocab, (uint64_t)k.vocab);
    if (!impl || !impl->columns) {
        destroy(impl);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    impl->n_columns = layout->n_columns;
    layout->width = 1;
    layout->code_limit = k.vocab;
    layout->window.fill = k.fill ? OG_FILL_ZERO_VEC : OG_FILL_ZERO_ID;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    og_poly_rows(impl->columns, impl->n_columns, cells->code, cells->n, out);
}

const og_addr_type og_addr_ott_mod = {
    .abi = OG_ABI,
    .name = "ott_mod",
    .summary = "Over-Tokenized Transformer: base-V modulo m + 2j, k slices an order",
    .source = "arXiv 2501.16975 v2, appendix A",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
