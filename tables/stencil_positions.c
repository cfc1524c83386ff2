/* stencil_positions.c: the last whole positions of one modality, each with the codes of all its levels: residual or
 * product codes, for schemes that read several codes a position (Lngram's routes, N-Grammer's heads). */
#include "stencil.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_stencil_keys common;
    int32_t modality, across;
    int64_t order;
    og_i64_list orders;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"modality", OG_KEY_CHOICE, offsetof(keys, modality), "audio", 0, 0, OG_MODALITY_CHOICES, "whose codes"},
    {"orders", OG_KEY_I64_LIST, offsetof(keys, orders), "", 1, OG_MAX_ORDER, NULL,
     "orders of the n-grams; absent: the scheme's"},
    {"across", OG_KEY_CHOICE, offsetof(keys, across), "segment", 0, 0, "segment|document",
     "document: a window may look past the start of its item at the item of that modality before"},
    {"order", OG_KEY_I64, offsetof(keys, order), "0", 0, OG_MAX_ORDER, NULL, "cells; 0: as many as the orders need"},
    {0},
};

struct og_stencil_impl {
    int32_t modality, order, width, codes, across, leak;
};

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_stencil_modality(config, ids, k.modality, err));
    og_stencil_impl *made = og_alloc_zero(1, sizeof *made);
    if (!made) return og_fail(err, OG_ENOMEM, "no memory for a stencil");
    *made = (og_stencil_impl){.modality = k.modality,
                              .order = k.order ? (int32_t)k.order : OG_MAX_ORDER,
                              .width = ids->levels[k.modality],
                              .codes = ids->codes[k.modality],
                              .across = k.across,
                              .leak = k.common.leak};
    *layout = (og_stencil_layout){.order = made->order,
                                  .width = made->width,
                                  .modality = k.modality,
                                  .sources = 1u << k.modality,
                                  .code_limit = made->codes}; /* of one level: the place in the position tells which */
    *impl = made;
    return OG_OK;
}

static void destroy(og_stencil_impl *impl) { og_release(impl); }

/* The item that windows of segment `number` go on in, or -1. */
static int32_t item_before(const og_stencil_impl *s, const og_pack *pack, int32_t number) {
    if (!s->across && !s->leak) return -1;
    for (int32_t i = number - 1; i >= 0; i--) {
        if (!s->leak && pack->segments[i].doc != pack->segments[number].doc) return -1;
        if (pack->segments[i].modality == s->modality && pack->segments[i].levels == s->width) return i;
    }
    return -1;
}

/* The token of position `at` of a segment, level 0; its other levels follow. */
static int64_t token_of(const og_segment *segment, int64_t at) {
    int64_t stride = (int64_t)segment->columns * segment->levels + segment->row_end;
    return segment->start + at / segment->columns * stride + at % segment->columns * segment->levels;
}

static void cells_of(const og_stencil_impl *s, const og_pack *pack, const og_id_map *ids, int64_t first,
                     og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present) {
    (void)tag;
    const int32_t base = ids->base[s->modality], width = s->width;
    for (int32_t k = 0; k < s->order; k++) cells->constant_tag[k] = (int8_t)s->modality;
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t t = first + i;
        present[i] = 0;
        int32_t number = pack->segment_id[t];
        /* a position is known, and may be looked at, once its last level is */
        if (number < 0 || pack->modality[t] != s->modality) continue;
        const og_segment *segment = &pack->segments[number];
        if (segment->levels != width || (width > 1 && pack->level[t] != width - 1)) continue;
        int64_t stride = (int64_t)segment->columns * width + segment->row_end, from = t - segment->start,
                at = from / stride * segment->columns + from % stride / width;
        for (int32_t k = 0; k < s->order; k++, at--) {
            if (at < 0) {
                number = item_before(s, pack, number);
                if (number < 0) break;
                segment = &pack->segments[number];
                at = (int64_t)segment->rows * segment->columns - 1;
            }
            const int32_t *tokens = pack->tokens + token_of(segment, at);
            for (int32_t w = 0; w < width; w++) code[k][i * width + w] = tokens[w] - base - w * s->codes;
            present[i] |= 1u << k;
        }
    }
}

const og_stencil_type og_stencil_positions = {
    .abi = OG_ABI,
    .name = "positions",
    .summary = "the last positions of one modality, each with the codes of all its levels",
    .source = "N-Grammer, arXiv 2207.06366, and Lngram, arXiv 2605.24869, over codes of a pack",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .cells = cells_of,
};
