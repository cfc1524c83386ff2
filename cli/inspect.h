/* inspect.h: the parts of the verb inspect. */
#ifndef OMNIGRAM_INSPECT_H
#define OMNIGRAM_INSPECT_H

#include <omnigram/modalities.h>
#include <omnigram/tables.h>

#include <jansson.h>
#include <stdio.h>

enum { OG_INSPECT_WIDTH = 118 };

typedef struct og_inspect {
    const char *path;
    const og_packs *packs;
    int64_t number; /* of the pack */
    og_pack pack;
    const og_table_set *set;       /* NULL: no tables */
    const int64_t *rows;           /* [n_tokens][columns] of set */
    const og_tokenizer *tokenizer; /* NULL: text is shown as ids alone */
    const og_prepared *prepared;   /* NULL: documents have no names */
    int64_t from, to;              /* tokens that are shown, with their documents and segments */
    int32_t colour;
} og_inspect;

/* inspect_print.c: documents and segments, pictures as grids of codes, then a line for each token with its n-grams. */
const char *og_marker_name(const og_id_map *ids, int32_t token); /* "image-begin"; NULL when it is no marker */
void og_inspect_print(const og_inspect *in, FILE *to);
json_t *og_inspect_json(const og_inspect *in); /* inspect_json.c */
int og_inspect_shows(const og_inspect *in, int64_t start,
                     int64_t length); /* whether tokens of it are among from .. to */

/* inspect_words.c: the tokenizer of the packs: path, or (NULL) the one of the right fingerprint that lies beside them,
 * in a folder there or in one beside that; *out stays NULL where there is none. */
og_status og_inspect_tokenizer(const og_inspect *in, const char *path, og_tokenizer **out, og_error *err) OG_MUST_USE;
/* The text of the codes begin .. end (tokens of the pack), as a JSON string in quotes; og_release. NULL: no words. */
char *og_inspect_words(const og_inspect *in, int64_t begin, int64_t end);
void og_inspect_print_words(const og_inspect *in, const og_segment *segment, FILE *to);

/* inspect_origin.c: refuses prepared shards, of folder, that the packs were not made from, where they tell. */
og_status og_inspect_check_prepared(const og_inspect *in, const char *folder, og_error *err) OG_MUST_USE;
/* "SHARD:INDEX", or a document's name where in->prepared is open: sets number, pack, from and to. */
og_status og_inspect_find(og_inspect *in, const char *origin, og_error *err) OG_MUST_USE;
/* The name of an origin in in->prepared, or NULL; lives as long as that. */
const char *og_inspect_name(const og_inspect *in, const og_origin *origin);

#endif
