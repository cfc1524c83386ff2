/* Every allocation of table sets, rows and audits fails once: an error, no leak; the next call
 * works. */
#include "core/pack_maker.h"

#include <omnigram/audit.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>

static og_error err;
static const char tables[] = "text: {orders: [2, 3], addressing: {rows: 97}}\n"
                             "image: {stencil: grid, cells: [[W], [jbig2_t3]], addressing: {rows: 97}}\n"
                             "audio: {stencil: levels, cells: [[T, L]], levels: [1]}\n"
                             "frames: {stencil: positions, addressing: {scheme: shuffled, of: {scheme: ngrammer}}}\n"
                             "cross: {stencil: cross, addressing: {scheme: mix64, orders: [2]}}\n";
static const char two[] = "image: {stencil: grid, cells: [[W], half3x3], addressing: {rows: 97}}\n";

static og_status whole_life(const char *yaml, const og_packs *packs, int64_t *rows) {
    og_config *config = NULL;
    og_table_set *set = NULL;
    og_hash_report *report = NULL;
    og_corpus_column columns[8];
    og_pack pack;
    const char *books[] = {"aa11", "bb22"};
    const og_hash_options options = {.edits = 10, .contexts = 1, .samples = 100};
    og_status status = og_config_from_yaml(yaml, (int64_t)strlen(yaml), "tables", &config, &err);
    if (status == OG_OK) status = og_table_set_new(config, og_packs_ids(packs), books, NULL, 2, &set, &err);
    if (status == OG_OK) status = og_packs_get(packs, 0, &pack, &err);
    if (status == OG_OK) status = og_table_set_rows(set, &pack, NULL, rows, &err);
    if (status == OG_OK) status = og_hash_audit_table(set, 0, 0, &options, NULL, &report, &err);
    if (status == OG_OK) status = og_hash_corpus(set, 0, packs, columns, &err);
    og_hash_report_free(report);
    og_table_set_free(set);
    og_config_free(config);
    return status;
}

/* What an audit looks at, for a scheme whose eos must be set. */
static og_status audited(void) {
    og_config *config = NULL;
    og_addr *addr = NULL;
    og_status status = og_config_from_yaml("{scheme: qwen_xor}", 18, "audit", &config, &err);
    if (status == OG_OK) status = og_hash_addr(config, 8192, &addr, &err);
    og_addr_free(addr);
    og_config_free(config);
    return status;
}

/* A table of other codes is refused whatever fails; the reason is left out, and not made up. */
static void refusal_without_memory(const og_table_set *set) {
    char other[2000];
    snprintf(other, sizeof other, "%s", og_table_set_info(set, 0)->description);
    char *codes = strstr(other, "97");
    CHECK(codes);
    codes[1] = '8';
    for (int64_t k = 1, hit = 1; hit; k++) {
        int64_t before = og_alloc_count();
        og_fault_alloc(k);
        CHECK_FAILS(og_table_set_check(set, 0, "another", other, &err), OG_EINVAL, "made for another table");
        hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == before && !strstr(err.message, "unreadable"));
        CHECK(hit || strstr(err.message, "addressing"));
    }
}

int main(void) {
    og_documents *d = make_documents("t3 i2x3 a2x2 t4", 0);
    og_packs *packs;
    og_pack_policy policy = {.capacity = 32, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    int64_t live = og_alloc_count(), failed = 0;
    static int64_t rows[32 * 16];
    /* `[jbig2_t3]` is a list with a word that is no cell: refused, whatever else fails */
    CHECK(whole_life(tables, packs, rows) == OG_EINVAL && strstr(err.message, "jbig2_t3"));
    char good[512];
    snprintf(good, sizeof good, "%s", tables);
    memcpy(strstr(good, "[jbig2_t3]"), "[[-2, -1]]", 10);
    const char *const configs[] = {good, two};
    for (size_t c = 0; c < 2; c++)
        for (int64_t k = 1;; k++) {
            og_fault_alloc(k);
            err.message[0] = 0;
            og_status status = whole_life(configs[c], packs, rows);
            int32_t hit = og_fault_alloc_hit();
            og_fault_alloc(0);
            CHECK(og_alloc_count() == live);
            if (!hit) {
                if (status != OG_OK) fprintf(stderr, "%s\n", err.message);
                CHECK(status == OG_OK);
                break;
            }
            CHECK(status == OG_ENOMEM ? err.message[0] != 0 : status == OG_OK);
            failed += status != OG_OK;
        }
    printf("%lld allocations failed in turn\n", (long long)failed);
    CHECK(failed > 200);
    CHECK_ALLOC_FAILS(audited(), 5);
    og_config *config;
    og_table_set *set;
    CHECK_OK(og_config_from_yaml(two, (int64_t)strlen(two), "tables", &config, &err));
    CHECK_OK(og_table_set_new(config, og_packs_ids(packs), NULL, NULL, 0, &set, &err));
    refusal_without_memory(set);
    og_table_set_free(set);
    og_config_free(config);
    og_packs_free(packs);
    CHECK(og_alloc_count() == 0);
    return 0;
}
