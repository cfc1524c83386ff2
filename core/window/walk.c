/* walk.c: a stream to blocks of windows. */
#include "window/engine.h"

#include <omnigram/memory.h>

#include <string.h>

/* Scratch of one block. */
typedef struct work {
    int32_t *codes; /* [max_order][OG_BLOCK * width] */
    int8_t *tags;   /* [max_order][OG_BLOCK] */
    uint32_t *present, *marks;
    int32_t *reach; /* -1: the current cell is absent too */
} work;

static work work_of(const og_engine *e, void *memory) {
    int64_t order = e->depth + 1;
    work w;
    w.codes = memory;
    w.present = (uint32_t *)(w.codes + order * OG_BLOCK * e->width);
    w.marks = w.present + OG_BLOCK;
    w.reach = (int32_t *)(w.marks + OG_BLOCK);
    w.tags = (int8_t *)(w.reach + OG_BLOCK);
    return w;
}

int64_t og_workspace_bytes(const og_engine *e) {
    int64_t order = e->depth + 1;
    int64_t bytes = order * OG_BLOCK * (4 * (int64_t)e->width + 1) + 3 * 4 * OG_BLOCK;
    return (bytes + 63) / 64 * 64;
}

og_status og_walk_begin(og_walk *walk, const og_engine *e, const og_stream *stream, const og_history *base,
                        og_error *err) {
    int64_t head = stream->n < e->depth + OG_BLOCK ? stream->n : e->depth + OG_BLOCK;
    int64_t tokens = e->depth + head;
    *walk = (og_walk){.engine = e, .stream = stream, .base = base};
    walk->front = og_alloc(tokens * e->width + (tokens + 3) / 4, 4);
    if (!walk->front) return og_fail(err, OG_ENOMEM, "no memory for %lld codes", (long long)(tokens * e->width));
    walk->front_tags = (int8_t *)(walk->front + tokens * e->width);
    og_history *past = (og_history *)(uintptr_t)base;
    int64_t line = (int64_t)e->depth * e->width;
    memcpy(walk->front, og_history_line(past), (size_t)line * 4);
    if (head) memcpy(walk->front + line, stream->codes, (size_t)(head * e->width) * 4);
    memcpy(walk->front_tags, og_history_tags(past), (size_t)e->depth);
    if (head && stream->modality)
        memcpy(walk->front_tags + e->depth, stream->modality, (size_t)head);
    else
        memset(walk->front_tags + e->depth, 0, (size_t)head);
    walk->tagged = stream->modality != NULL;
    for (int32_t k = 0; k < e->depth; k++) walk->tagged |= walk->front_tags[k] != 0;
    return OG_OK;
}

void og_walk_end(og_walk *walk) {
    og_release(walk->front);
    walk->front = NULL;
}

/* Code and tag of token a, with what came before it at negative indices. */
static const int32_t *codes_at(const og_walk *walk, int64_t a) {
    const og_engine *e = walk->engine;
    return a >= e->depth ? walk->stream->codes + a * e->width : walk->front + (e->depth + a) * e->width;
}
static const int8_t *tags_at(const og_walk *walk, int64_t a) {
    if (a >= walk->engine->depth) return walk->stream->modality ? walk->stream->modality + a : NULL;
    return walk->front_tags + walk->engine->depth + a;
}

/* ---- latches only: codes and a reach ---- */

/* Reach before each token of the block; returns the least (depth: every window is whole). */
static int32_t reaches(const og_engine *e, og_history *state, const uint32_t *marks, uint32_t any, int64_t n,
                       int32_t *reach) {
    int32_t r = state->reach, least = e->depth;
    if (!any) {
        least = r;
        for (int64_t i = 0; i < n; i++) reach[i] = r + i < e->depth ? r + (int32_t)i : e->depth;
        state->reach = r + n < e->depth ? r + (int32_t)n : e->depth;
        return least;
    }
    for (int64_t i = 0; i < n; i++) {
        uint32_t m = marks[i];
        if (m & e->clear) r = 0;
        reach[i] = m & e->self ? -1 : r;
        if (reach[i] < least) least = reach[i];
        r = m & e->latch ? 0 : r < e->depth ? r + 1 : r;
    }
    state->reach = r;
    return least;
}

static void latch_cells(const og_walk *walk, const work *w, int64_t a, int32_t least, og_cells *cells) {
    const og_engine *e = walk->engine;
    const int32_t *codes = codes_at(walk, a);
    int64_t n = cells->n, width = e->width;
    for (int32_t k = 0; k <= e->depth; k++) {
        if (least >= k) {
            cells->code[k] = codes - k * width;
            continue;
        }
        int32_t *out = w->codes + (int64_t)k * OG_BLOCK * width;
        if (width == 1) {
            for (int64_t i = 0; i < n; i++) {
                int32_t code = codes[i - k];
                out[i] = w->reach[i] >= k ? code : e->fill;
            }
        } else {
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < width; j++)
                    out[i * width + j] = w->reach[i] >= k ? codes[(i - k) * width + j] : e->fill;
        }
        cells->code[k] = out;
    }
    cells->present = NULL;
    if (least < e->depth) {
        for (int64_t i = 0; i < n; i++) w->present[i] = (uint32_t)((UINT64_C(1) << (w->reach[i] + 1)) - 1);
        cells->present = w->present;
    }
}

static void latch_tags(const og_walk *walk, const work *w, int64_t a, int32_t least, og_cells *cells) {
    const og_engine *e = walk->engine;
    const int8_t *tags = walk->tagged ? tags_at(walk, a) : NULL;
    int64_t n = cells->n;
    int8_t one = tags ? tags[0] : 0, differ = 0;
    for (int64_t i = -e->depth; tags && i < n; i++) differ |= (int8_t)(tags[i] ^ one);
    for (int32_t k = 0; k <= e->depth; k++) {
        cells->constant_tag[k] = one;
        cells->tag[k] = NULL;
        if (!differ) continue;
        cells->tag[k] = tags - k;
        if (least >= k) continue;
        int8_t *out = w->tags + (int64_t)k * OG_BLOCK;
        for (int64_t i = 0; i < n; i++) out[i] = w->reach[i] >= k ? tags[i - k] : tags[i];
        cells->tag[k] = out;
    }
}

/* ---- holes and skips: lists ---- */

static void list_cells(const og_walk *walk, og_history *state, const work *w, int64_t a, int64_t n, og_cells *cells) {
    const og_engine *e = walk->engine;
    const int32_t *codes = codes_at(walk, a);
    const int8_t *tags = walk->tagged ? tags_at(walk, a) : NULL;
    int64_t width = e->width, stride = ((int64_t)e->depth * width * 4 + 7) / 8 * 2;
    int64_t mark_stride = (e->depth * 2 + 7) / 8 * 4, tag_stride = (e->depth + 7) / 8 * 8;
    og_past past = og_history_past(state);
    int backoff = e->window->fill == OG_FILL_BACKOFF;
    for (int64_t i = 0; i < n; i++) {
        int32_t tag = tags ? tags[i] : 0;
        uint32_t m = w->marks[i];
        if (m & e->clear) og_past_clear(e, state);
        if (cells) {
            int64_t list = e->modality_skip ? tag + 1 : 0;
            int32_t count = past.count[list], gone = (m & e->self) != 0;
            uint32_t present = 0;
            for (int32_t k = 0; k <= e->depth; k++) {
                const int32_t *code = codes + i * width;
                int32_t cell_tag = tag, here = !gone;
                if (k) {
                    int32_t j = count - k;
                    here = here && j >= 0 && !(past.marks[list * mark_stride + j] & e->hole) &&
                           !(e->modality_hole && past.tags[list * tag_stride + j] != tag);
                    if (here) {
                        code = past.codes + list * stride + j * width;
                        cell_tag = past.tags[list * tag_stride + j];
                    }
                }
                present |= (uint32_t)here << k;
                int keep = here && !(backoff && (~present & ((2u << k) - 1)));
                int32_t *out = w->codes + ((int64_t)k * OG_BLOCK + i) * width;
                for (int64_t v = 0; v < width; v++) out[v] = keep ? code[v] : e->fill;
                w->tags[(int64_t)k * OG_BLOCK + i] = (int8_t)(keep ? cell_tag : tag);
            }
            w->present[i] = present;
        }
        og_past_push(e, state, codes + i * width, m, tag);
    }
    if (!cells) return;
    for (int32_t k = 0; k <= e->depth; k++) {
        cells->code[k] = w->codes + (int64_t)k * OG_BLOCK * width;
        cells->constant_tag[k] = 0;
        cells->tag[k] = walk->tagged ? w->tags + (int64_t)k * OG_BLOCK : NULL;
    }
    cells->present = w->present;
}

/* ---- the run ---- */

static og_status run_block(const og_walk *walk, og_history *state, int64_t a, int64_t n, const work *w,
                           og_cells_fn *sink, void *context, og_error *err) {
    const og_engine *e = walk->engine;
    uint32_t any = og_engine_marks(e, walk->stream, a, n, state->seen, state->last_modality, w->marks);
    og_cells cells = {
        .n = n, .order = e->depth + 1, .width = e->width, .position = state->position, .index = state->index};
    if (e->lists) {
        list_cells(walk, state, w, a, n, sink ? &cells : NULL);
    } else {
        int32_t least = reaches(e, state, w->marks, any, n, w->reach);
        if (sink) {
            latch_cells(walk, w, a, least, &cells);
            latch_tags(walk, w, a, least, &cells);
        }
    }
    state->position += n;
    state->index += n;
    state->seen = 1;
    state->last_modality = walk->stream->modality ? walk->stream->modality[a + n - 1] : 0;
    return sink ? sink(context, &cells, a, err) : OG_OK;
}

static void begin_document(const og_engine *e, og_history *state) {
    if (e->leak) return;
    og_past_clear(e, state);
    state->position = 0;
    state->seen = 0;
}

/* The first document start at or after p. */
static int64_t first_start(const og_stream *stream, int64_t p) {
    int64_t low = 0, high = stream->n_docs;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (stream->doc_starts[middle] < p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

og_status og_walk_run(const og_walk *walk, og_history *state, int64_t from, int64_t to, void *workspace,
                      og_cells_fn *sink, void *context, og_error *err) {
    const og_engine *e = walk->engine;
    const og_stream *stream = walk->stream;
    work w = work_of(e, workspace);
    int64_t d = first_start(stream, from);
    for (int64_t a = from; a < to;) {
        int fresh = 0;
        for (; d < stream->n_docs && stream->doc_starts[d] <= a; d++) fresh = 1;
        if (fresh) begin_document(e, state);
        int64_t end = !e->leak && d < stream->n_docs && stream->doc_starts[d] < to ? stream->doc_starts[d] : to;
        while (a < end) {
            int64_t n = end - a < OG_BLOCK ? end - a : OG_BLOCK;
            OG_TRY(run_block(walk, state, a, n, &w, sink, context, err));
            a += n;
        }
    }
    return OG_OK;
}

void og_walk_seek(const og_walk *walk, int64_t p, og_history *state) {
    const og_engine *e = walk->engine;
    int64_t from = 0;
    memcpy(state, walk->base, (size_t)og_engine_history_bytes(e));
    if (p > e->depth && !e->skip && !e->modality_skip) {
        /* Nothing older than depth tokens is seen: begin there, as if it were the start of all. */
        int64_t d = first_start(walk->stream, p - e->depth + 1) - 1;
        from = p - e->depth;
        og_past_clear(e, state);
        state->position = walk->base->position + from;
        if (!e->leak && d >= 0) state->position = from - walk->stream->doc_starts[d];
        state->index = walk->base->index + from;
        state->seen = from > 0;
        state->last_modality = from > 0 && walk->stream->modality ? walk->stream->modality[from - 1] : 0;
    }
    /* Without a sink only the marks and reaches of the workspace are used. */
    uint32_t marks[OG_BLOCK];
    int32_t reach[OG_BLOCK];
    work w = {.marks = marks, .reach = reach};
    int64_t d = first_start(walk->stream, from);
    for (int64_t a = from; a < p;) {
        int fresh = 0;
        for (; d < walk->stream->n_docs && walk->stream->doc_starts[d] <= a; d++) fresh = 1;
        if (fresh) begin_document(e, state);
        int64_t end =
            !e->leak && d < walk->stream->n_docs && walk->stream->doc_starts[d] < p ? walk->stream->doc_starts[d] : p;
        int64_t n = end - a < OG_BLOCK ? end - a : OG_BLOCK;
        og_status status = run_block(walk, state, a, n, &w, NULL, NULL, NULL);
        (void)status; /* without a sink there is nothing that fails */
        a += n;
    }
}

void og_walk_finish(const og_walk *walk, og_history *state, og_history *out) {
    const og_engine *e = walk->engine;
    const og_stream *stream = walk->stream;
    if (stream->n_docs > 0 && stream->doc_starts[stream->n_docs - 1] == stream->n) begin_document(e, state);
    int64_t depth = e->depth, width = e->width, n = stream->n, kept = n < depth ? depth - n : 0;
    int32_t *line = og_history_line(state);
    int8_t *tags = og_history_tags(state);
    /* Depth codes ending at n: the last of the base's line, then the stream's. */
    memcpy(line, og_history_line((og_history *)(uintptr_t)walk->base) + (depth - kept) * width,
           (size_t)(kept * width) * 4);
    memcpy(tags, og_history_tags((og_history *)(uintptr_t)walk->base) + depth - kept, (size_t)kept);
    if (depth > kept) {
        memcpy(line + kept * width, stream->codes + (n - depth + kept) * width, (size_t)((depth - kept) * width) * 4);
        if (stream->modality)
            memcpy(tags + kept, stream->modality + n - depth + kept, (size_t)(depth - kept));
        else
            memset(tags + kept, 0, (size_t)(depth - kept));
    }
    memcpy(out, state, (size_t)og_engine_history_bytes(e));
}
