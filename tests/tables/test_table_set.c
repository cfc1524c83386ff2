/* Table sets: configs, columns, fingerprints, rows for any pool, refusals. */
#include "core/pack_maker.h"

#include <omnigram/memory.h>
#include <omnigram/tables.h>

static og_error err;
static const char *const books[] = {"aa11", "bb22"};
static const char two_tables[] = "text: {modality: text, orders: [2, 3], addressing: {scheme: "
                                 "mix64, rows: 101, heads: 2}, dim: 8}\n"
                                 "image: {stencil: grid, cells: [[W], [N], [W, N]], anchor: next, "
                                 "addressing: {rows: 50}, dim: 4, dtype: f32}\n";

static og_id_map ids_of(void) {
    og_id_map ids;
    CHECK_OK(og_id_map_make(MAKER_TEXT, MAKER_IMAGE, 1, MAKER_AUDIO, MAKER_LEVELS, &ids, &err));
    return ids;
}
static og_status try_set(const char *yaml, const char *const *codebooks, int32_t n, og_table_set **set) {
    og_config *config;
    og_id_map ids = ids_of();
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "tables.yaml", &config, &err));
    og_status status = og_table_set_new(config, &ids, codebooks, NULL, n, set, &err);
    og_config_free(config);
    return status;
}
static og_table_set *set_of(const char *yaml) {
    og_table_set *set;
    CHECK_OK(try_set(yaml, books, 2, &set));
    return set;
}

static void test_columns(void) {
    og_table_set *set = set_of(two_tables);
    CHECK(og_table_set_count(set) == 2 && og_table_set_columns(set) == 7 && og_table_set_width(set) == 4 * 8 + 3 * 4);
    const og_table_info *text = og_table_set_info(set, 0), *image = og_table_set_info(set, 1);
    CHECK(!strcmp(text->name, "text") && text->first_column == 0 && text->n_columns == 4 && text->rows == 404 &&
          text->dim == 8 && text->dtype == OG_BF16);
    CHECK(!strcmp(image->name, "image") && image->first_column == 4 && image->n_columns == 3 && image->rows == 150 &&
          image->dtype == OG_F32);
    static const int orders[] = {2, 2, 3, 3, 1, 1, 2}, heads[] = {0, 1, 0, 1, 0, 0, 0},
                     bases[] = {0, 101, 202, 303, 0, 50, 100}, rows[] = {101, 101, 101, 101, 50, 50, 50};
    for (int c = 0; c < 7; c++) {
        const og_column *column = og_table_set_column(set, c);
        CHECK(column->order == orders[c] && column->head == heads[c] && column->base == bases[c] &&
              column->rows == rows[c]);
    }
    CHECK(og_table_set_column(set, 7) == NULL && og_table_set_info(set, 2) == NULL &&
          og_table_set_addr(set, -1) == NULL);
    og_table_set_free(set);
    set = set_of("");
    CHECK(og_table_set_count(set) == 0 && og_table_set_columns(set) == 0);
    og_table_set_free(set);
}

static og_packs *pack_of(const char *line, int64_t capacity, og_pack *pack) {
    og_documents *d = make_documents(line, 1);
    og_packs *packs;
    og_pack_policy policy = {.capacity = capacity, .method = OG_PACK_CONCAT, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    CHECK_OK(og_packs_get(packs, 0, pack, &err));
    return packs;
}

/* Rows of text columns are those of the addressing over the document's text alone; elsewhere there
 * are none. */
static void test_rows_are_the_addressing(void) {
    og_pack pack;
    og_packs *packs = pack_of("t9 | i2x2 t5 a2x2 t3", 64, &pack);
    og_table_set *set = set_of(two_tables);
    const og_addr *addr = og_table_set_addr(set, 0);
    int64_t *rows = malloc((size_t)pack.n_tokens * 7 * sizeof *rows);
    CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
    for (int64_t d = 0; d < pack.n_docs; d++) {
        int32_t codes[64];
        int64_t at[64], n = 0, expect[64 * 4], zero = 0;
        for (int64_t t = pack.cu_seqlens[d]; t < pack.cu_seqlens[d + 1]; t++)
            if (pack.modality[t] == OG_TEXT) {
                codes[n] = pack.tokens[t];
                at[n++] = t;
            }
        og_stream stream = {.codes = codes, .n = n, .width = 1, .doc_starts = &zero, .n_docs = 1};
        CHECK_OK(og_addr_map(addr, &stream, NULL, NULL, expect, NULL, NULL, &err));
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < 4; c++) {
                int64_t want = expect[i * 4 + c];
                CHECK(rows[at[i] * 7 + c] == (want < 0 ? OG_ROW_NONE : want + 101 * c));
                CHECK((want == OG_ROW_NONE) ==
                      (i < (c < 2 ? 1 : 2))); /* order n lacks context at exactly n - 1 positions */
            }
    }
    for (int64_t t = 0; t < pack.n_tokens; t++) {
        if (t >= pack.n_valid || pack.modality[t] != OG_TEXT)
            for (int c = 0; c < 4; c++) CHECK(rows[t * 7 + c] == OG_ROW_NONE);
        for (int c = 0; c < 7; c++) {
            const og_column *column = og_table_set_column(set, c);
            int64_t row = rows[t * 7 + c];
            CHECK(row == OG_ROW_NONE || (row >= column->base && row < column->base + column->rows));
        }
        if (t >= pack.n_valid)
            for (int c = 4; c < 7; c++) CHECK(rows[t * 7 + c] == OG_ROW_NONE);
    }
    free(rows);
    og_table_set_free(set);
    og_packs_free(packs);
}

/* Orders 2..5 on texts of 1 to 9 codes: exactly n - 1 positions of each lack context, never n, and
 * none is lost at the tail. */
static void test_context_is_lacking_n_minus_1_times(void) {
    og_pack pack;
    og_packs *packs = pack_of("t1 | t2 | t3 | t4 | t5 | t6 | t7 | t8 | t9", 64, &pack);
    og_table_set *set = set_of("text: {orders: [2, 3, 4, 5], addressing: {rows: 1009}}");
    int64_t rows[64 * 4];
    CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
    for (int64_t d = 0; d < 9; d++)
        for (int c = 0; c < 4; c++) {
            int64_t order = c + 2, length = d + 1, exist = 0, last = pack.cu_seqlens[d + 1] - 2;
            for (int64_t t = pack.cu_seqlens[d]; t < pack.cu_seqlens[d + 1]; t++) exist += rows[t * 4 + c] >= 0;
            CHECK(exist == (length >= order ? length - (order - 1) : 0));
            CHECK((rows[last * 4 + c] >= 0) == (length >= order));
        }
    og_table_set_free(set);
    og_packs_free(packs);
}

/* The same images in another place have the same rows; another code beside it, another row (a
 * placeholder id would not). */
static void test_rows_are_of_codes(void) {
    og_id_map ids = ids_of();
    og_documents_builder *b;
    int32_t book;
    CHECK_OK(og_documents_builder_new(&ids, 0, &b, &err));
    CHECK_OK(og_documents_codebook(b, "aa11", &book, &err));
    const int32_t one[] = {1, 2, 3, 4}, two[] = {1, 9, 3, 4};
    const int32_t *images[] = {one, two, one};
    for (int64_t d = 0; d < 3; d++) {
        CHECK_OK(og_documents_begin(b, 0, d, &err));
        CHECK_OK(og_documents_item(b, OG_IMAGE, images[d], 2, 2, 1, book, &err));
        CHECK_OK(og_documents_end(b, &err));
    }
    og_documents *documents;
    og_packs *packs;
    og_pack pack;
    CHECK_OK(og_documents_finish(b, NULL, &documents, &err));
    og_pack_policy policy = {.capacity = 24, .method = OG_PACK_CONCAT, .seed = -1};
    CHECK_OK(og_packs_build(documents, &policy, &packs, &err));
    og_documents_free(documents);
    CHECK_OK(og_packs_get(packs, 0, &pack, &err));
    og_table_set *set = set_of("image: {stencil: grid, cells: [[W, N]], addressing: {rows: 1000003}}");
    int64_t rows[24];
    CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
    CHECK(rows[5] >= 0 && rows[5] == rows[21] && rows[5] != rows[13]);
    og_table_set_free(set);
    og_packs_free(packs);
}

static void test_any_pool(void) {
    char line[4096] = "";
    size_t n = 0;
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "t%d i%dx%d a%dx3 t%d%s", 1 + i * 7 % 90, 1 + i % 5, 1 + i % 9,
                              1 + i % 11, i % 13, i < 59 ? " | " : "");
    og_pack pack;
    og_packs *packs = pack_of(line, 16384, &pack);
    og_table_set *set = set_of("text: {orders: [2, 3, 4, 5]}\nimage: {stencil: grid, cells: [half3x3], outside: "
                               "wrap}\naudio: {modality: audio, orders: [2, 3]}\n"
                               "cross: {stencil: cross, orders: [2, 3]}\nrandom: {addressing: {scheme: random_row}}\n");
    int64_t columns = og_table_set_columns(set), bytes = pack.n_tokens * columns * 8;
    int64_t *one = malloc((size_t)bytes), *many = malloc((size_t)bytes);
    CHECK_OK(og_table_set_rows(set, &pack, NULL, one, &err));
    for (int32_t threads = 1; threads <= 5; threads += 2) {
        og_pool *pool;
        CHECK_OK(og_pool_new(threads, &pool, &err));
        memset(many, 0x55, (size_t)bytes);
        CHECK_OK(og_table_set_rows(set, &pack, pool, many, &err));
        CHECK(!memcmp(one, many, (size_t)bytes));
        og_pool_free(pool);
    }
    free(one);
    free(many);
    og_table_set_free(set);
    og_packs_free(packs);
}

static void test_fingerprints(void) {
    static const char *const same[][2] = {
        {"a: {orders: [2, 3]}", "a: {stencil: lags, modality: text, addressing: {scheme: mix64, "
                                "orders: [2, 3]}, across: default, dim: 64}"},
        {"a: {orders: [2], dim: 8}",
         "a: {orders: [2], dim: 16, dtype: f32}"}, /* sizes of a row are the store's matter */
    };
    static const char *const other[][2] = {
        {"a: {orders: [2, 3]}", "a: {orders: [2, 3, 4]}"},
        {"a: {orders: [2]}", "a: {orders: [2], across: segment}"},
        {"a: {orders: [2]}", "a: {orders: [2], addressing: {seed: 1}}"},
        {"a: {orders: [2]}", "a: {orders: [2], modality: image}"},
        {"a: {stencil: grid, cells: [[W]]}", "a: {stencil: grid, cells: [[N]]}"},
        {"a: {stencil: grid, cells: [[W]]}", "a: {stencil: grid, cells: [[W]], outside: wrap}"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        og_table_set *a = set_of(same[i][0]), *b = set_of(same[i][1]);
        CHECK(!strcmp(og_table_set_info(a, 0)->fingerprint, og_table_set_info(b, 0)->fingerprint));
        CHECK(strlen(og_table_set_info(a, 0)->fingerprint) == 64);
        CHECK_OK(og_table_set_check(a, 0, og_table_set_info(b, 0)->fingerprint, NULL, &err));
        og_table_set_free(a);
        og_table_set_free(b);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        og_table_set *a = set_of(other[i][0]), *b = set_of(other[i][1]);
        const og_table_info *info = og_table_set_info(b, 0);
        CHECK(strcmp(og_table_set_info(a, 0)->fingerprint, info->fingerprint));
        CHECK_FAILS(og_table_set_check(a, 0, info->fingerprint, info->description, &err), OG_EINVAL,
                    "made for another table");
        og_table_set_free(a);
        og_table_set_free(b);
    }
    /* a codebook that changed: image tables are refused with both fingerprints named, text tables
     * do not care */
    static const char *const changed[] = {"aa12", "bb22"}, *const turned[] = {"bb22", "aa11"};
    og_table_set *a = set_of(two_tables), *b, *c;
    CHECK_OK(try_set(two_tables, changed, 2, &b));
    CHECK_OK(try_set(two_tables, turned, 2, &c));
    const og_table_info *text = og_table_set_info(b, 0), *image = og_table_set_info(b, 1);
    CHECK_OK(og_table_set_check(a, 0, text->fingerprint, text->description, &err));
    CHECK_OK(og_table_set_check(a, 1, og_table_set_info(c, 1)->fingerprint, NULL, &err));
    CHECK_FAILS(og_table_set_check(a, 1, image->fingerprint, image->description, &err), OG_EINVAL,
                "[\"aa11\",\"bb22\"] here, [\"aa12\",\"bb22\"] there");
    char head[17];
    snprintf(head, sizeof head, "%s", image->fingerprint);
    CHECK(strstr(err.message, head));
    snprintf(head, sizeof head, "%s", og_table_set_info(a, 1)->fingerprint);
    CHECK(strstr(err.message, head));
    CHECK_FAILS(og_table_set_check(a, 9, "", NULL, &err), OG_EINVAL, "table 9");
    og_table_set_free(a);
    og_table_set_free(b);
    og_table_set_free(c);
}

static void refused(const char *yaml, const char *word) {
    og_table_set *set = NULL;
    og_status status = try_set(yaml, books, 2, &set);
    if (status != OG_EINVAL || !strstr(err.message, word) || set) {
        fprintf(stderr, "%s: wanted '%s', got %d: %s\n", yaml, word, status, err.message);
        exit(1);
    }
}

static void test_refusals(void) {
    refused("a: {stencil: grit, cells: [[W]]}",
            "table a: tables.yaml:1: a.stencil: unknown stencil 'grit', did you mean 'grid'?");
    refused("a: {addressing: {scheme: mix63}}", "did you mean 'mix64'?");
    refused("a: {ordres: [2]}", "orders");
    refused("a: {dim: 0}", "dim");
    refused("a: {dtype: int3}", "dtype 'int3'");
    refused("a: {dtype: i64}", "dtype 'i64'");
    refused("a: 3", "a table is a map");
    refused("a: {addressing: 3}", "a.addressing: is a map");
    refused("a: {stencil: grid}", "list of n-grams");
    refused("a: {stencil: grid, cells: []}", "list of n-grams");
    refused("a: {stencil: grid, cells: [[W, E]]}", "looks ahead");
    refused("a: {stencil: grid, cells: [[W]], addressing: {scheme: mix64, orders: [3]}}",
            "needs 3 cells, the n-gram has 2");
    refused("a: {addressing: {vocab: 500}}", "takes codes in [0, 500), this table's are in [0, 1000)");
    refused("a: {addressing: {window: {fill: leak}}}", "leak: true");
    refused("a: {addressing: {window: {breaks: {modality: latch}}}}", "in a table the stencil decides that");
    refused("a: {addressing: {window: {breaks: {eos: skip}, eos: [3]}}}", "not passed over");
}

/* Fills and ids that break: what each does to "a b EOS d", order 2. */
static void test_fills_and_breaks(void) {
    og_pack pack;
    og_packs *packs = pack_of("t4", 6, &pack); /* codes 1 2 3 4 at tokens 1 .. 4 */
    static const struct {
        const char *window;
        int exist[4];
    } cases[] = {
        {"{}", {0, 1, 1, 1}},
        {"{fill: zero_id}", {1, 1, 1, 1}},
        {"{fill: pad_id, fill_id: 7}", {1, 1, 1, 1}},
        {"{fill: row0}", {1, 1, 1, 1}},
        {"{fill: backoff}", {1, 1, 1, 1}},
        {"{breaks: {eos: latch}, eos: [3]}", {0, 1, 1, 0}},
        {"{breaks: {eos: hole}, eos: [3]}", {0, 1, 1, 0}},
        {"{breaks: {eos: latch}, self: [special], eos: [3], special: [2]}", {0, 0, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[256];
        int64_t rows[6];
        snprintf(yaml, sizeof yaml, "a: {orders: [2], addressing: {rows: 1009, window: %s}}", cases[i].window);
        og_table_set *set = set_of(yaml);
        CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
        for (int t = 0; t < 4; t++) CHECK((rows[1 + t] >= 0) == cases[i].exist[t]);
        CHECK(rows[0] == OG_ROW_NONE && rows[5] == OG_ROW_NONE); /* markers have none, whatever fills */
        if (i == 3) CHECK(rows[1] == 0);
        og_table_set_free(set);
    }
    og_packs_free(packs);
}

/* A table records the codebooks of its own modalities: another audio codebook leaves an image table as it was. */
static void test_codebooks_by_modality(void) {
    static const char yaml[] =
        "image: {stencil: grid, cells: [[W]], addressing: {rows: 50}}\n"
        "audio: {modality: audio, orders: [2], addressing: {rows: 50}}\n"
        "both: {stencil: cross, modality: image, from: audio, orders: [2], addressing: {rows: 50}}\n";
    static const int32_t known[] = {OG_IMAGE, OG_AUDIO}, one[] = {OG_IMAGE, -1};
    static const char *const other[] = {"aa11", "cc33"};
    og_config *config;
    og_table_set *a, *b, *c;
    og_id_map ids = ids_of();
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "tables.yaml", &config, &err));
    CHECK_OK(og_table_set_new(config, &ids, books, known, 2, &a, &err));
    CHECK_OK(og_table_set_new(config, &ids, other, known, 2, &b, &err));
    CHECK_OK(og_table_set_new(config, &ids, books, one, 2, &c, &err)); /* packs without a sound: the same */
    for (int32_t t = 0; t < 3; t++) {
        const char *print = og_table_set_info(a, t)->fingerprint;
        CHECK((strcmp(print, og_table_set_info(b, t)->fingerprint) == 0) == (t == 0));
        CHECK(strcmp(print, og_table_set_info(c, t)->fingerprint) == 0);
    }
    CHECK(strstr(og_table_set_info(a, 0)->description, "\"codebooks\":[\"aa11\"]") &&
          strstr(og_table_set_info(a, 2)->description, "\"codebooks\":[\"aa11\",\"bb22\"]"));
    og_table_set_free(a);
    og_table_set_free(b);
    og_table_set_free(c);
    og_config_free(config);
    og_pack pack;
    og_packs *packs = pack_of("t3 i1x2 | t2", 64, &pack);
    CHECK(og_packs_codebook_modality(packs, 0) == OG_IMAGE && og_packs_codebook_modality(packs, 1) == -1 &&
          og_packs_codebook_modality(packs, 9) == -1 && og_packs_codebook_modality(packs, -1) == -1);
    og_packs_free(packs);
}

int main(void) {
    test_codebooks_by_modality();
    test_columns();
    test_rows_are_the_addressing();
    test_context_is_lacking_n_minus_1_times();
    test_rows_are_of_codes();
    test_any_pool();
    test_fingerprints();
    test_refusals();
    test_fills_and_breaks();
    CHECK(og_alloc_count() == 0);
    return 0;
}
