/* hash_audit.c: edits and sweeps of every cell. */
#include "hash_audit.h"

#include <omnigram/lookup.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double og_hash_ideal(double rows, double n) { return rows * -expm1(n * log1p(-1 / rows)); }

/* ---- one cell ---- */

static uint64_t key_of(uint64_t seed, int32_t lag, uint64_t what) {
    return og_splitmix64(seed * 64 + (uint64_t)lag) ^ og_splitmix64(what + 0x61756469u);
}

/* changed[c]: edits of cell `lag` that change the row of column c. All codes of a position are edited; a column reads
 * one of them. */
static og_status edit(og_prober *p, int32_t lag, int64_t edits, uint64_t seed, int64_t *changed, int64_t *before,
                      og_error *err) {
    uint64_t key = key_of(seed, lag, 1), draw = 0;
    for (int64_t done = 0; done < edits;) {
        int64_t n = edits - done < p->block ? edits - done : p->block;
        for (int64_t i = 0; i < n * p->width; i++)
            for (int32_t k = 0; k < p->cells; k++)
                p->code[k][i] = (int32_t)og_random_below(key, draw++, (uint64_t)p->vocab);
        OG_TRY(og_prober_run(p, n, err));
        memcpy(before, p->rows, (size_t)(n * p->columns) * sizeof *before);
        for (int64_t i = 0; i < n * p->width; i++) { /* any other code, each as likely */
            int64_t other = p->code[lag][i] + 1 + (int64_t)og_random_below(key, draw++, (uint64_t)p->vocab - 1);
            p->code[lag][i] = (int32_t)(other < p->vocab ? other : other - p->vocab);
        }
        OG_TRY(og_prober_run(p, n, err));
        for (int64_t i = 0; i < n * p->columns; i++) changed[i % p->columns] += before[i] != p->rows[i];
        done += n;
    }
    return OG_OK;
}

typedef struct sweep_memory {
    int64_t *rows, *distinct, *inverse; /* rows [columns][V] */
    void *scratch;
} sweep_memory;

/* distinct[c] += rows of column c that are reached while cell `lag` takes every code, in one random
 * context. */
static og_status sweep(og_prober *p, int32_t lag, uint64_t seed, uint64_t context, const sweep_memory *m,
                       double *distinct, og_error *err) {
    uint64_t key = key_of(seed, lag, 2 + context);
    int32_t around[OG_MAX_ORDER];
    for (int32_t k = 0; k < p->cells; k++) around[k] = (int32_t)og_random_below(key, (uint64_t)k, (uint64_t)p->vocab);
    for (int32_t k = 0; k < p->cells; k++)
        for (int64_t i = 0; i < p->block * p->width; i++) p->code[k][i] = around[k];
    for (int64_t v = 0; v < p->vocab; v += p->block) {
        int64_t n = p->vocab - v < p->block ? p->vocab - v : p->block;
        for (int64_t i = 0; i < n * p->width; i++) p->code[lag][i] = (int32_t)(v + i / p->width);
        OG_TRY(og_prober_run(p, n, err));
        for (int64_t i = 0; i < n; i++)
            for (int32_t c = 0; c < p->columns; c++) m->rows[c * p->vocab + v + i] = p->rows[i * p->columns + c];
    }
    const og_addr_layout *l = og_addr_layout_of(p->addr);
    for (int32_t c = 0; c < p->columns; c++) {
        if (lag >= l->columns[c].order) continue;
        distinct[c] += (double)og_dedupe(m->rows + c * p->vocab, p->vocab, m->distinct, m->inverse, m->scratch);
    }
    return OG_OK;
}

typedef struct job { /* one cell for each worker */
    const og_addr *addr;
    og_hash_options options;
    int64_t *changed; /* [cells][columns] */
    double *distinct; /* the same */
    pthread_mutex_t lock;
    og_status status;
    og_error error;
} job;

static og_status probe_cell(const job *j, int32_t lag, og_error *err) {
    og_prober *p;
    OG_TRY(og_prober_new(j->addr, &j->options, &p, err));
    int64_t vocab = p->vocab, *before = og_alloc((int64_t)p->block * p->columns, sizeof *before);
    sweep_memory m = {og_alloc(vocab, (size_t)p->columns * sizeof *m.rows), og_alloc(vocab, sizeof *m.distinct),
                      og_alloc(vocab, sizeof *m.inverse), og_alloc(og_dedupe_bytes(vocab), 1)};
    og_status status = OG_OK;
    if (!before || !m.rows || !m.distinct || !m.inverse || !m.scratch)
        status = og_fail(err, OG_ENOMEM, "no memory to sweep %lld codes", (long long)vocab);
    if (status == OG_OK)
        status = edit(p, lag, j->options.edits, j->options.seed, j->changed + (int64_t)lag * p->columns, before, err);
    for (int32_t k = 0; status == OG_OK && k < j->options.contexts; k++)
        status = sweep(p, lag, j->options.seed, (uint64_t)k, &m, j->distinct + (int64_t)lag * p->columns, err);
    og_release(before);
    og_release(m.rows);
    og_release(m.distinct);
    og_release(m.inverse);
    og_release(m.scratch);
    og_prober_free(p);
    return status;
}

static void cells_part(void *context, int64_t begin, int64_t end, int32_t worker) {
    (void)worker;
    job *j = context;
    for (int64_t lag = begin; lag < end; lag++) {
        og_error err;
        err.message[0] = 0;
        og_status status = probe_cell(j, (int32_t)lag, &err);
        if (status == OG_OK) continue;
        pthread_mutex_lock(&j->lock);
        if (j->status == OG_OK) {
            j->status = status;
            j->error = err;
        }
        pthread_mutex_unlock(&j->lock);
    }
}

/* ---- the report ---- */

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static void fill_lags(og_hash_report *r, const job *j) {
    const og_addr_layout *l = og_addr_layout_of(j->addr);
    for (int32_t c = 0; c < l->n_columns; c++)
        for (int32_t lag = 0; lag < l->columns[c].order; lag++)
            r->lags[r->n_lags++] =
                (og_hash_lag){.column = c,
                              .order = l->columns[c].order,
                              .head = l->columns[c].head,
                              .lag = lag,
                              .rows = l->columns[c].rows,
                              .changed = (double)j->changed[lag * l->n_columns + c] / (double)j->options.edits,
                              .distinct = j->distinct[lag * l->n_columns + c] / j->options.contexts,
                              .ideal = og_hash_ideal((double)l->columns[c].rows, (double)j->options.vocab)};
}

static int worse(const void *a, const void *b) {
    const og_hash_lag *const *x = a, *const *y = b;
    double p = (*x)->distinct / (*x)->ideal, q = (*y)->distinct / (*y)->ideal;
    if (p != q) return p < q ? -1 : 1;
    return (*x)->column != (*y)->column ? ((*x)->column < (*y)->column ? -1 : 1) : (*x)->lag - (*y)->lag;
}

static og_status warn(og_hash_report *r, og_error *err) {
    const og_hash_lag **bad = og_alloc(r->n_lags, sizeof *bad);
    int32_t n = 0;
    r->warnings = og_alloc(r->n_lags + r->n_columns, sizeof *r->warnings);
    if (!bad || !r->warnings) {
        og_release(bad);
        return og_fail(err, OG_ENOMEM, "no memory for an audit's warnings");
    }
    for (int32_t i = 0; i < r->n_lags; i++)
        if (r->lags[i].distinct < 0.99 * r->lags[i].ideal ||
            r->lags[i].changed < 0.99 * (1 - 1 / (double)r->lags[i].rows))
            bad[n++] = &r->lags[i];
    if (n > 1) qsort(bad, (size_t)n, sizeof *bad, worse);
    for (int32_t i = 0; i < n; i++) {
        const og_hash_lag *b = bad[i];
        int64_t g = r->columns[b->column].gcd;
        char why[96] = "";
        if (g > 1) snprintf(why, sizeof why, "; gcd(V, rows) = %lld", (long long)g);
        if (r->twos > 0)
            snprintf(why + strlen(why), sizeof why - strlen(why), "; V = %lld x 2^%d", (long long)(r->vocab >> r->twos),
                     r->twos);
        snprintf(
            r->warnings[r->n_warnings++], sizeof *r->warnings,
            "order %d, head %d, lag %d reaches %.0f rows (a random function: %.0f), %.2f %% of edits change the row%s",
            b->order, b->head, b->lag, b->distinct, b->ideal, 100 * b->changed, why);
    }
    for (int32_t c = 0; c < r->n_columns; c++)
        if (r->columns[c].samples && r->columns[c].chi2_z > 6)
            snprintf(r->warnings[r->n_warnings++], sizeof *r->warnings,
                     "order %d, head %d: row load is %.0f deviations from a random function's "
                     "(chi-square)",
                     r->columns[c].order, r->columns[c].head, r->columns[c].chi2_z);
    og_release(bad);
    return OG_OK;
}

static og_status prepare(og_hash_report *r, const og_addr *addr, const og_hash_options *o, og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(addr);
    int64_t n_lags = 0;
    for (int32_t c = 0; c < l->n_columns; c++) n_lags += l->columns[c].order;
    r->lags = og_alloc(n_lags, sizeof *r->lags);
    r->columns = og_alloc_zero(l->n_columns, sizeof *r->columns);
    r->orders = og_alloc_zero(OG_MAX_ORDER, sizeof *r->orders);
    if (!r->lags || !r->columns || !r->orders)
        return og_fail(err, OG_ENOMEM, "no memory for an audit of %d columns", l->n_columns);
    r->vocab = o->vocab;
    r->twos = __builtin_ctzll((uint64_t)o->vocab);
    r->n_columns = l->n_columns;
    for (int32_t c = 0; c < l->n_columns; c++) {
        const og_column *column = &l->columns[c];
        r->columns[c] = (og_hash_column){
            .order = column->order, .head = column->head, .rows = column->rows, .gcd = gcd(o->vocab, column->rows)};
        int32_t i = 0;
        while (i < r->n_orders && r->orders[i].order != column->order) i++;
        if (i == r->n_orders)
            r->orders[r->n_orders++] =
                (og_hash_order){.order = column->order, .bits = (int32_t)ceil(column->order * log2((double)o->vocab))};
        r->orders[i].heads++;
    }
    return OG_OK;
}

og_status og_hash_audit(const og_addr *addr, const og_hash_options *options, og_pool *pool, og_hash_report **out,
                        og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(addr);
    job j = {.addr = addr, .options = *options};
    og_prober *probe; /* refuses what cannot be audited */
    OG_TRY(og_prober_new(addr, options, &probe, err));
    og_prober_free(probe);
    if (!j.options.edits) j.options.edits = 65536;
    if (!j.options.samples) j.options.samples = 1 << 20;
    if (!j.options.contexts) {
        int64_t n = (1 << 20) / options->vocab;
        j.options.contexts = n < 1 ? 1 : n > 64 ? 64 : (int32_t)n;
    }
    og_hash_report *r = og_alloc_zero(1, sizeof *r);
    j.changed = og_alloc_zero((int64_t)l->window.max_order * l->n_columns, sizeof *j.changed);
    j.distinct = og_alloc_zero((int64_t)l->window.max_order * l->n_columns, sizeof *j.distinct);
    og_status status = OG_OK;
    if (!r || !j.changed || !j.distinct) status = og_fail(err, OG_ENOMEM, "no memory for an audit");
    if (status == OG_OK) status = prepare(r, addr, &j.options, err);
    if (status == OG_OK) {
        pthread_mutex_init(&j.lock, NULL);
        og_pool_for(pool, l->window.max_order, 1, cells_part, &j);
        pthread_mutex_destroy(&j.lock);
        status = j.status;
        if (status != OG_OK && err) *err = j.error;
    }
    if (status == OG_OK) fill_lags(r, &j);
    if (status == OG_OK && j.options.samples > 0) status = og_hash_load(addr, &j.options, r, err);
    if (status == OG_OK) status = warn(r, err);
    og_release(j.changed);
    og_release(j.distinct);
    if (status != OG_OK) {
        og_hash_report_free(r);
        return status;
    }
    *out = r;
    return OG_OK;
}

void og_hash_report_free(og_hash_report *r) {
    if (!r) return;
    og_release(r->lags);
    og_release(r->columns);
    og_release(r->orders);
    og_release(r->warnings);
    og_release(r);
}
