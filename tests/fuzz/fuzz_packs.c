/* fuzz_packs.c: files of packs and of documents with any bytes: no crash, no leak, and what is
 * given can be packed and looked up. */
#include "fuzz.h"

#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/tables.h>

#include <string.h>

static const char tables[] =
    "text: {orders: [2, 3], addressing: {rows: 97}}\n"
    "image: {stencil: grid, cells: [[W, N, NE], [NN]], anchor: next, outside: wrap, addressing: "
    "{rows: 97}}\n"
    "audio: {stencil: levels, cells: [[T, L]], levels: [0, 1], addressing: {rows: 97}}\n"
    "frames: {stencil: positions, across: document, addressing: {scheme: ngrammer, rows: 97}}\n"
    "cross: {stencil: cross, orders: [2, 3], addressing: {rows: 97}}\n";

static void look_up(const og_packs *packs) {
    og_error err;
    og_config *config;
    og_table_set *set = NULL;
    HOLDS(og_config_from_yaml(tables, (int64_t)strlen(tables), "tables", &config, &err) == OG_OK);
    if (og_table_set_new(config, og_packs_ids(packs), NULL, NULL, 0, &set, &err) != OG_OK)
        set = NULL; /* ids without audio, say */
    for (int64_t i = 0; i < og_packs_count(packs) && i < 64; i++) {
        og_pack pack;
        if (og_packs_get(packs, i, &pack, &err) != OG_OK) continue;
        HOLDS(og_pack_check(&pack, og_packs_ids(packs), &err) == OG_OK);
        if (!set || pack.n_tokens > 4096) continue;
        int32_t columns = og_table_set_columns(set);
        int64_t *rows = malloc((size_t)(pack.n_tokens * columns + 1) * sizeof *rows);
        HOLDS(rows && og_table_set_rows(set, &pack, NULL, rows, &err) == OG_OK);
        for (int64_t k = 0; k < pack.n_tokens * columns; k++) {
            const og_column *c = og_table_set_column(set, (int32_t)(k % columns));
            HOLDS(rows[k] == OG_ROW_NONE || (rows[k] >= c->base && rows[k] < c->base + c->rows));
        }
        free(rows);
    }
    og_table_set_free(set);
    og_config_free(config);
}

static void pack_again(const og_documents *documents) {
    og_error err;
    if (documents->n_tokens > 65536) return;
    for (int64_t capacity = 1; capacity <= 4096; capacity *= 8) {
        og_packs *packs;
        og_pack_policy policy = {.capacity = capacity,
                                 .long_doc = OG_LONG_FRAGMENT,
                                 .image = OG_IMAGE_DROP_IMAGE,
                                 .fragment_context = OG_FRAGMENT_CARRY,
                                 .fragment_overlap = capacity / 4,
                                 .seed = 3};
        if (og_packs_build(documents, &policy, &packs, &err) != OG_OK)
            continue; /* an audio frame longer than the pack */
        for (int64_t i = 0; i < og_packs_count(packs); i++) {
            og_pack pack;
            HOLDS(og_packs_get(packs, i, &pack, &err) == OG_OK &&
                  og_pack_check(&pack, og_packs_ids(packs), &err) == OG_OK);
        }
        og_packs_free(packs);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_fault_digest(1);
    const char *path = fuzz_file(data, size);
    og_error err;
    og_packs *packs;
    og_documents *documents;
    if (og_packs_load(path, &packs, &err) == OG_OK) {
        look_up(packs);
        og_packs_free(packs);
    }
    if (og_documents_load(path, &documents, &err) == OG_OK) {
        HOLDS(og_documents_check(documents, &err) == OG_OK);
        pack_again(documents);
        og_documents_free(documents);
    }
    HOLDS(og_alloc_count() == 0);
    return 0;
}
