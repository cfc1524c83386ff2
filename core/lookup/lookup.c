/* lookup.c: a lookup's plan, checks and life. */
#include "lookup/lookup_internal.h"

#include <omnigram/addr.h>

#include <string.h>

static og_status check_plan(const og_lookup_plan *p, og_error *err) {
    if (p->n_stores < 1 || p->n_columns < 1 || !p->stores || !p->store)
        return og_fail(err, OG_EINVAL, "lookup of %d stores and %d columns: both must be 1 or more", p->n_stores,
                       p->n_columns);
    if (p->out_dtype != OG_F32 && p->out_dtype != OG_BF16 && p->out_dtype != OG_F16)
        return og_fail(err, OG_EINVAL, "lookup out_dtype %d: must be F32, BF16 or F16", p->out_dtype);
    if (p->threads < 1 || p->threads > 64)
        return og_fail(err, OG_EINVAL, "lookup threads %d: must be in 1..64", p->threads);
    if (p->in_flight < 1 || p->in_flight > 64)
        return og_fail(err, OG_EINVAL, "lookup in_flight %d: must be in 1..64", p->in_flight);
    if (p->dedupe < OG_DEDUPE_NEVER || p->dedupe > OG_DEDUPE_ALWAYS)
        return og_fail(err, OG_EINVAL, "lookup dedupe %d: must be in 0..2", p->dedupe);
    for (int32_t c = 0; c < p->n_columns; c++) {
        if (p->store[c] < 0 || p->store[c] >= p->n_stores)
            return og_fail(err, OG_EINVAL, "lookup column %d reads store %d, there are %d, counted from 0", c,
                           p->store[c], p->n_stores);
        if (p->base && p->base[c] < 0)
            return og_fail(err, OG_EINVAL, "lookup column %d: base %lld is negative", c, (long long)p->base[c]);
        int64_t rows = p->stores[p->store[c]]->rows;
        if (p->base && p->base[c] > INT64_MAX - rows)
            return og_fail(err, OG_EINVAL, "lookup column %d: base %lld and %lld rows need more than 64 bits", c,
                           (long long)p->base[c], (long long)rows);
    }
    return OG_OK;
}

og_status og_lookup_new(const og_lookup_plan *plan, og_lookup **out, og_error *err) {
    OG_TRY(og_cpu_check(err));
    OG_TRY(check_plan(plan, err));
    og_lookup *l = og_alloc_zero(1, sizeof *l);
    if (!l) return og_fail(err, OG_ENOMEM, "no memory for a lookup");
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->now, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->done, NULL);
    l->n_columns = plan->n_columns;
    l->threads = plan->threads;
    l->in_flight = plan->in_flight;
    l->dedupe = plan->dedupe;
    l->out_dtype = plan->out_dtype;
    l->ops = og_row_ops_of(og_cpu_level());
    l->next_ticket = l->first_waiting = 1;
    l->columns = og_alloc_zero(plan->n_columns, sizeof *l->columns);
    l->period = plan->n_columns * ((63 + (int64_t)plan->n_columns) / plan->n_columns); /* 64 and more: loops are wide */
    l->limits = og_alloc(2 * l->period, sizeof *l->limits);
    l->scratch = og_alloc_zero(plan->threads + 1, sizeof *l->scratch);
    l->workers = og_alloc_zero(plan->threads, sizeof *l->workers);
    l->jobs = og_alloc_zero(plan->in_flight, sizeof *l->jobs);
    if (!l->columns || !l->limits || !l->scratch || !l->workers || !l->jobs) {
        og_lookup_free(l);
        return og_fail(err, OG_ENOMEM, "no memory for a lookup of %d columns", plan->n_columns);
    }
    int64_t value_bytes = plan->out_dtype == OG_F32 ? 4 : 2;
    for (int32_t c = 0; c < plan->n_columns; c++) {
        og_lookup_column *column = &l->columns[c];
        column->store = plan->stores[plan->store[c]];
        column->table = plan->store[c];
        column->base = plan->base ? plan->base[c] : 0;
        column->out_offset = l->width * value_bytes;
        column->out_bytes = column->store->dim * value_bytes;
        column->convert = l->ops->convert[column->store->dtype - OG_F32][plan->out_dtype - OG_F32];
        l->width += column->store->dim;
    }
    for (int64_t i = 0; i < l->period; i++) {
        l->limits[i] = (uint64_t)l->columns[i % plan->n_columns].base;
        l->limits[l->period + i] = (uint64_t)l->columns[i % plan->n_columns].store->rows;
    }
    l->out_row_bytes = l->width * value_bytes;
    og_status status = og_lookup_start(l, err);
    if (status != OG_OK) {
        og_lookup_free(l);
        return status;
    }
    *out = l;
    return OG_OK;
}

void og_lookup_free(og_lookup *l) {
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->stop = 1;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (int32_t i = 0; i < l->n_workers; i++) pthread_join(l->workers[i], NULL);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->now);
    if (l->scratch)
        for (int32_t i = 0; i <= l->threads; i++) og_release(l->scratch[i].memory);
    og_release(l->scratch);
    og_release(l->columns);
    og_release(l->limits);
    og_release(l->workers);
    og_release(l->jobs);
    og_release(l);
}

int64_t og_lookup_width(const og_lookup *lookup) { return lookup->width; }

og_status og_lookup_check(const og_lookup *l, const int64_t *rows, int64_t n, og_error *err) {
    if (n < 0) return og_fail(err, OG_EINVAL, "lookup of %lld rows: the count is negative", (long long)n);
    int32_t columns = l->n_columns;
    if (!l->ops->outside(rows, n * columns, l->limits, l->limits + l->period, l->period)) return OG_OK;
    for (int64_t i = 0; i < n * columns; i++) {
        const og_lookup_column *column = &l->columns[i % columns];
        int64_t id = rows[i];
        if (id == OG_ROW_NONE || (uint64_t)id - (uint64_t)column->base < (uint64_t)column->store->rows) continue;
        return og_row_outside(column->store, id, i / columns, (int32_t)(i % columns), column->table, column->base, err);
    }
    return OG_OK;
}

og_status og_lookup_now(og_lookup *l, const int64_t *rows, int64_t n, void *out, og_error *err) {
    OG_TRY(og_lookup_check(l, rows, n, err));
    og_lookup_count count = {0};
    pthread_mutex_lock(&l->now);
    og_lookup_run(l, rows, 0, n, out, &l->scratch[l->threads], &count);
    pthread_mutex_unlock(&l->now);
    pthread_mutex_lock(&l->lock);
    l->stats.lookups++;
    l->stats.ids += count.ids;
    l->stats.distinct += count.distinct;
    l->stats.absent += count.absent;
    pthread_mutex_unlock(&l->lock);
    return OG_OK;
}

void og_lookup_read_stats(const og_lookup *lookup, og_lookup_stats *out) {
    og_lookup *l = (og_lookup *)(uintptr_t)lookup; /* the lock is not part of its value */
    pthread_mutex_lock(&l->lock);
    *out = l->stats;
    pthread_mutex_unlock(&l->lock);
}

void og_lookup_reset_stats(og_lookup *l) {
    pthread_mutex_lock(&l->lock);
    memset(&l->stats, 0, sizeof l->stats);
    pthread_mutex_unlock(&l->lock);
}
