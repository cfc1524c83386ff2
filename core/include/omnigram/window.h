/* Windows: which earlier positions an n-gram sees. Two separate questions, both data: what breaks a window, and
 * what fills a cell that is absent. Every published boundary rule is a preset of these two (docs/addressing.md). */
#ifndef OMNIGRAM_WINDOW_H
#define OMNIGRAM_WINDOW_H

#include <omnigram/config.h>
#include <omnigram/status.h>

OG_BEGIN

#define OG_MAX_ORDER 32
#define OG_BLOCK     256 /* windows in one og_cells */

/* What may break a window. Token j is "across" for the current token t when
 *   EOS, SPECIAL, IMAGE_TOKEN: j itself is marked so (by id in the window's lists, or by a mark of the stream);
 *   the others: j and t lie in different runs (a run begins at a token that carries the mark; MODALITY: their
 *   modalities differ). Documents always break, by metadata, whatever the rules say (except fill = leak). Where several
 * rules find a token across, latch beats skip and skip beats hole. A run never comes back, so its three
 * modes are one. */
enum {
    OG_AT_EOS = 0,
    OG_AT_SPECIAL = 1,
    OG_AT_IMAGE_TOKEN = 2,
    OG_AT_TURN = 3,
    OG_AT_MODALITY = 4,
    OG_AT_IMAGE = 5,
    OG_AT_ROW = 6,
    OG_AT_FRAGMENT = 7,
    OG_N_BREAKS = 8,
};

/* How it breaks, walking back from t-1. */
enum {
    OG_BREAK_NONE = 0,
    OG_BREAK_LATCH = 1, /* the first token across, and everything older, is absent */
    OG_BREAK_HOLE = 2,  /* only the tokens across are absent */
    OG_BREAK_SKIP = 3,  /* tokens across do not count as lags: look past them */
};

/* What fills an absent cell. */
enum {
    OG_FILL_ZERO_VEC = 0, /* the n-gram does not exist: row OG_ROW_NONE, an exact zero vector (the default) */
    OG_FILL_ZERO_ID = 1,  /* reads as id 0 (aliases a real 0: [x] and [0, x] share a row) */
    OG_FILL_PAD_ID = 2,   /* reads as window.fill_id */
    OG_FILL_EOS_ID = 3,   /* reads as the first id of window.eos */
    OG_FILL_ROW0 = 4,     /* the n-gram's row is 0 of its table */
    OG_FILL_BACKOFF = 5,  /* the n-gram's key is that of the cells before the first absent one */
    OG_FILL_LEAK = 6,     /* no break at all, documents included: an ablation that must fail the audits */
};

typedef struct og_window {
    int32_t max_order;         /* cells of the window: the current one and max_order - 1 others */
    int32_t mode[OG_N_BREAKS]; /* OG_BREAK_* */
    int32_t self[OG_N_BREAKS]; /* 1: a current token that is marked is itself absent, and so are all older (EOS,
                                  SPECIAL, IMAGE_TOKEN only) */
    int32_t fill;              /* OG_FILL_* */
    int32_t fill_id;           /* of OG_FILL_PAD_ID */
    int32_t fill_span_max;     /* 1: an absent cell within max_order counts against every order (WeLM's reading 3) */
    const int64_t *eos, *special, *image; /* ids that carry the mark; borrowed from the config that made the window */
    int32_t n_eos, n_special, n_image;
} og_window;

/* Keys: breaks: {eos: latch, ...}, self: [image], fill, fill_id, span: order | max_order, eos: [ids], special: [ids],
 * image: [ids]. Absent keys keep what *window holds, so that a scheme's preset can be overridden. */
OG_API og_status og_window_read(const og_config *map, og_window *window, og_error *err) OG_MUST_USE;

/* Marks of one token of a stream, bits 1 << OG_AT_*: EOS, SPECIAL and IMAGE_TOKEN mark the token; the others say that a
 * new run begins at it. */
typedef uint16_t og_marks;

/* One or more documents in reading order. All pointers are borrowed. */
typedef struct og_stream {
    const int32_t *codes; /* [n][width] */
    int64_t n;
    int32_t width; /* codes of a position: 1, or heads / routes */
    const int64_t
        *doc_starts; /* ascending, in [0, n]; a start at 0 begins afresh; no start at 0 continues the history */
    int64_t n_docs;
    const og_marks *marks;  /* [n], or NULL: none */
    const int8_t *modality; /* [n], or NULL: all equal */
} og_stream;

/* What a stream has seen and windows may still look at: caller-owned plain memory. Copy the bytes to save it, copy them
 * back to restore or to roll back a rejected draft. */
typedef struct og_history og_history;
OG_API int64_t og_history_bytes(const og_window *window, int32_t width);
/* Of the start of a stream. memory: og_history_bytes, 8-byte aligned. */
OG_API og_history *og_history_reset(void *memory, const og_window *window, int32_t width);
/* Puts tokens into the past of a stream without computing anything (oldest first). */
OG_API og_status og_history_push(og_history *history, const og_window *window, const og_stream *past,
                                 og_error *err) OG_MUST_USE;

/* A block of windows as a structure of arrays: cell k is the current code (k = 0) or the k-th one looked back at.
 * Whoever makes it (a window over a stream, a stencil over a pack) has already broken and filled it. */
typedef struct og_cells {
    int64_t n;     /* windows, <= OG_BLOCK */
    int32_t order; /* cells of each window */
    int32_t width;
    int64_t position;                  /* of window 0 in its document; window i is at position + i */
    int64_t index;                     /* of window 0 in its stream, never restarting (random_row uses it) */
    const int32_t *code[OG_MAX_ORDER]; /* code[k][i * width + w], filled where absent */
    const int8_t *tag[OG_MAX_ORDER];   /* tag[k][i]: modality of the cell, or NULL: all are constant_tag[k] */
    int8_t constant_tag[OG_MAX_ORDER];
    const uint32_t *present; /* [n]: bit k = cell k was present before filling; NULL: all present */
} og_cells;

/* Walks a stream and calls sink for each block, in order; blocks never cross a document. history may be NULL: the
 * stream begins and ends here. Otherwise it is read first and updated to the end of the stream (only on success). */
typedef og_status og_cells_fn(void *context, const og_cells *cells, int64_t first, og_error *err);
OG_API og_status og_window_walk(const og_window *window, const og_stream *stream, og_history *history, int32_t nothing,
                                og_cells_fn *sink, void *context, og_error *err) OG_MUST_USE;

OG_END
#endif
