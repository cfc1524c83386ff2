/* test_lookup.c: lookups against a loop over og_store_read; tickets, several in flight, cancel,
 * free. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/lookup.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <pthread.h>

static og_error err;

static og_store *store_of(int64_t rows, int64_t dim, int32_t dtype, int32_t state) {
    og_store_options o = og_store_defaults(rows, dim, dtype);
    o.state = state;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_fill(store, 7, 1.0, NULL, &err));
    return store;
}

/* Two stores of different dims and types, three columns with bases, absent rows, duplicates. */
static void values_equal_rows(int32_t out_dtype, int32_t threads, int32_t dedupe, int64_t n, uint64_t spread) {
    og_store *stores[2] = {store_of(5000, 96, OG_BF16, 1), store_of(300, 40, OG_F32, 0)};
    int32_t store[3] = {0, 1, 0};
    int64_t base[3] = {0, 1000, INT64_C(1) << 62}; /* absent rows lie far from it */
    og_lookup_plan plan = {stores, 2, store, base, 3, out_dtype, threads, 2, dedupe};
    og_lookup *lookup;
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    int64_t width = og_lookup_width(lookup);
    CHECK(width == 96 + 40 + 96);
    int64_t *rows = og_alloc(n * 3, 8);
    int64_t size = out_dtype == OG_F32 ? 4 : 2;
    uint8_t *out = og_alloc(n * width * size + 128, 1);
    memset(out, 0xa5, (size_t)(n * width * size + 128));
    int64_t limit[3] = {5000, 300, 5000};
    for (int64_t i = 0; i < n * 3; i++) {
        uint64_t most = spread < (uint64_t)limit[i % 3] ? spread : (uint64_t)limit[i % 3];
        rows[i] = og_random_below(1, (uint64_t)i, 10) == 0
                      ? OG_ROW_NONE
                      : base[i % 3] + (int64_t)og_random_below(2, (uint64_t)i, most);
    }
    og_ticket ticket;
    CHECK_OK(og_lookup_submit(lookup, rows, n, out + 64, &ticket, &err));
    CHECK_OK(og_lookup_wait(lookup, ticket, &err));
    for (int64_t i = 0; i < 64; i++) CHECK(out[i] == 0xa5 && out[64 + n * width * size + i] == 0xa5);
    float row[96];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        for (int c = 0; c < 3; c++) {
            int64_t dim = c == 1 ? 40 : 96;
            memset(row, 0, sizeof row);
            int64_t id = rows[i * 3 + c] - base[c];
            if (rows[i * 3 + c] != OG_ROW_NONE) CHECK_OK(og_store_read(stores[store[c]], &id, 1, row, &err));
            for (int64_t k = 0; k < dim; k++, at++) {
                const uint8_t *got = out + 64 + (i * width + at) * size;
                if (size == 4) {
                    CHECK(memcmp(got, &row[k], 4) == 0);
                } else {
                    uint16_t want = out_dtype == OG_BF16 ? og_bf16_from_f32(row[k]) : og_f16_from_f32(row[k]);
                    CHECK(memcmp(got, &want, 2) == 0);
                }
            }
        }
    }
    og_lookup_stats stats;
    og_lookup_read_stats(lookup, &stats);
    CHECK(stats.lookups == 1 && stats.ids == n * 3);
    og_lookup_free(lookup);
    og_store_free(stores[0]);
    og_store_free(stores[1]);
    og_release(rows);
    og_release(out);
}

/* Outputs that are written past the caches, sorted or not, against batches too small for either. */
static void large_batches_equal_small(int32_t dtype, int32_t out_dtype, int64_t dim) {
    enum { ROWS = 700, SMALL = 61 };
    og_store *store = store_of(ROWS, dim, dtype, 0);
    const int32_t column = 0;
    const int64_t bytes = dim * (out_dtype == OG_F32 ? 4 : 2), n = (INT64_C(2) << 20) / bytes + 4096;
    int64_t *rows = og_alloc(n, 8);
    uint8_t *want = og_alloc(n * bytes, 1), *got = og_alloc(n * bytes + 128, 1);
    for (int64_t i = 0; i < n; i++)
        rows[i] = og_random_below(3, (uint64_t)i, 10) ? (int64_t)og_random_below(4, (uint64_t)i, ROWS) : OG_ROW_NONE;
    for (int32_t dedupe = OG_DEDUPE_NEVER; dedupe <= OG_DEDUPE_ALWAYS; dedupe++)
        for (int64_t shift = 0; shift < 64; shift += 24) {
            og_lookup_plan plan = {&store, 1, &column, NULL, 1, out_dtype, 1, 1, dedupe};
            og_lookup *lookup;
            CHECK_OK(og_lookup_new(&plan, &lookup, &err));
            for (int64_t i = 0; dedupe == OG_DEDUPE_NEVER && shift == 0 && i < n; i += SMALL)
                CHECK_OK(og_lookup_now(lookup, rows + i, n - i < SMALL ? n - i : SMALL, want + i * bytes, &err));
            memset(got, 0x5a, (size_t)(n * bytes + 128));
            CHECK_OK(og_lookup_now(lookup, rows, n, got + shift, &err));
            CHECK(memcmp(want, got + shift, (size_t)(n * bytes)) == 0);
            for (int64_t i = 0; i < 128; i++) CHECK(got[i < shift ? i : n * bytes + i] == 0x5a);
            og_lookup_free(lookup);
        }
    og_release(rows);
    og_release(want);
    og_release(got);
    og_store_free(store);
}

static void many_in_flight(void) {
    og_store *store = store_of(1000, 16, OG_F32, 0);
    int32_t column = 0;
    og_lookup_plan plan = {&store, 1, &column, NULL, 1, OG_F32, 2, 3, 1};
    og_lookup *lookup;
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    enum { N = 10, ROWS = 500 };
    static int64_t rows[N][ROWS];
    static float out[N][ROWS][16];
    og_ticket tickets[N];
    for (int t = 0; t < N; t++) {
        for (int i = 0; i < ROWS; i++) rows[t][i] = (int64_t)og_random_below(3, (uint64_t)(t * ROWS + i), 1000);
        CHECK_OK(og_lookup_submit(lookup, rows[t], ROWS, out[t], &tickets[t], &err));
    }
    CHECK_OK(og_lookup_cancel(lookup, tickets[N - 1], &err));
    for (int t = N - 2; t >= 0; t--) CHECK_OK(og_lookup_wait(lookup, tickets[t], &err));
    for (int t = 0; t < N - 1; t++)
        for (int i = 0; i < ROWS; i++) CHECK(memcmp(out[t][i], og_store_row(store, rows[t][i]), 64) == 0);
    CHECK_FAILS(og_lookup_wait(lookup, 99, &err), OG_EINVAL, "99");
    og_lookup_free(lookup);
    og_store_free(store);
}

/* Threads that share one lookup: each blocks for a place in the queue, and looks up on itself in between. */
typedef struct sharer {
    og_lookup *lookup;
    const og_store *store;
    uint64_t seed;
} sharer;

static void *share(void *context) {
    const sharer *self = context;
    enum { ROWS = 600 };
    int64_t rows[ROWS];
    static _Thread_local float out[ROWS][16];
    og_error mine; /* CHECK_OK clears the one that all threads share */
    for (int turn = 0; turn < 40; turn++) {
        int64_t n = ROWS - 100 * (int64_t)(self->seed % 4);
        for (int64_t i = 0; i < n; i++)
            rows[i] = (int64_t)og_random_below(self->seed, (uint64_t)(turn * ROWS + i), 1000);
        og_ticket ticket;
        if (turn % 2) {
            CHECK(og_lookup_now(self->lookup, rows, n, out, &mine) == OG_OK);
        } else {
            CHECK(og_lookup_submit(self->lookup, rows, n, out, &ticket, &mine) == OG_OK);
            CHECK(og_lookup_wait(self->lookup, ticket, &mine) == OG_OK);
        }
        for (int64_t i = 0; i < n; i++) CHECK(memcmp(out[i], og_store_row(self->store, rows[i]), 64) == 0);
    }
    return NULL;
}

static void shared_by_threads(int32_t in_flight) {
    og_store *store = store_of(1000, 16, OG_F32, 0);
    int32_t column = 0;
    og_lookup_plan plan = {&store, 1, &column, NULL, 1, OG_F32, 2, in_flight, 1};
    og_lookup *lookup;
    CHECK_OK(og_lookup_new(&plan, &lookup, &err));
    enum { N = 5 };
    pthread_t threads[N];
    sharer sharers[N];
    for (int i = 0; i < N; i++) {
        sharers[i] = (sharer){lookup, store, (uint64_t)(i + 10)};
        CHECK(pthread_create(&threads[i], NULL, share, &sharers[i]) == 0);
    }
    for (int i = 0; i < N; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    og_lookup_stats stats;
    og_lookup_read_stats(lookup, &stats);
    CHECK(stats.lookups == N * 40);
    og_lookup_free(lookup);
    int64_t base = INT64_MAX - 999; /* the last id would not fit */
    plan.base = &base;
    CHECK_FAILS(og_lookup_new(&plan, &lookup, &err), OG_EINVAL, "64 bits");
    og_store_free(store);
}

int main(void) {
    int64_t before = og_alloc_count();
    const int32_t types[] = {OG_F32, OG_BF16, OG_F16};
    for (int t = 0; t < 3; t++)
        for (int32_t threads = 1; threads <= 3; threads++)
            for (int32_t dedupe = OG_DEDUPE_NEVER; dedupe <= OG_DEDUPE_ALWAYS; dedupe++) {
                values_equal_rows(types[t], threads, dedupe, 1, 5000);
                values_equal_rows(types[t], threads, dedupe, 777, 5000);
                values_equal_rows(types[t], threads, dedupe, 9000, 50);
            }
    for (int32_t dtype = OG_F32; dtype <= OG_NF4; dtype++)
        for (int t = 0; t < 3; t++) {
            large_batches_equal_small(dtype, types[t], 256);
            large_batches_equal_small(dtype, types[t], types[t] == OG_F32 ? 2048 : 4096); /* the longest that is */
            large_batches_equal_small(dtype, types[t],
                                      types[t] == OG_F32 ? 2080 : 4128); /* and the first that is not */
        }
    og_store *store = store_of(10, 4, OG_F32, 0);
    og_lookup_plan plan = {&store, 1, &(int32_t){0}, NULL, 1, OG_F32, 1, 1, 3};
    og_lookup *lookup;
    CHECK_FAILS(og_lookup_new(&plan, &lookup, &err), OG_EINVAL, "lookup dedupe 3: must be in 0..2");
    og_store_free(store);
    many_in_flight();
    shared_by_threads(1);
    shared_by_threads(2);
    CHECK(og_alloc_count() == before);
    return 0;
}
