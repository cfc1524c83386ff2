/* test_update_shared.c: two processes on one table: exact steps and atomic deltas, also when one of them is killed. */
#include "test.h"

#include "update/update_internal.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/update.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static og_error err;
static char name[64], meeting[64];

static og_store_options shared(int64_t rows, int64_t dim, int32_t dtype, int32_t state) {
    og_store_options o = og_store_defaults(rows, dim, dtype);
    o.backing = OG_BACK_SHARED;
    o.name = name;
    o.state = state;
    return o;
}

static void join(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Two processes add 1 to row 0 10,000 times each; the deficit must be 0. */
static void deltas_are_never_lost(int32_t dtype, double unit, int64_t times) {
    og_store *store;
    og_store_options o = shared(4, 8, dtype, 0);
    CHECK_OK(og_store_new(&o, &store, &err));
    float one[8];
    for (int i = 0; i < 8; i++) one[i] = (float)unit;
    pid_t children[2];
    for (int c = 0; c < 2; c++) {
        children[c] = fork();
        CHECK(children[c] >= 0);
        if (children[c] == 0) {
            og_store *mine;
            CHECK_OK(og_store_attach(name, 1, &mine, &err));
            for (int64_t i = 0; i < times; i++)
                CHECK_OK(og_update_delta(mine, (int64_t[]){0, OG_ROW_NONE}, 2, one, 0 + 8, NULL, &err));
            og_store_free(mine);
            _exit(0);
        }
    }
    join(children[0]);
    join(children[1]);
    float sum[8];
    CHECK_OK(og_store_read(store, (int64_t[]){0}, 1, sum, &err));
    double deficit = 2 * (double)times * unit - (double)sum[0];
    printf("delta mode, %s: deficit %g\n", og_dtype_name(dtype), deficit);
    for (int i = 0; i < 8; i++) CHECK((double)sum[i] == 2 * (double)times * unit);
    og_store_free(store);
}

enum { ROWS = 101, DIM = 20, N = 64, STEPS = 200 };

static void batch(int rank, int step, int64_t *rows, float *grads, int64_t *n) {
    *n = (int64_t)og_random_below(1, (uint64_t)(step * 2 + rank), N + 1); /* also none */
    for (int64_t i = 0; i < *n; i++) {
        uint64_t c = (uint64_t)((step * 2 + rank) * N) + (uint64_t)i;
        rows[i] = og_random_below(2, c, 10) == 0 ? OG_ROW_NONE : (int64_t)og_random_below(3, c, ROWS);
        for (int k = 0; k < DIM; k++) grads[i * DIM + k] = (float)og_random_normal(4, c * DIM + (uint64_t)k);
    }
}

typedef void rank_fn(og_store *mine, og_exchange *x, int32_t rank, const og_update_options *u);

/* Two processes, each a rank with the shared store and an exchange. */
static void fork_ranks(rank_fn *body, const og_update_options *u, pid_t children[2]) {
    for (int32_t rank = 0; rank < 2; rank++) {
        children[rank] = fork();
        CHECK(children[rank] >= 0);
        if (children[rank] != 0) continue;
        og_store *mine;
        og_exchange *x;
        CHECK_OK(og_store_attach(name, 1, &mine, &err));
        CHECK_OK(og_exchange_new(meeting, rank, 2, N, DIM, &x, &err));
        body(mine, x, rank, u);
        og_exchange_free(x);
        og_store_free(mine);
        _exit(0);
    }
}

static void gives_its_batches(og_store *mine, og_exchange *x, int32_t rank, const og_update_options *u) {
    static int64_t rows[N], n;
    static float grads[N * DIM];
    for (int step = 1; step <= STEPS; step++) {
        batch(rank, step, rows, grads, &n);
        CHECK_OK(og_exchange_apply(x, mine, u, rows, n, grads, DIM, 0.5, step, NULL, &err));
    }
}

/* The same bits as one process with both batches, one after the other. */
static void exact_steps_equal_one_process(int32_t kind, int32_t dtype) {
    int32_t state = og_update_state(kind, DIM);
    og_store *store, *alone;
    og_store_options o = shared(ROWS, DIM, dtype, state), a = og_store_defaults(ROWS, DIM, dtype);
    a.state = state;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_new(&a, &alone, &err));
    CHECK_OK(og_store_fill(store, 9, 1.0, NULL, &err));
    CHECK_OK(og_store_fill(alone, 9, 1.0, NULL, &err));
    og_update_options u = og_update_defaults(kind);
    u.rounding = OG_ROUND_STOCHASTIC;
    pid_t children[2];
    fork_ranks(gives_its_batches, &u, children);
    static int64_t rows[2 * N];
    static float grads[2 * N * DIM];
    for (int step = 1; step <= STEPS; step++) {
        int64_t first, second;
        batch(0, step, rows, grads, &first);
        batch(1, step, rows + first, grads + first * DIM, &second);
        CHECK_OK(og_update_apply(alone, &u, rows, first + second, grads, DIM, 0.5, step, NULL, &err));
    }
    join(children[0]);
    join(children[1]);
    for (int64_t r = 0; r < ROWS; r++)
        CHECK(memcmp(og_store_row(store, r), og_store_row(alone, r), (size_t)og_store_row_bytes(store)) == 0);
    og_store_free(store);
    og_store_free(alone);
}

/* A batch that one rank may not give fails on both and changes nothing; then they go on; then one
 * is killed. */
static void refusals_and_deaths_are_told(void) {
    og_store *store;
    og_store_options o = shared(ROWS, DIM, OG_F32, 0);
    CHECK_OK(og_store_new(&o, &store, &err));
    og_update_options u = og_update_defaults(OG_SGD);
    int64_t good = 5, bad = ROWS;
    float grad[DIM] = {1, 1};
    pid_t child = fork();
    CHECK(child >= 0);
    og_exchange *x;
    og_store *mine;
    if (child == 0) {
        CHECK_OK(og_store_attach(name, 1, &mine, &err));
        CHECK_OK(og_exchange_new(meeting, 1, 2, 1, DIM, &x, &err));
        CHECK_FAILS(og_exchange_apply(x, mine, &u, &good, 1, grad, DIM, 1, 1, NULL, &err), OG_EINVAL, "rank 0 refused");
        CHECK_OK(og_exchange_apply(x, mine, &u, &good, 1, grad, DIM, 1, 1, NULL, &err));
        raise(SIGKILL);
    }
    CHECK_OK(og_exchange_new(meeting, 0, 2, 1, DIM, &x, &err));
    CHECK_FAILS(og_exchange_apply(x, store, &u, &bad, 1, grad, DIM, 1, 1, NULL, &err), OG_EINVAL, "101");
    CHECK(((float *)og_store_row(store, good))[0] == 0);
    CHECK_OK(og_exchange_apply(x, store, &u, &good, 1, grad, DIM, 1, 1, NULL, &err));
    CHECK(((float *)og_store_row(store, good))[0] == (float)(-0.01 * 2));
    CHECK_FAILS(og_exchange_apply(x, store, &u, &good, 1, grad, DIM, 1, 2, NULL, &err), OG_EIO, "rank 1");
    CHECK_FAILS(og_exchange_apply(x, store, &u, &good, 1, grad, DIM, 1, 2, NULL, &err), OG_EIO, "broken");
    CHECK(waitpid(child, NULL, 0) == child);
    og_exchange_free(x);
    og_store_free(store);
}

static void rank_1_is_short_of_memory(og_store *mine, og_exchange *x, int32_t rank, const og_update_options *u) {
    static float grads[2 * DIM], zeros[DIM];
    for (int i = 0; i < 2 * DIM; i++) grads[i] = 1;
    const int64_t rows[2] = {0, ROWS - 1}; /* one of each owner */
    if (rank == 1) og_fault_alloc(1);
    og_status status = og_exchange_apply(x, mine, u, rows, 2, grads, DIM, 1, 1, NULL, &err);
    CHECK(status == (rank == 1 ? OG_ENOMEM : OG_EINVAL));
    CHECK(rank == 1 || strstr(err.message, "rank 1 refused"));
    for (int i = 0; i < 2; i++) CHECK(memcmp(og_store_row(mine, rows[i]), zeros, sizeof zeros) == 0);
    og_fault_alloc(0);
    CHECK_OK(og_exchange_apply(x, mine, u, rows, 2, grads, DIM, 1, 1, NULL, &err));
    for (int i = 0; i < 2; i++) CHECK(((float *)og_store_row(mine, rows[i]))[0] == -0.02f);
}

/* A rank that has no memory to apply what it owns says so before anyone applies anything; the next step works. */
static void a_rank_short_of_memory_stops_the_step(void) {
    og_store *store;
    og_store_options o = shared(ROWS, DIM, OG_F32, 0);
    CHECK_OK(og_store_new(&o, &store, &err));
    og_update_options u = og_update_defaults(OG_SGD);
    pid_t children[2];
    fork_ranks(rank_1_is_short_of_memory, &u, children);
    join(children[0]);
    join(children[1]);
    og_store_free(store);
}

/* A rank that has nothing for three steps still takes part and changes nothing; a step may have nothing at all. */
static void an_idle_rank_takes_part(void) {
    og_store *store, *alone;
    og_store_options o = shared(8, DIM, OG_F32, og_update_state(OG_ADAGRAD_ROW, DIM)), a = o;
    a.backing = OG_BACK_ANONYMOUS;
    a.name = NULL;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_new(&a, &alone, &err));
    og_update_options u = og_update_defaults(OG_ADAGRAD_ROW);
    int64_t rows[2] = {7, 2};
    float grads[2 * DIM];
    for (int i = 0; i < 2 * DIM; i++) grads[i] = (float)(i + 1);
    pid_t child = fork();
    CHECK(child >= 0);
    og_exchange *x;
    og_store *mine = store;
    if (child == 0) CHECK_OK(og_store_attach(name, 1, &mine, &err));
    CHECK_OK(og_exchange_new(meeting, child == 0, 2, 2, DIM, &x, &err));
    for (int step = 1; step <= 4; step++) {
        int64_t n = child && step <= 3 ? 2 : 0;
        CHECK_OK(og_exchange_apply(x, mine, &u, n ? rows : NULL, n, n ? grads : NULL, DIM, 1, step, NULL, &err));
    }
    og_exchange_free(x);
    if (child == 0) {
        og_store_free(mine);
        _exit(0);
    }
    join(child);
    for (int step = 1; step <= 3; step++)
        CHECK_OK(og_update_apply(alone, &u, rows, 2, grads, DIM, 1, step, NULL, &err));
    for (int64_t r = 0; r < 8; r++)
        CHECK(memcmp(og_store_row(store, r), og_store_row(alone, r), (size_t)og_store_row_bytes(store)) == 0);
    og_store_free(store);
    og_store_free(alone);
}

/* Both ranks add 1 to row 0 10,000 times, 100 times a step. */
static void exact_additions_are_never_lost(void) {
    og_store *store, *mine;
    og_store_options o = shared(4, 8, OG_F32, 0);
    CHECK_OK(og_store_new(&o, &store, &err));
    og_update_options u = og_update_defaults(OG_SGD);
    u.lr = 1;
    static int64_t rows[100];
    static float grads[800];
    for (int i = 0; i < 800; i++) grads[i] = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    mine = store;
    if (child == 0) CHECK_OK(og_store_attach(name, 1, &mine, &err));
    og_exchange *x;
    CHECK_OK(og_exchange_new(meeting, child == 0, 2, 100, 8, &x, &err));
    for (int step = 1; step <= 100; step++)
        CHECK_OK(og_exchange_apply(x, mine, &u, rows, 100, grads, 8, 1, step, NULL, &err));
    og_exchange_free(x);
    if (child == 0) _exit(0);
    join(child);
    const float *sum = og_store_row(store, 0);
    printf("exact mode: deficit %g\n", 20000 - (double)sum[0]);
    for (int i = 0; i < 8; i++) CHECK(sum[i] == 20000);
    og_store_free(store);
}

/* Kills `victim` after a while, from a process of its own. */
static pid_t killer_of(pid_t victim, int64_t ns) {
    pid_t killer = fork();
    CHECK(killer >= 0);
    if (killer == 0) {
        nanosleep(&(struct timespec){0, (long)ns}, NULL);
        kill(victim, SIGKILL);
        _exit(0);
    }
    return killer;
}

/* A rank is killed at some time of its steps: the other one is told, its own rows are all of one step, and each value
 * of the dead rank's rows is that before or after that step. */
static void a_rank_killed_in_the_middle_leaves_whole_values(void) {
    enum { MANY = 2048, WIDE = 64 };
    int before = 0, during = 0;
    static int64_t rows[MANY];
    static float grads[MANY * WIDE];
    for (int i = 0; i < MANY; i++) rows[i] = i;
    for (int i = 0; i < MANY * WIDE; i++) grads[i] = -1;
    og_update_options u = og_update_defaults(OG_SGD);
    u.lr = 1;
    for (int round = 0; round < 12; round++) {
        og_store *store, *mine;
        og_store_options o = shared(MANY, WIDE, OG_F32, 0);
        CHECK_OK(og_store_new(&o, &store, &err));
        og_exchange *x;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK_OK(og_store_attach(name, 1, &mine, &err));
            CHECK_OK(og_exchange_new(meeting, 1, 2, MANY, WIDE, &x, &err));
            for (int step = 1;; step++)
                CHECK_OK(og_exchange_apply(x, mine, &u, rows, MANY, grads, WIDE, 1, step, NULL, &err));
        }
        CHECK_OK(og_exchange_new(meeting, 0, 2, MANY, WIDE, &x, &err));
        pid_t killer = killer_of(child, 3000000 + (int64_t)og_random_below(6, (uint64_t)round, 6000000));
        int step = 0;
        og_status status = OG_OK;
        while (status == OG_OK)
            status = og_exchange_apply(x, store, &u, rows, MANY, grads, WIDE, 1, ++step, NULL, &err);
        CHECK(status == OG_EIO && strstr(err.message, "rank 1"));
        int whole = strstr(err.message, "nothing of this step was applied") != NULL;
        CHECK(whole || strstr(err.message, "rows it owned"));
        float mine_is = (float)(2 * (whole ? step - 1 : step)), old = (float)(2 * (step - 1));
        for (int64_t r = 0; r < MANY; r++)
            for (int i = 0; i < WIDE; i++) {
                float value = ((float *)og_store_row(store, r))[i];
                CHECK(value == mine_is || (r >= MANY / 2 && value == old));
            }
        whole ? before++ : during++;
        CHECK(waitpid(child, NULL, 0) == child);
        join(killer);
        og_exchange_free(x); /* and the next round uses the same names */
        og_store_free(store);
    }
    printf("killed before its batch %d times, while it applied %d times\n", before, during);
}

/* In delta mode a killed process has added some of its batches, the last of them in part; the others lose nothing. */
static void a_killed_adder_costs_nobody_an_addition(void) {
    og_store *store;
    og_store_options o = shared(4, 64, OG_F32, 0);
    CHECK_OK(og_store_new(&o, &store, &err));
    static float ones[2 * 64];
    for (int i = 0; i < 128; i++) ones[i] = 1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        for (;;) { /* row 1 counts the batches that row 0 got */
            CHECK_OK(og_update_delta(store, (int64_t[]){0, OG_ROW_NONE}, 2, ones, 64, NULL, &err));
            CHECK_OK(og_update_delta(store, (int64_t[]){1}, 1, ones, 64, NULL, &err));
        }
    while (((_Atomic float *)og_store_row(store, 1))[0] < 10) nanosleep(&(struct timespec){0, 100000}, NULL);
    pid_t killer = killer_of(child, 5000000);
    for (int i = 0; i < 20000; i++) CHECK_OK(og_update_delta(store, (int64_t[]){0}, 1, ones, 64, NULL, &err));
    join(killer);
    CHECK(waitpid(child, NULL, 0) == child);
    const float *sum = og_store_row(store, 0), *batches = og_store_row(store, 1);
    for (int i = 0; i < 64; i++) CHECK(sum[i] >= 20000 + batches[63] && sum[i] <= 20000 + batches[0] + 1);
    og_store_free(store);
}

/* A rank that is taken, and one that never comes, are named. */
static void a_rank_is_one_process(void) {
    og_exchange *x, *other;
    og_exchange_patience_ms = 100;
    CHECK_FAILS(og_exchange_new(meeting, 0, 2, 1, DIM, &x, &err), OG_EIO, "rank 1 of 2 has not come");
    og_exchange_patience_ms = 60000;
    char longest[194] = {0};
    memset(longest, 'x', 193);
    for (int i = 0; i < 4; i++) /* no rank waits a minute for what cannot come */
        CHECK_FAILS(og_exchange_new((const char *[]){NULL, "", "a/b", longest}[i], 1, 2, 1, DIM, &x, &err), OG_EINVAL,
                    "1..192 characters without '/'");
    CHECK_OK(og_exchange_new(meeting, 0, 1, 1, DIM, &x, &err));
    CHECK_FAILS(og_exchange_new(meeting, 0, 1, 1, DIM, &other, &err), OG_EINVAL, "in use");
    og_exchange_free(x);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_OK(og_exchange_new(meeting, 1, 2, 1, DIM, &x, &err));
        CHECK_FAILS(og_exchange_new(meeting, 1, 2, 1, DIM, &other, &err), OG_EINVAL, "rank 1 is taken");
        _exit(0);
    }
    CHECK_OK(og_exchange_new(meeting, 0, 2, 1, DIM, &x, &err));
    join(child);
    og_exchange_free(x);
}

int main(void) {
    snprintf(name, sizeof name, "update-%d", (int)getpid());
    snprintf(meeting, sizeof meeting, "meet-%d", (int)getpid());
    deltas_are_never_lost(OG_F32, 1, 10000);
    deltas_are_never_lost(OG_BF16, 1, 128); /* bf16 counts to 256 */
    deltas_are_never_lost(OG_F16, 1, 1024); /* f16 counts to 2,048 */
    exact_steps_equal_one_process(OG_SGD, OG_F32);
    exact_steps_equal_one_process(OG_ADAGRAD_ROW, OG_BF16);
    exact_steps_equal_one_process(OG_ADAM, OG_F16);
    refusals_and_deaths_are_told();
    a_rank_short_of_memory_stops_the_step();
    an_idle_rank_takes_part();
    exact_additions_are_never_lost();
    a_rank_killed_in_the_middle_leaves_whole_values();
    a_killed_adder_costs_nobody_an_addition();
    a_rank_is_one_process();
    return 0;
}
