/* test_lookup_cards.c: faults that users of other systems met in lookups, updates and table memory, each as a small
 * case. (Shared memory, crashes and files have tests of their own.) */
#include "test.h"

#include "lookup/lookup_internal.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/table_file.h>
#include <omnigram/update.h>

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static og_error err;

static og_store *store_of(int64_t rows, int64_t dim, int32_t dtype, int32_t state) {
    og_store_options o = og_store_defaults(rows, dim, dtype);
    o.state = state;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    return store;
}

static og_lookup *lookup_of(og_store *store, int32_t threads, int32_t in_flight, int32_t dedupe) {
    static int32_t zero;
    og_lookup_plan plan = {&store, 1, &zero, NULL, 1, OG_F32, threads, in_flight, dedupe};
    og_lookup *lookup;
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    return lookup;
}

static atomic_int worker_began;

static void sleep_50_ms(void *context) {
    (void)context;
    atomic_store(&worker_began, 1);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

/* A rank that has nothing to look up, for three steps. */
static void an_idle_rank_looks_up_nothing(void) {
    og_store *store = store_of(4, 4, OG_F32, 0);
    og_lookup *lookup = lookup_of(store, 1, 1, 1);
    for (int step = 0; step < 3; step++) {
        og_ticket ticket;
        CHECK_OK(og_lookup_submit(lookup, NULL, 0, NULL, &ticket, &err));
        CHECK_OK(og_lookup_wait(lookup, ticket, &err));
        CHECK_OK(og_lookup_now(lookup, NULL, 0, NULL, &err));
    }
    og_lookup_free(lookup);
    og_store_free(store);
}

/* The worker stalls, the step is closed: close joins, what had begun is complete. */
static void closing_joins_a_stalled_worker(void) {
    og_store *store = store_of(100, 8, OG_F32, 0);
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    og_lookup *lookup = lookup_of(store, 1, 2, 0);
    lookup->before_chunk = sleep_50_ms;
    static int64_t rows[100];
    static float out[100][8];
    for (int i = 0; i < 100; i++) rows[i] = 99 - i;
    og_ticket ticket;
    atomic_store(&worker_began, 0);
    CHECK_OK(og_lookup_submit(lookup, rows, 100, out, &ticket, &err));
    while (!atomic_load(&worker_began)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    og_lookup_free(lookup);
    for (int i = 0; i < 100; i++) CHECK(memcmp(out[i], og_store_row(store, 99 - i), 32) == 0);
    og_store_free(store);
}

/* Dropped while waiting, dropped while running, freed with jobs waiting: nothing is written after the call returns. */
static void nothing_is_written_after_cancel_or_free(void) {
    og_store *store = store_of(100, 8, OG_F32, 0);
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    og_lookup *lookup = lookup_of(store, 1, 3, 0);
    lookup->before_chunk = sleep_50_ms;
    static int64_t rows[100];
    static uint8_t out[3][100 * 32], poison[100 * 32];
    memset(poison, 0xee, sizeof poison);
    og_ticket tickets[3];
    for (int t = 0; t < 3; t++) CHECK_OK(og_lookup_submit(lookup, rows, 100, out[t], &tickets[t], &err));
    CHECK_OK(og_lookup_cancel(lookup, tickets[1], &err)); /* waiting */
    memset(out[1], 0xee, sizeof out[1]);
    CHECK_OK(og_lookup_cancel(lookup, tickets[0], &err)); /* running */
    memset(out[0], 0xee, sizeof out[0]);
    CHECK_FAILS(og_lookup_wait(lookup, tickets[0], &err), OG_ECANCELED, "cancelled");
    CHECK_FAILS(og_lookup_wait(lookup, tickets[1], &err), OG_ECANCELED, "cancelled");
    CHECK_OK(og_lookup_wait(lookup, tickets[2], &err));
    CHECK(memcmp(out[2], og_store_row(store, 0), 32) == 0);
    for (int t = 0; t < 3; t++) CHECK_OK(og_lookup_submit(lookup, rows, 100, out[t], &tickets[t], &err));
    og_lookup_free(lookup);
    memset(out, 0xee, sizeof out);
    nanosleep(&(struct timespec){0, 120000000}, NULL);
    for (int t = 0; t < 3; t++) CHECK(memcmp(out[t], poison, sizeof poison) == 0);
    og_store_free(store);
}

/* 4,096 copies of one id. */
static void extremely_repeated_ids_are_one_update(void) {
    og_store *many = store_of(8, 4, OG_F32, 1), *one = store_of(8, 4, OG_F32, 1);
    static int64_t rows[4096];
    static float grads[4096 * 4];
    float sum[4];
    for (int i = 0; i < 4096; i++) {
        rows[i] = 3;
        for (int k = 0; k < 4; k++) grads[i * 4 + k] = (float)(k + 1) / 64;
    }
    for (int k = 0; k < 4; k++) sum[k] = (float)(k + 1) * 64;
    og_update_options o = og_update_defaults(OG_ADAGRAD_ROW);
    CHECK_OK(og_update_apply(many, &o, rows, 4096, grads, 4, 1, 1, NULL, &err));
    CHECK_OK(og_update_apply(one, &o, rows, 1, sum, 4, 1, 1, NULL, &err));
    for (int64_t r = 0; r < 8; r++) CHECK(memcmp(og_store_row(many, r), og_store_row(one, r), 64) == 0);
    og_lookup *lookup = lookup_of(many, 2, 1, OG_DEDUPE_ALWAYS);
    static float out[4096][4];
    CHECK_OK(og_lookup_now(lookup, rows, 4096, out, &err));
    for (int i = 0; i < 4096; i++) CHECK(memcmp(out[i], og_store_row(many, 3), 16) == 0);
    og_lookup_stats stats;
    og_lookup_read_stats(lookup, &stats);
    CHECK(stats.distinct == 1 && stats.ids == 4096);
    og_lookup_free(lookup);
    og_store_free(many);
    og_store_free(one);
}

/* 2^31 + 65,536 elements, one byte each; only the last row is touched. */
static void more_than_2_31_elements(void) {
    int64_t dim = 65536, rows = (INT64_C(1) << 31) / dim + 1;
    og_store_options o = og_store_defaults(rows, dim, OG_INT8);
    o.group = 65536;
    o.huge = 0;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK(rows * dim == (INT64_C(1) << 31) + 65536);
    float *values = og_alloc(dim, 4), *back = og_alloc(dim, 4);
    for (int64_t i = 0; i < dim; i++) values[i] = (float)(i % 255 - 127);
    int64_t last = rows - 1;
    CHECK_OK(og_store_write(store, &last, 1, values, &err));
    CHECK_OK(og_store_read(store, &last, 1, back, &err));
    CHECK(memcmp(values, back, (size_t)dim * 4) == 0);
    og_lookup *lookup = lookup_of(store, 1, 1, 0);
    memset(back, 1, (size_t)dim * 4);
    CHECK_OK(og_lookup_now(lookup, &last, 1, back, &err));
    CHECK(memcmp(values, back, (size_t)dim * 4) == 0);
    og_store_report report;
    CHECK_OK(og_store_inspect(store, &report, &err));
    CHECK(report.bytes > INT64_C(1) << 31 && report.resident_bytes < 1 << 20);
    og_lookup_free(lookup);
    og_store_free(store);
    og_release(values);
    og_release(back);
}

/* A 262,144 x 8,960 table, around the row where row * dim passes 2^31. */
static void rows_around_2_31_elements(void) {
    int64_t dim = 8960, edge = (INT64_C(1) << 31) / dim - 1, rows[3] = {edge, edge + 1, edge + 2};
    og_store_options o = og_store_defaults(262144, dim, OG_INT8);
    o.huge = 0;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    float *in = og_alloc(3 * dim, 4), *out = og_alloc(3 * dim, 4);
    for (int64_t i = 0; i < 3 * dim; i++) in[i] = (float)(i % 32 ? i % 100 : 127);
    CHECK_OK(og_store_write(store, rows, 3, in, &err));
    og_lookup *lookup = lookup_of(store, 1, 1, 0);
    CHECK_OK(og_lookup_now(lookup, rows, 3, out, &err));
    for (int64_t i = 0; i < 3 * dim; i++) CHECK(fabsf(out[i] - in[i]) <= 0.5f);
    for (int64_t r = 0; r < 3; r++) { /* and by plain addresses */
        const int8_t *q = (const int8_t *)og_store_row(store, 0) + rows[r] * og_store_row_bytes(store);
        CHECK(q[0] == 127);
    }
    og_lookup_free(lookup);
    og_store_free(store);
    og_release(in);
    og_release(out);
}

static int64_t counted, last_seen;
static void counting_gather(const og_gather *g, int64_t n) {
    counted += n;
    last_seen = g->out - (uint8_t *)0 + (n - 1) * g->out_stride;
}

/* A batch of more than 2^31 rows through a kernel that only counts; the ids are one page of zeros, mapped on
 * demand. */
static void more_than_2_31_rows_in_a_batch(void) {
    if (SANITIZED) return; /* shadow memory of 16 GiB */
    int64_t n = (INT64_C(1) << 31) + 2;
    int64_t *rows = mmap(NULL, (size_t)n * 8, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(rows != MAP_FAILED);
    (void)madvise(rows, (size_t)n * 8, MADV_HUGEPAGE);
    og_store *store = store_of(1, 1, OG_F32, 0);
    og_lookup *lookup = lookup_of(store, 1, 1, 0);
    og_row_ops ops = *lookup->ops;
    ops.gather = counting_gather;
    lookup->ops = &ops;
    og_lookup_count count = {0};
    counted = 0;
    og_lookup_run(lookup, rows, 0, n, (uint8_t *)0 + 64, &lookup->scratch[1], &count);
    CHECK(counted == n && count.ids == n && last_seen == 64 + (n - 1) * 4);
    munmap(rows, (size_t)n * 8);
    og_lookup_free(lookup);
    og_store_free(store);
}

/* Three tables in the order 2, 0, 1; the largest id of each. */
static void tables_in_any_order(void) {
    og_store *stores[3] = {store_of(10, 4, OG_F32, 0), store_of(20, 4, OG_F32, 0), store_of(30, 4, OG_F32, 0)};
    for (int s = 0; s < 3; s++) CHECK_OK(og_store_fill(stores[s], (uint64_t)s, 1.0, NULL, &err));
    int32_t store[3] = {2, 0, 1};
    int64_t base[3] = {30, 0, 10}, rows[3] = {59, 9, 29};
    og_lookup_plan plan = {stores, 3, store, base, 3, OG_F32, 1, 1, 1};
    og_lookup *lookup;
    float out[12];
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    CHECK_OK(og_lookup_now(lookup, rows, 1, out, &err));
    CHECK(memcmp(out, og_store_row(stores[2], 29), 16) == 0 && memcmp(out + 4, og_store_row(stores[0], 9), 16) == 0 &&
          memcmp(out + 8, og_store_row(stores[1], 19), 16) == 0);
    for (int c = 0; c < 3; c++) { /* one more is the next table's, and refused */
        rows[c]++;
        CHECK_FAILS(og_lookup_now(lookup, rows, 1, out, &err), OG_EINVAL, "position 0, column");
        rows[c]--;
    }
    rows[0] = 29; /* below its base */
    CHECK_FAILS(og_lookup_now(lookup, rows, 1, out, &err), OG_EINVAL, "row id 29");
    og_lookup_free(lookup);
    for (int s = 0; s < 3; s++) og_store_free(stores[s]);
}

/* -1 is the absent row and an exact zero vector; every other negative id is an error, the same on every path. */
static void negative_ids_are_refused_alike(void) {
    og_store *store = store_of(10, 4, OG_F32, 0);
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    const int64_t bad[] = {-2, INT32_MIN, INT64_MIN, INT64_MIN + 1, 10, INT64_C(1) << 31, INT64_C(1) << 32, INT64_MAX};
    og_update_options o = og_update_defaults(OG_SGD);
    float out[4], grad[4] = {1, 1, 1, 1};
    const uint8_t zeros[16] = {0};
    for (int32_t dedupe = OG_DEDUPE_NEVER; dedupe <= OG_DEDUPE_ALWAYS; dedupe++) {
        og_lookup *lookup = lookup_of(store, 2, 2, dedupe);
        og_ticket ticket;
        int64_t none = OG_ROW_NONE;
        memset(out, 0xff, sizeof out);
        CHECK_OK(og_lookup_now(lookup, &none, 1, out, &err));
        CHECK(memcmp(out, zeros, 16) == 0);
        memset(out, 0xff, sizeof out);
        CHECK_OK(og_lookup_submit(lookup, &none, 1, out, &ticket, &err));
        CHECK_OK(og_lookup_wait(lookup, ticket, &err));
        CHECK(memcmp(out, zeros, 16) == 0);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            char first[512];
            CHECK(og_lookup_now(lookup, &bad[i], 1, out, &err) == OG_EINVAL);
            memcpy(first, err.message, sizeof first);
            CHECK(og_lookup_submit(lookup, &bad[i], 1, out, &ticket, &err) == OG_EINVAL &&
                  strcmp(first, err.message) == 0);
            char number[32];
            snprintf(number, sizeof number, "%lld", (long long)bad[i]);
            CHECK(strstr(first, number) && strstr(first, "column 0 (table 0): the table has 10 rows, ids 0..9"));
            char *column = strstr(first, ", column 0 (table 0)"); /* what only a lookup has */
            memmove(column, column + 20, strlen(column + 20) + 1);
            CHECK(og_update_apply(store, &o, &bad[i], 1, grad, 4, 1, 1, NULL, &err) == OG_EINVAL &&
                  strcmp(first, err.message) == 0);
            CHECK(og_update_delta(store, &bad[i], 1, grad, 4, NULL, &err) == OG_EINVAL &&
                  strcmp(first, err.message) == 0);
            CHECK(og_store_read(store, &bad[i], 1, out, &err) == OG_EINVAL && strcmp(first, err.message) == 0);
            CHECK(og_store_write(store, &bad[i], 1, grad, &err) == OG_EINVAL && strcmp(first, err.message) == 0);
        }
        og_lookup_free(lookup);
    }
    og_store_free(store);
}

/* Ids (7, 1, 3) twice with gradients of one: each row moves by exactly two. */
static void repeated_gradients_are_added(void) {
    og_store *store = store_of(10, 4, OG_F32, 0);
    int64_t rows[6] = {7, 1, 3, 7, 1, 3};
    float grads[24];
    for (int i = 0; i < 24; i++) grads[i] = 1;
    og_update_options o = og_update_defaults(OG_SGD);
    o.lr = 1;
    CHECK_OK(og_update_apply(store, &o, rows, 6, grads, 4, 1, 1, NULL, &err));
    for (int64_t r = 0; r < 10; r++) {
        float want = r == 7 || r == 1 || r == 3 ? -2 : 0;
        for (int k = 0; k < 4; k++) CHECK(((float *)og_store_row(store, r))[k] == want);
    }
    og_store_free(store);
}

/* A batch without a single row changes nothing, fails nowhere and is no step of any row (lazy decay counts on). */
static void a_batch_of_absent_rows_changes_nothing(void) {
    for (int32_t kind = OG_SGD; kind <= OG_RMSPROP; kind++) {
        og_store *store = store_of(10, 4, OG_BF16, og_update_state(kind, 4) + 1);
        CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
        int64_t bytes = 10 * og_store_row_bytes(store), rows[3] = {OG_ROW_NONE, OG_ROW_NONE, OG_ROW_NONE};
        uint8_t *before = og_alloc(bytes, 1);
        memcpy(before, og_store_row(store, 0), (size_t)bytes);
        float grads[12] = {NAN, 1, INFINITY};
        og_update_options o = og_update_defaults(kind);
        o.decay = 0.1;
        CHECK_OK(og_update_apply(store, &o, rows, 3, grads, 4, 1, 1, NULL, &err));
        CHECK_OK(og_update_apply(store, &o, NULL, 0, NULL, 4, 1, 2, NULL, &err));
        double norm = 1;
        CHECK_OK(og_update_norm2(store, rows, 3, grads, 4, NULL, &norm, &err));
        CHECK(norm == 0 && memcmp(before, og_store_row(store, 0), (size_t)bytes) == 0);
        og_release(before);
        og_store_free(store);
    }
}

/* Seven rows on two ranks draw what they draw on one; randomness has no state that another parameter could find
 * moved. */
static void uneven_shards_draw_the_same_numbers(void) {
    og_store *all = store_of(7, 6, OG_F32, 0), *parts[2] = {store_of(4, 6, OG_F32, 0), store_of(3, 6, OG_F32, 0)},
             *after = store_of(5, 6, OG_F32, 0), *again = store_of(5, 6, OG_F32, 0);
    CHECK_OK(og_store_fill(all, 3, 1.0, NULL, &err));
    CHECK_OK(og_store_fill(after, 4, 1.0, NULL, &err));
    CHECK_OK(og_store_fill_shard(parts[0], 3, 1.0, 0, NULL, &err));
    CHECK_OK(og_store_fill_shard(parts[1], 3, 1.0, 4, NULL, &err));
    CHECK_OK(og_store_fill(again, 4, 1.0, NULL, &err));
    for (int64_t r = 0; r < 7; r++)
        CHECK(memcmp(og_store_row(all, r), og_store_row(parts[r >= 4], r >= 4 ? r - 4 : r), 24) == 0);
    for (int64_t r = 0; r < 5; r++) CHECK(memcmp(og_store_row(after, r), og_store_row(again, r), 24) == 0);
    og_store_free(all);
    og_store_free(parts[0]);
    og_store_free(parts[1]);
    og_store_free(after);
    og_store_free(again);
}

/* Rows that are there are read on the calling thread; no worker wakes, be they in memory or in a file whose pages are
 * all resident. */
static void a_direct_lookup_wakes_no_worker(int in_a_file) {
    const char *path = OG_TEST_BINARY_DIR "/cards-resident.safetensors";
    og_store *store = store_of(10, 4, OG_F32, 0);
    if (in_a_file) {
        CHECK_OK(og_table_save(path, store, &(og_table_identity){"t", "f", "{}", NULL}, OG_LAYOUT_PACKED, 1, &err));
        og_store_free(store);
        og_store_options o = og_store_defaults(0, 0, 0);
        o.backing = OG_BACK_FILE;
        o.name = path;
        o.writable = 0;
        CHECK_OK(og_store_new(&o, &store, &err));
        unlink(path);
    }
    og_lookup *lookup = lookup_of(store, 2, 1, 1);
    lookup->before_chunk = sleep_50_ms; /* would be seen in work_ns */
    float out[4];
    for (int i = 0; i < 100; i++) CHECK_OK(og_lookup_now(lookup, (int64_t[]){3}, 1, out, &err));
    og_lookup_stats stats;
    og_lookup_read_stats(lookup, &stats);
    CHECK(stats.lookups == 100 && stats.work_ns == 0 && stats.waited_ns == 0);
    og_lookup_free(lookup);
    og_store_free(store);
}

/* A ticket's vectors are its caller's memory and nobody else's: while they are read slowly, later tickets take the same
 * slot, the same worker and the same scratch, rows change, and the vectors stay as they were. */
static void rows_being_read_stay_while_others_come(void) {
    enum { N = 8192 }; /* enough to be sorted, so that the worker's scratch is in use */
    og_store *store = store_of(4, 16, OG_F32, 0);
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    og_lookup *lookup = lookup_of(store, 1, 1, 1); /* one slot: the second ticket takes that of the first */
    static int64_t ab[N], cd[N];
    static float first[N][16], second[N][16];
    float kept[2][16];
    for (int i = 0; i < N; i++) ab[i] = i % 2, cd[i] = 2 + i % 2;
    memcpy(kept[0], og_store_row(store, 0), 64);
    memcpy(kept[1], og_store_row(store, 1), 64);
    og_ticket one, two;
    CHECK_OK(og_lookup_submit(lookup, ab, N, first, &one, &err));
    CHECK_OK(og_lookup_wait(lookup, one, &err));
    for (int i = 0; i < N; i++) { /* a reader that is slower than all that follows */
        if (i == N / 4) CHECK_OK(og_lookup_submit(lookup, cd, N, second, &two, &err));
        if (i == N / 2) CHECK_OK(og_lookup_wait(lookup, two, &err));
        if (i == N * 3 / 4) CHECK_OK(og_store_fill(store, 2, 1.0, NULL, &err));
        CHECK(memcmp(first[i], kept[i % 2], 64) == 0);
    }
    CHECK(memcmp(second[0], second[1], 64) != 0 && memcmp(second[0], kept[0], 64) != 0);
    CHECK_OK(og_lookup_wait(lookup, one, &err)); /* an old ticket may be asked for again: nothing is written */
    for (int i = 0; i < N; i++) CHECK(memcmp(first[i], kept[i % 2], 64) == 0);
    og_lookup_free(lookup);
    og_store_free(store);
}

int main(void) {
    int64_t before = og_alloc_count();
    an_idle_rank_looks_up_nothing();
    closing_joins_a_stalled_worker();
    nothing_is_written_after_cancel_or_free();
    extremely_repeated_ids_are_one_update();
    more_than_2_31_elements();
    rows_around_2_31_elements();
    more_than_2_31_rows_in_a_batch();
    tables_in_any_order();
    negative_ids_are_refused_alike();
    repeated_gradients_are_added();
    a_batch_of_absent_rows_changes_nothing();
    uneven_shards_draw_the_same_numbers();
    a_direct_lookup_wakes_no_worker(0);
    a_direct_lookup_wakes_no_worker(1);
    rows_being_read_stay_while_others_come();
    CHECK(og_alloc_count() == before);
    return 0;
}
