/* The verifier: the published vectors pass; a changed value, key or shape is found and named. */
#include "test.h"

#include <omnigram/file.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/verify.h>

#include <unistd.h>

static char last[1024];
static int mismatches_said;

static void keep(void *context, const char *line) {
    (void)context;
    mismatches_said++;
    snprintf(last, sizeof last, "%s", line);
}

static char why[400];
static og_verify_counts of_cases; /* the sum over what is told of each case */

static void keep_case(void *context, const og_verify_case *one) {
    (void)context;
    of_cases.cases++;
    of_cases.supported += !one->unsupported;
    of_cases.values += one->values;
    of_cases.mismatches += one->mismatches;
    if (one->unsupported) snprintf(why, sizeof why, "%s: %s", one->system, one->unsupported);
}
static const og_verify_report report = {NULL, keep, keep_case};

static og_status text_file(const char *text, og_verify_counts *counts, og_error *err) {
    const char *path = OG_TEST_BINARY_DIR "/verify_case.json";
    FILE *f = fopen(path, "w");
    CHECK(f);
    fputs(text, f);
    fclose(f);
    *counts = (og_verify_counts){0};
    of_cases = (og_verify_counts){0};
    mismatches_said = 0;
    og_status status = og_verify_file(path, NULL, &report, counts, err);
    unlink(path);
    if (status == OG_OK) CHECK(!memcmp(counts, &of_cases, sizeof of_cases));
    return status;
}

static void published(void) {
    og_error err;
    og_verify_counts counts = {0};
    CHECK_OK(og_verify_file(OG_TEST_DATA "/vectors/addresses.json", NULL, &report, &counts, &err));
    CHECK(counts.cases == 47 && counts.supported == 47 && counts.values == 4296 && counts.mismatches == 0);
    counts = (og_verify_counts){0};
    CHECK_OK(og_verify_file(OG_TEST_DATA "/vectors/blocks.json", NULL, &report, &counts, &err));
    CHECK(counts.cases == 11 && counts.supported == 3 && counts.mismatches == 0);
    counts = (og_verify_counts){0}; /* without its 345 texts, for which tables has no function */
    CHECK_OK(og_verify_file(OG_TEST_DATA "/vectors/independent.json", NULL, &report, &counts, &err));
    CHECK(counts.cases == 432 && counts.supported == 87 && counts.values == 3689 && counts.mismatches == 0);
}

#define CASE(fields) "{\"format\": 2, \"cases\": [{\"scheme\": \"welm_knuth32\", " fields "}]}"
#define CONFIG       "\"config\": {\"vocab\": 17, \"orders\": [2, 4], \"rows\": [11, 13], \"fill\": \"zero_id\"}, "

static void found(void) {
    og_error err;
    og_verify_counts c;
    /* after the history 6 5 .. : the worked window t0 = 1, lags 9, 4, 5 */
    CHECK_OK(text_file(CASE(CONFIG "\"history_oldest_first\": [5, 4, 9], \"ids\": [1], \"rows\": [[5, 6]]"), &c, &err));
    CHECK(c.values == 2 && c.mismatches == 0);
    CHECK_OK(text_file(CASE(CONFIG "\"history_oldest_first\": [5, 4, 9], \"doc_starts\": [0], "
                                   "\"ids\": [1], \"rows\": [[5, 6]]"),
                       &c, &err));
    CHECK(c.mismatches == 0);
    CHECK_OK(text_file(CASE(CONFIG "\"history_oldest_first\": [5, 4, 9], \"ids\": [1], \"rows\": [[5, 7]]"), &c, &err));
    CHECK(c.values == 2 && c.mismatches == 1 && mismatches_said == 1);
    CHECK(strstr(last, "case 0 (welm_knuth32): rows[0][1]: expected 7, got 6"));
    CHECK_OK(text_file(CASE(CONFIG "\"history_oldest_first\": [5, 4, 9], \"ids\": [1], \"rows\": [null]"), &c, &err));
    CHECK(c.mismatches == 2);
    CHECK_OK(text_file(CASE(CONFIG "\"ids\": [17], \"rows\": [[5, 6]]"), &c, &err));
    CHECK(c.supported == 1 && c.mismatches == 1 && strstr(last, "code 17 at position 0") &&
          strstr(last, "welm_knuth32"));
    CHECK_OK(text_file(CASE("\"config\": {\"vocub\": 17}, \"ids\": [1], \"rows\": [[5, 6]]"), &c, &err));
    CHECK(c.mismatches == 1 && strstr(last, "vocab"));
    CHECK_OK(text_file(CASE(CONFIG "\"ids\": [1], \"rows\": [[5, 6]], \"signs\": [0]"), &c, &err));
    CHECK(strstr(last, "signs") && c.mismatches >= 1);
    CHECK_OK(text_file(CASE(CONFIG "\"ids\": [1], \"rows\": [[5, 6]], \"colour\": 3"), &c, &err));
    CHECK(c.cases == 1 && c.supported == 0 && c.values == 0 && !strcmp(why, "welm_knuth32: unknown field 'colour'"));
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"scheme\": \"welm_knuth23\", \"ids\": []}]}", &c, &err));
    CHECK(c.supported == 0 && strstr(why, "unknown scheme 'welm_knuth23', did you mean 'welm_knuth32'?"));
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"scheme\": \"no_such\", \"ids\": []}, "
                       "{\"text\": \"A\", \"key\": \"a\"}, {\"block\": \"unheard\"}]}",
                       &c, &err));
    CHECK(c.cases == 3 && c.supported == 0 && !strcmp(why, "unheard: no code here replays this block"));
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"block\": \"fp8_row\", \"e4m3\": [1, 8, 56, "
                       "126, 188, 127], \"ue8m0\": [127, 127, 120],"
                       " \"values\": [0.001953125, 0.015625, 1, 448, -0.01171875, null]}]}",
                       &c, &err));
    CHECK(c.values == 6 && c.mismatches == 0);
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"block\": \"pkm\", \"query\": [1, 0.25, 0.5, "
                       "2], \"subkeys1\": [[1, 0], [0, 1], [1, 1], [-1, 0]],"
                       " \"subkeys2\": [[0, 1], [1, 0], [0.5, 0.5], [0, -1]], \"knn\": 2, "
                       "\"hits\": [[8, 0.562176501], [0, 0.437823499]]}]}",
                       &c, &err));
    CHECK(c.values == 4 && c.mismatches == 0);
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"block\": \"scone_longest_match\", "
                       "\"max_order\": 4, \"set\": [[8, 9], [7, 8, 9], [9, 10], [8, 9, 10, 11]],"
                       " \"ids\": [7, 8, 9, 8, 9, 10], \"match\": [null, null, [7, 8, 9], null, "
                       "[8, 9], [9, 10]]}]}",
                       &c, &err));
    CHECK(c.mismatches == 0 && c.values == 6 + 7);
}

static void malformed(void) {
    og_error err;
    og_verify_counts c;
    CHECK_FAILS(text_file("{\"format\": 2, \"cases\": [", &c, &err), OG_EFORMAT, "verify_case.json");
    CHECK_FAILS(text_file("{\"format\": 1, \"cases\": []}", &c, &err), OG_EFORMAT, "format 1");
    CHECK_FAILS(text_file("{\"cases\": []}", &c, &err), OG_EFORMAT, "format");
    CHECK_FAILS(text_file("{\"format\": 2}", &c, &err), OG_EFORMAT, "cases");
    CHECK_FAILS(text_file("[]", &c, &err), OG_EFORMAT, "verify_case.json");
    CHECK_FAILS(text_file("{\"format\": 2, \"rtol\": -1, \"cases\": []}", &c, &err), OG_EFORMAT, "tolerance");
}

/* A case that cannot be read is one mismatch, said with its place; the case after it is replayed. */
static void malformed_case(const char *fields, const char *said) {
    og_error err;
    og_verify_counts c;
    char text[1024];
    snprintf(text, sizeof text,
             "{\"format\": 2, \"cases\": [%s, {\"block\": \"fp8_row\", \"e4m3\": [56], \"ue8m0\": [127], "
             "\"values\": [1]}]}",
             fields);
    CHECK_OK(text_file(text, &c, &err));
    CHECK(c.cases == 2 && c.supported == 2 && c.values == 1 && c.mismatches == 1 && mismatches_said == 1);
    CHECK(strstr(last, "case 0") && strstr(last, said));
}

#define ONE(fields) "{\"scheme\": \"welm_knuth32\", " fields "}"

static void malformed_cases(void) {
    malformed_case("3", "a case is an object");
    malformed_case("{}", "a scheme, a block or a text");
    malformed_case("{\"scheme\": 3}", "(no system)");
    malformed_case("{\"text\": \"A\"}", "'key'");
    malformed_case(ONE(CONFIG "\"rows\": [[5, 6]]"), "'ids'");
    malformed_case(ONE("\"ids\": [1], \"rows\": [[5, 6]]"), "'config'");
    malformed_case(ONE("\"config\": [], \"ids\": [1], \"rows\": [[5, 6]]"), "config: an object");
    malformed_case(ONE(CONFIG "\"ids\": [1]"), "'rows'");
    malformed_case(ONE(CONFIG "\"ids\": [1, 2], \"rows\": [[5, 6]]"), "rows has 1 values, 2 are wanted");
    malformed_case(ONE(CONFIG "\"ids\": [1], \"rows\": [[5, 6, 7]]"), "3 values");
    malformed_case(ONE(CONFIG "\"ids\": [\"x\"], \"rows\": [[5, 6]]"), "ids[0]");
    malformed_case(ONE(CONFIG "\"ids\": [null], \"rows\": [[5, 6]]"), "ids[0]");
    malformed_case(ONE(CONFIG "\"ids\": [99999999999], \"rows\": [[5, 6]]"), "32 bits");
    malformed_case(ONE(CONFIG "\"ids\": [[1, 2], [3]], \"rows\": [[5, 6], [7, 8]]"), "row 1");
    malformed_case(ONE(CONFIG "\"ids\": [[[1]]], \"rows\": [[5, 6]]"), "a list where a number is wanted");
    malformed_case("{\"block\": \"fp8_row\", \"e4m3\": [256], \"ue8m0\": [1], \"values\": [1]}", "256 is not a byte");
    malformed_case("{\"block\": \"pkm\", \"query\": [1, 2], \"subkeys1\": [[1]], \"subkeys2\": [[1]], \"knn\": "
                   "4611686018427387904, \"hits\": [[0, 1]]}",
                   "do not fit each other");
    malformed_case("{\"block\": \"scone_longest_match\", \"max_order\": 2, \"set\": [[4294967303]], \"ids\": [7], "
                   "\"match\": [null]}",
                   "4294967303 does not fit 32 bits"); /* 2^32 + 7: cut to 32 bits it would match the 7 */
}

/* What compares nothing has not passed. */
static void nothing_compared(void) {
    og_error err;
    og_verify_counts c;
    CHECK_OK(text_file(CASE(CONFIG "\"ids\": [], \"rows\": []"), &c, &err));
    CHECK(c.cases == 1 && c.supported == 0 && c.values == 0 && strstr(why, "no value to compare"));
    CHECK_OK(
        text_file("{\"format\": 2, \"cases\": [{\"block\": \"scone_longest_match\", \"max_order\": 2, \"set\": [[1]], "
                  "\"ids\": [], \"match\": []}]}",
                  &c, &err));
    CHECK(c.supported == 0);
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"block\": \"fp8_row\", \"e4m3\": [56], \"ue8m0\": [127], "
                       "\"values\": [1], \"codebook\": 3}]}",
                       &c, &err));
    CHECK(c.supported == 0 && strstr(why, "unknown field 'codebook'"));
    CHECK_OK(text_file("{\"format\": 2, \"cases\": [{\"text\": \"A\", \"key\": \"a\", \"form\": 3}]}", &c, &err));
    CHECK(c.supported == 0 && strstr(why, "unknown field 'form'"));
}

/* Every allocation fails once: an error of memory each time, never a mismatch and never a leak. */
static void short_of_memory(void) {
    static const char *const files[] = {
        CASE(CONFIG "\"history_oldest_first\": [5, 4, 9], \"ids\": [1], \"rows\": [[5, 6]]"),
        "{\"format\": 2, \"cases\": [{\"block\": \"pkm\", \"query\": [1, 2], \"subkeys1\": [[1]], "
        "\"subkeys2\": [[1]], \"knn\": 1, \"hits\": [[0, 1]]}, {\"block\": \"fp8_row\", "
        "\"e4m3\": [56], \"ue8m0\": [127], \"values\": [1]}, {\"block\": \"scone_longest_match\", "
        "\"max_order\": 2, \"set\": [[1, 2]], \"ids\": [1, 2], \"match\": [null, [1, 2]]}]}",
        "{\"format\": 2, \"cases\": [{\"scheme\": \"qwen_xor\", \"config\": {\"vocab\": 64, "
        "\"max_order\": 2, \"heads_per_order\": 1, \"base_rows\": 97, \"eos\": 0}, \"ids\": [0], "
        "\"rows\": [[0]], \"primes\": [97]}]}",
    };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (int64_t k = 1;; k++) {
            og_error err;
            og_verify_counts c = {0};
            int64_t before = og_alloc_count();
            og_fault_alloc(k);
            og_status status = og_verify_text(files[f], (int64_t)strlen(files[f]), "text", NULL, NULL, &c, &err);
            int32_t hit = og_fault_alloc_hit();
            og_fault_alloc(0);
            CHECK(og_alloc_count() == before);
            CHECK(hit ? status == OG_ENOMEM && c.mismatches == 0 : status == OG_OK);
            if (!hit) break;
        }
    char path[300];
    og_error err;
    og_verify_counts counts = {0};
    snprintf(path, sizeof path, "%s/test_verify.%d.json", OG_TEST_BINARY_DIR, (int)getpid());
    CHECK_OK(og_file_write(path, files[1], (int64_t)strlen(files[1]), &err));
    CHECK_ALLOC_FAILS(og_verify_file(path, NULL, NULL, &counts, &err), 3);
    CHECK(counts.mismatches == 0);
    unlink(path);
}

int main(void) {
    published();
    found();
    malformed();
    malformed_cases();
    nothing_compared();
    short_of_memory();
    CHECK(og_alloc_count() == 0);
    return 0;
}
