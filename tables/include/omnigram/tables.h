/* omnigram tables: stencils over packs, table sets, hash audit. */
#ifndef OMNIGRAM_TABLES_H
#define OMNIGRAM_TABLES_H

#include <omnigram/core.h>

OG_BEGIN

/* A stencil says which cells of a pack an n-gram at token t is made of. It produces og_cells; the addressing of the table
 * hashes them. One file tables/stencil_<name>.c each. */
typedef struct og_stencil_impl og_stencil_impl;
typedef struct og_stencil_layout {
    int32_t order;    /* cells, the current one included */
    int32_t modality; /* positions it applies to: OG_TEXT ... ; -1: all. Elsewhere its n-grams do not exist */
    int32_t causal;   /* 0: looks ahead; refused for tables whose positions are targets */
    int32_t anchor_next; /* 1: cell 0 is not the current code but what is seen from the next cell's place */
} og_stencil_layout;
typedef struct og_stencil_type {
    uint32_t abi;
    const char *name, *summary, *source;
    const og_key *keys;
    og_status (*create)(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err);
    void (*destroy)(og_stencil_impl *impl);
    /* Modality-local codes of windows first .. first + cells->n - 1 into the caller's arrays code[k] (each OG_BLOCK),
     * tags and present; windows where the stencil does not apply have present 0. */
    void (*cells)(const og_stencil_impl *impl, const og_pack *pack, const og_id_map *ids, int64_t first, og_cells *cells,
                  int32_t *const *code, int8_t *const *tag, uint32_t *present);
} og_stencil_type;
extern OG_API const og_stencil_type *const og_stencil_types[];
OG_API const og_stencil_type *og_stencil_find(const char *name);

/* A table set: the named tables of one model, from its config:
 *   tables:
 *     text:  {stencil: lags, modality: text, orders: [2, 3, 4, 5], addressing: {scheme: mix64, rows: 65537}, dim: 32}
 *     image: {stencil: grid, cells: [[W], [N], [W, N]], anchor: next, ...}
 *     audio, text_image ... */
typedef struct og_table_set og_table_set;
typedef struct og_table_info {
    const char *name;       /* borrowed */
    int32_t first_column, n_columns;
    int64_t rows;           /* of its one store: all columns */
    int64_t dim;            /* values of a row */
    int32_t dtype;
    const char *fingerprint; /* scheme, stencil, constants, id map and the codebooks its keys are made of */
    const char *description; /* canonical JSON of the same */
} og_table_info;
/* codebooks: n fingerprints as og_packs_codebook gives them. */
OG_API og_status og_table_set_new(const og_config *tables, const og_id_map *ids, const char *const *codebooks,
                                  int32_t n_codebooks, og_table_set **out, og_error *err) OG_MUST_USE;
OG_API void og_table_set_free(og_table_set *set);
OG_API int32_t og_table_set_count(const og_table_set *set);
OG_API const og_table_info *og_table_set_info(const og_table_set *set, int32_t i);
OG_API int32_t og_table_set_columns(const og_table_set *set);
OG_API const og_column *og_table_set_column(const og_table_set *set, int32_t c); /* base: within its table's store */
OG_API int64_t og_table_set_width(const og_table_set *set); /* values of one position's concatenated rows */
/* rows [T][columns]; OG_ROW_NONE where an n-gram does not exist. Pure; same bits for any pool. */
OG_API og_status og_table_set_rows(const og_table_set *set, const og_pack *pack, og_pool *pool, int64_t *rows,
                                   og_error *err) OG_MUST_USE;
OG_API const og_addr *og_table_set_addr(const og_table_set *set, int32_t i);

OG_END
#endif
