/* addr_longcat_mod.c: LongCat Flash-Lite, Next and the serving kernel: base-V modulo rows0 +
 * row_step * j. */
#include "addr/poly_mod.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

#include <string.h>

typedef struct keys {
    og_addr_keys common;
    int64_t vocab, max_order, splits, rows0, row_step, eos;
    int32_t variant;
    og_i64_list special, ignored;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"vocab", OG_KEY_I64, offsetof(keys, vocab), "131072", 1, 2147483648.0, NULL,
     "V, the text vocabulary: the base of the hash"},
    {"max_order", OG_KEY_I64, offsetof(keys, max_order), "4", 2, OG_MAX_ORDER, NULL,
     "orders are 2 .. max_order (emb_neighbor_num)"},
    {"splits", OG_KEY_I64, offsetof(keys, splits), "4", 1, 1024, NULL, "tables of each order (emb_split_num)"},
    {"rows0", OG_KEY_I64, offsetof(keys, rows0), "10223617", 1, 0x1p60, NULL, "rows of table 0 (78 V + 1)"},
    {"row_step", OG_KEY_I64, offsetof(keys, row_step), "2", 0, 0x1p40, NULL, "table j has rows0 + row_step * j"},
    {"variant", OG_KEY_CHOICE, offsetof(keys, variant), "hf", 0, 0, "hf|serving|lite",
     "hf: Next's; a segment ends at eos, special ids are 0, a current 0 takes no lags; lite: Flash-Lite's; as hf, "
     "but 0 is a token like others; serving: the walk back stops at an ignored token, a current one included. They "
     "disagree in the released systems"},
    {"eos", OG_KEY_I64, offsetof(keys, eos), "", 0, 2147483647.0, NULL,
     "id that ends a segment and still sees it (2 when absent; serving: none); no end in hf where it is hashed as 0"},
    {"special", OG_KEY_I64_LIST, offsetof(keys, special), "", 0, 2147483647.0, NULL,
     "hf: multimodal ids that are hashed as 0"},
    {"ignored", OG_KEY_I64_LIST, offsetof(keys, ignored), "", 1, 2147483647.0, NULL,
     "serving: ids that stop the walk (kept negated in an int32 table, so id 0 cannot be one)"},
    {0},
};

enum { HF, SERVING, LITE }; /* keys.variant */

struct og_addr_impl {
    int32_t n_columns, cells, masks_zero; /* masks_zero: hf's rule that a current 0 takes no lags and is not live */
    og_poly_column *columns;
    int64_t eos;
    int64_t n_special;
    int32_t least_special, most_special;
    int32_t *special;
};

static void destroy(og_addr_impl *impl) {
    if (!impl) return;
    og_release(impl->columns);
    og_release(impl->special);
    og_release(impl);
}

static int is_among(int64_t id, og_i64_list ids) {
    int64_t i = 0;
    while (i < ids.n && ids.values[i] != id) i++;
    return i < ids.n;
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    const char *place = OG_WHERE(config);
    int serving = k.variant == SERVING, eos_given = og_config_get(config, "eos") != NULL;
    if (k.variant != HF && k.special.n)
        return og_fail(err, OG_EINVAL, "%s: special is a key of variant hf%s", place,
                       serving ? "; serving has ignored" : "");
    if (!serving && k.ignored.n)
        return og_fail(err, OG_EINVAL, "%s: ignored is a key of variant serving%s", place,
                       k.variant == HF ? "; hf has special" : "");
    OG_TRY(og_poly_split_columns(layout, place, k.max_order, k.splits, k.rows0, k.row_step, k.common.global_rows, err));
    int64_t limit = k.vocab, eos = eos_given ? k.eos : 2;
    for (int64_t i = 0; i < k.special.n; i++)
        if (k.special.values[i] >= limit) limit = k.special.values[i] + 1;
    for (int64_t i = 0; i < k.ignored.n; i++)
        if (k.ignored.values[i] >= limit) limit = k.ignored.values[i] + 1;
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (impl) impl->columns = og_poly_new(layout, (uint64_t)k.vocab, (uint64_t)limit);
    if (impl) impl->special = og_alloc(k.special.n, sizeof *impl->special);
    if (!impl || !impl->columns || !impl->special) {
        destroy(impl);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    impl->n_columns = layout->n_columns;
    impl->cells = layout->window.max_order;
    impl->masks_zero = k.variant == HF;
    impl->eos = eos;
    impl->n_special = k.special.n;
    impl->least_special = INT32_MAX;
    for (int64_t i = 0; i < k.special.n; i++) {
        int32_t id = (int32_t)k.special.values[i];
        impl->special[i] = id;
        if (id < impl->least_special) impl->least_special = id;
        if (id > impl->most_special) impl->most_special = id;
    }
    layout->width = 1;
    layout->code_limit = limit;
    og_window *window = &layout->window;
    window->fill = OG_FILL_ZERO_ID;
    /* The source looks for eos after special ids have become 0, and never finds it at a 0. */
    int eos_ends = k.variant == HF ? eos != 0 && !is_among(eos, k.special) : !serving || eos_given;
    if (eos_ends) {
        window->mode[OG_AT_EOS] = OG_BREAK_LATCH;
        window->eos = &impl->eos;
        window->n_eos = 1;
    }
    if (serving) {
        window->mode[OG_AT_SPECIAL] = OG_BREAK_LATCH;
        window->self[OG_AT_SPECIAL] = 1;
        window->special = k.ignored.values;
        window->n_special = (int32_t)k.ignored.n;
    }
    *out = impl;
    return OG_OK;
}

static int32_t hashed_as(const og_addr_impl *impl, int32_t code) {
    if (code < impl->least_special || code > impl->most_special) return code;
    for (int64_t i = 0; i < impl->n_special; i++)
        if (impl->special[i] == code) return 0;
    return code;
}

static void live(const og_addr_impl *impl, const og_cells *cells, uint8_t *out) {
    for (int64_t i = 0; i < cells->n; i++)
        memset(out + i * impl->n_columns, !impl->masks_zero || hashed_as(impl, cells->code[0][i]) > 0,
               (size_t)impl->n_columns);
}

/* hf: specials are hashed as 0, and a current 0 takes no lags with it. The others have neither rule. */
static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    int32_t code[OG_MAX_ORDER][OG_BLOCK];
    const int32_t *at[OG_MAX_ORDER];
    for (int32_t k = 0; k < impl->cells; k++) at[k] = cells->code[k];
    int zero_current = 0;
    for (int64_t i = 0; impl->masks_zero && i < cells->n; i++) zero_current |= hashed_as(impl, cells->code[0][i]) == 0;
    if (impl->n_special || zero_current) {
        for (int32_t k = 0; k < impl->cells; k++) {
            if (k || impl->n_special)
                for (int64_t i = 0; i < cells->n; i++)
                    code[k][i] = k && code[0][i] == 0 ? 0 : hashed_as(impl, cells->code[k][i]);
            else
                memcpy(code[0], cells->code[0], (size_t)cells->n * sizeof(int32_t));
            at[k] = code[k];
        }
    }
    og_poly_rows(impl->columns, impl->n_columns, at, cells->n, out);
}

const og_addr_type og_addr_longcat_mod = {
    .abi = OG_ABI,
    .name = "longcat_mod",
    .summary = "LongCat Flash-Lite and Next: base-V modulo m + 2j + 1, with live flags; the "
               "serving kernel as a variant",
    .source = "arXiv 2601.21204, modeling_longcat_oe.py; lucifer1004/sglang ngram_embedding.cuh "
              "@b437f6be",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .live = live,
};
