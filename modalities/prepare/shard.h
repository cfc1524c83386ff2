/* shard.h: one shard of prepared items and documents, gathered in memory and written as safetensors (docs/data.md). */
#ifndef OMNIGRAM_MODALITIES_SHARD_H
#define OMNIGRAM_MODALITIES_SHARD_H

#include <omnigram/modalities.h>

/* Arrays of a shard. U: items first stored here; D: documents; R: their references; unique numbers count over all
 * shards. */
#define OG_SHARD_ITEM_MODALITY "item.modality"       /* I32 [U] */
#define OG_SHARD_ITEM_START    "item.start"          /* I64 [U]: first element in the array of its modality */
#define OG_SHARD_ITEM_SHAPE    "item.shape"          /* I64 [U][3]: unused dimensions 1 */
#define OG_SHARD_ITEM_RATE     "item.rate"           /* I32 [U]: Hz, 0 but for audio */
#define OG_SHARD_DOC_START     "document.start"      /* I64 [D + 1]: first reference */
#define OG_SHARD_DOC_ITEMS     "document.items"      /* I64 [R]: unique numbers in reading order */
#define OG_SHARD_DOC_SPLIT     "document.split"      /* I32 [D] */
#define OG_SHARD_NAME_START    "document.name_start" /* I64 [2 D]: of id and group in document.names */
#define OG_SHARD_NAMES         "document.names"      /* U8: zero-terminated */
#define OG_SHARD_TEXT          "text"                /* U8 [bytes] */
#define OG_SHARD_IMAGE         "image"               /* U8 [bytes] */
#define OG_SHARD_AUDIO         "audio"               /* I16 [samples] */

enum { OG_INDEX_VERSION = 2 }; /* of index.json */
/* SHA-256 of key, 0, canonical JSON, 0 of every part of the index but `digest`. */
og_status og_index_digest(const og_config *index, char out[OG_DIGEST_TEXT], og_error *err);

typedef struct og_shard_column { /* a growing array */
    void *data;
    int64_t n, capacity;
} og_shard_column;

enum {
    OG_COL_MODALITY,
    OG_COL_START,
    OG_COL_SHAPE,
    OG_COL_RATE,
    OG_COL_DOC_START,
    OG_COL_DOC_ITEMS,
    OG_COL_DOC_SPLIT,
    OG_COL_NAME_START,
    OG_COL_NAMES,
    OG_COL_TEXT,
    OG_COL_IMAGE,
    OG_COL_AUDIO,
    OG_N_COLS
};
typedef struct og_shard {
    og_shard_column columns[OG_N_COLS];
    int64_t items, documents, bytes;
} og_shard;

og_status og_shard_add_item(og_shard *shard, const og_media *media, og_error *err);
og_status og_shard_add_document(og_shard *shard, const char *id, const char *group, int32_t split, const int64_t *items,
                                int64_t n, og_error *err);
/* Writes it and empties it, keeping its memory. */
og_status og_shard_write(og_shard *shard, const char *path, og_error *err);
void og_shard_free(og_shard *shard);

#endif
