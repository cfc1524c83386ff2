/* test_update.c: updates against dense optimisers written out here, in double precision and row by row. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/pool.h>
#include <omnigram/random.h>
#include <omnigram/update.h>

static og_error err;

enum { ROWS = 200, DIM = 37, N = 500, STEPS = 5 };

static og_store *store_of(int32_t kind, int32_t dtype, int32_t more) {
    og_store_options o = og_store_defaults(ROWS, DIM, dtype);
    o.state = og_update_state(kind, DIM) + more;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_fill(store, 3, 0.5, NULL, &err));
    return store;
}

/* Rows 0..149 are named (some often), 150.. never; some positions have no row. */
static void batch(int step, int64_t *rows, float *grads) {
    for (int i = 0; i < N; i++) {
        uint64_t c = (uint64_t)(step * N + i);
        rows[i] = og_random_below(5, c, 9) == 0 ? OG_ROW_NONE : (int64_t)og_random_below(6, c, 150);
        for (int k = 0; k < DIM; k++) grads[i * DIM + k] = (float)og_random_normal(7, c * DIM + (uint64_t)k);
    }
}

/* The dense rule for one row, in double. */
static void dense_row(const og_update_options *o, double *w, double *state, const double *g, int step, double keep) {
    double lr = o->lr * o->scale, mean = 0;
    for (int k = 0; k < DIM; k++) mean += g[k] * g[k] / DIM;
    if (o->kind == OG_ADAGRAD_ROW) state[0] += mean;
    for (int k = 0; k < DIM; k++) {
        double move = 0;
        if (o->kind == OG_SGD) move = lr * g[k];
        if (o->kind == OG_ADAGRAD_ROW) move = lr * g[k] / (sqrt(state[0]) + o->eps);
        if (o->kind == OG_RMSPROP) {
            state[k] = o->beta2 * state[k] + (1 - o->beta2) * g[k] * g[k];
            move = lr * g[k] / (sqrt(state[k]) + o->eps);
        }
        if (o->kind == OG_ADAM) {
            state[k] = o->beta1 * state[k] + (1 - o->beta1) * g[k];
            state[DIM + k] = o->beta2 * state[DIM + k] + (1 - o->beta2) * g[k] * g[k];
            double m = state[k] / (1 - pow(o->beta1, step)), v = state[DIM + k] / (1 - pow(o->beta2, step));
            move = lr * m / (sqrt(v) + o->eps);
        }
        w[k] = w[k] * keep - move;
    }
}

static void equals_dense_on_touched_rows_and_leaves_the_others(int32_t kind, double decay) {
    og_store *store = store_of(kind, OG_F32, decay > 0 && kind != OG_ADAM);
    og_update_options o = og_update_defaults(kind);
    o.scale = 0.5;
    o.decay = decay;
    static double w[ROWS][DIM], state[ROWS][2 * DIM + 1], sum[ROWS][DIM];
    static float grads[N * DIM];
    static uint8_t before[ROWS][4096];
    int64_t rows[N], bytes = og_store_row_bytes(store);
    int last[ROWS] = {0};
    memset(state, 0, sizeof state);
    for (int64_t r = 0; r < ROWS; r++) {
        const float *values = og_store_row(store, r);
        for (int k = 0; k < DIM; k++) w[r][k] = (double)values[k];
        memcpy(before[r], values, (size_t)bytes);
    }
    for (int step = 1; step <= STEPS; step++) {
        batch(step, rows, grads);
        memset(sum, 0, sizeof sum);
        int touched[ROWS] = {0};
        for (int i = 0; i < N; i++) {
            if (rows[i] == OG_ROW_NONE) continue;
            touched[rows[i]] = 1;
            for (int k = 0; k < DIM; k++) sum[rows[i]][k] += (double)grads[i * DIM + k] * 0.25;
        }
        for (int r = 0; r < ROWS; r++) {
            if (!touched[r]) continue;
            dense_row(&o, w[r], state[r], sum[r], step, pow(1 - o.lr * o.scale * decay, step - last[r]));
            last[r] = step;
        }
        CHECK_OK(og_update_apply(store, &o, rows, N, grads, DIM, 0.25, step, NULL, &err));
    }
    for (int64_t r = 0; r < ROWS; r++) {
        const float *values = og_store_row(store, r);
        if (!last[r]) CHECK(memcmp(values, before[r], (size_t)bytes) == 0);
        for (int k = 0; k < DIM; k++) CHECK(fabs((double)values[k] - w[r][k]) < 2e-6 * (1 + fabs(w[r][k])));
    }
    og_store_free(store);
}

static void gives_the_same_bits_for_any_pool(int32_t kind, int32_t dtype, int32_t rounding) {
    static uint8_t want[ROWS][4096];
    static float grads[N * DIM];
    int64_t rows[N];
    double norms[4] = {0};
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        og_pool *pool;
        CHECK_OK(og_pool_new(threads, &pool, &err));
        og_store *store = store_of(kind, dtype, 0);
        og_update_options o = og_update_defaults(kind);
        o.rounding = rounding;
        o.seed = 11;
        for (int step = 1; step <= 3; step++) {
            batch(step, rows, grads);
            double now;
            CHECK_OK(og_update_norm2(store, rows, N, grads, DIM, pool, &now, &err));
            if (threads > 1) CHECK(memcmp(&norms[step], &now, 8) == 0);
            norms[step] = now;
            CHECK_OK(og_update_apply(store, &o, rows, N, grads, DIM, 1, step, pool, &err));
        }
        for (int64_t r = 0; r < ROWS; r++) {
            size_t bytes = (size_t)og_store_row_bytes(store);
            if (threads == 1) memcpy(want[r], og_store_row(store, r), bytes);
            CHECK(memcmp(want[r], og_store_row(store, r), bytes) == 0);
        }
        og_store_free(store);
        og_pool_free(pool);
    }
}

static void norm2_is_that_of_the_summed_gradients(void) {
    og_store *store = store_of(OG_SGD, OG_F32, 0);
    static float grads[N * DIM];
    static double sum[ROWS][DIM];
    int64_t rows[N];
    batch(1, rows, grads);
    memset(sum, 0, sizeof sum);
    double want = 0, got;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < DIM && rows[i] != OG_ROW_NONE; k++) sum[rows[i]][k] += (double)grads[i * DIM + k];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < DIM; k++) want += sum[r][k] * sum[r][k];
    CHECK_OK(og_update_norm2(store, rows, N, grads, DIM, NULL, &got, &err));
    CHECK(fabs(got - want) < 1e-5 * want);
    og_store_free(store);
}

/* 10,000 steps of a tenth of a unit in the last place: nearest never moves, stochastic moves by the mean. */
static void stochastic_rounding_keeps_the_mean(int32_t dtype) {
    for (int32_t rounding = 0; rounding < 2; rounding++) {
        og_store_options s = og_store_defaults(1, 64, dtype);
        og_store *store;
        CHECK_OK(og_store_new(&s, &store, &err));
        float one[64], grad[64];
        for (int k = 0; k < 64; k++) one[k] = 1, grad[k] = -1;
        int64_t row = 0;
        CHECK_OK(og_store_write(store, &row, 1, one, &err));
        og_update_options o = og_update_defaults(OG_SGD);
        o.lr = (dtype == OG_BF16 ? 0x1p-7 : 0x1p-10) / 10;
        o.rounding = rounding;
        for (int step = 1; step <= 1000; step++)
            CHECK_OK(og_update_apply(store, &o, &row, 1, grad, 64, 1, step, NULL, &err));
        CHECK_OK(og_store_read(store, &row, 1, one, &err));
        double mean = 0;
        for (int k = 0; k < 64; k++) mean += (double)one[k] / 64;
        if (!rounding) CHECK(mean == 1);
        /* 64,000 steps, each 1/10 of a unit with chance: standard error of the mean is 1.2 units / 8 */
        else
            CHECK(fabs(mean - 1 - 1000 * o.lr) < 0.02 * 1000 * o.lr);
        og_store_free(store);
    }
}

static void quantised_rows_learn(int32_t dtype) {
    og_store_options s = og_store_defaults(4, 64, dtype);
    s.state = 1;
    og_store *store;
    CHECK_OK(og_store_new(&s, &store, &err));
    CHECK_OK(og_store_fill(store, 1, 1.0, NULL, &err));
    og_update_options o = og_update_defaults(OG_ADAGRAD_ROW);
    o.lr = 0.3;
    o.rounding = OG_ROUND_STOCHASTIC;
    float w[64], target[64], grad[64];
    int64_t row = 2;
    for (int k = 0; k < 64; k++) target[k] = (float)og_random_normal(9, (uint64_t)k);
    double first = 0, last = 0;
    for (int step = 1; step <= 300; step++) {
        CHECK_OK(og_store_read(store, &row, 1, w, &err));
        last = 0;
        for (int k = 0; k < 64; k++) grad[k] = w[k] - target[k], last += (double)(grad[k] * grad[k]);
        if (step == 1) first = last;
        CHECK_OK(og_update_apply(store, &o, &row, 1, grad, 64, 1, step, NULL, &err));
    }
    CHECK(last < first * 0.1);
    og_store_free(store);
}

static void refuses_what_is_wrong(void) {
    og_store *store = store_of(OG_SGD, OG_F32, 0);
    og_update_options o = og_update_defaults(OG_ADAM);
    int64_t row = 3, bad = ROWS;
    float grad[DIM] = {0};
    CHECK_FAILS(og_update_apply(store, &o, &row, 1, grad, DIM, 1, 1, NULL, &err), OG_EINVAL, "75");
    o = og_update_defaults(OG_SGD);
    CHECK_FAILS(og_update_apply(store, &o, &bad, 1, grad, DIM, 1, 1, NULL, &err), OG_EINVAL, "200");
    CHECK_FAILS(og_update_apply(store, &o, &row, 1, grad, DIM, 1, 0, NULL, &err), OG_EINVAL, "step 0");
    CHECK_FAILS(og_update_apply(store, &o, &row, 1, grad, DIM - 1, 1, 1, NULL, &err), OG_EINVAL, "36");
    o.lr = NAN;
    CHECK_FAILS(og_update_apply(store, &o, &row, 1, grad, DIM, 1, 1, NULL, &err), OG_EINVAL, "lr");
    og_store_free(store);
}

int main(void) {
    int64_t before = og_alloc_count();
    for (int32_t kind = OG_SGD; kind <= OG_RMSPROP; kind++) {
        equals_dense_on_touched_rows_and_leaves_the_others(kind, 0);
        equals_dense_on_touched_rows_and_leaves_the_others(kind, 0.1);
        gives_the_same_bits_for_any_pool(kind, OG_F32, OG_ROUND_NEAREST);
        gives_the_same_bits_for_any_pool(kind, OG_BF16, OG_ROUND_STOCHASTIC);
        gives_the_same_bits_for_any_pool(kind, OG_F16, OG_ROUND_STOCHASTIC);
        gives_the_same_bits_for_any_pool(kind, OG_INT8, OG_ROUND_NEAREST);
    }
    norm2_is_that_of_the_summed_gradients();
    stochastic_rounding_keeps_the_mean(OG_BF16);
    stochastic_rounding_keeps_the_mean(OG_F16);
    quantised_rows_learn(OG_FP8_E4M3);
    quantised_rows_learn(OG_INT8);
    quantised_rows_learn(OG_NF4);
    refuses_what_is_wrong();
    CHECK(og_alloc_count() == before);
    return 0;
}
