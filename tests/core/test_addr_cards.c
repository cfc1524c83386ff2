/* Faults that users reported of other systems, as tests here. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>

static og_addr *made(const char *yaml) {
    og_error err;
    og_config *config;
    og_addr *addr;
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_OK(og_addr_new(config, &addr, &err));
    og_config_free(config);
    return addr;
}

/* Two sequences decoded in one batch: each has a history of its own. */
static void each_sequence_has_its_own_history(void) {
    og_error err;
    og_addr *addr = made("{scheme: mix64, orders: [2, 3], rows: 1000003}");
    const og_addr_layout *l = og_addr_layout_of(addr);
    static const int32_t past[2][3] = {{1, 2, 3}, {9, 8, 3}};
    int32_t next = 4;
    int64_t rows[2][2], bytes = og_history_bytes(&l->window, 1);
    void *memory[2];
    for (int i = 0; i < 2; i++) {
        memory[i] = og_alloc(bytes, 1);
        og_history *history = og_history_reset(memory[i], &l->window, 1);
        og_stream before = {.codes = past[i], .n = 3, .width = 1};
        CHECK_OK(og_history_push(history, &l->window, &before, &err));
    }
    for (int i = 0; i < 2; i++) {
        og_stream now = {.codes = &next, .n = 1, .width = 1};
        CHECK_OK(og_addr_map(addr, &now, memory[i], NULL, rows[i], NULL, NULL, &err));
    }
    CHECK(rows[0][0] == rows[1][0]); /* (3, 4) and (3, 4) */
    CHECK(rows[0][1] != rows[1][1]); /* (2, 3, 4) and (8, 3, 4) */
    for (int i = 0; i < 2; i++) og_release(memory[i]);
    og_addr_free(addr);
}

/* A batch of requests with 2 new tokens and 1 is no pack of two documents, whatever their lengths look like: each is
 * what it is in its own sequence, before or after the other. */
static void short_requests_are_no_pack(void) {
    og_error err;
    og_addr *addr = made("{scheme: mix64, orders: [2, 3], rows: 1000003}");
    const og_addr_layout *l = og_addr_layout_of(addr);
    static const int32_t whole[2][5] = {{1, 2, 3, 4, 5}, {9, 8, 7, 6, 5}};
    static const int64_t fresh[2] = {2, 1}; /* new tokens of each request */
    int64_t want[2][5][2], got[2][2];
    for (int order = 0; order < 2; order++)
        for (int k = 0; k < 2; k++) {
            int i = order ? 1 - k : k;
            og_stream all = {.codes = whole[i], .n = 5, .width = 1};
            CHECK_OK(og_addr_map(addr, &all, NULL, NULL, want[i][0], NULL, NULL, &err));
            void *memory = og_alloc(og_history_bytes(&l->window, 1), 1);
            og_history *history = og_history_reset(memory, &l->window, 1);
            int64_t seen = 5 - fresh[i];
            og_stream before = {.codes = whole[i], .n = seen, .width = 1},
                      now = {.codes = whole[i] + seen, .n = fresh[i], .width = 1};
            CHECK_OK(og_history_push(history, &l->window, &before, &err));
            CHECK_OK(og_addr_map(addr, &now, history, NULL, got[0], NULL, NULL, &err));
            CHECK(!memcmp(got, want[i][seen], (size_t)fresh[i] * sizeof got[0]));
            og_release(memory);
        }
    og_addr_free(addr);
}

/* A placeholder of a token that was not sampled yet is refused, and nothing was seen of it. */
static void a_placeholder_is_never_hashed(void) {
    static const char *const schemes[] = {"{scheme: mix64}", "{scheme: welm_oe}", "{scheme: deepseek_engram}",
                                          "{scheme: qwen_ple}", "{scheme: longcat}"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        og_error err;
        og_addr *addr = made(schemes[i]);
        const og_addr_layout *l = og_addr_layout_of(addr);
        int64_t bytes = og_history_bytes(&l->window, 1), rows[3 * 64];
        void *memory = og_alloc(bytes, 1), *before = og_alloc(bytes, 1);
        og_history *history = og_history_reset(memory, &l->window, 1);
        static const int32_t bad[] = {-1, INT32_MIN};
        for (int b = 0; b < 2; b++) {
            int32_t codes[3] = {5, 6, bad[b]};
            og_stream s = {.codes = codes, .n = 3, .width = 1};
            memcpy(before, memory, (size_t)bytes);
            CHECK_FAILS(og_addr_map(addr, &s, history, NULL, rows, NULL, NULL, &err), OG_EINVAL, "position 2");
            CHECK(!memcmp(before, memory, (size_t)bytes));
        }
        og_release(memory);
        og_release(before);
        og_addr_free(addr);
    }
}

/* Another vocabulary moves every row, so it has another fingerprint; the same config always gives
 * the same constants. */
static void constants_come_from_the_config_alone(void) {
    og_error err;
    og_addr *a = made("{scheme: deepseek_engram}"), *b = made("{scheme: engram_xor, compressed_vocab: 98627}");
    og_addr *grown = made("{scheme: deepseek_engram, compressed_vocab: 98628}");
    CHECK(strcmp(og_addr_fingerprint(a), og_addr_fingerprint(grown)));
    char *text, *other;
    CHECK_OK(og_addr_describe(a, &text, &err));
    CHECK(strstr(text, "\"multipliers\":[76993395940407,4862694818241,36129212583461]"));
    CHECK(strstr(text, "\"primes\":[[646403,646411,"));
    /* Constants that a file lacks are those of its config; constants that it has can be given. */
    og_addr *own = made("{scheme: engram_xor, multipliers: [76993395940407, 4862694818241, 36129212583461]}");
    CHECK_OK(og_addr_describe(own, &other, &err));
    int32_t codes[9] = {0, 11, 22, 33, 98626, 5, 6, 7, 8};
    int64_t rows[3][9 * 16];
    og_stream s = {.codes = codes, .n = 9, .width = 1};
    CHECK_OK(og_addr_map(a, &s, NULL, NULL, rows[0], NULL, NULL, &err));
    CHECK_OK(og_addr_map(own, &s, NULL, NULL, rows[1], NULL, NULL, &err));
    CHECK_OK(og_addr_map(b, &s, NULL, NULL, rows[2], NULL, NULL, &err));
    CHECK(!memcmp(rows[0], rows[1], sizeof rows[0]) && !memcmp(rows[0], rows[2], sizeof rows[0]));
    og_release(text);
    og_release(other);
    og_addr_free(a), og_addr_free(b), og_addr_free(grown), og_addr_free(own);
}

/* Stencils' windows pass the same check, and the code that adds nothing is legal there. */
static void cells_are_checked(void) {
    og_error err;
    og_addr *addr = made("{scheme: mix64, orders: [2], rows: 97, vocab: 100}");
    int32_t now[2] = {5, 6}, before[2] = {-1, 99};
    uint32_t present[2] = {1, 3};
    int64_t rows[2];
    og_cells cells = {.n = 2, .order = 2, .width = 1, .code = {now, before}, .present = present};
    CHECK_OK(og_addr_map_cells(addr, &cells, rows, &err));
    CHECK(rows[0] == OG_ROW_NONE && rows[1] >= 0 && rows[1] < 97);
    before[1] = 100;
    CHECK_FAILS(og_addr_map_cells(addr, &cells, rows, &err), OG_EINVAL, "code 100");
    before[1] = INT32_MIN;
    CHECK_FAILS(og_addr_map_cells(addr, &cells, rows, &err), OG_EINVAL, "-2147483648");
    cells.order = 1;
    CHECK_FAILS(og_addr_map_cells(addr, &cells, rows, &err), OG_EINVAL, "needs 2 cells");
    og_addr_free(addr);
}

/* Rows beyond 2^32 and 2^40 keep all their bits. */
static void rows_are_64_bit(void) {
    og_error err;
    og_addr *addr = made("{scheme: mix64, orders: [2], heads: 3, rows: [1099511627776, "
                         "2305843009213693951, 4294967296], global_rows: true}");
    int32_t codes[2000];
    static int64_t rows[2000 * 3];
    int64_t most[3] = {0};
    for (int i = 0; i < 2000; i++) codes[i] = i * 7;
    og_stream s = {.codes = codes, .n = 2000, .width = 1};
    CHECK_OK(og_addr_map(addr, &s, NULL, NULL, rows, NULL, NULL, &err));
    const og_addr_layout *l = og_addr_layout_of(addr);
    CHECK(l->columns[2].base == INT64_C(1099511627776) + INT64_C(2305843009213693951));
    for (int i = 3; i < 6000; i++) {
        int64_t row = rows[i] - l->columns[i % 3].base;
        CHECK(row >= 0 && row < l->columns[i % 3].rows);
        if (row > most[i % 3]) most[i % 3] = row;
    }
    for (int c = 0; c < 3; c++) CHECK((double)most[c] > 0.99 * (double)l->columns[c].rows);
    og_addr_free(addr);
    og_config *config;
    const char *yaml = "{scheme: mojo_mod, orders: [2, 2, 2], rows: 2305843009213693951}";
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_FAILS(og_addr_new(config, &addr, &err), OG_EINVAL, "2^62");
    og_config_free(config);
}

int main(void) {
    each_sequence_has_its_own_history();
    short_requests_are_no_pack();
    a_placeholder_is_never_hashed();
    constants_come_from_the_config_alone();
    cells_are_checked();
    rows_are_64_bit();
    CHECK(og_alloc_count() == 0);
    return 0;
}
