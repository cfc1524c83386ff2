/* engine.h: the window engine's insides, shared by window.h's functions and by addressing, which
 * runs parts of a stream on several threads. */
#ifndef OMNIGRAM_WINDOW_ENGINE_H
#define OMNIGRAM_WINDOW_ENGINE_H

#include <omnigram/window.h>

/* A window with its rules sorted by what they cost.
 * A run (turn, image, row, fragment) is contiguous, so once it has begun nothing older is seen
 * again: latch, hole and skip are one for it. Where only latches remain, a window is its codes and
 * one number a position, the reach: how many codes before it are present. Holes and skips of single
 * tokens and of modalities need lists of what may be seen. */
typedef struct og_engine {
    const og_window *window;
    int32_t depth; /* cells looked back at: max_order - 1 */
    int32_t width;
    int32_t fill; /* code of an absent cell */
    int32_t nothing;
    int32_t leak;
    uint32_t latch, hole, skip, self; /* bits of EOS, SPECIAL, IMAGE_TOKEN that do so */
    uint32_t clear; /* bits before whose token all older ones are gone: runs, and MODALITY as a latch */
    int32_t modality_hole, modality_skip;
    int32_t lists; /* 0: reach is enough; 1; or OG_TAGS where each modality has its own past */
} og_engine;

#define OG_TAGS 16 /* modalities -1 .. 14 */

/* What of a stream's past decides the next window, apart from the last codes. */
struct og_history {
    int64_t position, index;
    int32_t depth, width, lists;
    int32_t reach;         /* codes before the next token that are present, at most depth */
    int32_t last_modality; /* of the last token */
    int32_t seen;          /* 1: there was one */
    /* then: int32 line[depth][width], int8 tags[depth]; and where lists > 0 int32 count[lists],
     * int32 codes [lists][depth][width], og_marks marks[lists][depth], int8
     * list_tags[lists][depth], oldest first */
};

og_status og_engine_make(const og_window *window, int32_t width, int32_t nothing, og_engine *out, og_error *err);
og_status og_stream_check(const og_engine *engine, const og_stream *stream, og_error *err);

/* One call's stream with its past. */
typedef struct og_walk {
    const og_engine *engine;
    const og_stream *stream;
    const og_history *base; /* before token 0 */
    int32_t *front;         /* the base's line, then the first codes: where a window begins before token 0 */
    int8_t *front_tags;
    int32_t tagged; /* 1: tags differ from 0 somewhere */
} og_walk;
og_status og_walk_begin(og_walk *walk, const og_engine *engine, const og_stream *stream, const og_history *base,
                        og_error *err); /* then og_walk_end */
void og_walk_end(og_walk *walk);

int64_t og_engine_history_bytes(const og_engine *engine);
void og_engine_reset(const og_engine *engine, og_history *state);
int64_t og_workspace_bytes(const og_engine *engine);

/* The state before token p, from the base. */
void og_walk_seek(const og_walk *walk, int64_t p, og_history *state);
/* Runs tokens [from, to), whose state before is *state, and leaves the state after. sink NULL: only
 * the state. */
og_status og_walk_run(const og_walk *walk, og_history *state, int64_t from, int64_t to, void *workspace,
                      og_cells_fn *sink, void *context, og_error *err);
/* The base after the whole stream. */
void og_walk_finish(const og_walk *walk, og_history *state, og_history *out);

/* The bits of tokens [from, from + n) that matter; returns their union. last: modality of the token
 * before from. */
uint32_t og_engine_marks(const og_engine *engine, const og_stream *stream, int64_t from, int64_t n, int32_t seen,
                         int32_t last, uint32_t *marks);

/* Lists of a history (lists > 0). */
typedef struct og_past {
    int32_t *count, *codes;
    og_marks *marks;
    int8_t *tags;
} og_past;
og_past og_history_past(og_history *state);
int32_t *og_history_line(og_history *state);
int8_t *og_history_tags(og_history *state);
void og_past_clear(const og_engine *engine, og_history *state);
void og_past_push(const og_engine *engine, og_history *state, const int32_t *code, uint32_t marks, int32_t tag);

#endif
