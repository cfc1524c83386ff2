/* Addressing: windows of codes to row ids. A scheme is one file core/addr/addr_<name>.c that turns og_cells into rows;
 * the walking, breaking, filling and carrying of history is window.h's and is the same for all. */
#ifndef OMNIGRAM_ADDR_H
#define OMNIGRAM_ADDR_H

#include <omnigram/config.h>
#include <omnigram/pool.h>
#include <omnigram/status.h>
#include <omnigram/window.h>

OG_BEGIN

/* The row of an n-gram that does not exist; nothing else is ever negative. Its vector is exactly zero. */
#define OG_ROW_NONE ((int64_t)-1)

typedef struct og_column {
    int32_t order; /* cells its key is made of */
    int32_t head;  /* its number among the columns of this order; of a position of several codes it reads number
                      head % width alone */
    int64_t rows;  /* ids are in [base, base + rows) */
    int64_t base;  /* 0, or the exclusive cumulative sum of the columns before (global rows) */
} og_column;

/* What a scheme's file gives. Plugins are stateless and pure: the same cells give the same rows. */
typedef struct og_addr_impl og_addr_impl; /* a scheme's own struct */
typedef struct og_addr_layout {
    int32_t n_columns;
    og_column *columns;             /* og_alloc'ed by create, owned by the og_addr */
    og_window window;               /* the boundary preset of the source */
    int32_t width;                  /* codes of a position */
    int32_t nothing;                /* the code that adds nothing to a key (0, or -1): how backoff drops cells */
    int64_t least_code, code_limit; /* codes are in [least_code, code_limit); others are errors that name them */
    int64_t extra_code;             /* one more legal code (V4.1's dead id), or INT64_MIN */
} og_addr_layout;

typedef struct og_addr_type {
    uint32_t abi;
    const char *name;    /* the scheme, as configs and vectors spell it */
    const char *summary; /* one line */
    const char *source;  /* paper or code it is exact with */
    const og_key *keys;  /* for --help and docs; create reads the same table */
    og_status (*create)(const og_config *config, og_addr_impl **impl, og_addr_layout *layout, og_error *err);
    void (*destroy)(og_addr_impl *impl);
    /* rows[i * n_columns + c] for every window and column as if all cells were there (they are filled);
     * absent n-grams are overwritten by the caller. Ids include the column's base. */
    void (*rows)(const og_addr_impl *impl, const og_cells *cells, int64_t *rows);
    /* Optional (NULL): the same windows' live flags [n][columns] (LongCat) and sign rows [n] (modded-nanogpt). */
    void (*live)(const og_addr_impl *impl, const og_cells *cells, uint8_t *live);
    void (*signs)(const og_addr_impl *impl, const og_cells *cells, int32_t *signs);
    /* Optional: constants that a checkpoint must carry (multipliers, primes) as a JSON object; og_release. */
    og_status (*constants)(const og_addr_impl *impl, char **json, og_error *err);
    /* Optional (NULL: the key vocab, where there is one): og_addr_fit's part of this scheme. */
    og_status (*fit)(og_config *config, int64_t codes, int32_t width, og_error *err);
} og_addr_type;

extern OG_API const og_addr_type *const og_addr_types[];   /* ends with NULL */
OG_API const og_addr_type *og_addr_find(const char *name); /* NULL when unknown */
/* The scheme or alias whose name is nearest to a word, or NULL when none is near. */
OG_API const char *og_addr_nearest(const char *name);

typedef struct og_addr og_addr;

/* Sets those keys of {scheme: NAME, ...} that a corpus decides and that are absent: codes are in [0, codes), width of
 * them a position (0: as many as the scheme's own default). OG_EINVAL says why a scheme cannot take so many. */
OG_API og_status og_addr_fit(og_config *config, int64_t codes, int32_t width, og_error *err) OG_MUST_USE;

/* {scheme: NAME, ...the scheme's keys, window: {...}}; the tree is copied. An unknown scheme names the nearest. */
OG_API og_status og_addr_new(const og_config *config, og_addr **out, og_error *err) OG_MUST_USE;
OG_API void og_addr_free(og_addr *addr);
OG_API const og_addr_type *og_addr_type_of(const og_addr *addr);
OG_API const og_addr_layout *og_addr_layout_of(const og_addr *addr);
OG_API int64_t og_addr_total_rows(const og_addr *addr); /* over all columns */
/* Canonical JSON of config and constants, and its SHA-256: what a table stores and checks. */
OG_API og_status og_addr_describe(const og_addr *addr, char **json, og_error *err) OG_MUST_USE;
OG_API const char *og_addr_fingerprint(const og_addr *addr);

/* rows[n][n_columns] (int64), and where not NULL live[n][n_columns], signs[n]. history as in og_window_walk. A code out
 * of range is OG_EINVAL naming code, limit, position and scheme; then nothing that was written counts and
 * the history is unchanged. Same rows for any pool and for any way to cut the stream into calls. */
OG_API og_status og_addr_map(const og_addr *addr, const og_stream *stream, og_history *history, og_pool *pool,
                             int64_t *rows, uint8_t *live, int32_t *signs, og_error *err) OG_MUST_USE;
/* For windows that a stencil made: absent n-grams by cells->present and the fill (zero_vec or row0; other fills are
 * in the cells already). cells->code must be in range (checked). */
OG_API og_status og_addr_map_cells(const og_addr *addr, const og_cells *cells, int64_t *rows,
                                   og_error *err) OG_MUST_USE;

OG_END
#endif
