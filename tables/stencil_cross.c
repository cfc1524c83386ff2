/* stencil_cross.c: across modalities: the current code of one with the last codes of another before
 * its item. */
#include "stencil.h"

#include <omnigram/memory.h>

#include <string.h>

typedef struct keys {
    og_stencil_keys common;
    int32_t modality, from, across;
    int64_t order;
    og_i64_list orders;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"modality", OG_KEY_CHOICE, offsetof(keys, modality), "image", 0, 0, OG_MODALITY_CHOICES, "of the current code"},
    {"from", OG_KEY_CHOICE, offsetof(keys, from), "text", 0, 0, OG_MODALITY_CHOICES, "of the codes before its item"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "", 2, OG_MAX_ORDER, NULL,
     "orders n: the current code and n - 1 of the other modality; absent: the scheme's"},
    {"across", OG_KEY_CHOICE, offsetof(keys, across), "segment", 0, 0, "segment|document",
     "segment: from the nearest item of that modality alone; document: also from those before"},
    {"order", OG_KEY_I64, offsetof(keys, order), "0", 0, OG_MAX_ORDER, NULL, "cells; 0: as many as the orders need"},
    {0},
};

struct og_stencil_impl {
    int32_t modality, from, order, across, leak;
};

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    if (k.modality == k.from)
        return og_fail(err, OG_EINVAL, "%s: cross from %s to %s; within one modality the stencil is lags or grid",
                       OG_WHERE(config), og_modality_name(k.from), og_modality_name(k.modality));
    OG_TRY(og_stencil_modality(config, ids, k.modality, err));
    OG_TRY(og_stencil_modality(config, ids, k.from, err));
    og_stencil_impl *made = og_alloc_zero(1, sizeof *made);
    if (!made) return og_fail(err, OG_ENOMEM, "no memory for a stencil");
    *made = (og_stencil_impl){k.modality, k.from, k.order ? (int32_t)k.order : OG_MAX_ORDER, k.across, k.common.leak};
    int64_t a = og_stencil_codes(ids, k.modality), b = og_stencil_codes(ids, k.from);
    *layout = (og_stencil_layout){.order = made->order,
                                  .modality = k.modality,
                                  .sources = 1u << k.modality | 1u << k.from,
                                  .code_limit = a > b ? a : b};
    *impl = made;
    return OG_OK;
}

static void destroy(og_stencil_impl *impl) { og_release(impl); }

/* The last codes (level 0) of the other modality before segment number; youngest first. */
static int32_t before(const og_stencil_impl *s, const og_pack *pack, int32_t base, int32_t number, int32_t *past) {
    int32_t n = 0;
    for (int32_t i = number - 1; i >= 0 && n < s->order - 1; i--) {
        const og_segment *other = &pack->segments[i];
        if (!s->leak && other->doc != pack->segments[number].doc) break;
        if (other->modality != s->from) continue;
        for (int64_t t = other->start + other->length - 1; t >= other->start && n < s->order - 1; t--)
            if (pack->modality[t] == s->from && pack->level[t] <= 0) past[n++] = pack->tokens[t] - base;
        if (!s->across && !s->leak) break;
    }
    return n;
}

static void cells_of(const og_stencil_impl *s, const og_pack *pack, const og_id_map *ids, int64_t first,
                     og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present) {
    (void)tag;
    int32_t past[OG_MAX_ORDER], n = 0, segment = -1;
    cells->constant_tag[0] = (int8_t)s->modality;
    for (int32_t k = 1; k < s->order; k++) cells->constant_tag[k] = (int8_t)s->from;
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t t = first + i;
        present[i] = 0;
        if (pack->modality[t] != s->modality || pack->level[t] > 0) continue;
        if (pack->segment_id[t] != segment) {
            segment = pack->segment_id[t];
            n = before(s, pack, ids->base[s->from], segment, past);
        }
        code[0][i] = pack->tokens[t] - ids->base[s->modality];
        for (int32_t k = 0; k < n; k++) code[k + 1][i] = past[k];
        present[i] = (uint32_t)((UINT64_C(2) << n) - 1);
    }
}

const og_stencil_type og_stencil_cross = {
    .abi = OG_ABI,
    .name = "cross",
    .summary = "the current code with the last codes of another modality before its item",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .cells = cells_of,
};
