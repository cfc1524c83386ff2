/* addr_identity.c: the token's own row: Gemma's per-layer embeddings. */
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int32_t variant;
    int64_t rows, vocab, pad;
    og_i64_list placeholders;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"variant", OG_KEY_CHOICE, offsetof(keys, variant), "gemma3n", 0, 0, "gemma3n|gemma4",
     "gemma3n: an id without a row reads row 0; gemma4: placeholder ids read the pad row as well"},
    {"rows", OG_KEY_I64, offsetof(keys, rows), "262144", 1, 2147483648.0, NULL, "rows (vocab_size_per_layer_input)"},
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "2147483648", 1, 2147483648.0, NULL, "ids are below it (checked)"},
    {"pad", OG_KEY_I64, offsetof(keys, pad), "0", 0, 2147483647.0, NULL, "gemma4: row of placeholders"},
    {"placeholders", OG_KEY_I64_LIST, offsetof(keys, placeholders), "", 0, 2147483647.0, NULL,
     "gemma4: image, audio and video ids"},
    {0},
};

struct og_addr_impl {
    int64_t rows, pad;
    og_i64_list placeholders;
};

static void destroy(og_addr_impl *impl) { og_release(impl); }

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    int64_t order = 1;
    OG_TRY(og_config_read(config, key_table, &k, err));
    const char *place = OG_WHERE(config);
    if (k.pad >= k.rows)
        return og_fail(err, OG_EINVAL, "%s: pad %lld is not below rows %lld", place, (long long)k.pad,
                       (long long)k.rows);
    if (k.variant == 0 && k.placeholders.n)
        return og_fail(err, OG_EINVAL, "%s: placeholders are a key of variant gemma4", place);
    OG_TRY(og_addr_columns(layout, place, &order, &k.rows, 1, k.common.global_rows, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    impl->rows = k.rows;
    impl->pad = k.pad;
    impl->placeholders = k.placeholders;
    layout->width = 1;
    if (k.variant == 0)
        layout->least_code = INT32_MIN; /* the source masks ids below 0 as it does those without a row */
    layout->code_limit = k.vocab;
    *out = impl;
    return OG_OK;
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    for (int64_t i = 0; i < cells->n; i++) {
        int32_t id = cells->code[0][i];
        out[i] = id >= 0 && id < impl->rows ? id : 0;
        for (int64_t j = 0; j < impl->placeholders.n; j++)
            if (impl->placeholders.values[j] == id) out[i] = impl->pad;
    }
}

const og_addr_type og_addr_identity = {
    .abi = OG_ABI,
    .name = "identity",
    .summary = "the token's own row: per-layer embeddings of Gemma 3n and Gemma 4",
    .source = "mlx-lm gemma3n.py, gemma4_text.py @d78bf58e",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
};
