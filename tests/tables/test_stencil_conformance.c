/* Every registered stencil, and the template that authors copy: names, keys, refusals, purity,
 * blocks, causality, isolation. A new stencil is held to this before its author writes a test. */
#include "stencil_template.c"

#include "core/pack_maker.h"

static og_error err;
static const char line[] = "t4 i2x3 a3x2 t3 i1x2 | i3x2 t5 a2x3 i1x1 | t7 a4x1 i1x4 t1";
/* A config with which each stencil can be made; one of these must do. */
static const char *const configs[] = {"{}", "{cells: [W]}", "{cells: [T]}", "{cells: [[-1, 0]]}"};

enum { WIDE = 4 }; /* codes of a cell, at most */

typedef struct windows {
    int32_t code[256][OG_MAX_ORDER * WIDE];
    uint32_t present[256];
} windows;

static void run(const og_stencil_type *type, const og_stencil_impl *impl, const og_stencil_layout *layout,
                const og_pack *pack, const og_id_map *ids, int64_t step, windows *out) {
    static int32_t codes[OG_MAX_ORDER][OG_BLOCK * WIDE];
    const int32_t width = layout->width ? layout->width : 1;
    CHECK(width <= WIDE);
    static int8_t tags[OG_MAX_ORDER][OG_BLOCK];
    int32_t *code[OG_MAX_ORDER];
    int8_t *tag[OG_MAX_ORDER];
    uint32_t present[OG_BLOCK];
    for (int k = 0; k < OG_MAX_ORDER; k++) {
        code[k] = codes[k];
        tag[k] = tags[k];
    }
    memset(out, 0, sizeof *out);
    for (int64_t d = 0; d < pack->n_docs; d++)
        for (int64_t first = pack->cu_seqlens[d]; first < pack->cu_seqlens[d + 1]; first += step) {
            int64_t rest = pack->cu_seqlens[d + 1] - first;
            og_cells cells = {.n = rest < step ? rest : step, .order = layout->order, .width = width};
            memset(cells.constant_tag, -9, sizeof cells.constant_tag);
            memset(codes, -1, sizeof codes);
            memset(present, 0xff, sizeof present);
            type->cells(impl, pack, ids, first, &cells, code, tag, present);
            for (int64_t i = 0; i < cells.n; i++) {
                out->present[first + i] = present[i];
                CHECK(layout->order == 32 || present[i] >> layout->order == 0);
                for (int32_t k = 0; k < layout->order; k++) {
                    if (!(present[i] >> k & 1)) continue;
                    int32_t modality = cells.tag[k] ? cells.tag[k][i] : cells.constant_tag[k];
                    CHECK(modality >= 0 && modality < OG_MARKER && layout->sources >> modality & 1);
                    for (int32_t w = 0; w < width; w++) {
                        int32_t code_w = codes[k][i * width + w];
                        CHECK(code_w >= 0 && code_w < layout->code_limit);
                        out->code[first + i][k * width + w] = code_w;
                    }
                }
            }
        }
}

/* Tokens before the first whose window differs; -1: none does. */
static int64_t first_change(const windows *a, const windows *b, int64_t n) {
    for (int64_t t = 0; t < n; t++)
        if (a->present[t] != b->present[t] || memcmp(a->code[t], b->code[t], sizeof a->code[t])) return t;
    return -1;
}

static void check_windows(const og_stencil_type *type, const og_stencil_impl *impl, const og_stencil_layout *layout,
                          const og_pack *pack, const og_id_map *ids) {
    static windows whole, other;
    run(type, impl, layout, pack, ids, OG_BLOCK, &whole);
    for (int64_t step = 1; step < 40; step += 3) { /* the same windows whatever the blocks */
        run(type, impl, layout, pack, ids, step, &other);
        CHECK(first_change(&whole, &other, pack->n_valid) == -1);
    }
    int32_t tokens[256];
    int64_t seen = 0;
    for (int64_t t = 0; t < pack->n_valid; t++) {
        int32_t m = pack->modality[t];
        if (m == OG_MARKER) continue;
        memcpy(tokens, pack->tokens, (size_t)pack->n_tokens * sizeof *tokens);
        int32_t base = ids->base[m] + (tokens[t] - ids->base[m]) / ids->codes[m] * ids->codes[m];
        tokens[t] = base + (tokens[t] - base + 1) % ids->codes[m];
        og_pack changed = *pack;
        changed.tokens = tokens;
        run(type, impl, layout, &changed, ids, OG_BLOCK, &other);
        for (int64_t u = 0; u < pack->n_valid; u++) {
            if (whole.present[u] == other.present[u] && !memcmp(whole.code[u], other.code[u], sizeof whole.code[u]))
                continue;
            CHECK(u >= t && pack->doc_id[u] == pack->doc_id[t]); /* causal and isolated */
            seen++;
        }
    }
    CHECK(seen > 0); /* it does look at something */
}

static void check_type(const og_stencil_type *type, const og_pack *pack, const og_id_map *ids) {
    CHECK(type->abi == OG_ABI && type->name && *type->name && type->summary && *type->summary && type->source &&
          *type->source);
    CHECK(strlen(type->summary) < 100 && type->create && type->destroy && type->cells);
    static const char *const common[OG_N_STENCIL_KEYS] = {"stencil", "addressing", "dim", "dtype", "leak"};
    for (int i = 0; i < OG_N_STENCIL_KEYS; i++) CHECK(!strcmp(type->keys[i].name, common[i]));
    for (const og_key *key = type->keys; key->name; key++) CHECK(key->help && *key->help);
    int made = 0;
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
        og_config *config;
        og_stencil_impl *impl = NULL;
        og_stencil_layout layout = {0};
        CHECK_OK(og_config_from_yaml(configs[c], (int64_t)strlen(configs[c]), "test", &config, &err));
        err.message[0] = 0;
        if (type->create(config, ids, &impl, &layout, &err) == OG_OK) {
            made++;
            CHECK(impl && layout.order >= 1 && layout.order <= OG_MAX_ORDER && layout.code_limit >= 1 &&
                  layout.sources);
            CHECK(layout.modality >= OG_TEXT && layout.modality <= OG_AUDIO);
            check_windows(type, impl, &layout, pack, ids);
            type->destroy(impl);
        } else {
            CHECK(!impl && err.message[0]);
        }
        og_config_free(config);
        char unknown[64];
        snprintf(unknown, sizeof unknown, "{dimm: 3, %s", configs[c] + 1);
        CHECK_OK(og_config_from_yaml(unknown, (int64_t)strlen(unknown), "test", &config, &err));
        CHECK_FAILS(type->create(config, ids, &impl, &layout, &err), OG_EINVAL, "dim");
        og_config_free(config);
    }
    CHECK(made);
    printf("%-10s %s\n", type->name, type->summary);
}

int main(void) {
    og_documents *d = make_documents(line, 1);
    og_packs *packs;
    og_pack pack;
    og_pack_policy policy = {.capacity = 128, .method = OG_PACK_CONCAT, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    CHECK_OK(og_packs_get(packs, 0, &pack, &err));
    CHECK(og_packs_count(packs) == 1);
    int n = 0;
    for (; og_stencil_types[n]; n++) {
        check_type(og_stencil_types[n], &pack, og_packs_ids(packs));
        CHECK(og_stencil_find(og_stencil_types[n]->name) == og_stencil_types[n]);
        for (int k = 0; k < n; k++) CHECK(strcmp(og_stencil_types[k]->name, og_stencil_types[n]->name));
    }
    check_type(&og_stencil_template, &pack, og_packs_ids(packs));
    CHECK(n >= 5 && og_stencil_find("template") == NULL && og_stencil_find("") == NULL);
    og_packs_free(packs);
    CHECK(og_alloc_count() == 0);
    return 0;
}
