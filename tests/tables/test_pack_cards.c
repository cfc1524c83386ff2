/* test_pack_cards.c: faults that users of other systems met between a pack and its rows, each as a small case. */
#include "core/pack_maker.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/tables.h>
#include <omnigram/update.h>

#include <sys/mman.h>
#include <unistd.h>

static og_error err;

static og_packs *packs_of(const char *line, int64_t capacity) {
    og_documents *d = make_documents(line, 1);
    og_packs *packs;
    og_pack_policy policy = {.capacity = capacity, .method = OG_PACK_CONCAT, .long_doc = OG_LONG_FRAGMENT, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    return packs;
}

static og_table_set *set_of(const og_packs *packs) {
    static const char yaml[] = "text: {modality: text, orders: [2, 3], addressing: {rows: 101}, dim: 4}\n"
                               "image: {stencil: grid, cells: [[W], [N, NE]], anchor: next, addressing: {rows: 53}, "
                               "dim: 4}\n"
                               "cross: {stencil: cross, from: text, modality: image, orders: [2], addressing: {rows: "
                               "97}, dim: 4}\n";
    const char *books[2] = {og_packs_codebook(packs, 0), og_packs_codebook(packs, 1)};
    og_config *config;
    og_table_set *set;
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "tables.yaml", &config, &err));
    CHECK_OK(og_table_set_new(config, og_packs_ids(packs), books, NULL, 2, &set, &err));
    og_config_free(config);
    return set;
}

/* A copy whose last byte is the last one before a page that must not be touched. */
static void *at_the_end_of_a_page(const void *data, int64_t bytes) {
    int64_t page = sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    char *memory = mmap(NULL, (size_t)(room + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + room, (size_t)page, PROT_NONE) == 0);
    return memcpy(memory + room - bytes, data, (size_t)bytes);
}

/* D + 1 boundaries are all there is, and T tokens: nothing that reads a pack reads beyond, in the last
 * block neither. */
static void nothing_is_read_behind_the_arrays(const char *line, int64_t capacity) {
    og_packs *packs = packs_of(line, capacity);
    og_table_set *set = set_of(packs);
    for (int64_t i = 0; i < og_packs_count(packs); i++) {
        og_pack pack, tight;
        CHECK_OK(og_packs_get(packs, i, &pack, &err));
        tight = pack;
#define TIGHT(field, n) tight.field = at_the_end_of_a_page(pack.field, (n) * (int64_t)sizeof *pack.field)
        TIGHT(cu_seqlens, pack.n_docs + 1);
        TIGHT(origin, pack.n_docs);
        TIGHT(continues, pack.n_docs);
        TIGHT(segments, pack.n_segments);
        TIGHT(tokens, pack.n_tokens);
        TIGHT(doc_id, pack.n_tokens);
        TIGHT(pos, pack.n_tokens);
        TIGHT(pos3, 3 * pack.n_tokens);
        TIGHT(loss_weight, pack.n_tokens);
        TIGHT(modality, pack.n_tokens);
        TIGHT(segment_id, pack.n_tokens);
        TIGHT(row, pack.n_tokens);
        TIGHT(column, pack.n_tokens);
        TIGHT(level, pack.n_tokens);
        CHECK_OK(og_pack_check(&tight, og_packs_ids(packs), &err));
        int64_t n = pack.n_tokens * og_table_set_columns(set);
        int64_t *rows = calloc((size_t)n, 8), *poison = malloc((size_t)n * 8), *out;
        memset(poison, 0xee, (size_t)n * 8);
        out = at_the_end_of_a_page(poison, n * 8);
        CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
        CHECK_OK(og_table_set_rows(set, &tight, NULL, out, &err));
        CHECK(memcmp(rows, out, (size_t)n * 8) == 0);
        free(rows);
        free(poison); /* the pages go with the process */
    }
    og_table_set_free(set);
    og_packs_free(packs);
}

/* Three documents where four would fit: what stands in the rest has no row, though its id is one, and writes none. */
static void pads_have_no_rows_and_write_none(void) {
    og_packs *packs = packs_of("t3 i2x2 | t2 | t4", 40);
    og_table_set *set = set_of(packs);
    og_pack pack;
    CHECK_OK(og_packs_get(packs, 0, &pack, &err));
    int64_t columns = og_table_set_columns(set), pads = pack.n_tokens - pack.n_valid, n = pack.n_tokens * columns;
    CHECK(pack.n_docs == 3 && pads > 8);
    int64_t *rows = malloc((size_t)n * 8);
    memset(rows, 0, (size_t)n * 8); /* row 0 is a row: what is left as it was would be written */
    CHECK_OK(og_table_set_rows(set, &pack, NULL, rows, &err));
    for (int64_t i = pack.n_valid * columns; i < n; i++) CHECK(rows[i] == OG_ROW_NONE);
    og_store *store;
    og_store_options o = og_store_defaults(202, 4, OG_F32);
    CHECK_OK(og_store_new(&o, &store, &err));
    float *grads = malloc((size_t)(pads * columns) * 16);
    for (int64_t i = 0; i < pads * columns * 4; i++) grads[i] = 1;
    og_update_options u = og_update_defaults(OG_SGD);
    CHECK_OK(og_update_apply(store, &u, rows + pack.n_valid * columns, pads * columns, grads, 4, 1, 1, NULL, &err));
    const uint8_t *bytes = og_store_row(store, 0);
    for (int64_t i = 0; i < 202 * og_store_row_bytes(store); i++) CHECK(bytes[i] == 0);
    free(grads);
    free(rows);
    og_store_free(store);
    og_table_set_free(set);
    og_packs_free(packs);
}

int main(void) {
    for (int64_t capacity = 9; capacity <= 31; capacity++)
        nothing_is_read_behind_the_arrays("t3 i2x2 t1 | t5 | i1x3 t2 | t9", capacity);
    nothing_is_read_behind_the_arrays("t3 i9x9 t1 | t2000 | t2093 i9x9", 5000); /* several blocks */
    pads_have_no_rows_and_write_none();
    CHECK(og_alloc_count() == 0);
    return 0;
}
