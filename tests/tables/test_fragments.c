/* test_fragments.c: with enough context, a document in fragments has the windows of the document in one piece: the same
 * rows at every token that is learnt, for every capacity. */
#include "core/pack_maker.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/tables.h>

static og_error err;
static const char tables[] =
    "text: {orders: [2, 3, 5], addressing: {rows: 997}}\n"
    "audio: {stencil: levels, cells: [[T, L], [TT]], levels: [0, 1, 2], addressing: {rows: 997}}\n"
    "frames: {stencil: lags, modality: audio, orders: [2, 3], addressing: {rows: 997}}\n";

static og_packs *packs_of(const og_documents *d, int64_t capacity, int64_t overlap) {
    og_pack_policy policy = {.capacity = capacity,
                             .method = OG_PACK_FIRST_FIT,
                             .long_doc = OG_LONG_FRAGMENT,
                             .fragment_context = OG_FRAGMENT_CARRY,
                             .fragment_overlap = overlap,
                             .seed = -1};
    og_packs *packs;
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    return packs;
}

/* Tokens whose rows differ from those of the document in one piece; *learnt: how many have a weight. */
static int64_t differing(const og_documents *d, const og_packs *packs, const og_table_set *set, const int64_t *whole,
                         int64_t *learnt) {
    int32_t columns = og_table_set_columns(set);
    int64_t differ = 0;
    *learnt = 0;
    for (int64_t p = 0; p < og_packs_count(packs); p++) {
        og_pack pack;
        CHECK_OK(og_packs_get(packs, p, &pack, &err));
        int64_t *rows = og_alloc(pack.n_tokens * columns, sizeof *rows);
        CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
        for (int64_t i = 0; i < pack.n_docs; i++)
            for (int64_t t = pack.cu_seqlens[i]; t < pack.cu_seqlens[i + 1]; t++) {
                if (pack.loss_weight[t] == 0) continue;
                int64_t at = d->offsets[pack.origin[i].index] + pack.origin[i].offset + t - pack.cu_seqlens[i];
                CHECK(d->tokens[at] == pack.tokens[t]);
                differ += memcmp(rows + t * columns, whole + at * columns, (size_t)columns * sizeof *rows) != 0;
                ++*learnt;
            }
        og_release(rows);
    }
    return differ;
}

int main(void) {
    int64_t live = og_alloc_count(), without = 0;
    og_documents *d = make_documents("t61 | a11x3 t40 | a17x3 | t5 a1x3 t5 a2x3 t30", 0);
    og_packs *one = packs_of(d, d->n_tokens, 0);
    og_config *config;
    og_table_set *set;
    const char *books[] = {"aa11", "bb22"};
    CHECK_OK(og_config_from_yaml(tables, (int64_t)strlen(tables), "tables", &config, &err));
    CHECK_OK(og_table_set_new(config, og_packs_ids(one), books, NULL, 2, &set, &err));
    og_config_free(config);
    og_pack pack;
    CHECK(og_packs_count(one) == 1);
    CHECK_OK(og_packs_get(one, 0, &pack, &err));
    int32_t columns = og_table_set_columns(set);
    int64_t *whole = og_alloc(pack.n_tokens * columns, sizeof *whole), *by_place, learnt;
    CHECK_OK(og_table_set_rows(set, &pack, NULL, whole, &err));
    by_place = og_alloc(d->n_tokens * columns, sizeof *by_place);
    for (int64_t i = 0; i < pack.n_docs; i++)
        memcpy(by_place + d->offsets[pack.origin[i].index] * columns, whole + pack.cu_seqlens[i] * columns,
               (size_t)((pack.cu_seqlens[i + 1] - pack.cu_seqlens[i]) * columns) * sizeof *whole);
    for (int64_t capacity = 36; capacity < 70; capacity++) {
        /* 18 tokens: four texts and, behind them, a sound of two frames with its markers; or six frames */
        og_packs *packs = packs_of(d, capacity, 18), *bare = packs_of(d, capacity, 0);
        CHECK(differing(d, packs, set, by_place, &learnt) == 0);
        CHECK(learnt == d->n_tokens - d->n_docs); /* all but each document's first token */
        without += differing(d, bare, set, by_place, &learnt);
        og_packs_free(packs);
        og_packs_free(bare);
    }
    CHECK(without > 100);
    og_release(by_place);
    og_release(whole);
    og_table_set_free(set);
    og_packs_free(one);
    og_documents_free(d);
    CHECK(og_alloc_count() == live);
    return 0;
}
