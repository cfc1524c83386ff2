/* quantize.h: what the steps of `omnigram quantize` share. Each step is one file quantize_<step>.c. */
#ifndef OMNIGRAM_QUANTIZE_H
#define OMNIGRAM_QUANTIZE_H

#include <omnigram/modalities.h>
#include <omnigram/quantizers.h>

#include <jansson.h>

#define OG_QUANTIZE_RECORD "quantize.json" /* the record of a finished run; its presence marks the folder as ours */

typedef struct og_quantize_part { /* a modality with a codebook: image, audio */
    const og_modality_type *type;
    og_modality_impl *impl;
    og_config *preprocess; /* of the reader, owned */
    const og_quantizer_type *quantizer;
    const og_config *given; /* the keys of the config, or NULL; borrowed */
    og_config *fit;         /* those of the quantizer's own, owned */
    int64_t sample;         /* most vectors that it is fitted to or measured on */
    int64_t items;          /* stored items of this modality; 0: none, and no codebook */
    og_codebook *codebook;  /* owned */
} og_quantize_part;

typedef struct og_quantize_item { /* codes of a stored item: values + first, or none yet (first -1) */
    int64_t first;
    int32_t rows, columns;
} og_quantize_item;

typedef struct og_quantize_codes { /* of one modality, owned */
    int32_t *values;
    int64_t n, capacity;
} og_quantize_codes;

typedef struct og_quantize {
    const char *prepared_path, *codebooks_path; /* codebooks_path NULL: fit */
    char *out;                                  /* where to write, borrowed */
    og_prepared *prepared;
    og_pool *pool;
    og_progress_fn *progress;
    void *progress_context;
    int64_t vocab, row_end, threads, n_previews;
    const og_config *text_given; /* its keys, or NULL; borrowed */
    og_quantize_part parts[OG_N_MODALITIES];
    og_tokenizer *tokenizer;
    og_quantize_item *items; /* [og_prepared_items] */
    og_quantize_codes codes[OG_N_MODALITIES];
    json_t *result; /* figures of the run */
} og_quantize;

/* quantize_setup.c: reads the config, opens readers and quantizers, counts the items. */
og_status og_quantize_open(const og_config *config, og_quantize *q, og_error *err) OG_MUST_USE;
void og_quantize_close(og_quantize *q);

/* quantize_keys.c: quantizer and sample are ours; every other key belongs to the quantizer, whose own table refuses
 * what it does not know. */
og_status og_quantize_read_keys(const og_config *map, int encode_only, og_quantize_part *part,
                                og_error *err) OG_MUST_USE;
og_status og_quantize_check_keys(const og_quantize_part *part, og_error *err) OG_MUST_USE;
/* What a codebook was fitted with, every default in it. */
og_status og_quantize_keys_json(const og_quantize_part *part, json_t **out, og_error *err) OG_MUST_USE;

/* quantize_same.c: refuses keys that say otherwise than what the tokenizer, or a codebook, at path was made with; puts
 * what the record (of the run that made it, NULL: none) has of them into the result. */
og_status og_quantize_same_text(og_quantize *q, const char *path, const og_config *record, og_error *err) OG_MUST_USE;
og_status og_quantize_same_part(og_quantize *q, int32_t modality, const char *path, const og_config *record,
                                og_error *err) OG_MUST_USE;
og_status og_quantize_keep_keys(og_quantize *q, const char *name, json_t *keys, og_error *err) OG_MUST_USE;

/* quantize_vectors.c: up to `most` vectors [*n][dim] of a split's distinct items, og_release; *seen counts all. Which
 * ones are kept depends on their item and place in it alone. */
og_status og_quantize_vectors(const og_quantize *q, int32_t modality, int32_t split, int64_t most, float **vectors,
                              int64_t *n, int64_t *seen, og_error *err) OG_MUST_USE;
/* Calls fn for every distinct item of a modality in the splits [first, last]. */
typedef og_status og_quantize_item_fn(void *context, const og_media *media, int64_t unique, const char *document,
                                      int64_t item, og_error *err);
og_status og_quantize_each(const og_quantize *q, int32_t modality, int32_t first, int32_t last, const char *stage,
                           og_quantize_item_fn *fn, void *context, og_error *err) OG_MUST_USE;

/* quantize_fit.c, quantize_reuse.c: the tokenizer and the codebooks, fitted to train or taken from a folder; saved in
 * out. */
og_status og_quantize_fit(og_quantize *q, og_error *err) OG_MUST_USE;
og_status og_quantize_reuse(og_quantize *q, og_error *err) OG_MUST_USE;
og_status og_quantize_path(const char *folder, const char *leaf, char out[4096], og_error *err) OG_MUST_USE;

/* quantize_encode.c, quantize_documents.c, quantize_preview.c */
og_status og_quantize_encode(og_quantize *q, og_error *err) OG_MUST_USE;
og_status og_quantize_documents(og_quantize *q, og_error *err) OG_MUST_USE;
og_status og_quantize_preview(const og_quantize *q, og_error *err) OG_MUST_USE;

/* quantize_record.c: what decides the codes (given keys, codebooks that are reused, the config of the shards), the key
 * of a run (that, the shards and the version), and whether a folder holds its finished result. */
og_status og_quantize_settings(const og_config *config, const char *prepared, const char *codebooks, json_t **out,
                               og_error *err) OG_MUST_USE;
og_status og_quantize_key(const json_t *settings, const char *prepared, char out[OG_DIGEST_TEXT],
                          og_error *err) OG_MUST_USE;
/* Refuses a folder with codes of other settings, by the first key that differs; *there: it holds codes of these. */
og_status og_quantize_replaceable(const char *folder, json_t *settings, int *there, og_error *err) OG_MUST_USE;
json_t *og_quantize_cached(const char *folder, const char *key); /* the record, or NULL */
og_status og_quantize_record(const char *folder, json_t *record, og_error *err) OG_MUST_USE;

#endif
