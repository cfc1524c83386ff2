/* addr_shuffled.c: a control: another scheme's rows, permuted within each column. Trained tables
 * read through it show what the model does when every n-gram finds another's row. */
#include "addr/scheme.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <string.h>

typedef struct keys {
    og_addr_keys common;
    const og_config *of;
    int64_t seed;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"of", OG_KEY_NODE, offsetof(keys, of), "{scheme: mix64}", 0, 0, NULL,
     "the addressing that is shuffled, with its own keys"},
    {"seed", OG_KEY_I64, offsetof(keys, seed), "0", 0, 0x1p62, NULL, "seed of the permutation"},
    {0},
};

typedef struct column {
    uint64_t rows, base, key;
    int32_t half; /* bits of half a number of the Feistel network */
} column;

struct og_addr_impl {
    og_addr *of;
    int32_t n_columns;
    column *columns;
};

static void destroy(og_addr_impl *impl) {
    if (!impl) return;
    og_addr_free(impl->of);
    og_release(impl->columns);
    og_release(impl);
}

static og_status fill_in(const keys *k, og_addr_impl *impl, og_addr_layout *layout, og_error *err) {
    OG_TRY(og_addr_new(k->of, &impl->of, err));
    const og_addr_layout *of = og_addr_layout_of(impl->of);
    impl->n_columns = of->n_columns;
    impl->columns = og_alloc(of->n_columns, sizeof *impl->columns);
    og_column *columns = og_alloc(of->n_columns, sizeof *columns);
    if (!impl->columns || !columns) {
        og_release(columns);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    memcpy(columns, of->columns, (size_t)of->n_columns * sizeof *columns);
    *layout = *of;
    layout->columns = columns;
    for (int32_t c = 0; c < of->n_columns; c++) {
        column *at = &impl->columns[c];
        *at = (column){(uint64_t)of->columns[c].rows, (uint64_t)of->columns[c].base,
                       og_splitmix64((uint64_t)(k->seed + c)), 1};
        while ((at->rows - 1) >> (2 * at->half)) at->half++;
    }
    return OG_OK;
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    og_status status = fill_in(&k, impl, layout, err);
    if (status != OG_OK) {
        destroy(impl);
        return status;
    }
    *out = impl;
    return OG_OK;
}

/* A permutation of [0, rows): a Feistel network over the next even power of two, repeated until it
 * lands inside. */
static uint64_t moved(const column *at, uint64_t row) {
    uint64_t mask = (UINT64_C(1) << at->half) - 1;
    do {
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t left = row >> at->half, right = row & mask;
            row = right << at->half | (left ^ (og_splitmix64(at->key + (round << 58) + right) & mask));
        }
    } while (row >= at->rows);
    return row;
}

static og_status fit(og_config *config, int64_t codes, int32_t width, og_error *err) {
    const og_config *given = og_config_get(config, "of");
    og_config *of = NULL;
    OG_TRY(given ? og_config_copy(given, &of, err) : og_config_from_yaml("{scheme: mix64}", 15, "of", &of, err));
    og_status status = og_addr_fit(of, codes, width, err);
    if (status == OG_OK) status = og_config_put(config, "of", of, err);
    og_config_free(of);
    return status;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    og_addr_type_of(impl->of)->rows(og_addr_impl_of(impl->of), cells, out);
    for (int64_t i = 0; i < cells->n; i++)
        for (int32_t c = 0; c < impl->n_columns; c++) {
            const column *at = &impl->columns[c];
            int64_t *row = &out[i * impl->n_columns + c];
            *row = (int64_t)(at->base + moved(at, (uint64_t)*row - at->base));
        }
}

const og_addr_type og_addr_shuffled = {
    .abi = OG_ABI,
    .name = "shuffled",
    .summary = "control: another scheme's rows, permuted",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .fit = fit,
};
