/* lookup_run.c: the rows of one part of a batch: straight gather, or each distinct row once. */
#include "lookup/dedupe.h"
#include "lookup/lookup_internal.h"
#include "store/float_mode.h"

#include <string.h>

enum {
    BLOCK_ROWS = 256,    /* output rows whose columns are filled together */
    DEDUPE_LEAST = 4096, /* ids below which sorting cannot pay */
    SORT_BYTES = 700,    /* of an id's row that need not be read again, from which sorting pays */
    /* Rows asked for ahead of the one being copied. Into the second-level cache, which has more misses in flight than
     * the first, 32 rows ahead was best for 512 B and 1 KiB; but an output that fills that cache throws them out again,
     * and then 8 rows into the first level are better (docs/tables-engine.md has the figures). */
    FAR_ROWS = 32,
    FAR_BYTES = 64 << 10,
    NEAR_ROWS = 8,
    STREAM_LEAST_BYTES = 512 /* of a row, for stores past the caches */
};
static const int64_t stream_least_batch = INT64_C(2) << 20; /* a smaller output is better left in the caches */

static og_gather gather_of(const og_lookup *l, int32_t c, const int64_t *rows, uint8_t *out, int64_t batch_bytes) {
    const og_lookup_column *column = &l->columns[c];
    const og_store *store = column->store;
    og_gather g = {
        .values = store->values,
        .scales = store->scales,
        .value_stride = store->value_stride,
        .scale_stride = store->scale_stride,
        .value_bytes = store->record.value_bytes,
        .dim = store->dim,
        .group = store->group,
        .convert = column->convert,
        .rows = rows + c,
        .row_step = l->n_columns,
        .base = column->base,
        .out_bytes = column->out_bytes,
        .out = out + column->out_offset,
        .out_stride = l->out_row_bytes,
    };
    g.stream = g.out_bytes >= STREAM_LEAST_BYTES && batch_bytes >= stream_least_batch &&
               (!g.convert || g.out_bytes <= OG_CONVERT_PAST_MOST);
    g.far = g.stream || batch_bytes < stream_least_batch;
    int64_t most = FAR_BYTES / g.value_bytes;
    g.prefetch = g.far ? (int32_t)(most < 2 ? 2 : most < FAR_ROWS ? most : FAR_ROWS) : NEAR_ROWS;
    return g;
}

/* Room for n ids, or 0: then the caller gathers without sorting, which gives the same values. */
static int make_room(og_lookup_scratch *scratch, int64_t bytes) {
    if (bytes <= scratch->bytes) return 1;
    void *memory = og_alloc(bytes + bytes / 4, 1);
    if (!memory) return 0;
    og_release(scratch->memory);
    scratch->memory = memory;
    scratch->bytes = bytes + bytes / 4;
    return 1;
}

/* An id that has come before finds its row in the caches, and to sort and to write out of order costs as much as to
 * read from memory what they hold no more (docs/tables-engine.md has the figures). To unpack a row to 16 bits takes the
 * time of reading 4 bytes a value. */
static int sorting_pays(const og_gather *g, int64_t n, double share) {
    int unpacks = g->scales && g->out_bytes < g->dim * 4;
    return n >= DEDUPE_LEAST && (1 - share) * (double)(g->value_bytes + (unpacks ? g->dim * 4 : 0)) >= SORT_BYTES;
}

/* Each distinct row is read once, in ascending order, and written to all its places. */
static int64_t gather_sorted(const og_lookup *l, const og_gather *g, int64_t n, void *scratch) {
    int64_t *ids = scratch;
    for (int64_t i = 0; i < n; i++) ids[i] = g->rows[i * g->row_step];
    og_sorted sorted = og_sort_ids(ids, n, ids + n);
    uint8_t converted[OG_CONVERT_PAST_MOST] __attribute__((aligned(64)));
    int64_t distinct = 0, ahead = 0, in_front = 0;
    uint64_t last_ahead = UINT64_MAX;
    for (int64_t i = 0; i < n;) {
        for (; ahead < n && in_front < g->prefetch; ahead++) { /* prefetch distinct rows ahead of i */
            uint64_t id = og_sorted_id(&sorted, ahead);
            if (id == last_ahead) continue;
            last_ahead = id;
            in_front++;
            int64_t next = (int64_t)id + sorted.least;
            if (next < 0) continue;
            const uint8_t *row = g->values + (next - g->base) * g->value_stride;
            for (int64_t b = 0; b < g->value_bytes; b += 64) __builtin_prefetch(row + b, 0, 3);
        }
        in_front--;
        uint64_t id = og_sorted_id(&sorted, i);
        int absent = (int64_t)id + sorted.least < 0;
        distinct += !absent;
        int64_t index = absent ? 0 : (int64_t)id + sorted.least - g->base; /* an absent id may lie 2^62 rows away */
        const uint8_t *source = g->values + index * g->value_stride;
        if (g->convert && !absent) { /* once: the row's other places get copies */
            uint8_t *to = g->stream ? converted : g->out + og_sorted_position(&sorted, i) * g->out_stride;
            g->convert(source, g->scales ? g->scales + index * g->scale_stride : NULL, to, g->dim, g->group);
            source = to;
        }
        for (; i < n && og_sorted_id(&sorted, i) == id; i++) {
            uint8_t *out = g->out + og_sorted_position(&sorted, i) * g->out_stride;
            if (absent)
                memset(out, 0, (size_t)g->out_bytes);
            else if (out != source)
                l->ops->copy(out, source, g->out_bytes, g->stream);
        }
    }
    if (g->stream) l->ops->fence();
    return distinct;
}

static int64_t count_absent(const og_gather *g, int64_t n) {
    int64_t absent = 0;
    if (g->row_step == 1) /* a loop that vectorises */
        for (int64_t i = 0; i < n; i++) absent += g->rows[i] < 0;
    else
        for (int64_t i = 0; i < n; i++) absent += g->rows[i * g->row_step] < 0;
    return absent;
}

void og_lookup_run(const og_lookup *l, const int64_t *rows, int64_t begin, int64_t end, uint8_t *out,
                   og_lookup_scratch *scratch, og_lookup_count *count) {
    int64_t n = end - begin;
    if (n <= 0) return;
    uint32_t mode = og_float_mode_enter();
    const int64_t *ids = rows + begin * l->n_columns;
    uint8_t *first = out + begin * l->out_row_bytes;
    uint64_t sorted_columns[64] = {0}; /* columns done by sorting, of the first 4,096 */
    int32_t left = l->n_columns;
    for (int32_t c = 0; c < l->n_columns; c++) {
        og_gather g = gather_of(l, c, ids, first, n * l->out_row_bytes);
        int64_t absent = count_absent(&g, n);
        count->ids += n;
        count->absent += absent;
        if (!l->dedupe || c >= 4096) {
            count->distinct += n - absent;
            continue;
        }
        int always = l->dedupe == OG_DEDUPE_ALWAYS;
        double share = always || n < DEDUPE_LEAST ? 1 : og_distinct_share(g.rows, g.row_step, n);
        if (!(always || sorting_pays(&g, n, share)) || !make_room(scratch, n * 8 + og_dedupe_bytes(n))) {
            int64_t estimate = (int64_t)(share * (double)(n - absent) + 0.5);
            count->distinct += estimate || n == absent ? estimate : 1; /* the sample of a few ids may be empty */
            continue;
        }
        count->distinct += gather_sorted(l, &g, n, scratch->memory);
        sorted_columns[c / 64] |= UINT64_C(1) << (c % 64);
        left--;
    }
    for (int64_t at = 0; left && at < n; at += BLOCK_ROWS) {
        int64_t rows_here = n - at < BLOCK_ROWS ? n - at : BLOCK_ROWS;
        for (int32_t c = 0; c < l->n_columns; c++) {
            if (c < 4096 && sorted_columns[c / 64] >> (c % 64) & 1) continue;
            og_gather g = gather_of(l, c, ids + at * l->n_columns, first + at * l->out_row_bytes, n * l->out_row_bytes);
            if (l->n_columns == 1) rows_here = n; /* one column has nothing to share a block with */
            l->ops->gather(&g, rows_here);
        }
        if (l->n_columns == 1) break;
    }
    og_float_mode_leave(mode);
}
