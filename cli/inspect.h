/* inspect.h: the parts of the verb inspect. */
#ifndef OMNIGRAM_INSPECT_H
#define OMNIGRAM_INSPECT_H

#include <omnigram/tables.h>

#include <jansson.h>
#include <stdio.h>

enum { OG_INSPECT_WIDTH = 118 };

typedef struct og_inspect {
    const char *path;
    const og_packs *packs;
    int64_t number; /* of the pack */
    og_pack pack;
    const og_table_set *set; /* NULL: no tables */
    const int64_t *rows;     /* [n_tokens][columns] of set */
    int64_t from, to;        /* tokens of the table */
    int32_t colour;
} og_inspect;

const char *og_marker_name(const og_id_map *ids, int32_t token); /* "image-begin"; NULL when it is no marker */
/* Documents and segments, pictures as grids of codes, then a line for each token with its n-grams.
 */
void og_inspect_print(const og_inspect *in, FILE *to);
json_t *og_inspect_json(const og_inspect *in);

#endif
