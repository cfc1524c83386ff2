/* stencil_template.c: a stencil that compiles. Copy it to tables/stencil_<name>.c, rename
 * og_stencil_template to og_stencil_<name>, build unchanged, then change it;
 * tests/tables/test_stencil_conformance.c and test_table_isolation.c hold it to what a stencil
 * promises. This one pairs a code with the first code of its item: what a sentence, a picture or a
 * clip began with. */
#include "stencil.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_stencil_keys common; /* first: the keys of every table */
    int32_t modality;
} keys;

static const og_key key_table[] = {
    OG_STENCIL_KEYS(keys),
    {"modality", OG_KEY_CHOICE, offsetof(keys, modality), "text", 0, 0, OG_MODALITY_CHOICES, "whose codes"},
    {0},
};

struct og_stencil_impl {
    int32_t modality;
};

static og_status create(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    OG_TRY(og_stencil_modality(config, ids, k.modality, err)); /* names the place when there are no such codes */
    og_stencil_impl *made = og_alloc(1, sizeof *made);
    if (!made) return og_fail(err, OG_ENOMEM, "no memory for a stencil");
    made->modality = k.modality;
    *layout = (og_stencil_layout){.order = 2,
                                  .modality = k.modality,
                                  .sources = 1u << k.modality,
                                  .code_limit = og_stencil_codes(ids, k.modality)};
    *impl = made;
    return OG_OK;
}

static void destroy(og_stencil_impl *impl) { og_release(impl); }

static void cells_of(const og_stencil_impl *s, const og_pack *pack, const og_id_map *ids, int64_t first,
                     og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present) {
    (void)tag; /* all codes of a cell are of one modality: a constant says it */
    cells->constant_tag[0] = cells->constant_tag[1] = (int8_t)s->modality;
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t t = first + i;
        present[i] = 0;
        if (pack->modality[t] != s->modality) continue;
        int64_t start = pack->segments[pack->segment_id[t]].start;
        code[0][i] = pack->tokens[t] - ids->base[s->modality];
        code[1][i] = pack->tokens[start] - ids->base[s->modality];
        present[i] = t > start ? 3 : 1; /* the first code has nothing before it */
    }
}

const og_stencil_type og_stencil_template = {
    .abi = OG_ABI,
    .name = "template",
    .summary = "a code with the first code of its item",
    .source = "omnigram",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .cells = cells_of,
};
