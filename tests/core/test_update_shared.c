/* test_update_shared.c: two processes on one table: exact steps and atomic deltas:
 * none is lost. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/update.h>

#include <signal.h>
#include <sys/wait.h>
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
    static int64_t rows[2 * N], n;
    static float grads[2 * N * DIM];
    pid_t children[2];
    for (int32_t rank = 0; rank < 2; rank++) {
        children[rank] = fork();
        CHECK(children[rank] >= 0);
        if (children[rank] == 0) {
            og_store *mine;
            og_exchange *x;
            CHECK_OK(og_store_attach(name, 1, &mine, &err));
            CHECK_OK(og_exchange_new(meeting, rank, 2, N, DIM, &x, &err));
            for (int step = 1; step <= STEPS; step++) {
                batch(rank, step, rows, grads, &n);
                CHECK_OK(og_exchange_apply(x, mine, &u, rows, n, grads, DIM, 0.5, step, NULL, &err));
            }
            og_exchange_free(x);
            og_store_free(mine);
            _exit(0);
        }
    }
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
    return 0;
}
