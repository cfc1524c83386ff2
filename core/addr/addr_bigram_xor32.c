/* addr_bigram_xor32.c: modded-nanogpt's bigram table, with its quirk and its sign rows. */
#include "addr/modulus.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

#define SIGN_ROWS 8192

typedef struct keys {
    og_addr_keys common;
    int64_t rows;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"rows", OG_KEY_I64, offsetof(keys, rows), "377280", 2, 0x1p61, NULL,
     "rows R of the table (50304 * 15 / 2); row R - 1 is that of a first token"},
    {0},
};

struct og_addr_impl {
    uint64_t last;
    int64_t base;
    og_modulus modulus;
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    int64_t order = 2;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_addr_columns(layout, OG_WHERE(config), &order, &k.rows, 1, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->last = (uint64_t)k.rows - 1;
    impl->base = layout->columns[0].base;
    impl->modulus = og_modulus_of((uint64_t)k.rows - 1);
    layout->width = 1;
    layout->code_limit = (int64_t)INT32_MAX + 1;
    layout->window.fill = OG_FILL_ZERO_ID;
    layout->window.max_order = 3; /* the third cell only tells which pair is a document's first */
    *out = impl;
    return OG_OK;
}

#define SEES_ONE 2u /* bits of og_cells.present */
#define SEES_TWO 4u

/* Element 0 of a document is overwritten with R - 1 before pairs are formed, so it is also the
 * first part of pair 1. */
static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    const int32_t *now = cells->code[0], *before = cells->code[1];
    for (int64_t i = 0; i < cells->n; i++) {
        uint32_t present = cells->present ? cells->present[i] : ~0u;
        uint32_t left = present & SEES_TWO ? (uint32_t)before[i] : (uint32_t)impl->last;
        int32_t hash = (int32_t)(36313u * (uint32_t)now[i] ^ 27191u * left);
        uint64_t row = og_floor_mod((uint64_t)(int64_t)hash, &impl->modulus);
        out[i] = impl->base + (int64_t)(present & SEES_ONE ? row : impl->last);
    }
}

static void signs(const og_addr_impl *impl, const og_cells *cells, int32_t *out) {
    (void)impl;
    for (int64_t i = 0; i < cells->n; i++) {
        int32_t pair = (int32_t)((uint32_t)(cells->code[0][i] ^ cells->code[1][i]) % SIGN_ROWS);
        out[i] = !cells->present || cells->present[i] & SEES_ONE ? pair : 0;
    }
}

const og_addr_type og_addr_bigram_xor32 = {
    .abi = OG_ABI,
    .name = "bigram_xor32",
    .summary = "modded-nanogpt's bigram table: XOR of two products in int32, with sign rows",
    .source = "KellerJordan/modded-nanogpt @f411b3d3",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .signs = signs,
};
