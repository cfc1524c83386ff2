/* map.c: streams and stencils' windows to rows. */
#include "addr/addr_internal.h"
#include "store/prefetch.h"

#include <omnigram/memory.h>

#include <pthread.h>
#include <string.h>

#define GRAIN      16384               /* tokens of one part */
#define AHEAD_MOST (INT64_C(32) << 10) /* bytes: of a first-level cache of 48 KiB */

/* Rows of n-grams that lack a cell, for the fills that say so by the row and not by a code. */
static void blank(const og_addr_layout *layout, const og_cells *cells, int64_t *rows) {
    const og_window *window = &layout->window;
    int32_t row0 = window->fill == OG_FILL_ROW0;
    if (!cells->present || (!row0 && window->fill != OG_FILL_ZERO_VEC && window->fill != OG_FILL_LEAK)) return;
    int64_t n = cells->n, columns = layout->n_columns;
    for (int64_t c = 0; c < columns; c++) {
        const og_column *column = &layout->columns[c];
        int32_t order = window->fill_span_max ? cells->order : column->order;
        uint32_t need = (uint32_t)((UINT64_C(1) << order) - 1);
        int64_t none = row0 ? column->base : OG_ROW_NONE;
        for (int64_t i = 0; i < n;
             i++) { /* no branch: at the edge of each row of a picture it would be guessed wrong */
            int64_t keep = -(int64_t)((cells->present[i] & need) == need), *row = &rows[i * columns + c];
            *row = (*row & keep) | (none & ~keep);
        }
    }
}

/* ---- codes ---- */

static og_status bad_code(const og_addr *addr, int32_t code, int64_t position, const char *where, og_error *err) {
    return og_fail(err, OG_EINVAL, "code %d at position %lld%s is not in [%lld, %lld) of scheme %s", code,
                   (long long)position, where, (long long)addr->layout.least_code, (long long)addr->layout.code_limit,
                   addr->type->name);
}

/* The first code of codes[n] that is not allowed, or n. */
static int64_t first_bad(const og_addr_layout *l, const int32_t *codes, int64_t n, int64_t extra) {
    /* In 32 bits, four lanes of which fit in the least of registers: a distance from least_code that wraps is that of
     * a code below it, and farther than any span. */
    int64_t low = l->least_code < INT32_MIN ? INT32_MIN : l->least_code,
            high = l->code_limit > INT32_MAX ? (int64_t)INT32_MAX + 1 : l->code_limit;
    uint64_t all = (uint64_t)(high - low);
    uint32_t least = (uint32_t)low, last = (uint32_t)(all - 1);
    int32_t spare = extra == INT64_MIN ? 0 : (int32_t)extra;
    uint32_t has_spare = extra == INT64_MIN ? 0 : ~0u;
    for (int64_t a = 0; a < n && all < UINT64_C(1) << 32; a += 1024) {
        int64_t end = a + 1024 < n ? a + 1024 : n;
        uint32_t bad = 0;
        for (int64_t i = a; i < end; i++)
            bad |= -(uint32_t)((uint32_t)codes[i] - least > last) & ~(-(uint32_t)(codes[i] == spare) & has_spare);
        if (!bad) continue;
        for (int64_t i = a; i < end; i++)
            if (!og_addr_code_ok(l, codes[i]) && codes[i] != extra) return i;
    }
    return n;
}

static og_status check_history(const og_addr *addr, const og_engine *engine, const og_history *history, og_error *err) {
    og_history *past = (og_history *)(uintptr_t)history;
    const og_addr_layout *l = &addr->layout;
    int64_t width = engine->width;
    if (history->depth != engine->depth || history->width != engine->width || history->lists != engine->lists)
        return og_fail(err, OG_EINVAL, "a history of %d cells of %d codes for scheme %s, which has %d of %d",
                       history->depth, history->width, addr->type->name, engine->depth, engine->width);
    if (!engine->lists) {
        const int32_t *line = og_history_line(past) + (engine->depth - past->reach) * width;
        int64_t bad = first_bad(l, line, past->reach * width, INT64_MIN);
        return bad < past->reach * width ? bad_code(addr, line[bad], bad / width - past->reach, " (history)", err)
                                         : OG_OK;
    }
    og_past lists = og_history_past(past);
    int64_t stride = (engine->depth * width * 4 + 7) / 8 * 2;
    for (int32_t list = 0; list < engine->lists; list++) {
        const int32_t *codes = lists.codes + list * stride;
        int64_t bad = first_bad(l, codes, lists.count[list] * width, INT64_MIN);
        if (bad < lists.count[list] * width)
            return bad_code(addr, codes[bad], bad / width - lists.count[list], " (history)", err);
    }
    return OG_OK;
}

/* ---- the map ---- */

typedef struct map {
    const og_addr *addr;
    const og_walk *walk;
    int64_t *rows;
    uint8_t *live;
    int32_t *signs;
    char *memory; /* a state and a workspace for each worker */
    int64_t each;
    pthread_mutex_t lock;
    int64_t failed_at; /* the first part that failed decides, whoever finds its fault first */
    og_status status;
    og_error error;
} map;

static og_status sink(void *context, const og_cells *cells, int64_t first, og_error *err) {
    map *m = context;
    const og_addr_layout *layout = &m->addr->layout;
    int64_t *rows = m->rows + first * layout->n_columns;
    (void)err;
    /* The next block's lines of the output come while this one is computed, where they would be waited for after. */
    int64_t ahead = m->walk->stream->n - first - cells->n;
    ahead = (ahead < OG_BLOCK ? ahead : OG_BLOCK) * layout->n_columns * 8;
    og_prefetch_near(rows + cells->n * layout->n_columns, ahead < AHEAD_MOST ? ahead : AHEAD_MOST);
    m->addr->type->rows(m->addr->impl, cells, rows);
    blank(layout, cells, rows);
    if (m->live) {
        uint8_t *live = m->live + first * layout->n_columns;
        if (m->addr->type->live)
            m->addr->type->live(m->addr->impl, cells, live);
        else
            for (int64_t i = 0; i < cells->n * layout->n_columns; i++) live[i] = rows[i] >= 0;
    }
    if (m->signs) m->addr->type->signs(m->addr->impl, cells, m->signs + first);
    return OG_OK;
}

static void part(void *context, int64_t begin, int64_t end, int32_t worker) {
    map *m = context;
    const og_walk *walk = m->walk;
    const og_engine *engine = walk->engine;
    const og_stream *stream = walk->stream;
    og_history *state = (og_history *)(m->memory + worker * m->each);
    og_error err;
    err.message[0] = 0;
    /* Codes before the part are looked back at: they are checked before they are used. */
    int64_t from = begin > engine->depth ? begin - engine->depth : 0, width = engine->width;
    int64_t n = (end - from) * width, bad = first_bad(&m->addr->layout, stream->codes + from * width, n, INT64_MIN);
    og_status status;
    if (bad < n) {
        status = bad_code(m->addr, stream->codes[from * width + bad], from + bad / width, "", &err);
    } else {
        og_walk_seek(walk, begin, state);
        status = og_walk_run(walk, state, begin, end, (char *)state + og_engine_history_bytes(engine), sink, m, &err);
    }
    if (status == OG_OK) return;
    pthread_mutex_lock(&m->lock);
    if (m->status == OG_OK || begin < m->failed_at) {
        m->failed_at = begin;
        m->status = status;
        m->error = err;
    }
    pthread_mutex_unlock(&m->lock);
}

static og_status run_map(map *m, og_history *history, og_pool *pool, og_error *err) {
    const og_walk *walk = m->walk;
    const og_engine *engine = walk->engine;
    int64_t n = walk->stream->n;
    /* Skipping can look back any distance, so its parts cannot be begun apart from each other. */
    int64_t grain = engine->skip || engine->modality_skip ? (n > 0 ? n : 1) : GRAIN;
    if (n <= grain)
        part(m, 0, n, 0);
    else
        og_pool_for(pool, n, grain, part, m);
    if (m->status != OG_OK) {
        if (err) *err = m->error;
        return m->status;
    }
    if (history) {
        og_history *state = (og_history *)m->memory;
        og_walk_seek(walk, n, state);
        og_walk_finish(walk, state, history);
    }
    return OG_OK;
}

og_status og_addr_map(const og_addr *addr, const og_stream *stream, og_history *history, og_pool *pool, int64_t *rows,
                      uint8_t *live, int32_t *signs, og_error *err) {
    const og_addr_layout *layout = &addr->layout;
    og_engine engine = {0};
    OG_TRY(og_engine_make(&layout->window, layout->width, layout->nothing, &engine, err));
    OG_TRY(og_stream_check(&engine, stream, err));
    if (signs && !addr->type->signs) return og_fail(err, OG_EINVAL, "scheme %s has no sign rows", addr->type->name);
    if (stream->n > 0 && !rows)
        return og_fail(err, OG_EINVAL, "scheme %s: no memory for rows was given", addr->type->name);
    if (history) OG_TRY(check_history(addr, &engine, history, err));
    int64_t state_bytes = og_engine_history_bytes(&engine), threads = og_pool_threads(pool);
    int64_t each = (state_bytes + og_workspace_bytes(&engine) + 63) / 64 * 64;
    int64_t workers = stream->n > GRAIN ? threads : 1;
    char *memory = og_alloc(workers * each + state_bytes, 1);
    if (!memory) return og_fail(err, OG_ENOMEM, "no memory for %lld bytes of windows", (long long)(workers * each));
    og_history *base = (og_history *)(memory + workers * each);
    if (history)
        memcpy(base, history, (size_t)state_bytes);
    else
        og_engine_reset(&engine, base);
    og_walk walk;
    og_status status = og_walk_begin(&walk, &engine, stream, base, err);
    if (status == OG_OK) {
        map m = {
            .addr = addr, .walk = &walk, .rows = rows, .live = live, .signs = signs, .memory = memory, .each = each};
        pthread_mutex_init(&m.lock, NULL);
        status = run_map(&m, history, pool, err);
        pthread_mutex_destroy(&m.lock);
        og_walk_end(&walk);
    }
    og_release(memory);
    return status;
}

og_status og_addr_map_cells(const og_addr *addr, const og_cells *cells, int64_t *rows, og_error *err) {
    const og_addr_layout *layout = &addr->layout;
    if (cells->n < 0 || cells->n > OG_BLOCK || cells->width != layout->width ||
        cells->order < layout->window.max_order || cells->order > OG_MAX_ORDER)
        return og_fail(err, OG_EINVAL, "%lld windows of %d cells of %d codes for scheme %s, which needs %d cells of %d",
                       (long long)cells->n, cells->order, cells->width, addr->type->name, layout->window.max_order,
                       layout->width);
    for (int32_t k = 0; k < layout->window.max_order; k++) {
        int64_t n = cells->n * cells->width, bad = first_bad(layout, cells->code[k], n, layout->nothing);
        if (bad < n) return bad_code(addr, cells->code[k][bad], cells->position + bad / cells->width, "", err);
    }
    addr->type->rows(addr->impl, cells, rows);
    blank(layout, cells, rows);
    return OG_OK;
}
