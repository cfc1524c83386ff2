/* test_pool.c: parts, equal bits for any thread count, nested and concurrent calls. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/pool.h>
#include <omnigram/random.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static og_error err;

typedef struct seen {
    int64_t n, grain;
    int32_t threads;
    atomic_int count[2000];
    atomic_int bad;
} seen;

static void mark(void *context, int64_t begin, int64_t end, int32_t worker) {
    seen *s = context;
    int64_t wanted = begin + s->grain < s->n ? begin + s->grain : s->n;
    if (begin % s->grain || end != wanted || worker < 0 || worker >= s->threads) atomic_store(&s->bad, 1);
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&s->count[i], 1);
}

static void test_parts(og_pool *pool) {
    static seen s;
    const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 1000, 2000}, grains[] = {1, 3, 16, 5000};
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 4; b++) {
            memset(&s, 0, sizeof s);
            s.n = sizes[a];
            s.grain = grains[b];
            s.threads = og_pool_threads(pool);
            og_pool_for(pool, s.n, s.grain, mark, &s);
            CHECK(!s.bad);
            for (int64_t i = 0; i < 2000; i++) CHECK(s.count[i] == (i < s.n));
        }
}

static void add(void *context, int64_t begin, int64_t end, int32_t worker) {
    (void)worker;
    float sum = 0;
    for (int64_t i = begin; i < end; i++) sum += (float)og_random_normal(3, (uint64_t)i);
    ((float *)context)[begin / 64] = sum;
}

static void test_same_bits(void) {
    float wanted[157], got[157];
    og_pool_for(NULL, 10000, 64, add, wanted);
    const int32_t counts[] = {1, 2, 3, 8, 33};
    for (int i = 0; i < 5; i++) {
        og_pool *pool;
        CHECK_OK(og_pool_new(counts[i], &pool, &err));
        CHECK(og_pool_threads(pool) == counts[i]);
        memset(got, 0, sizeof got);
        og_pool_for(pool, 10000, 64, add, got);
        CHECK(memcmp(wanted, got, sizeof got) == 0);
        og_pool_free(pool);
    }
}

typedef struct nest {
    og_pool *pool;
    atomic_long sum;
    atomic_int bad;
} nest;
typedef struct inner {
    nest *outer;
    int32_t worker;
} inner;

static void inside(void *context, int64_t begin, int64_t end, int32_t worker) {
    inner *in = context;
    if (worker != in->worker) atomic_store(&in->outer->bad, 1); /* stays on its thread */
    atomic_fetch_add(&in->outer->sum, (long)(end - begin));
}

static void outside(void *context, int64_t begin, int64_t end, int32_t worker) {
    nest *n = context;
    inner in = {n, worker};
    og_pool_expect(n->pool);
    for (int64_t i = begin; i < end; i++) og_pool_for(n->pool, 10, 3, inside, &in);
}

static void test_nested(og_pool *pool) {
    nest n = {.pool = pool};
    og_pool_for(pool, 100, 1, outside, &n);
    CHECK(n.sum == 1000 && !n.bad);
}

static void *call_often(void *argument) {
    nest *n = argument;
    for (int i = 0; i < 200; i++) {
        float sums[157];
        if (i % 2) og_pool_expect(n->pool);
        og_pool_for(n->pool, 1000, 64, add, sums);
        atomic_fetch_add(&n->sum, 1);
    }
    return NULL;
}

static void test_several_callers(og_pool *pool) {
    nest n = {.pool = pool};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, call_often, &n) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK(n.sum == 800);
}

/* Told of calls that follow at once, late or not at all, and from inside a call. */
static void test_expect(og_pool *pool) {
    float wanted[157], got[157];
    og_pool_for(NULL, 10000, 64, add, wanted);
    for (int i = 0; i < 300; i++) {
        for (int told = 0; told < i % 3; told++) og_pool_expect(pool);
        if (i % 50 == 1) nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        if (i % 7 == 0) continue;
        memset(got, 0, sizeof got);
        og_pool_for(pool, 10000, 64, add, got);
        CHECK(memcmp(wanted, got, sizeof got) == 0);
    }
    og_pool_expect(pool); /* the next call, or the pool's end, comes while the workers spin */
    og_pool_expect(NULL);
}

static void nothing(void *context, int64_t begin, int64_t end, int32_t worker) {
    (void)begin;
    (void)end;
    (void)worker;
    atomic_fetch_add((atomic_long *)context, 1);
}

int main(void) {
    og_pool *pool;
    CHECK_FAILS(og_pool_new(0, &pool, &err), OG_EINVAL, "0 threads; 1 to 1024");
    CHECK_FAILS(og_pool_new(1025, &pool, &err), OG_EINVAL, "1025 threads");
    CHECK(og_pool_threads(NULL) == 1);
    test_parts(NULL);
    test_same_bits();
    CHECK_OK(og_pool_new(4, &pool, &err));
    test_parts(pool);
    test_nested(pool);
    test_several_callers(pool);
    test_expect(pool);
    atomic_long calls = 0;
    for (int i = 0; i < 3000; i++) og_pool_for(pool, 2, 1, nothing, &calls); /* short jobs race with late wakers */
    CHECK(calls == 6000);
    og_pool_free(pool);
    og_pool_free(NULL);
    CHECK(og_alloc_count() == 0);
    return 0;
}
