/* addr_random_row.c: a control: as many rows as mix64, chosen by the position in the stream and not
 * by the context. What a table gains over it is what it knows; what it keeps is what more
 * parameters give anyway. */
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
    {"seed", OG_KEY_I64, offsetof(keys, seed), "0", 0, 0x1p62, NULL, "seed of the rows"},
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "2147483648", 1, 2147483648.0, NULL, "codes are below it (checked)"},
    {0},
};

struct og_addr_impl {
    int32_t n_columns;
    uint64_t seed;
    og_column columns[];
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_addr_hashed_columns(layout, OG_WHERE(config), &k.columns, k.common.global_rows, err));
    int32_t n = layout->n_columns;
    og_addr_impl *impl = og_alloc((int64_t)sizeof *impl + n * (int64_t)sizeof(og_column), 1);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->n_columns = n;
    impl->seed = (uint64_t)k.seed;
    for (int32_t c = 0; c < n; c++) impl->columns[c] = layout->columns[c];
    layout->width = 1;
    layout->nothing = -1;
    layout->code_limit = k.vocab;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    for (int32_t c = 0; c < impl->n_columns; c++) {
        const og_column *column = &impl->columns[c];
        uint64_t key = og_splitmix64(impl->seed + (uint64_t)(column->order * 256 + column->head));
        for (int64_t i = 0; i < cells->n; i++)
            out[i * impl->n_columns + c] =
                column->base + (int64_t)og_random_below(key, (uint64_t)(cells->index + i), (uint64_t)column->rows);
    }
}

const og_addr_type og_addr_random_row = {
    .abi = OG_ABI,
    .name = "random_row",
    .summary = "control: rows that ignore the context",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
