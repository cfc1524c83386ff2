/* stencil_levels.c: residual codes: earlier frames (T) and coarser levels (L) of audio, or of
 * pictures along a row. */
#include "offsets.h"

#include <string.h>

typedef struct keys {
    og_stencil_keys common;
    const og_config *cells;
    int32_t modality, anchor;
    og_i64_list levels;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"cells", OG_KEY_NODE, offsetof(keys, cells), NULL, 0, 0, NULL,
     "list of n-grams, each a list of cells: T (the frame before), TT, L (one level coarser), TL "
     "... or [frames, levels]"},
    {"modality", OG_KEY_CHOICE, offsetof(keys, modality), "audio", 0, 0, OG_MODALITY_CHOICES, "whose codes"},
    {"anchor", OG_KEY_CHOICE, offsetof(keys, anchor), "current", 0, 0, OG_ANCHOR_CHOICES,
     "current: the code itself and cells before it; next: the cells before the code that comes "
     "next"},
    {"levels", OG_KEY_I64_LIST, offsetof(keys, levels), "0", 0, 31, NULL,
     "levels that have n-grams; the coarsest alone unless you say more"},
    {0},
};

static int parse(const char *word, og_offset *out) {
    size_t n = strlen(word);
    if (n < 1 || n > 32 || strspn(word, "TL") != n) return 0;
    for (; *word; word++) {
        out->dx -= *word == 'T';
        out->dl -= *word == 'L';
    }
    return 1;
}

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_stencil_modality(config, ids, k.modality, err));
    og_offsets o = {.modality = k.modality, .anchor = k.anchor, .leak = k.common.leak};
    for (int64_t i = 0; i < k.levels.n; i++) {
        if (k.levels.values[i] >= ids->levels[k.modality])
            return og_fail(err, OG_EINVAL, "%s: level %lld; %s has %d", OG_WHERE(config), (long long)k.levels.values[i],
                           og_modality_name(k.modality), ids->levels[k.modality]);
        o.levels |= 1u << k.levels.values[i];
    }
    OG_TRY(og_offsets_read(k.cells, parse, 1, &o, err));
    return og_offsets_stencil(&o, ids, impl, layout, err);
}

const og_stencil_type og_stencil_levels = {
    .abi = OG_ABI,
    .name = "levels",
    .summary = "earlier frames and coarser levels of residual codes",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = og_offsets_destroy,
    .cells = og_offsets_cells,
};
