/* memory.c: tables in training: making them, planning row ids ahead on a worker thread, gathering, reading for
 * measures. */
#include "memory_impl.h"
#include "run_folder.h"

#include <stdio.h>
#include <string.h>

#include <omnigram/random.h>

/* ---- making ------------------------------------------------------------------------------------------------ */

static og_status make_stores(og_memory *m, og_error *err) {
    m->n_tables = og_table_set_count(m->set);
    m->stores = og_alloc_zero(m->n_tables, sizeof *m->stores);
    m->store_of = og_alloc(m->columns, sizeof *m->store_of);
    m->offset_of = og_alloc(m->columns, sizeof *m->offset_of);
    if (!m->stores || !m->store_of || !m->offset_of) return og_fail(err, OG_ENOMEM, "tables: no memory");
    int64_t offset = 0;
    for (int32_t t = 0; t < m->n_tables; t++) {
        const og_table_info *info = og_table_set_info(m->set, t);
        og_store_options o = og_memory_store_options(&m->options, info);
        og_status status = og_store_new(&o, &m->stores[t], err);
        if (status != OG_OK) return og_fail_at(err, status, "table %s", info->name);
        if (m->options.rows == OG_ROWS_NORMAL)
            OG_TRY(
                og_store_fill(m->stores[t], og_splitmix64(m->seed ^ (uint64_t)t), m->options.rows_std, m->pool, err));
        m->bytes += og_store_rows(m->stores[t]) * og_store_row_bytes(m->stores[t]);
        for (int32_t c = 0; c < info->n_columns; c++) {
            m->store_of[info->first_column + c] = t;
            m->offset_of[info->first_column + c] = offset;
            offset += info->dim;
        }
    }
    return OG_OK;
}

static og_status make_slots(og_memory *m, int64_t batch, og_error *err) {
    int64_t positions = batch * og_packs_capacity(m->packs);
    for (int i = 0; i < OG_MEMORY_SLOTS; i++) {
        og_memory_slot *s = &m->slots[i];
        s->rows = og_alloc(positions * m->columns, sizeof *s->rows);
        s->by_column = og_alloc(positions * m->columns, sizeof *s->by_column);
        s->packs = og_alloc(batch, sizeof *s->packs);
        s->starts = og_alloc(batch + 1, sizeof *s->starts);
        s->tickets = og_alloc(batch, sizeof *s->tickets);
        s->vectors = og_alloc_zero(positions * m->width, sizeof *s->vectors);
        if (!s->rows || !s->by_column || !s->packs || !s->starts || !s->tickets || !s->vectors)
            return og_fail(err, OG_ENOMEM, "rows of a step: no memory for %lld positions of %lld values",
                           (long long)positions, (long long)m->width);
    }
    m->read_rows = og_alloc(og_packs_capacity(m->packs) * m->columns, sizeof *m->read_rows);
    m->batch = batch;
    return m->read_rows ? OG_OK : og_fail(err, OG_ENOMEM, "rows of a step: no memory");
}

/* ---- the planning thread -------------------------------------------------------------------------------------- */

/* n-grams are dropped whole: all columns of one order at one position share the draw. */
static void drop(const og_memory *m, og_memory_slot *s, int64_t n) {
    uint64_t key = og_random_bits(og_splitmix64(m->seed ^ 0x64726f70ull), (uint64_t)s->step);
    for (int64_t c = 0; c < m->columns; c++) {
        const og_column *column = og_table_set_column(m->set, (int32_t)c);
        uint64_t ngram = og_splitmix64((uint64_t)m->store_of[c] << 8 | (uint64_t)column->order) ^ key;
        for (int64_t i = 0; i < n; i++)
            if (og_random_unit(ngram, (uint64_t)i) < m->options.dropout) s->rows[i * m->columns + c] = OG_ROW_NONE;
    }
}

static og_status compute_rows(og_memory *m, og_memory_slot *s, og_error *err) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->n_packs; i++) {
        og_pack pack;
        OG_TRY(og_packs_get(m->packs, s->packs[i], &pack, err));
        s->starts[i] = n; /* pads lie at the end of a pack; the next pack overwrites their rows */
        og_status status = og_table_set_rows(m->set, &pack, NULL, s->rows + n * m->columns, err);
        if (status != OG_OK) return og_fail_at(err, status, "pack %lld", (long long)s->packs[i]);
        n += pack.n_valid;
    }
    s->starts[s->n_packs] = n;
    if (m->options.dropout > 0) drop(m, s, n);
    if (m->options.mode == OG_MEMORY_TRAIN)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < m->columns; c++) s->by_column[c * n + i] = s->rows[i * m->columns + c];
    return OG_OK;
}

static void *planner(void *context) {
    og_memory *m = context;
    pthread_mutex_lock(&m->mutex);
    for (;;) {
        og_memory_slot *next = NULL;
        for (int i = 0; i < OG_MEMORY_SLOTS; i++) /* the earliest step that waits for its ids */
            if (m->slots[i].state == OG_SLOT_WANTED && (!next || m->slots[i].step < next->step)) next = &m->slots[i];
        if (!next) {
            if (m->stop) break;
            pthread_cond_wait(&m->changed, &m->mutex);
            continue;
        }
        pthread_mutex_unlock(&m->mutex);
        double began = og_seconds();
        og_status status = compute_rows(m, next, &next->err);
        double seconds = og_seconds() - began;
        pthread_mutex_lock(&m->mutex);
        next->status = status;
        next->state = OG_SLOT_PLANNED;
        m->times.work_seconds += seconds;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->mutex);
    return NULL;
}

og_status og_memory_new(const og_config *merged, const og_all_options *options, const og_packs *packs, int64_t batch,
                        og_pool *pool, og_memory **out, og_error *err) {
    og_memory *m = og_alloc_zero(1, sizeof *m);
    if (!m) return og_fail(err, OG_ENOMEM, "tables: no memory");
    m->options = options->memory;
    m->seed = og_splitmix64((uint64_t)options->train.seed ^ 0x7461626c6573ull);
    m->packs = packs;
    m->pool = pool;
    pthread_mutex_init(&m->mutex, NULL);
    pthread_cond_init(&m->changed, NULL);
    og_status status = og_memory_table_set(merged, m->options.use, packs, &m->set, err);
    if (status == OG_OK) {
        m->columns = og_table_set_columns(m->set);
        m->width = og_table_set_width(m->set);
        status = make_stores(m, err);
    }
    if (status == OG_OK) status = make_slots(m, batch, err);
    if (status == OG_OK) status = og_memory_update_new(m, err);
    if (status == OG_OK) {
        og_lookup_plan plan = {.stores = m->stores,
                               .n_stores = m->n_tables,
                               .store = m->store_of,
                               .n_columns = (int32_t)m->columns,
                               .out_dtype = OG_F32,
                               .threads = (int32_t)m->options.workers,
                               .in_flight = 64,
                               .dedupe = m->options.dedupe};
        status = og_lookup_new(&plan, &m->lookup, err);
    }
    if (status == OG_OK && og_lookup_width(m->lookup) != m->width)
        status = og_fail(err, OG_EINTERNAL, "lookup gives %lld values, the table set %lld",
                         (long long)og_lookup_width(m->lookup), (long long)m->width);
    if (status == OG_OK && pthread_create(&m->thread, NULL, planner, m))
        status = og_fail(err, OG_ENOMEM, "tables: cannot start a thread");
    m->started = status == OG_OK;
    if (status == OG_OK && m->options.load && m->options.load[0]) {
        char path[4200];
        snprintf(path, sizeof path, "%s/tables.safetensors", m->options.load);
        status = og_memory_load(m, path, 0, err);
    }
    if (status != OG_OK) {
        og_memory_free(m);
        return status;
    }
    *out = m;
    return OG_OK;
}

void og_memory_free(og_memory *m) {
    if (!m) return;
    if (m->started) {
        pthread_mutex_lock(&m->mutex);
        m->stop = 1;
        pthread_cond_broadcast(&m->changed);
        pthread_mutex_unlock(&m->mutex);
        pthread_join(m->thread, NULL);
    }
    og_lookup_free(m->lookup);
    for (int i = 0; i < OG_MEMORY_SLOTS; i++) {
        og_memory_slot *s = &m->slots[i];
        og_release(s->rows);
        og_release(s->by_column);
        og_release(s->packs);
        og_release(s->starts);
        og_release(s->tickets);
        og_release(s->vectors);
    }
    for (int32_t t = 0; m->stores && t < m->n_tables; t++) og_store_free(m->stores[t]);
    og_memory_update_free(m);
    og_release(m->stores);
    og_release(m->store_of);
    og_release(m->offset_of);
    og_release(m->read_rows);
    og_table_set_free(m->set);
    pthread_mutex_destroy(&m->mutex);
    pthread_cond_destroy(&m->changed);
    og_release(m);
}

const og_table_set *og_memory_set(const og_memory *m) { return m->set; }
int64_t og_memory_width(const og_memory *m) { return m->width; }
int64_t og_memory_tables(const og_memory *m) { return m->n_tables; }
og_store *og_memory_store(const og_memory *m, int64_t table) { return m->stores[table]; }
int64_t og_memory_bytes(const og_memory *m) { return m->bytes; }

/* ---- a step -------------------------------------------------------------------------------------------------- */

og_memory_slot *og_memory_slot_of(og_memory *m, int64_t step) {
    og_memory_slot *s = &m->slots[step % OG_MEMORY_SLOTS];
    return s->state != OG_SLOT_FREE && s->step == step ? s : NULL;
}

og_status og_memory_plan(og_memory *m, const og_memory_batch *batch, og_error *err) {
    og_memory_slot *s = &m->slots[batch->step % OG_MEMORY_SLOTS];
    if (og_memory_slot_of(m, batch->step)) return OG_OK;
    if (batch->n_packs > m->batch || s->state == OG_SLOT_WANTED || s->state == OG_SLOT_GATHERING)
        return og_fail(err, OG_EINTERNAL, "step %lld cannot be planned now", (long long)batch->step);
    pthread_mutex_lock(&m->mutex);
    s->step = batch->step;
    s->n_packs = batch->n_packs;
    s->micro = batch->micro;
    memcpy(s->packs, batch->packs, (size_t)batch->n_packs * sizeof *s->packs);
    s->err.message[0] = 0;
    s->state = OG_SLOT_WANTED;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->mutex);
    return OG_OK;
}

static int64_t micro_batches(const og_memory_slot *s) { return (s->n_packs + s->micro - 1) / s->micro; }
static void micro_range(const og_memory_slot *s, int64_t micro_batch, int64_t *begin, int64_t *end) {
    int64_t last = (micro_batch + 1) * s->micro;
    *begin = s->starts[micro_batch * s->micro];
    *end = s->starts[last < s->n_packs ? last : s->n_packs];
}

og_status og_memory_gather(og_memory *m, int64_t step, og_error *err) {
    og_memory_slot *s = og_memory_slot_of(m, step);
    if (!s) return og_fail(err, OG_EINTERNAL, "step %lld was not planned", (long long)step);
    if (s->state == OG_SLOT_GATHERING) return OG_OK;
    double began = og_seconds();
    pthread_mutex_lock(&m->mutex);
    while (s->state == OG_SLOT_WANTED) pthread_cond_wait(&m->changed, &m->mutex);
    pthread_mutex_unlock(&m->mutex);
    double planned = og_seconds();
    og_status status = s->status;
    if (status != OG_OK) status = og_fail(err, status, "%s", s->err.message);
    int64_t sent = 0;
    for (; status == OG_OK && sent < micro_batches(s); sent++) {
        int64_t begin, end;
        micro_range(s, sent, &begin, &end);
        status = og_lookup_submit(m->lookup, s->rows + begin * m->columns, end - begin, s->vectors + begin * m->width,
                                  &s->tickets[sent], err);
        if (status != OG_OK) break;
    }
    double now = og_seconds();
    pthread_mutex_lock(&m->mutex);
    m->times.waited_seconds += now - began;
    m->times.work_seconds += now - planned; /* checking and queueing ids is part of the lookup */
    pthread_mutex_unlock(&m->mutex);
    if (status != OG_OK) {
        for (int64_t i = 0; i < sent; i++)
            if (og_lookup_cancel(m->lookup, s->tickets[i], NULL) != OG_OK) break;
        s->state = OG_SLOT_FREE;
        return og_fail_at(err, status, "rows of step %lld", (long long)step);
    }
    s->waited = 0;
    s->state = OG_SLOT_GATHERING;
    return OG_OK;
}

og_status og_memory_take(og_memory *m, int64_t step, int64_t micro_batch, float **vectors, int64_t *n, og_error *err) {
    og_memory_slot *s = og_memory_slot_of(m, step);
    if (!s || s->state != OG_SLOT_GATHERING || micro_batch != s->waited)
        return og_fail(err, OG_EINTERNAL, "micro batch %lld of step %lld is not in flight", (long long)micro_batch,
                       (long long)step);
    int64_t begin, end;
    micro_range(s, micro_batch, &begin, &end);
    double began = og_seconds();
    og_status status = og_lookup_wait(m->lookup, s->tickets[micro_batch], err);
    double seconds = og_seconds() - began;
    pthread_mutex_lock(&m->mutex);
    m->times.waited_seconds += seconds;
    pthread_mutex_unlock(&m->mutex);
    s->waited++;
    if (s->waited == micro_batches(s)) s->state = OG_SLOT_TAKEN;
    if (status != OG_OK) return og_fail_at(err, status, "lookup of step %lld", (long long)step);
    *vectors = s->vectors + begin * m->width;
    *n = end - begin;
    return OG_OK;
}

og_status og_memory_forget(og_memory *m, og_error *err) {
    og_status status = OG_OK;
    for (int i = 0; i < OG_MEMORY_SLOTS; i++) {
        og_memory_slot *s = &m->slots[i];
        pthread_mutex_lock(&m->mutex);
        while (s->state == OG_SLOT_WANTED) pthread_cond_wait(&m->changed, &m->mutex);
        pthread_mutex_unlock(&m->mutex);
        if (s->state == OG_SLOT_GATHERING)
            for (int64_t k = s->waited; k < micro_batches(s) && status == OG_OK; k++)
                status = og_lookup_cancel(m->lookup, s->tickets[k], err);
        s->state = OG_SLOT_FREE;
    }
    return status;
}

og_status og_memory_read(og_memory *m, const og_pack *pack, int64_t *rows, float *vectors, og_error *err) {
    if (pack->n_tokens > og_packs_capacity(m->packs))
        return og_fail(err, OG_EINVAL, "a pack of %lld tokens, but the model was made for %lld",
                       (long long)pack->n_tokens, (long long)og_packs_capacity(m->packs));
    OG_TRY(og_table_set_rows(m->set, pack, m->pool, m->read_rows, err));
    if (rows) memcpy(rows, m->read_rows, (size_t)(pack->n_valid * m->columns) * sizeof *rows);
    return og_lookup_now(m->lookup, m->read_rows, pack->n_valid, vectors, err);
}

void og_memory_read_times(const og_memory *m, og_memory_times *out) {
    og_lookup_stats stats;
    og_lookup_read_stats(m->lookup, &stats);
    pthread_mutex_t *mutex = (pthread_mutex_t *)&m->mutex;
    pthread_mutex_lock(mutex);
    *out = m->times;
    pthread_mutex_unlock(mutex);
    out->work_seconds += 1e-9 * (double)stats.work_ns;
}
