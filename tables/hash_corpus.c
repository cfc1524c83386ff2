/* hash_corpus.c: the n-grams of a corpus on the rows of a table. */
#include "hash_audit.h"
#include "table_set.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <math.h>
#include <stdlib.h>

/* One n-gram of a column: its row and which it is (64 bits of its codes and tags; two different
 * ones have the same with probability 2^-64). */
typedef struct gram {
    int64_t row;
    uint64_t which;
} gram;
typedef struct grams {
    gram *at;
    int64_t n, capacity;
} grams;

static og_status add_block(const og_part *part, int32_t c, const og_cells *cells, const og_table_scratch *s, grams *g,
                           og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(part->addr);
    OG_TRY(og_grow((void **)&g->at, &g->capacity, g->n + cells->n, sizeof *g->at, err));
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t row = s->rows[i * l->n_columns + c];
        if (row < 0 || !s->present[i]) continue;
        uint64_t which = 0;
        for (int32_t k = 0; k < l->columns[c].order; k++) {
            int8_t tag = cells->tag[k] ? cells->tag[k][i] : cells->constant_tag[k];
            int32_t code = cells->code[k][i * cells->width + l->columns[c].head % cells->width];
            which = og_splitmix64(which ^ ((uint64_t)(uint8_t)tag << 32 | (uint32_t)code));
        }
        g->at[g->n++] = (gram){row, which};
    }
    return OG_OK;
}

static og_status collect(const og_table_set *set, const og_part *part, int32_t c, const og_packs *packs, grams *g,
                         og_error *err) {
    char *memory = og_alloc(og_table_scratch_bytes(set), 1);
    if (!memory) return og_fail(err, OG_ENOMEM, "no memory for windows");
    og_table_scratch s;
    og_table_scratch_of(set, memory, &s);
    og_status status = OG_OK;
    for (int64_t i = 0; status == OG_OK && i < og_packs_count(packs); i++) {
        og_pack pack;
        status = og_packs_get(packs, i, &pack, err);
        for (int64_t d = 0; status == OG_OK && d < pack.n_docs; d++)
            for (int64_t first = pack.cu_seqlens[d]; status == OG_OK && first < pack.cu_seqlens[d + 1];
                 first += OG_BLOCK) {
                int64_t rest = pack.cu_seqlens[d + 1] - first;
                og_cells cells;
                if (!og_part_windows(part, &pack, &set->ids, d, first, rest < OG_BLOCK ? rest : OG_BLOCK, &s, &cells))
                    continue;
                status = og_addr_map_cells(part->addr, &cells, s.rows, err);
                if (status == OG_OK) status = add_block(part, c, &cells, &s, g, err);
            }
    }
    og_release(memory);
    return status;
}

static int by_row(const void *a, const void *b) {
    const gram *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return x->which < y->which ? -1 : x->which > y->which;
}

static void measure(const grams *g, og_corpus_column *out) {
    int64_t together = 0, together_mass = 0;
    out->ngrams = g->n;
    for (int64_t i = 0, end; i < g->n; i = end) { /* one row */
        int64_t different = 0;
        for (end = i; end < g->n && g->at[end].row == g->at[i].row; end++)
            different += end == i || g->at[end].which != g->at[end - 1].which;
        out->used++;
        out->distinct += different;
        if (different > 1) {
            together += different;
            together_mass += end - i;
        }
        if (end - i > out->most) out->most = end - i;
    }
    out->collided = out->distinct ? (double)together / (double)out->distinct : 0;
    out->collided_mass = g->n ? (double)together_mass / (double)g->n : 0;
    out->expected_used = og_hash_ideal((double)out->rows, (double)out->distinct);
    out->expected_collided = out->distinct ? -expm1((double)(out->distinct - 1) * log1p(-1 / (double)out->rows)) : 0;
}

og_status og_hash_audit_table(const og_table_set *set, int32_t i, int32_t ngram, const og_hash_options *options,
                              og_pool *pool, og_hash_report **out, og_error *err) {
    if (ngram < 0 || ngram >= og_table_set_ngrams(set, i))
        return og_fail(err, OG_EINVAL, "table %d, n-gram %d; it has %d", i, ngram, og_table_set_ngrams(set, i));
    const og_part *part = &set->tables[i].parts[ngram];
    int8_t tags[OG_MAX_ORDER];
    uint32_t others = part->layout.sources & ~(1u << part->layout.modality);
    for (int32_t k = 0; k < OG_MAX_ORDER; k++)
        tags[k] = (int8_t)(k && others ? __builtin_ctz(others) : part->layout.modality);
    og_hash_options own = *options;
    own.vocab = part->layout.code_limit;
    own.tags = tags;
    return og_hash_audit(part->addr, &own, pool, out, err);
}

og_status og_hash_corpus(const og_table_set *set, int32_t i, const og_packs *packs, og_corpus_column *columns,
                         og_error *err) {
    if (i < 0 || i >= set->n_tables) return og_fail(err, OG_EINVAL, "table %d; there are %d", i, set->n_tables);
    const og_table *table = &set->tables[i];
    for (int32_t p = 0, at = 0; p < table->n_parts; p++) {
        const og_addr_layout *l = og_addr_layout_of(table->parts[p].addr);
        for (int32_t c = 0; c < l->n_columns; c++, at++) {
            grams g = {0};
            columns[at] = (og_corpus_column){
                .order = l->columns[c].order, .head = l->columns[c].head, .rows = l->columns[c].rows};
            og_status status = collect(set, &table->parts[p], c, packs, &g, err);
            if (status == OG_OK) {
                if (g.n) qsort(g.at, (size_t)g.n, sizeof *g.at, by_row);
                measure(&g, &columns[at]);
            }
            og_release(g.at);
            OG_TRY(status);
        }
    }
    return OG_OK;
}
