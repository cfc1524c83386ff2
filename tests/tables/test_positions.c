/* Positions of several codes: the rows of a table against the addressing over streams of whole frames, and the audit of
 * the schemes that read them against counts worked out by hand or by brute force. */
#include "core/pack_maker.h"

#include <omnigram/audit.h>
#include <omnigram/memory.h>

static og_error err;
static const char line[] = "a5x3 t2 a4x3 | i3x2 a1x3 t1 | a6x2 a2x3 | t3 a3x3 a1x3 a300x3";

static og_config *config_of(const char *yaml) {
    og_config *config;
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    return config;
}

static og_status set_of(const char *yaml, const og_packs *packs, og_table_set **set) {
    static const char *const books[] = {"aa11", "bb22"};
    og_config *config = config_of(yaml);
    og_status status = og_table_set_new(config, og_packs_ids(packs), books, NULL, 2, set, &err);
    og_config_free(config);
    return status;
}

/* ---- tables ---- */

/* The frames of the pack's audio of 3 levels as one stream; where[i]: the token that its rows belong to. */
static int64_t frames(const og_pack *pack, const og_id_map *ids, int32_t by_segment, int32_t *codes, int64_t *where,
                      int64_t *starts, int64_t *n_starts) {
    int64_t n = 0, doc = -1;
    *n_starts = 0;
    for (int64_t s = 0; s < pack->n_segments; s++) {
        const og_segment *segment = &pack->segments[s];
        if (segment->modality != OG_AUDIO || segment->levels != 3) continue;
        if (by_segment || segment->doc != doc) starts[(*n_starts)++] = n;
        doc = segment->doc;
        for (int64_t f = 0; f < segment->columns; f++) {
            for (int64_t l = 0; l < 3; l++)
                codes[3 * n + l] = (pack->tokens[segment->start + 3 * f + l] - ids->base[OG_AUDIO]) % MAKER_AUDIO;
            where[n++] = segment->start + 3 * f + 2;
        }
    }
    return n;
}

static void check_table(const og_packs *packs, const char *yaml, int32_t by_segment) {
    og_pack pack;
    og_table_set *set;
    static int32_t codes[3 * 512];
    static int64_t where[512], starts[64], want[512 * 64];
    int64_t n_starts;
    CHECK_OK(og_packs_get(packs, 0, &pack, &err));
    CHECK_OK(set_of(yaml, packs, &set));
    const og_addr *addr = og_table_set_addr(set, 0);
    const og_addr_layout *l = og_addr_layout_of(addr);
    CHECK(l->width == 3 && l->n_columns <= 64);
    int64_t n = frames(&pack, og_packs_ids(packs), by_segment, codes, where, starts, &n_starts);
    const og_stream stream = {.codes = codes, .n = n, .width = 3, .doc_starts = starts, .n_docs = n_starts};
    CHECK_OK(og_addr_map(addr, &stream, NULL, NULL, want, NULL, NULL, &err));
    int64_t *rows = malloc((size_t)(pack.n_tokens * l->n_columns) * sizeof *rows), next = 0, exist = 0;
    CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
    for (int64_t t = 0; t < pack.n_tokens; t++) {
        int here = next < n && where[next] == t;
        for (int32_t c = 0; c < l->n_columns; c++) {
            const og_column *column = og_table_set_column(set, c);
            int64_t row = here ? want[next * l->n_columns + c] : OG_ROW_NONE;
            if (row >= 0) row += column->base - l->columns[c].base, exist++;
            CHECK(rows[t * l->n_columns + c] == row);
        }
        next += here;
    }
    CHECK(next == n && n > 300 && exist > n);
    free(rows);
    og_table_set_free(set);
}

static void test_tables(void) {
    og_documents *d = make_documents(line, 1);
    og_packs *packs;
    og_pack_policy policy = {.capacity = 1200, .method = OG_PACK_CONCAT, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    CHECK(og_packs_count(packs) == 1);
    check_table(packs, "{a: {stencil: positions, addressing: {scheme: ngrammer, rows: 500}}}", 1);
    check_table(packs, "{a: {stencil: positions, across: document, addressing: {scheme: ngrammer, rows: 500}}}", 0);
    check_table(packs, "{a: {stencil: positions, addressing: {scheme: lngram_direct}}}", 1);
    check_table(packs, "{a: {stencil: positions, across: document, addressing: {scheme: lngram, order: [1, 2]}}}", 0);
    check_table(packs, "{a: {stencil: positions, addressing: {scheme: shuffled, of: {scheme: lngram_direct}}}}", 1);

    og_table_set *set = NULL; /* 64 codes of 3 levels: 6 bits, 3 routes */
    CHECK_OK(set_of("{a: {stencil: positions, addressing: {scheme: lngram_direct}}}", packs, &set));
    CHECK(og_table_set_columns(set) == 6 && og_table_set_column(set, 0)->rows == 1 << 12 &&
          og_table_set_info(set, 0)->rows == 3 * ((1 << 12) + (1 << 18)));
    og_hash_report *report;
    const og_hash_options options = {.contexts = 1, .samples = 4096};
    CHECK_OK(og_hash_audit_table(set, 0, 0, &options, NULL, &report, &err));
    CHECK(report->vocab == 64 && report->n_warnings == 0 && report->columns[0].collided == 0);
    og_hash_report_free(report);
    /* Each column counts the bigrams of its own level. */
    og_corpus_column corpus[6];
    CHECK_OK(og_hash_corpus(set, 0, packs, corpus, &err));
    for (int c = 0; c < 6; c++) CHECK(corpus[c].distinct == corpus[c].used && corpus[c].collided == 0);
    CHECK(corpus[0].ngrams == 4 + 3 + 0 + 1 + 2 + 0 + 299);
    og_table_set_free(set);
    set = NULL;
    CHECK_FAILS(set_of("{a: {stencil: positions, addressing: {scheme: mix64}}}", packs, &set), OG_EINVAL,
                "scheme mix64 reads 1 codes a position, stencil positions gives 3");
    CHECK_FAILS(set_of("{a: {stencil: lags, modality: audio, addressing: {scheme: ngrammer, heads: 4}}}", packs, &set),
                OG_EINVAL, "the stencil positions gives one for each level");
    CHECK_FAILS(set_of("{a: {stencil: positions, addressing: {scheme: lngram_direct, bits: 4}}}", packs, &set),
                OG_EINVAL, "takes codes in [0, 16)");
    og_packs_free(packs);
}

/* ---- the audit ---- */

static og_hash_report *audit(const char *yaml, int64_t vocab) {
    og_config *config = config_of(yaml);
    og_addr *addr;
    og_hash_report *report;
    const og_hash_options options = {.vocab = vocab, .edits = 4096, .contexts = 4, .samples = 1 << 16, .seed = 3};
    CHECK_OK(og_hash_addr(config, vocab, &addr, &err));
    og_config_free(config);
    CHECK_OK(og_hash_audit(addr, &options, NULL, &report, &err));
    og_addr_free(addr);
    return report;
}

/* Lngram addresses directly: 16 codes reach 16 rows at every lag, every edit moves the row, all 16^n n-grams have rows
 * of their own, so that no load strays from 1: chi-square is 0, sqrt((R - 1) / 2 / (1 - 1/n)) deviations below its
 * mean. */
static void test_direct_codes_never_collide(void) {
    og_hash_report *r = audit("{scheme: lngram_direct}", 16);
    CHECK(r->n_columns == 8 && r->n_lags == 4 * 2 + 4 * 3 && r->n_warnings == 0);
    for (int32_t i = 0; i < r->n_lags; i++) CHECK(r->lags[i].changed == 1 && r->lags[i].distinct == 16);
    for (int32_t c = 0; c < 8; c++) {
        double rows = c < 4 ? 256 : 4096;
        CHECK((double)r->columns[c].samples == rows && (double)r->columns[c].rows == rows &&
              r->columns[c].collided == 0);
        CHECK(fabs(r->columns[c].chi2_z + sqrt((rows - 1) / 2 / (1 - 1 / rows))) < 1e-9);
    }
    CHECK(r->orders[0].pairs == 0 && r->orders[1].pairs == 0 && r->orders[0].heads == 4);
    og_hash_report_free(r);
}

/* N-Grammer: each head hashes the bigrams of its own clusters. All K^2 of them, counted here by the
 * published formula. */
static void test_clusters_of_each_head(void) {
    enum { K = 48, ROWS = 1000, HEADS = 3 };
    static const int64_t primes[HEADS] = {1009, 1013, 1019}; /* above 1000 */
    og_hash_report *r = audit("{scheme: ngrammer, heads: 3, rows: 1000}", K);
    CHECK(r->n_columns == HEADS);
    for (int64_t h = 0; h < HEADS; h++) {
        int64_t load[ROWS] = {0}, together = 0;
        for (int64_t b = 0; b < K * K; b++) load[(b * (h + 1) + h + 1) % primes[h] % ROWS]++;
        for (int64_t row = 0; row < ROWS; row++) together += load[row] > 1 ? load[row] : 0;
        CHECK(r->columns[h].samples == K * K);
        CHECK(fabs(r->columns[h].collided - (double)together / (K * K)) < 1e-12);
    }
    og_hash_report_free(r);
}

/* Over the vocabularies every scheme is audited, or says why not. */
static void test_every_scheme_takes_or_refuses(void) {
    static const int64_t vocabs[] = {8192, 16384, 32000, 50257, 65536, 100352, 129280, 131072, 151936, 155648};
    int schemes = 0, refused = 0;
    for (; og_addr_types[schemes]; schemes++)
        for (size_t v = 0; v < sizeof vocabs / sizeof *vocabs; v++) {
            char yaml[96], number[32];
            snprintf(yaml, sizeof yaml, "{scheme: %s}", og_addr_types[schemes]->name);
            snprintf(number, sizeof number, "%lld codes", (long long)vocabs[v]);
            og_config *config = config_of(yaml);
            og_addr *addr = NULL;
            err.message[0] = 0;
            og_status status = og_hash_addr(config, vocabs[v], &addr, &err);
            og_config_free(config);
            if (status == OG_OK && v > 0) { /* a sweep of the large ones takes a while: `audit hash` is for that */
                CHECK(og_addr_layout_of(addr)->code_limit >= vocabs[v]);
                og_addr_free(addr);
            } else if (status == OG_OK) {
                og_hash_report *r;
                const og_hash_options few = {.vocab = vocabs[v], .edits = 8, .contexts = 1, .samples = 64};
                CHECK_OK(og_hash_audit(addr, &few, NULL, &r, &err));
                CHECK(r->vocab == vocabs[v] && r->n_lags > 0 && r->columns[0].samples > 0);
                og_hash_report_free(r);
                og_addr_free(addr);
            } else {
                CHECK(status == OG_EINVAL && strstr(err.message, number) &&
                      strstr(err.message, og_addr_types[schemes]->name));
                refused++;
                CHECK(!strcmp(og_addr_types[schemes]->name, "lngram_direct") && vocabs[v] > 65536);
            }
        }
    CHECK(schemes >= 14 && refused == 5);
}

int main(void) {
    test_tables();
    test_direct_codes_never_collide();
    test_clusters_of_each_head();
    test_every_scheme_takes_or_refuses();
    CHECK(og_alloc_count() == 0);
    return 0;
}
