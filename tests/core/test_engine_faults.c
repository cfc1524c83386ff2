/* test_engine_faults.c: every allocation of stores, lookups and updates fails once: a clear error,
 * no leak, nothing changed. */
#include "test.h"

#include <omnigram/internal/faults.h>
#include <omnigram/lookup.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/table_file.h>
#include <omnigram/update.h>

#include <unistd.h>

static og_error err;

/* Calls attempt with the k-th allocation failing, for k = 1, 2 ... until none is left to fail. */
static void at_every_allocation(og_status (*attempt)(void)) {
    for (int64_t k = 1, hit = 1; hit; k++) {
        CHECK(k < 200);
        int64_t before = og_alloc_count();
        err.message[0] = 0;
        og_fault_alloc(k);
        og_status status = attempt();
        hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == before);
        if (status != OG_OK) CHECK(status == OG_ENOMEM && err.message[0]);
        if (!hit) CHECK(status == OG_OK);
    }
}

static char segment[64];

static og_status makes_stores(void) {
    og_store_options o = og_store_defaults(100, 16, OG_NF4);
    og_store *store, *same;
    OG_TRY(og_store_new(&o, &store, &err));
    og_store_free(store);
    o.backing = OG_BACK_SHARED;
    o.name = segment;
    OG_TRY(og_store_new(&o, &store, &err));
    og_status status = og_store_attach(segment, 0, &same, &err);
    if (status == OG_OK) og_store_free(same);
    og_store_free(store);
    return status;
}

static og_store *store; /* made before faults begin */

static og_status fills(void) { return og_store_fill(store, 1, 1.0, NULL, &err); }

static og_status looks_up(void) {
    enum { N = 8192 };
    static int64_t rows[N];
    static float out[N][16], want[16];
    for (int i = 0; i < N; i++) rows[i] = (int64_t)og_random_below(1, (uint64_t)i, 100);
    int32_t zero = 0;
    og_lookup_plan plan = {&store, 1, &zero, NULL, 1, OG_F32, 2, 2, 1};
    og_lookup *lookup;
    OG_TRY(og_lookup_new(&plan, &lookup, &err));
    og_ticket ticket;
    memset(out, 0xff, sizeof out);
    og_status status = og_lookup_submit(lookup, rows, N, out, &ticket, &err);
    if (status == OG_OK) status = og_lookup_wait(lookup, ticket, &err);
    if (status == OG_OK) status = og_lookup_now(lookup, rows, N, out, &err);
    if (status == OG_OK) /* without memory to sort in, rows are gathered straight: the same values */
        for (int i = 0; i < N; i++) {
            CHECK(og_store_read(store, &rows[i], 1, want, NULL) == OG_OK);
            CHECK(memcmp(out[i], want, sizeof want) == 0);
        }
    og_lookup_free(lookup);
    return status;
}

static const int64_t some[4] = {5, 6, 5, 99};
static float ones[64];

static int is_zero(const og_store *rows) {
    for (int64_t r = 0; r < 100; r++)
        for (int k = 0; k < 16; k++)
            if (((float *)og_store_row(rows, r))[k] != 0) return 0;
    return 1;
}

/* An update's scratch memory belongs to the store, so each of these has a store of its own. */
static og_status updates(void) {
    og_store_options o = og_store_defaults(100, 16, OG_F32);
    o.state = 1;
    og_store *fresh;
    OG_TRY(og_store_new(&o, &fresh, &err));
    og_update_options u = og_update_defaults(OG_ADAGRAD_ROW);
    og_status status = og_update_apply(fresh, &u, some, 4, ones, 16, 1, 1, NULL, &err);
    CHECK(is_zero(fresh) == (status != OG_OK));
    og_store_free(fresh);
    return status;
}

static og_status measures(void) {
    og_store_options o = og_store_defaults(100, 16, OG_F32);
    og_store *fresh;
    OG_TRY(og_store_new(&o, &fresh, &err));
    double norm = -1;
    og_status status = og_update_norm2(fresh, some, 4, ones, 16, NULL, &norm, &err);
    CHECK(norm == (status == OG_OK ? 16 * (4 + 1 + 1) : -1));
    og_store_free(fresh);
    return status;
}

static og_status exchanges(void) {
    og_store_options o = og_store_defaults(100, 16, OG_F32);
    char name[80];
    snprintf(name, sizeof name, "%s.rows", segment);
    o.backing = OG_BACK_SHARED;
    o.name = name;
    og_store *fresh;
    og_exchange *exchange;
    OG_TRY(og_store_new(&o, &fresh, &err));
    og_status status = og_exchange_new(segment, 0, 1, 8, 16, &exchange, &err);
    if (status == OG_OK) {
        og_update_options u = og_update_defaults(OG_SGD);
        status = og_exchange_apply(exchange, fresh, &u, some, 4, ones, 16, 1, 1, NULL, &err);
        CHECK(is_zero(fresh) == (status != OG_OK));
        og_exchange_free(exchange);
    }
    og_store_free(fresh);
    return status;
}

static char table[100], index_path[100];

static og_status converts(void) {
    const og_table_identity identity = {"t", "f", "{}", NULL};
    OG_TRY(og_table_save(table, store, &identity, OG_LAYOUT_PACKED, 1, &err));
    return og_table_convert(table, index_path, OG_LAYOUT_PLAIN, 2, &err);
}

/* Once warm, neither a lookup nor an update allocates. */
static void nothing_is_allocated_when_warm(void) {
    enum { N = 5000 };
    static int64_t rows[N];
    static float values[N][16];
    int32_t zero = 0;
    og_lookup_plan plan = {&store, 1, &zero, NULL, 1,
                           OG_F32, 1, 2,     1}; /* one worker: it has seen the batch in round 0 */
    og_lookup *lookup;
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    og_store_options o = og_store_defaults(100, 16, OG_F32);
    o.state = 1;
    og_store *trained;
    CHECK_OK(og_store_new(&o, &trained, &err));
    og_update_options u = og_update_defaults(OG_ADAGRAD_ROW);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) rows[i] = (int64_t)og_random_below(2, (uint64_t)(round * N + i), 100);
        if (round == 10) og_fault_alloc(1); /* the next allocation would fail, and be seen */
        og_ticket ticket;
        CHECK_OK(og_lookup_submit(lookup, rows, N, values, &ticket, &err));
        CHECK_OK(og_lookup_wait(lookup, ticket, &err));
        CHECK_OK(og_lookup_now(lookup, rows, N, values, &err));
        CHECK_OK(og_update_apply(trained, &u, rows, N, values[0], 16, 1, round + 1, NULL, &err));
        CHECK(!og_fault_alloc_hit());
    }
    og_fault_alloc(0);
    og_lookup_free(lookup);
    og_store_free(trained);
}

int main(void) {
    snprintf(segment, sizeof segment, "faults-%d", (int)getpid());
    og_store_options o = og_store_defaults(100, 16, OG_BF16);
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    at_every_allocation(makes_stores);
    at_every_allocation(fills);
    at_every_allocation(looks_up);
    for (int i = 0; i < 64; i++) ones[i] = 1;
    at_every_allocation(updates);
    at_every_allocation(measures);
    at_every_allocation(exchanges);
    char folder[] = "/tmp/og-faults-XXXXXX", command[100];
    CHECK(mkdtemp(folder));
    snprintf(table, sizeof table, "%s/t.safetensors", folder);
    snprintf(index_path, sizeof index_path, "%s/t.json", folder);
    at_every_allocation(converts);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    nothing_is_allocated_when_warm();
    og_store_free(store);
    return 0;
}
