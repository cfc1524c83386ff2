/* pool.c: a pool of threads that sleep on condition variables between calls, and spin a little before they do. */
#include "base/clock.h"

#include <omnigram/memory.h>
#include <omnigram/pool.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

typedef struct worker {
    og_pool *pool;
    pthread_t thread;
    int32_t index;
} worker;

struct og_pool {
    pthread_mutex_t calls; /* held by the call that runs */
    pthread_mutex_t lock;  /* of all below but `next` */
    pthread_cond_t wake, idle;
    int32_t threads, started;
    int32_t open;      /* the job takes workers */
    uint64_t expected; /* calls of og_pool_expect */
    atomic_int active; /* workers inside the job; changed under the lock */
    int32_t stop;
    int32_t has_caller;
    pthread_t caller;
    atomic_ullong job; /* number of the job; changed under the lock */
    og_range_fn *fn;
    void *context;
    int64_t n, grain, parts;
    atomic_llong next; /* part that nobody has taken yet */
    worker workers[];
};

static void run_part(og_range_fn *fn, void *context, int64_t n, int64_t grain, int64_t part, int32_t index) {
    int64_t begin = part * grain;
    fn(context, begin, n - begin > grain ? begin + grain : n, index);
}

static void run_parts(og_pool *pool, int32_t index) {
    for (;;) {
        int64_t part = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (part >= pool->parts) return;
        run_part(pool->fn, pool->context, pool->n, pool->grain, part, index);
    }
}

/* To wake a sleeping thread of a virtual machine takes 40 to 80 us, on either side of a job. Who spins gives way, for
 * there may be more threads than cores. */
enum { SPIN_NS = 100000 };

static void spin_for_job(og_pool *pool, uint64_t seen) {
    int64_t began = og_clock_ns();
    while (atomic_load_explicit(&pool->job, memory_order_relaxed) == seen && og_clock_ns() - began < SPIN_NS)
        sched_yield();
}

static void spin_for_workers(og_pool *pool) {
    int64_t began = og_clock_ns();
    while (atomic_load_explicit(&pool->active, memory_order_relaxed) && og_clock_ns() - began < SPIN_NS) sched_yield();
}

static void *work(void *argument) {
    worker *self = argument;
    og_pool *pool = self->pool;
    uint64_t seen = 0, expected = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && !(pool->open && pool->job != seen) && pool->expected == expected)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stop) break;
        expected = pool->expected;
        if (!pool->open || pool->job == seen) {
            seen = pool->job;
            pthread_mutex_unlock(&pool->lock);
            spin_for_job(pool, seen);
            pthread_mutex_lock(&pool->lock);
            continue;
        }
        seen = pool->job;
        pool->active++;
        pthread_mutex_unlock(&pool->lock);
        run_parts(pool, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->active == 0) pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static og_status start(og_pool *pool, og_error *err) {
    for (int32_t i = 1; i < pool->threads; i++) {
        worker *w = &pool->workers[i];
        *w = (worker){.pool = pool, .index = i};
        int fault = pthread_create(&w->thread, NULL, work, w);
        if (fault)
            return og_fail(err, OG_ENOMEM, "thread %d of %d could not be started: %s", (int)i + 1, (int)pool->threads,
                           strerror(fault));
        pool->started = i;
    }
    return OG_OK;
}

og_status og_pool_new(int32_t n_threads, og_pool **out, og_error *err) {
    if (n_threads < 1 || n_threads > 1024)
        return og_fail(err, OG_EINVAL, "a pool of %d threads; 1 to 1024 are allowed", (int)n_threads);
    og_pool *pool = og_alloc_zero(1, sizeof *pool + (size_t)n_threads * sizeof(worker));
    if (!pool) return og_fail(err, OG_ENOMEM, "no memory for a pool of %d threads", (int)n_threads);
    pool->threads = n_threads;
    pthread_mutex_init(&pool->calls, NULL); /* on Linux these four cannot fail with default attributes */
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    og_status status = start(pool, err);
    if (status != OG_OK) {
        og_pool_free(pool);
        return status;
    }
    *out = pool;
    return OG_OK;
}

void og_pool_free(og_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 1; i <= pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->calls);
    og_release(pool);
}

int32_t og_pool_threads(const og_pool *pool) { return pool ? pool->threads : 1; }

void og_pool_expect(og_pool *pool) {
    if (!pool || pool->threads == 1) return;
    pthread_mutex_lock(&pool->lock);
    pool->expected++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

/* The index of this thread when it is inside a call of this pool, or -1. */
static int32_t inside(og_pool *pool) {
    pthread_t self = pthread_self();
    for (int32_t i = 1; i <= pool->started; i++)
        if (pthread_equal(pool->workers[i].thread, self)) return i;
    pthread_mutex_lock(&pool->lock);
    int32_t caller = pool->has_caller && pthread_equal(pool->caller, self);
    pthread_mutex_unlock(&pool->lock);
    return caller ? 0 : -1;
}

static void run_shared(og_pool *pool, int64_t n, int64_t grain, int64_t parts, og_range_fn *fn, void *context) {
    pthread_mutex_lock(&pool->lock);
    pool->fn = fn;
    pool->context = context;
    pool->n = n;
    pool->grain = grain;
    pool->parts = parts;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->caller = pthread_self();
    pool->has_caller = 1;
    pool->job++;
    pool->open = parts > 1;
    if (pool->open) pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    run_parts(pool, 0);
    pthread_mutex_lock(&pool->lock);
    pool->open = 0; /* a worker that wakes only now finds nothing to do */
    pthread_mutex_unlock(&pool->lock);
    spin_for_workers(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->active) pthread_cond_wait(&pool->idle, &pool->lock);
    pool->has_caller = 0;
    pthread_mutex_unlock(&pool->lock);
}

void og_pool_for(og_pool *pool, int64_t n, int64_t grain, og_range_fn *fn, void *context) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int64_t parts = n / grain + (n % grain != 0);
    int32_t index = pool ? inside(pool) : 0;
    if (index >= 0) { /* no pool, or a call from inside one of its own calls, which would wait for itself */
        for (int64_t part = 0; part < parts; part++) run_part(fn, context, n, grain, part, index);
        return;
    }
    pthread_mutex_lock(&pool->calls);
    run_shared(pool, n, grain, parts, fn, context);
    pthread_mutex_unlock(&pool->calls);
}
