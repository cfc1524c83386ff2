/* Every allocation of documents and packs fails once: an error, no leak, nothing half made; the
 * next call works. */
#include "core/pack_maker.h"

#include <omnigram/file.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>

#include <unistd.h>

static og_error err;
static char path[256];

static og_status build_documents(og_documents **out) {
    og_id_map ids;
    og_documents_builder *b;
    int32_t book, codes[40] = {0};
    OG_TRY(og_id_map_make(10, 4, 1, 0, 1, &ids, &err));
    OG_TRY(og_documents_builder_new(&ids, 1, &b, &err));
    og_status status = og_documents_codebook(b, "aa", &book, &err);
    for (int64_t d = 0; status == OG_OK && d < 20; d++) {
        status = og_documents_begin(b, 0, d, &err);
        if (status == OG_OK) status = og_documents_item(b, OG_TEXT, codes, 1, 30, 1, -1, &err);
        if (status == OG_OK) status = og_documents_item(b, OG_IMAGE, codes, 2, 3, 1, book, &err);
        if (status == OG_OK) status = og_documents_end(b, &err);
    }
    if (status == OG_OK) return og_documents_finish(b, NULL, out, &err);
    og_documents_builder_free(b);
    return status;
}

static og_status whole_life(void) {
    og_documents *d = NULL, *again = NULL;
    og_packs *p = NULL, *loaded = NULL;
    og_pack pack;
    const og_pack_policy policy = {.capacity = 24, .long_doc = OG_LONG_FRAGMENT, .method = OG_PACK_BEST_FIT, .seed = 1};
    og_status status = build_documents(&d);
    if (status == OG_OK) status = og_documents_save(d, path, &err);
    if (status == OG_OK) status = og_documents_load(path, &again, &err);
    if (status == OG_OK) status = og_packs_build(again, &policy, &p, &err);
    if (status == OG_OK) status = og_packs_save(p, path, &err);
    if (status == OG_OK) status = og_packs_load(path, &loaded, &err);
    if (status == OG_OK) status = og_packs_get(loaded, 0, &pack, &err);
    og_documents_free(d);
    og_documents_free(again);
    og_packs_free(p);
    og_packs_free(loaded);
    return status;
}

int main(void) {
    snprintf(path, sizeof path, "%s/test_pack_memory.%d.safetensors", OG_TEST_BINARY_DIR, (int)getpid());
    int64_t failed = 0;
    for (int64_t k = 1;; k++) {
        og_fault_alloc(k);
        err.message[0] = 0;
        og_status status = whole_life();
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == 0);
        if (!hit) {
            CHECK(status == OG_OK);
            break;
        }
        CHECK(status == OG_ENOMEM ? err.message[0] != 0 : status == OG_OK);
        failed += status != OG_OK;
    }
    static const int64_t lengths[] = {3, 5, 2, 7, 1};
    for (int32_t method = OG_PACK_BEST_FIT; method <= OG_PACK_NONE; method++)
        for (int64_t k = 1;; k++) {
            og_pack_plan *plan = NULL;
            og_fault_alloc(k);
            og_status status = og_pack_lengths(lengths, 5, 8, method, &plan, &err);
            int32_t hit = og_fault_alloc_hit();
            og_fault_alloc(0);
            CHECK(hit ? status == OG_ENOMEM && !plan : status == OG_OK && plan);
            og_pack_plan_free(plan);
            CHECK(og_alloc_count() == 0);
            if (!hit) break;
            failed++;
        }
    og_fault_alloc(1);
    CHECK(og_pack_lower_bound(lengths, 5, 8) == -1 && og_fault_alloc_hit());
    og_fault_alloc(0);
    CHECK(og_pack_lower_bound(lengths, 5, 8) == 3 && og_alloc_count() == 0);
    unlink(path);
    printf("%lld allocations failed in turn\n", (long long)failed);
    CHECK(failed > 60);
    return 0;
}
