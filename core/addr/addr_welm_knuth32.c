/* addr_welm_knuth32.c: WeLM's hash. Base-V number of the window in 32 bits, Knuth's multiplier,
 * modulo the table. Before the last modulus everything is modulo 2^32: an even V loses old tokens
 * (V = 131072 sees only the newest two), which `omnigram audit hash` shows. */
#include "addr/modulus.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int64_t vocab;
    og_i64_list orders, rows;
    int32_t fill;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "155648", 1, 2147483648.0, NULL,
     "V, the base and the limit of ids (public port)"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "[2, 2, 3, 3]", 1, OG_MAX_ORDER, NULL,
     "order of each table; unresolved: the public port has 2,2,3,3, the note 2,3,4,5"},
    {"rows", OG_KEY_I64_LIST, offsetof(keys, rows), "[16000008, 16000016, 16000024, 16000032]", 1, 0x1p61, NULL,
     "rows of each table (public port; the note says 16000000 each)"},
    {"fill", OG_KEY_CHOICE, offsetof(keys, fill), "zero_id", 0, 0, "zero_id|row0|row0_max",
     "the first positions of a sample; unresolved, so all readings: 1 absent lags are id 0 (port), "
     "2 an n-gram lacking context is "
     "row 0, 3 the first max(orders)-1 positions are row 0 in all tables"},
    {0},
};

typedef struct column {
    int32_t order;
    int64_t base;
    og_modulus modulus;
} column;

struct og_addr_impl {
    uint32_t vocab;
    int32_t n_columns, cells;
    column columns[];
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_addr_listed_columns(layout, OG_WHERE(config), k.orders, k.rows, k.common.global_rows, err));
    int32_t n = layout->n_columns;
    og_addr_impl *impl = og_alloc_zero((int64_t)sizeof *impl + n * (int64_t)sizeof(column), 1);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->vocab = (uint32_t)k.vocab;
    impl->n_columns = n;
    impl->cells = layout->window.max_order;
    for (int32_t c = 0; c < n; c++)
        impl->columns[c] = (column){layout->columns[c].order, layout->columns[c].base,
                                    og_modulus_of((uint64_t)layout->columns[c].rows)};
    layout->width = 1;
    layout->code_limit = k.vocab;
    layout->window.fill = k.fill == 0 ? OG_FILL_ZERO_ID : OG_FILL_ROW0;
    layout->window.fill_span_max = k.fill == 2;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    uint32_t run[OG_BLOCK], p = 1;
    for (int64_t i = 0; i < cells->n; i++) run[i] = 0;
    for (int32_t k = 0; k < impl->cells; k++, p *= impl->vocab) {
        const int32_t *code = cells->code[k];
        for (int64_t i = 0; i < cells->n; i++) run[i] += (uint32_t)code[i] * p;
        for (int32_t c = 0; c < impl->n_columns; c++) {
            if (impl->columns[c].order != k + 1) continue;
            column at = impl->columns[c];
            for (int64_t i = 0; i < cells->n; i++)
                out[i * impl->n_columns + c] = at.base + (int64_t)og_mod(run[i] * UINT32_C(2654435761), &at.modulus);
        }
    }
}

const og_addr_type og_addr_welm_knuth32 = {
    .abi = OG_ABI,
    .name = "welm_knuth32",
    .summary = "WeLM: base-V in 32 bits times Knuth's constant (drops old tokens when V is even)",
    .source = "WeLM v4.5 technical note; lucifer1004/sglang welm_perf_opt.py @0c7175da",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
