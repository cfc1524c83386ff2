/* stencil_lags.c: the last codes of one modality, in reading order: text, an image's raster, audio
 * frames. */
#include "stencil.h"

#include <omnigram/memory.h>

#include <string.h>

enum { ACROSS_DEFAULT, ACROSS_SEGMENT, ACROSS_DOCUMENT };

typedef struct keys {
    og_stencil_keys common;
    int32_t modality, across;
    int64_t order, level;
    og_i64_list orders;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"modality", OG_KEY_CHOICE, offsetof(keys, modality), "text", 0, 0, OG_MODALITY_CHOICES, "whose codes"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "", 1, OG_MAX_ORDER, NULL,
     "orders of the n-grams; absent: the scheme's"},
    {"across", OG_KEY_CHOICE, offsetof(keys, across), "default", 0, 0, "default|segment|document",
     "document: a window may look past the start of its item at the item of that modality before; "
     "default: text may"},
    {"level", OG_KEY_I64, offsetof(keys, level), "0", 0, 1024, NULL, "level of the codes, where there are several"},
    {"order", OG_KEY_I64, offsetof(keys, order), "0", 0, OG_MAX_ORDER, NULL, "cells; 0: as many as the orders need"},
    {0},
};

struct og_stencil_impl {
    int32_t modality, order, level, across, leak;
};

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_stencil_modality(config, ids, k.modality, err));
    if (k.level >= ids->levels[k.modality])
        return og_fail(err, OG_EINVAL, "%s: level %lld; %s has %d", OG_WHERE(config), (long long)k.level,
                       og_modality_name(k.modality), ids->levels[k.modality]);
    og_stencil_impl *made = og_alloc_zero(1, sizeof *made);
    if (!made) return og_fail(err, OG_ENOMEM, "no memory for a stencil");
    made->modality = k.modality;
    made->order = k.order ? (int32_t)k.order : OG_MAX_ORDER;
    made->level = (int32_t)k.level;
    made->leak = k.common.leak;
    made->across = k.across == ACROSS_DOCUMENT || (k.across == ACROSS_DEFAULT && k.modality == OG_TEXT);
    *layout = (og_stencil_layout){.order = made->order,
                                  .modality = k.modality,
                                  .sources = 1u << k.modality,
                                  .code_limit = og_stencil_codes(ids, k.modality)};
    *impl = made;
    return OG_OK;
}

static void destroy(og_stencil_impl *impl) { og_release(impl); }

static int applies(const og_stencil_impl *s, const og_pack *pack, int64_t t) {
    return pack->modality[t] == s->modality && (s->modality == OG_TEXT || pack->level[t] == s->level);
}

/* The codes before `first` that its windows may see, youngest first; *segment: where they are from
 * (-1: none). */
static int32_t look_back(const og_stencil_impl *s, const og_pack *pack, int32_t base, int64_t first, int32_t *past,
                         int32_t *segment) {
    int64_t start = s->leak || first >= pack->n_valid ? 0 : pack->cu_seqlens[pack->doc_id[first]];
    int32_t n = 0;
    *segment = -1;
    for (int64_t t = first - 1; t >= start && n < s->order - 1; t--) {
        if (!applies(s, pack, t)) { /* another item is passed in one step */
            if (pack->segment_id[t] >= 0 && pack->segments[pack->segment_id[t]].modality != s->modality)
                t = pack->segments[pack->segment_id[t]].start;
            continue;
        }
        if (*segment >= 0 && !s->across && !s->leak && pack->segment_id[t] != *segment) break;
        if (*segment < 0) *segment = pack->segment_id[t];
        past[n++] = pack->tokens[t] - base;
    }
    return n;
}

static void cells_of(const og_stencil_impl *s, const og_pack *pack, const og_id_map *ids, int64_t first,
                     og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present) {
    (void)tag;
    int32_t past[OG_MAX_ORDER], n = 0, segment = -1, base = ids->base[s->modality], begun = 0;
    for (int32_t k = 0; k < s->order; k++) cells->constant_tag[k] = (int8_t)s->modality;
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t t = first + i;
        present[i] = 0;
        if (!applies(s, pack, t)) continue;
        if (!begun) n = look_back(s, pack, base, t, past, &segment);
        begun = 1;
        if (!s->across && !s->leak && pack->segment_id[t] != segment) n = 0;
        segment = pack->segment_id[t];
        code[0][i] = pack->tokens[t] - base;
        for (int32_t k = 0; k < n; k++) code[k + 1][i] = past[k];
        present[i] = (uint32_t)((UINT64_C(2) << n) - 1);
        if (n < s->order - 1) n++;
        if (n > 1) memmove(past + 1, past, (size_t)(n - 1) * sizeof *past);
        past[0] = code[0][i];
    }
}

const og_stencil_type og_stencil_lags = {
    .abi = OG_ABI,
    .name = "lags",
    .summary = "the last codes of one modality in reading order",
    .source = "Over-Tokenized Transformer, arXiv 2501.16975, and every n-gram memory after it",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .cells = cells_of,
};
