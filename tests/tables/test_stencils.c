/* Every stencil against its definition, token by token, by search over the whole pack. */
#include "core/pack_maker.h"

#include <omnigram/memory.h>
#include <omnigram/tables.h>

static og_error err;

typedef struct stencil {
    const og_stencil_type *type;
    og_stencil_impl *impl;
    og_stencil_layout layout;
} stencil;

static stencil make(const char *name, const char *yaml, const og_id_map *ids) {
    stencil s = {.type = og_stencil_find(name)};
    og_config *config;
    CHECK(s.type);
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_OK(s.type->create(config, ids, &s.impl, &s.layout, &err));
    og_config_free(config);
    return s;
}

/* Runs the stencil over a document in blocks of `step` and compares each window with what `want`
 * says: out[k] = code or -1. */
typedef void oracle(const void *context, const og_pack *pack, const og_id_map *ids, int64_t t, int64_t *out);
static int64_t n_windows, n_present;
static void compare(const stencil *s, const og_pack *pack, const og_id_map *ids, int64_t step, oracle *want,
                    const void *context) {
    static int32_t codes[OG_MAX_ORDER][OG_BLOCK];
    static int8_t tags[OG_MAX_ORDER][OG_BLOCK];
    int32_t *code[OG_MAX_ORDER];
    int8_t *tag[OG_MAX_ORDER];
    uint32_t present[OG_BLOCK];
    for (int k = 0; k < OG_MAX_ORDER; k++) {
        code[k] = codes[k];
        tag[k] = tags[k];
    }
    for (int64_t d = 0; d < pack->n_docs; d++)
        for (int64_t first = pack->cu_seqlens[d]; first < pack->cu_seqlens[d + 1]; first += step) {
            int64_t rest = pack->cu_seqlens[d + 1] - first;
            og_cells cells = {.n = rest < step ? rest : step, .order = s->layout.order, .width = 1};
            memset(codes, 0x77, sizeof codes);
            s->type->cells(s->impl, pack, ids, first, &cells, code, tag, present);
            for (int64_t i = 0; i < cells.n; i++) {
                int64_t wanted[OG_MAX_ORDER];
                want(context, pack, ids, first + i, wanted);
                n_windows++;
                for (int32_t k = 0; k < s->layout.order; k++) {
                    int64_t got = present[i] >> k & 1 ? code[k][i] : -1;
                    CHECK(got == wanted[k]);
                    CHECK(got < s->layout.code_limit);
                    n_present += got >= 0;
                }
            }
        }
}

/* ---- grid ---- */

typedef struct grid_case {
    int32_t next, outside; /* 0 absent, 1 sentinel, 2 wrap */
    int32_t n, cells[OG_MAX_ORDER][2];
} grid_case;

static int is_code(const og_pack *p, int64_t t) { return p->modality[t] == OG_IMAGE; }

static int64_t cell_at(const og_pack *p, int32_t segment, int64_t row, int64_t column) {
    for (int64_t u = 0; u < p->n_valid; u++)
        if (is_code(p, u) && p->segment_id[u] == segment && p->row[u] == row && p->column[u] == column) return u;
    return -1;
}

static void grid_oracle(const void *context, const og_pack *p, const og_id_map *ids, int64_t t, int64_t *out) {
    const grid_case *g = context;
    int64_t seen_from = t + g->next, base = ids->base[OG_IMAGE];
    for (int k = 0; k < OG_MAX_ORDER; k++) out[k] = -1;
    if (seen_from >= p->n_valid || p->doc_id[seen_from] != p->doc_id[t] || !is_code(p, seen_from)) return;
    int32_t segment = p->segment_id[seen_from], w = p->segments[segment].columns;
    if (!g->next) out[0] = p->tokens[t] - base;
    for (int32_t k = 0; k < g->n; k++) {
        int64_t row = p->row[seen_from] + g->cells[k][1], column = p->column[seen_from] + g->cells[k][0];
        int64_t *to = &out[k + !g->next], u = cell_at(p, segment, row, column);
        if (u >= 0)
            *to = p->tokens[u] - base;
        else if (g->outside == 1)
            *to = MAKER_IMAGE;
        else if (g->outside == 2) {
            int64_t here = (int64_t)p->row[seen_from] * w + p->column[seen_from],
                    there = here + (int64_t)g->cells[k][1] * w + g->cells[k][0];
            if (there >= 0 && there < here) *to = p->tokens[cell_at(p, segment, there / w, there % w)] - base;
        }
        if (*to >= 0 && *to < MAKER_IMAGE && u >= 0) CHECK(u < seen_from); /* no cell is read before it is known */
    }
}

static const struct {
    const char *yaml;
    int32_t n, cells[16][2];
} grid_cells[] = {
    {"[W]", 1, {{-1, 0}}},
    {"[N]", 1, {{0, -1}}},
    {"[NE, [2, -1], NNW]", 3, {{1, -1}, {2, -1}, {-1, -2}}},
    {"half3x3", 4, {{-1, 0}, {0, -1}, {-1, -1}, {1, -1}}},
    {"calic_gap", 7, {{-1, 0}, {0, -1}, {-1, -1}, {1, -1}, {-2, 0}, {0, -2}, {1, -2}}},
    {"jbig2_t3", 10, {{-1, 0}, {0, -1}, {-1, -1}, {1, -1}, {-2, 0}, {-2, -1}, {-3, -1}, {-3, 0}, {-4, 0}, {2, -1}}},
    {"jbig2_t0",
     16,
     {{-1, 0},
      {0, -1},
      {-1, -1},
      {1, -1},
      {-2, 0},
      {-2, -1},
      {2, -1},
      {0, -2},
      {-1, -2},
      {1, -2},
      {-3, 0},
      {3, -1},
      {-3, -1},
      {2, -2},
      {-2, -2},
      {-4, 0}}},
};

static og_packs *pack_of(const char *line, int32_t row_end, int64_t capacity, og_pack *pack) {
    og_documents *d = make_documents(line, row_end);
    og_packs *packs;
    og_pack_policy policy = {.capacity = capacity, .method = OG_PACK_CONCAT, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    CHECK_OK(og_packs_get(packs, 0, pack, &err));
    CHECK(og_packs_count(packs) == 1);
    return packs;
}

static void test_grid(void) {
    static const char *const outsides[] = {"absent", "sentinel", "wrap"}, *const around[] = {"i%dx%d",
                                                                                             "i2x3 i%dx%d i1x1 | i1x3",
                                                                                             "t2 i%dx%d t1 | i2x2 t1"};
    for (int h = 1; h <= 6; h++)
        for (int w = 1; w <= 7; w++)
            for (int k = 0; k < 3; k++)
                for (int32_t row_end = 0; row_end < 2; row_end++) {
                    char line[64];
                    og_pack pack;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                    snprintf(line, sizeof line, around[k], h, w);
#pragma GCC diagnostic pop
                    og_packs *packs = pack_of(line, row_end, 128, &pack);
                    for (size_t c = 0; c < sizeof grid_cells / sizeof *grid_cells; c++)
                        for (int next = 0; next < 2; next++)
                            for (int outside = 0; outside < 3; outside++) {
                                if ((h * 7 + w + k + (int)c + next) % 3 != 0 && h * w > 12)
                                    continue; /* all small grids, a third of the rest */
                                grid_case g = {.next = next, .outside = outside, .n = grid_cells[c].n};
                                memcpy(g.cells, grid_cells[c].cells, sizeof grid_cells[c].cells);
                                char yaml[256];
                                snprintf(yaml, sizeof yaml, "{stencil: grid, cells: %s, anchor: %s, outside: %s}",
                                         grid_cells[c].yaml, next ? "next" : "current", outsides[outside]);
                                stencil s = make("grid", yaml, og_packs_ids(packs));
                                CHECK(s.layout.order == g.n + !next);
                                compare(&s, &pack, og_packs_ids(packs), 1 + (h + w + (int64_t)c) % 9, grid_oracle, &g);
                                compare(&s, &pack, og_packs_ids(packs), OG_BLOCK, grid_oracle, &g);
                                s.type->destroy(s.impl);
                            }
                    og_packs_free(packs);
                }
}

/* Rows as long as a block of windows, and one longer: whole rows in one loop, and cell by cell. */
static void test_wide_grid(void) {
    for (int width = 254; width <= 258; width++)
        for (int32_t row_end = 0; row_end < 2; row_end++) {
            char line[64];
            og_pack pack;
            snprintf(line, sizeof line, "i3x%d t1 | i2x%d", width, width);
            og_packs *packs = pack_of(line, row_end, 2048, &pack);
            for (int c = 1; c < 6; c++) {
                grid_case g = {.next = c & 1, .outside = 0, .n = grid_cells[c].n};
                memcpy(g.cells, grid_cells[c].cells, sizeof grid_cells[c].cells);
                char yaml[256];
                snprintf(yaml, sizeof yaml, "{stencil: grid, cells: %s, anchor: %s}", grid_cells[c].yaml,
                         g.next ? "next" : "current");
                stencil s = make("grid", yaml, og_packs_ids(packs));
                compare(&s, &pack, og_packs_ids(packs), OG_BLOCK, grid_oracle, &g);
                compare(&s, &pack, og_packs_ids(packs), 61, grid_oracle, &g);
                s.type->destroy(s.impl);
            }
            og_packs_free(packs);
        }
}

/* A 2 x 3 picture with codes 1..6 and row ends, anchored at the next code, written out: N and W of
 * the code that follows. */
static void test_next_anchor_by_hand(void) {
    og_pack pack;
    og_packs *packs = pack_of("i2x3", 1, 16, &pack);
    stencil s = make("grid", "{stencil: grid, cells: [N, W], anchor: next}", og_packs_ids(packs));
    /*                    doc  img  1   2   3  end  4   5   6  end img doc */
    const int north[] = {-1, -1, -1, -1, -1, 1, 2, 3, -1, -1, -1, -1};
    const int west[] = {-1, -1, 1, 2, -1, -1, 4, 5, -1, -1, -1, -1};
    int32_t n[OG_BLOCK], w[OG_BLOCK], *code[2] = {n, w};
    uint32_t present[OG_BLOCK];
    og_cells cells = {.n = 12, .order = 2, .width = 1};
    s.type->cells(s.impl, &pack, og_packs_ids(packs), 0, &cells, code, NULL, present);
    for (int i = 0; i < 12; i++) {
        CHECK((present[i] & 1 ? n[i] : -1) == north[i]);
        CHECK((present[i] & 2 ? w[i] : -1) == west[i]);
    }
    s.type->destroy(s.impl);
    og_packs_free(packs);
}

/* ---- lags, cross, levels ---- */

typedef struct lag_case {
    int32_t modality, from, across, leak, order;
} lag_case;

static int counts(const og_pack *p, int64_t t, int32_t modality) {
    return p->modality[t] == modality && p->level[t] <= 0;
}

static void lags_oracle(const void *context, const og_pack *p, const og_id_map *ids, int64_t t, int64_t *out) {
    const lag_case *c = context;
    for (int k = 0; k < OG_MAX_ORDER; k++) out[k] = -1;
    if (!counts(p, t, c->modality)) return;
    int32_t k = 0;
    for (int64_t u = t; u >= 0 && k < c->order; u--) {
        if (!c->leak && p->doc_id[u] != p->doc_id[t]) break;
        if (!counts(p, u, c->modality)) continue;
        if (!c->leak && !c->across && p->segment_id[u] != p->segment_id[t]) break;
        out[k++] = p->tokens[u] - ids->base[c->modality];
    }
}

static void cross_oracle(const void *context, const og_pack *p, const og_id_map *ids, int64_t t, int64_t *out) {
    const lag_case *c = context;
    for (int k = 0; k < OG_MAX_ORDER; k++) out[k] = -1;
    if (!counts(p, t, c->modality)) return;
    out[0] = p->tokens[t] - ids->base[c->modality];
    int32_t k = 1, item = -1;
    for (int64_t u = p->segments[p->segment_id[t]].start - 1; u >= 0 && k < c->order; u--) {
        if (!c->leak && p->doc_id[u] != p->doc_id[t]) break;
        if (!counts(p, u, c->from)) continue;
        if (item < 0) item = p->segment_id[u];
        if (!c->across && !c->leak && p->segment_id[u] != item) break;
        out[k++] = p->tokens[u] - ids->base[c->from];
    }
}

typedef struct level_case {
    int32_t next, n, cells[4][2];
    uint32_t levels;
} level_case;

static void levels_oracle(const void *context, const og_pack *p, const og_id_map *ids, int64_t t, int64_t *out) {
    const level_case *c = context;
    for (int k = 0; k < OG_MAX_ORDER; k++) out[k] = -1;
    int64_t from = t + c->next;
    if (from >= p->n_valid || p->doc_id[from] != p->doc_id[t] || p->modality[from] != OG_AUDIO ||
        !(c->levels >> p->level[from] & 1))
        return;
    if (!c->next) out[0] = p->tokens[t] - ids->base[OG_AUDIO];
    for (int32_t k = 0; k < c->n; k++)
        for (int64_t u = 0; u < from; u++)
            if (p->modality[u] == OG_AUDIO && p->segment_id[u] == p->segment_id[from] &&
                p->column[u] == p->column[from] + c->cells[k][0] && p->level[u] == p->level[from] + c->cells[k][1])
                out[k + !c->next] = p->tokens[u] - ids->base[OG_AUDIO];
}

static const char *const mixed[] = {"t5 i2x3 t2 t3 a3x2 t4 | t1 | i1x1 i2x2 t3 | a2x3 t9",
                                    "t2 | a5x1 a1x3 | t3 i3x1 t1 i1x4", "i1x5 | t4"};

static void test_lags_and_cross(void) {
    static const char *const names[] = {"text", "image", "audio"};
    for (size_t m = 0; m < sizeof mixed / sizeof *mixed; m++)
        for (int32_t row_end = 0; row_end < 2; row_end++) {
            og_pack pack;
            og_packs *packs = pack_of(mixed[m], row_end, 160, &pack);
            for (int32_t order = 1; order <= 6; order++)
                for (int32_t across = 0; across < 2; across++)
                    for (int32_t leak = 0; leak < 2; leak++)
                        for (int32_t a = 0; a < 3; a++)
                            for (int32_t b = 0; b < 3; b++) {
                                char yaml[256];
                                const char *where = across ? "document" : "segment", *leaks = leak ? "true" : "false";
                                lag_case c = {a, b, across, leak, order};
                                if (a == b)
                                    snprintf(yaml, sizeof yaml, "{modality: %s, across: %s, leak: %s, order: %d}",
                                             names[a], where, leaks, order);
                                else
                                    snprintf(yaml, sizeof yaml,
                                             "{stencil: cross, modality: %s, from: %s, across: %s, "
                                             "leak: %s, order: %d}",
                                             names[a], names[b], where, leaks, order);
                                stencil s = make(a == b ? "lags" : "cross", yaml, og_packs_ids(packs));
                                for (int64_t step = 1; step <= OG_BLOCK; step = step * 3 + 1)
                                    compare(&s, &pack, og_packs_ids(packs), step, a == b ? lags_oracle : cross_oracle,
                                            &c);
                                s.type->destroy(s.impl);
                            }
            /* the defaults: text looks over its document, the others over their item */
            for (int32_t a = 0; a < 3; a++) {
                char yaml[64];
                lag_case c = {a, a, a == OG_TEXT, 0, 4};
                snprintf(yaml, sizeof yaml, "{modality: %s, order: 4}", names[a]);
                stencil s = make("lags", yaml, og_packs_ids(packs));
                compare(&s, &pack, og_packs_ids(packs), OG_BLOCK, lags_oracle, &c);
                s.type->destroy(s.impl);
            }
            og_packs_free(packs);
        }
}

static void test_levels(void) {
    static const struct {
        const char *yaml;
        level_case c;
    } cases[] = {
        {"{cells: [T, TT]}", {0, 2, {{-1, 0}, {-2, 0}}, 1}},
        {"{cells: [L, T, TL], levels: [0, 1, 2]}", {0, 3, {{0, -1}, {-1, 0}, {-1, -1}}, 7}},
        {"{cells: [L, [-1, 1]], levels: [1], anchor: next}", {1, 2, {{0, -1}, {-1, 1}}, 2}},
        {"{cells: [T], levels: [0, 2], anchor: next}", {1, 1, {{-1, 0}}, 5}},
    };
    for (size_t m = 0; m < sizeof mixed / sizeof *mixed; m++) {
        og_pack pack;
        og_packs *packs = pack_of(mixed[m], 0, 160, &pack);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            stencil s = make("levels", cases[i].yaml, og_packs_ids(packs));
            for (int64_t step = 1; step <= OG_BLOCK; step = step * 3 + 1)
                compare(&s, &pack, og_packs_ids(packs), step, levels_oracle, &cases[i].c);
            s.type->destroy(s.impl);
        }
        og_packs_free(packs);
    }
}

/* ---- refusals ---- */

static void refused(const char *name, const char *yaml, const char *word) {
    og_id_map ids;
    og_config *config;
    og_stencil_impl *impl = NULL;
    og_stencil_layout layout;
    CHECK_OK(og_id_map_make(10, 4, 1, 0, 1, &ids, &err));
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test.yaml", &config, &err));
    og_status status = og_stencil_find(name)->create(config, &ids, &impl, &layout, &err);
    if (status != OG_EINVAL || !strstr(err.message, word)) {
        fprintf(stderr, "%s: %s: wanted '%s', got %d: %s\n", name, yaml, word, status, err.message);
        exit(1);
    }
    CHECK(impl == NULL);
    og_config_free(config);
}

static void test_refusals(void) {
    refused("grid", "{cells: [W, E]}", "cell \"E\" looks ahead");
    refused("grid", "{cells: [[1, 0]]}", "cell [1,0] looks ahead");
    refused("grid", "{cells: [[-3, 1]]}", "cell [-3,1] looks ahead");
    refused("grid", "{cells: [S]}", "cell \"S\" looks ahead");
    refused("grid", "{cells: [[0, 0]]}", "cell [0,0] is the cell itself");
    refused("grid", "{cells: [WE]}", "is the cell itself");
    refused("grid", "{cells: [N, [0, -1]]}", "cell [0,-1] comes twice");
    refused("grid", "{cells: [[0, -129]]}", "cell [0,-129] lies farther than 128");
    refused("grid", "{cells: [Q]}", "cell \"Q\" is no name");
    refused("grid", "{cells: [[1, 2, 3]]}", "is neither a name nor a pair");
    refused("grid", "{cells: []}", "an n-gram of 0 cells");
    refused("grid", "{cells: half3x4}", "did you mean 'half3x3'");
    refused("grid", "{anchor: next}", "cells");
    refused("grid", "{cells: [W], level: 1}", "level 1; image has 1");
    refused("grid", "{cells: [W], outsid: wrap}", "outside");
    refused("levels", "{cells: [T]}", "no audio codes");
    refused("levels", "{cells: [[0, 1]], modality: image}", "looks ahead");
    refused("lags", "{modality: audio}", "no audio codes");
    refused("lags", "{modality: image, level: 3}", "level 3; image has 1");
    refused("cross", "{modality: text, from: text}", "within one modality");
}

int main(void) {
    test_next_anchor_by_hand();
    test_grid();
    test_wide_grid();
    test_lags_and_cross();
    test_levels();
    test_refusals();
    printf("%lld windows, %lld cells present\n", (long long)n_windows, (long long)n_present);
    CHECK(n_windows > 100000 && n_present > 100000);
    CHECK(og_alloc_count() == 0);
    return 0;
}
