/* engine.c: a window's rules compiled, and the past of a stream. */
#include "window/engine.h"

#include <omnigram/memory.h>

#include <string.h>

#define TOKEN_BITS ((1u << OG_AT_EOS) | (1u << OG_AT_SPECIAL) | (1u << OG_AT_IMAGE_TOKEN))

og_status og_engine_make(const og_window *window, int32_t width, int32_t nothing, og_engine *out, og_error *err) {
    if (window->max_order < 1 || window->max_order > OG_MAX_ORDER)
        return og_fail(err, OG_EINVAL, "a window of %d cells; it has 1 to %d", window->max_order, OG_MAX_ORDER);
    if (width < 1) return og_fail(err, OG_EINVAL, "a position of %d codes; it has at least 1", width);
    if (width > 1 && window->n_eos + window->n_special + window->n_image > 0)
        return og_fail(err, OG_EINVAL, "window.eos, special and image name single ids, but a position has %d codes",
                       width);
    og_engine e = {
        .window = window, .depth = window->max_order - 1, .width = width, .nothing = nothing, .fill = nothing};
    e.leak = window->fill == OG_FILL_LEAK;
    switch (window->fill) {
    case OG_FILL_ZERO_ID: e.fill = 0; break;
    case OG_FILL_PAD_ID: e.fill = window->fill_id; break;
    case OG_FILL_EOS_ID:
        if (window->n_eos < 1) return og_fail(err, OG_EINVAL, "fill eos_id needs an id in window.eos");
        e.fill = (int32_t)window->eos[0];
        break;
    default: break;
    }
    for (int i = 0; !e.leak && i < OG_N_BREAKS; i++) {
        uint32_t bit = 1u << i;
        int32_t mode = window->mode[i];
        if (mode < OG_BREAK_NONE || mode > OG_BREAK_SKIP)
            return og_fail(err, OG_EINVAL, "break mode %d; modes are 0 to %d", mode, OG_BREAK_SKIP);
        if (bit & TOKEN_BITS) {
            if (mode == OG_BREAK_LATCH) e.latch |= bit;
            if (mode == OG_BREAK_HOLE) e.hole |= bit;
            if (mode == OG_BREAK_SKIP) e.skip |= bit;
            if (window->self[i]) e.self |= bit;
        } else if (i == OG_AT_MODALITY) {
            if (mode == OG_BREAK_LATCH) e.clear |= bit;
            e.modality_hole = mode == OG_BREAK_HOLE;
            e.modality_skip = mode == OG_BREAK_SKIP;
        } else if (mode != OG_BREAK_NONE) {
            e.clear |= bit;
        }
    }
    e.lists = e.modality_skip ? OG_TAGS : (e.hole | e.skip) || e.modality_hole ? 1 : 0;
    *out = e;
    return OG_OK;
}

og_status og_stream_check(const og_engine *engine, const og_stream *stream, og_error *err) {
    if (stream->n < 0 || stream->n_docs < 0 || (stream->n > 0 && !stream->codes) ||
        (stream->n_docs > 0 && !stream->doc_starts))
        return og_fail(err, OG_EINVAL, "a stream of %lld tokens and %lld documents without its arrays",
                       (long long)stream->n, (long long)stream->n_docs);
    if (stream->width != engine->width)
        return og_fail(err, OG_EINVAL, "a stream of %d codes a position for windows of %d", stream->width,
                       engine->width);
    int64_t before = 0;
    for (int64_t d = 0; d < stream->n_docs; d++) {
        int64_t start = stream->doc_starts[d];
        if (start < before || start > stream->n)
            return og_fail(err, OG_EINVAL, "document start %lld (number %lld) is not in [%lld, %lld]", (long long)start,
                           (long long)d, (long long)before, (long long)stream->n);
        before = start;
    }
    for (int64_t i = 0; stream->modality && engine->modality_skip && i < stream->n; i++)
        if (stream->modality[i] < -1 || stream->modality[i] > OG_TAGS - 2)
            return og_fail(err, OG_EINVAL, "modality %d at position %lld; skipping knows -1 to %d", stream->modality[i],
                           (long long)i, OG_TAGS - 2);
    return OG_OK;
}

/* ---- marks ---- */

static uint32_t mark_ids(const int32_t *codes, int64_t n, const int64_t *ids, int32_t n_ids, uint32_t bit,
                         uint32_t *marks) {
    uint32_t any = 0;
    for (int32_t j = 0; j < n_ids; j++) {
        int32_t id = (int32_t)ids[j];
        for (int64_t i = 0; i < n; i++) {
            uint32_t hit = codes[i] == id ? bit : 0;
            marks[i] |= hit;
            any |= hit;
        }
    }
    return any;
}

uint32_t og_engine_marks(const og_engine *engine, const og_stream *stream, int64_t from, int64_t n, int32_t seen,
                         int32_t last, uint32_t *marks) {
    const og_window *w = engine->window;
    uint32_t wanted = engine->latch | engine->hole | engine->skip | engine->self | engine->clear;
    uint32_t any = 0, modality = 1u << OG_AT_MODALITY;
    memset(marks, 0, (size_t)n * sizeof *marks);
    if (!wanted) return 0;
    if (engine->width == 1) {
        const int32_t *codes = stream->codes + from;
        if (wanted & 1u << OG_AT_EOS) any |= mark_ids(codes, n, w->eos, w->n_eos, 1u << OG_AT_EOS, marks);
        if (wanted & 1u << OG_AT_SPECIAL)
            any |= mark_ids(codes, n, w->special, w->n_special, 1u << OG_AT_SPECIAL, marks);
        if (wanted & 1u << OG_AT_IMAGE_TOKEN)
            any |= mark_ids(codes, n, w->image, w->n_image, 1u << OG_AT_IMAGE_TOKEN, marks);
    }
    if (stream->marks)
        for (int64_t i = 0; i < n; i++) {
            uint32_t bits = stream->marks[from + i] & wanted & ~modality;
            marks[i] |= bits;
            any |= bits;
        }
    if (engine->clear & modality) {
        for (int64_t i = 0; i < n; i++) {
            int32_t tag = stream->modality ? stream->modality[from + i] : 0;
            if (seen && tag != last) marks[i] |= modality, any |= modality;
            seen = 1;
            last = tag;
        }
    }
    return any;
}

/* ---- the past ---- */

static int64_t round8(int64_t bytes) { return (bytes + 7) / 8 * 8; }

int64_t og_engine_history_bytes(const og_engine *e) {
    int64_t cells = (int64_t)e->depth * e->width;
    int64_t line = round8(cells * 4) + round8(e->depth);
    int64_t lists = round8(e->lists * 4) + e->lists * (round8(cells * 4) + round8(e->depth * 2) + round8(e->depth));
    return round8(sizeof(og_history)) + line + lists;
}

int32_t *og_history_line(og_history *state) { return (int32_t *)((char *)state + round8(sizeof *state)); }
int8_t *og_history_tags(og_history *state) {
    return (int8_t *)((char *)og_history_line(state) + round8((int64_t)state->depth * state->width * 4));
}
og_past og_history_past(og_history *state) {
    int64_t cells = (int64_t)state->depth * state->width;
    char *at = (char *)og_history_tags(state) + round8(state->depth);
    og_past past;
    past.count = (int32_t *)at;
    at += round8(state->lists * 4);
    past.codes = (int32_t *)at;
    at += state->lists * round8(cells * 4);
    past.marks = (og_marks *)at;
    at += state->lists * round8(state->depth * 2);
    past.tags = (int8_t *)at;
    return past;
}

void og_engine_reset(const og_engine *e, og_history *state) {
    memset(state, 0, (size_t)og_engine_history_bytes(e));
    state->depth = e->depth;
    state->width = e->width;
    state->lists = e->lists;
}

void og_past_clear(const og_engine *e, og_history *state) {
    state->reach = 0;
    if (e->lists) memset(og_history_past(state).count, 0, (size_t)e->lists * sizeof(int32_t));
}

void og_past_push(const og_engine *e, og_history *state, const int32_t *code, uint32_t marks, int32_t tag) {
    if (marks & e->latch) {
        og_past_clear(e, state);
        return;
    }
    if (marks & e->skip || e->depth == 0) return;
    og_past past = og_history_past(state);
    int64_t list = e->modality_skip ? tag + 1 : 0;
    int64_t stride = round8((int64_t)e->depth * e->width * 4) / 4;
    int32_t *codes = past.codes + list * stride;
    og_marks *list_marks = past.marks + list * (round8(e->depth * 2) / 2);
    int8_t *tags = past.tags + list * round8(e->depth);
    int32_t n = past.count[list];
    if (n == e->depth) {
        n--;
        memmove(codes, codes + e->width, (size_t)n * e->width * 4);
        memmove(list_marks, list_marks + 1, (size_t)n * sizeof *list_marks);
        memmove(tags, tags + 1, (size_t)n);
    }
    memcpy(codes + (int64_t)n * e->width, code, (size_t)e->width * 4);
    list_marks[n] = (og_marks)marks;
    tags[n] = (int8_t)tag;
    past.count[list] = n + 1;
}

/* ---- public ---- */

/* A window that og_engine_make would refuse has no history. */
int64_t og_history_bytes(const og_window *window, int32_t width) {
    og_engine e = {0};
    if (og_engine_make(window, width, 0, &e, NULL) != OG_OK) return 0;
    return og_engine_history_bytes(&e);
}

og_history *og_history_reset(void *memory, const og_window *window, int32_t width) {
    og_engine e = {0};
    if (og_engine_make(window, width, 0, &e, NULL) != OG_OK) return NULL;
    og_engine_reset(&e, memory);
    return memory;
}

static og_status whole(const og_window *window, const og_stream *stream, og_history *history, int32_t nothing,
                       og_cells_fn *sink, void *context, og_error *err) {
    og_engine e = {0};
    OG_TRY(og_engine_make(window, stream->width, nothing, &e, err));
    OG_TRY(og_stream_check(&e, stream, err));
    if (history && (history->depth != e.depth || history->width != e.width || history->lists != e.lists))
        return og_fail(err, OG_EINVAL, "a history of %d cells of %d codes for windows of %d of %d", history->depth,
                       history->width, e.depth, e.width);
    int64_t bytes = og_engine_history_bytes(&e), work = sink ? og_workspace_bytes(&e) : 0;
    char *memory = og_alloc(2 * bytes + work, 1);
    if (!memory) return og_fail(err, OG_ENOMEM, "no memory for %lld bytes of windows", (long long)(2 * bytes + work));
    og_history *base = (og_history *)memory, *state = (og_history *)(memory + bytes);
    if (history)
        memcpy(base, history, (size_t)bytes);
    else
        og_engine_reset(&e, base);
    og_walk walk;
    og_status status = og_walk_begin(&walk, &e, stream, base, err);
    if (status == OG_OK) {
        if (sink) {
            memcpy(state, base, (size_t)bytes);
            status = og_walk_run(&walk, state, 0, stream->n, memory + 2 * bytes, sink, context, err);
        } else {
            og_walk_seek(&walk, stream->n, state);
        }
        if (status == OG_OK && history) og_walk_finish(&walk, state, history);
        og_walk_end(&walk);
    }
    og_release(memory);
    return status;
}

og_status og_history_push(og_history *history, const og_window *window, const og_stream *past, og_error *err) {
    return whole(window, past, history, 0, NULL, NULL, err);
}

og_status og_window_walk(const og_window *window, const og_stream *stream, og_history *history, int32_t nothing,
                         og_cells_fn *sink, void *context, og_error *err) {
    return whole(window, stream, history, nothing, sink, context, err);
}
