/* omnigram tables: stencils over packs, table sets, hash audit. */
#ifndef OMNIGRAM_TABLES_H
#define OMNIGRAM_TABLES_H

#include <omnigram/core.h>

OG_BEGIN

/* A stencil says which cells of a pack an n-gram at token t is made of. It produces og_cells; the addressing of the
 * table hashes them. One file tables/stencil_<name>.c each. */
typedef struct og_stencil_impl og_stencil_impl;
typedef struct og_stencil_layout {
    int32_t order;       /* cells; an n-gram of order n is the first n of them */
    int32_t width;       /* codes of a cell (0: one); scheme and stencil agree about it */
    int32_t modality;    /* of the positions it applies to; elsewhere its n-grams do not exist */
    int32_t anchor_next; /* 0: cell 0 is the current code; 1: the cells are those seen from the next code's place */
    uint32_t sources;    /* bit 1 << OG_TEXT ...: modalities whose codes are cells */
    int64_t code_limit;  /* codes of all cells are in [0, code_limit): id - base of the modality, or a sentinel; where a
                          cell has several, id - base of its level */
} og_stencil_layout;     /* every stencil looks at earlier tokens only; one that is asked to look ahead refuses */
typedef struct og_stencil_type {
    uint32_t abi;
    const char *name, *summary, *source;
    const og_key *keys; /* begin with OG_STENCIL_KEYS (tables/stencil.h): a stencil reads the whole map of its table */
    og_status (*create)(const og_config *config, const og_id_map *ids, og_stencil_impl **impl,
                        og_stencil_layout *layout, og_error *err);
    void (*destroy)(og_stencil_impl *impl);
    /* Codes (id - base) of windows first .. first + cells->n - 1, all of one document, into the caller's arrays code[k]
     * (each [OG_BLOCK][width]) and present[i], bit k = cell k is there; 0 where the stencil does not apply. Codes of
     * absent cells are not read. The stencil sets cells->constant_tag, or writes tag[k] and points
     * cells->tag[k] at it. */
    void (*cells)(const og_stencil_impl *impl, const og_pack *pack, const og_id_map *ids, int64_t first,
                  og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present);
} og_stencil_type;
extern OG_API const og_stencil_type *const og_stencil_types[];
OG_API const og_stencil_type *og_stencil_find(const char *name);

/* A table set: the named tables of one model, from its config (docs/tables.md has every key):
 *   tables:
 *     text:  {stencil: lags, modality: text, orders: [2, 3, 4, 5], addressing: {scheme: mix64, rows: 65537}, dim: 32}
 *     image: {stencil: grid, cells: [[W], [N], [W, N]], anchor: next, ...}
 *     audio, text_image ...
 * `cells` lists n-grams; each becomes columns of its own. Of a scheme's window the fill counts, and latch or hole at
 * eos, special and image ids; what else breaks a window is the stencil's matter. */
typedef struct og_table_set og_table_set;
typedef struct og_table_info {
    const char *name; /* borrowed */
    int32_t first_column, n_columns;
    int64_t rows; /* of its one store: all columns */
    int64_t dim;  /* values of a row */
    int32_t dtype;
    const char *fingerprint; /* SHA-256 of description */
    const char *description; /* canonical JSON: scheme, stencil, constants, codes and levels of the modalities in its
                              * keys and the codebooks of those */
} og_table_info;
/* codebooks: n fingerprints as og_packs_codebook gives them; modalities: of each as og_packs_codebook_modality gives
 * it, or NULL: none is known. A table records those of the modalities in its keys; one of an unknown modality counts
 * for those that have no known one. */
OG_API og_status og_table_set_new(const og_config *tables, const og_id_map *ids, const char *const *codebooks,
                                  const int32_t *modalities, int32_t n_codebooks, og_table_set **out,
                                  og_error *err) OG_MUST_USE;
/* The same for the ids and codebooks of packs. */
OG_API og_status og_table_set_of_packs(const og_config *tables, const og_packs *packs, og_table_set **out,
                                       og_error *err) OG_MUST_USE;
OG_API void og_table_set_free(og_table_set *set);
OG_API int32_t og_table_set_count(const og_table_set *set);
OG_API const og_table_info *og_table_set_info(const og_table_set *set, int32_t i);
OG_API int32_t og_table_set_columns(const og_table_set *set);
OG_API const og_column *og_table_set_column(const og_table_set *set, int32_t c); /* base: within its table's store */
OG_API int64_t og_table_set_width(const og_table_set *set); /* values of one position's concatenated rows */
/* rows [T][columns]; OG_ROW_NONE where an n-gram does not exist. Pure; same bits for any pool. */
OG_API og_status og_table_set_rows(const og_table_set *set, const og_pack *pack, og_pool *pool, int64_t *rows,
                                   og_error *err) OG_MUST_USE;
/* The addressing of table i; where its `cells` list several n-grams, that of the first. */
OG_API const og_addr *og_table_set_addr(const og_table_set *set, int32_t i);
/* n-grams that its `cells` list (1 for stencils without cells), and the addressing of one. */
OG_API int32_t og_table_set_ngrams(const og_table_set *set, int32_t i);
OG_API const og_addr *og_table_set_ngram_addr(const og_table_set *set, int32_t i, int32_t ngram);
/* Whether a stored table is this one: OG_EINVAL names both fingerprints and the first part of the descriptions that
 * differs (description may be NULL). */
OG_API og_status og_table_set_check(const og_table_set *set, int32_t i, const char *fingerprint,
                                    const char *description, og_error *err) OG_MUST_USE;

OG_END
#endif
