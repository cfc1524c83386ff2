/* stencil_grid.c: neighbours in a picture: W, N, NE ..., pairs [dx, dy], and the templates of
 * published coders. */
#include "offsets.h"

#include <string.h>

typedef struct keys {
    og_stencil_keys common;
    const og_config *cells;
    int32_t anchor, outside;
    int64_t level;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"cells", OG_KEY_NODE, offsetof(keys, cells), NULL, 0, 0, NULL,
     "list of n-grams, each a list of cells (W, N, NW, NNE ... or [dx, dy]) or a template's name"},
    {"anchor", OG_KEY_CHOICE, offsetof(keys, anchor), "current", 0, 0, OG_ANCHOR_CHOICES,
     "current: the code itself and cells beside it; next: the cells beside the code that comes "
     "next"},
    {"outside", OG_KEY_CHOICE, offsetof(keys, outside), "absent", 0, 0, OG_OUTSIDE_CHOICES,
     "cells outside the picture: absent, a code of their own, or along the raster"},
    {"level", OG_KEY_I64, offsetof(keys, level), "0", 0, 31, NULL, "level of the codes, where there are several"},
    {0},
};

/* Templates as lists of cells, nearest first. */
static const struct {
    const char *name, *cells;
} templates[] = {
    {"left", "[W]"},
    {"up", "[N]"},
    {"corner", "[W, N, NW]"},
    {"half3x3", "[W, N, NW, NE]"},
    {"row_pair", "[W, NW, N, NE, WW]"},
    {"jpeg_ls", "[W, N, NW, NE]"},                /* T.87, A.3 */
    {"calic", "[W, N, NW, NE, WW, NN]"},          /* Wu and Memon 1997, binary mode */
    {"calic_gap", "[W, N, NW, NE, WW, NN, NNE]"}, /* the same, gradient-adjusted prediction */
    {"jbig2_t0", "[W, N, NW, NE, WW, NWW, NEE, NN, NNW, NNE, [-3, 0], [3, -1], [-3, -1], [2, -2], "
                 "[-2, -2], [-4, 0]]"},                                                 /* T.88, figure 3 */
    {"jbig2_t1", "[W, N, NW, NE, WW, NWW, NEE, NN, NNW, NNE, NNEE, [-3, 0], [3, -1]]"}, /* figure 4 */
    {"jbig2_t2", "[W, N, NW, NE, WW, NWW, NN, NNW, NNE, [2, -1]]"},                     /* figure 5 */
    {"jbig2_t3", "[W, N, NW, NE, WW, NWW, [-3, -1], [-3, 0], [-4, 0], [2, -1]]"},       /* figure 6 */
};

/* N goes up, W left, E right; S would look ahead and is read, so that the message can say so. */
static int parse(const char *word, og_offset *out) {
    size_t n = strlen(word);
    if (n < 1 || n > 32 || strspn(word, "NWES") != n) return 0;
    for (; *word; word++) {
        out->dy += (*word == 'S') - (*word == 'N');
        out->dx += (*word == 'E') - (*word == 'W');
    }
    return 1;
}

static og_status read_cells(const og_config *node, og_offsets *out, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_STRING) return og_offsets_read(node, parse, 0, out, err);
    const char *name, *names[sizeof templates / sizeof *templates];
    int n = 0;
    OG_TRY(og_config_string(node, &name, err));
    for (; n < (int)(sizeof templates / sizeof *templates); n++) {
        names[n] = templates[n].name;
        if (strcmp(name, names[n])) continue;
        og_config *list;
        OG_TRY(og_config_from_yaml(templates[n].cells, (int64_t)strlen(templates[n].cells), names[n], &list, err));
        og_status status = og_offsets_read(list, parse, 0, out, err);
        og_config_free(list);
        return status;
    }
    const char *nearest = og_config_nearest(name, names, n);
    return og_fail(
        err, OG_EINVAL, "%s: no template '%s'%s%s%s; an n-gram is a template or a list of cells, such as [W, N]",
        OG_WHERE(node), name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_stencil_modality(config, ids, OG_IMAGE, err));
    if (k.level >= ids->levels[OG_IMAGE])
        return og_fail(err, OG_EINVAL, "%s: level %lld; image has %d", OG_WHERE(config), (long long)k.level,
                       ids->levels[OG_IMAGE]);
    og_offsets o = {.modality = OG_IMAGE,
                    .anchor = k.anchor,
                    .outside = k.outside,
                    .leak = k.common.leak,
                    .levels = 1u << k.level,
                    .sentinel = (int32_t)og_stencil_codes(ids, OG_IMAGE)};
    OG_TRY(read_cells(k.cells, &o, err));
    return og_offsets_stencil(&o, ids, impl, layout, err);
}

const og_stencil_type og_stencil_grid = {
    .abi = OG_ABI,
    .name = "grid",
    .summary = "neighbours of a code in its picture",
    .source = "omnigram; templates of JBIG2 (ITU-T T.88), JPEG-LS (T.87) and CALIC",
    .keys = key_table,
    .create = create,
    .destroy = og_offsets_destroy,
    .cells = og_offsets_cells,
};
