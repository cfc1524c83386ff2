/* table_set.h: a table set as it lies in memory; not a public header. */
#ifndef OMNIGRAM_TABLE_SET_H
#define OMNIGRAM_TABLE_SET_H

#include "stencil.h"

/* One stencil with one addressing: a table has one, or one for each n-gram that its `cells` list. */
typedef struct og_part {
    const og_stencil_type *stencil;
    og_stencil_impl *impl;
    og_stencil_layout layout;
    og_addr *addr;
    int32_t column; /* its first column in the set */
    int64_t *shift; /* [columns of addr] what is added to the scheme's rows to make them rows of the
                       table's store */
    int32_t fill;   /* the code of an absent cell */
} og_part;

typedef struct og_table {
    og_table_info info;
    char *name, *description;
    char fingerprint[OG_DIGEST_TEXT];
    og_part *parts;
    int32_t n_parts;
} og_table;

struct og_table_set {
    og_id_map ids;
    og_table *tables;
    int32_t n_tables, n_columns;
    og_column *columns;
    int64_t width;
    int32_t order_max, width_max, part_columns_max; /* sizes of a worker's scratch */
};

typedef struct og_books { /* of the corpus */
    const char *const *fingerprints;
    const int32_t *modalities; /* NULL: unknown */
    int32_t n;
} og_books;

/* table_config.c: the parts and sizes of one table from its map; columns are numbered from
 * *n_columns. */
og_status og_table_read(const og_config *map, const og_id_map *ids, const og_books *books, og_table *out,
                        og_error *err);
void og_table_release(og_table *table);
/* table_rows.c: scratch of one worker, and the filled windows of one part for tokens first .. first
 * + n - 1 of document doc. */
typedef struct og_table_scratch {
    int32_t *code[OG_MAX_ORDER];
    int8_t *tag[OG_MAX_ORDER];
    uint32_t *present;
    int64_t *rows;
} og_table_scratch;
int64_t og_table_scratch_bytes(const og_table_set *set);
void og_table_scratch_of(const og_table_set *set, char *memory, og_table_scratch *out);
/* 0: none of them exists, and *cells is not whole. */
int og_part_windows(const og_part *part, const og_pack *pack, const og_id_map *ids, int64_t doc, int64_t first,
                    int64_t n, const og_table_scratch *s, og_cells *cells);

/* table_describe.c */
og_status og_table_describe(og_table *table, const og_config *map, const og_id_map *ids, const og_books *books,
                            og_error *err);

#endif
