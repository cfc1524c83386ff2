/* omnigram modalities: files to media, media to vectors on a grid; data sets; prepared shards. */
#ifndef OMNIGRAM_MODALITIES_H
#define OMNIGRAM_MODALITIES_H

#include <omnigram/core.h>

OG_BEGIN

/* A decoded item: text OG_U8 [bytes] valid UTF-8; image OG_U8 [height][width][3] RGB; audio OG_I16 [samples] mono at
 * rate_hz; a restored spectrogram OG_F32 [frames][bands]. */
typedef struct og_media {
    int32_t modality;
    og_dtype dtype;
    int32_t rank;
    int64_t shape[3];
    void *data; /* owned when og_media_free is to be called, else borrowed */
    int32_t rate_hz;
    uint32_t notes; /* OG_NOTE_* bits: what a policy did to it; counted by og_prepare */
} og_media;
/* numbers are pinned */
enum {
    OG_NOTE_PHASE_CANCEL = 1 << 0, /* downmix lost 99 % of the channels' energy */
    OG_NOTE_CLIPPED = 1 << 1,      /* samples beyond full scale were clipped */
    OG_NOTE_NORMALISED = 1 << 2,   /* ... or the clip was divided by its peak */
    OG_NOTE_NOT_FINITE = 1 << 3,   /* NaN or infinity became 0 */
    OG_NOTE_PADDED = 1 << 4,       /* shorter than audio.min_ms: zeros were added */
    OG_NOTE_ODD_BYTES = 1 << 5,    /* WAV data end inside a frame; the rest was left out */
    OG_NOTE_ROTATED = 1 << 6,      /* EXIF orientation was applied */
    OG_NOTE_FIRST_FRAME = 1 << 7,  /* animated picture: its first frame */
    OG_N_NOTES = 8,
};
OG_API const char *og_note_name(int32_t bit); /* 0..OG_N_NOTES-1: "phase_cancel" ... */
OG_API void og_media_free(og_media *media);

typedef struct og_modality_impl og_modality_impl;
typedef struct og_modality_type { /* one file modality_<name>.c each */
    uint32_t abi;
    const char *name; /* "text", "image", "audio" */
    const char *summary, *source;
    int32_t modality;
    const og_key *keys; /* policies: alpha background, orientation, patch, resize, clipping, mel preset ... */
    og_status (*create)(const og_config *config, og_modality_impl **impl, og_error *err);
    void (*destroy)(og_modality_impl *impl);
    /* The bytes of a file (place names it in messages) to media, by the policies. */
    og_status (*decode)(const og_modality_impl *impl, const char *place, const void *bytes, int64_t n, og_media *out,
                        og_error *err);
    /* Media to vectors [rows * columns][dim] on a grid (image: patch rows x columns; audio: 1 x frames); og_release.
     * NULL for text, whose codes come from a tokenizer. */
    og_status (*vectors)(const og_modality_impl *impl, const og_media *media, float **vectors, int32_t *rows,
                         int32_t *columns, og_error *err);
    int64_t (*dim)(const og_modality_impl *impl);
    /* Vectors back to media: a picture, or a spectrogram. */
    og_status (*restore)(const og_modality_impl *impl, const float *vectors, int32_t rows, int32_t columns,
                         og_media *out, og_error *err);
    /* Media to the size that is stored and quantised: image: crop (x, y, width, height as shares of the picture; NULL
     * or width 0: the whole), mirror, then canvas; audio: rate. vectors() fits pictures of another size by itself. NULL
     * for text. */
    og_status (*fit)(const og_modality_impl *impl, const og_media *media, const double crop[4], int32_t flip,
                     og_media *out, og_error *err);
    /* Everything that decides the vectors, for the codebook's fingerprint. The caller owns *preprocess. */
    og_status (*describe)(const og_modality_impl *impl, og_config **preprocess, og_error *err);
} og_modality_type;
extern OG_API const og_modality_type *const og_modality_types[];
OG_API const og_modality_type *og_modality_find(const char *name);

/* ---- splits ------------------------------------------------------------------------------------------------- */
enum { OG_TRAIN = 0, OG_VAL = 1, OG_TEST = 2, OG_N_SPLITS = 3 };
OG_API const char *og_split_name(int32_t split); /* "train", "val", "test" */
typedef struct og_split_policy {
    int64_t seed;
    double val, test; /* shares of the groups, in thousandths */
    int32_t cover;    /* og_prepare moves a group where train would lack a modality, or val be empty */
} og_split_policy;
OG_API og_status og_split_read(const og_config *config, og_split_policy *out, og_error *err) OG_MUST_USE;
/* Side of a group: the first 8 bytes (big-endian) of SHA-256("split-SEED:" + group) modulo 1000: < 1000 test is test,
 * the next 1000 val are val, the rest is train. policy NULL: the defaults (seed 1, a tenth each). */
OG_API og_status og_split_of(const og_split_policy *policy, const char *group, int32_t *split,
                             og_error *err) OG_MUST_USE;

/* ---- data sets: folders of files to documents of items in reading order ------------------------------------ */
typedef struct og_item {
    int32_t modality;
    const char *text;      /* text given inline, or NULL */
    const char *path;      /* file, or NULL */
    const og_media *media; /* made in memory (synthetic), or NULL; borrowed like the rest */
    const char *language;  /* or NULL */
    double crop[4];        /* image: x, y, width, height as shares of the picture; width 0: the whole */
    int32_t flip;          /* image: mirrored */
} og_item;
typedef struct og_record { /* one document */
    const char *id;        /* unique in the data set */
    const char *group;     /* documents that must not be split from each other share it */
    const og_item *items;
    int64_t n_items;
} og_record;
typedef struct og_dataset_impl og_dataset_impl;
typedef struct og_dataset_type { /* one file dataset_<name>.c each */
    uint32_t abi;
    const char *name, *summary, *source;
    const og_key *keys; /* "path" is the folder, or the file, of those that read one */
    int32_t sided;      /* 1: its documents are built inside the sides of the split, so none may change sides later */
    /* split: NULL for the defaults */
    og_status (*open)(const og_config *config, const og_split_policy *split, og_dataset_impl **impl, og_error *err);
    void (*close)(og_dataset_impl *impl);
    /* The next document, borrowed until the next call; *done = 1 and no document at the end. */
    og_status (*next)(og_dataset_impl *impl, og_record *out, int32_t *done, og_error *err);
    /* What it read and passed over, by cause. The caller owns *counters. */
    og_status (*counters)(const og_dataset_impl *impl, og_config **counters, og_error *err);
} og_dataset_type;
extern OG_API const og_dataset_type *const og_dataset_types[];
OG_API const og_dataset_type *og_dataset_find(const char *name);

/* ---- prepared shards: every item decoded once, documents by split ------------------------------------------ */

/* done of total documents so far; a non-zero return stops with OG_ECANCELED. NULL is fine. */
typedef int32_t og_progress_fn(void *context, const char *stage, int64_t done, int64_t total);

/* Reads config (dataset: {name, path ...}, split, bad_item: error | skip, modalities, text, image, audio: policies),
 * writes folder/index.json, folder/sources.safetensors and folder/shard-NNNNN.safetensors, all or nothing. A folder
 * that og_prepared_state calls current is left as it is, a stale one is replaced by one exchange. FOLDER.lock is held
 * meanwhile; while another process holds it, progress(context, "waiting for process PID", 0, 0) is called. Counters:
 * read = kept + dropped, by modality and cause. Items are decoded on the pool; the files have the same bytes for any
 * pool. */
OG_API og_status og_prepare(const og_config *config, const char *folder, og_pool *pool, og_progress_fn *progress,
                            void *context, og_error *err) OG_MUST_USE;

/* What og_prepare finds at folder: nothing; the result of this config and of files that are as they were (size and time
 * of change); that of this config, but stale, and reason says why ("2 files changed: ..."). Anything else is an error:
 * a folder of another config is never replaced. */
enum { OG_PREPARED_NONE = 0, OG_PREPARED_CURRENT = 1, OG_PREPARED_STALE = 2 };
OG_API og_status og_prepared_state(const char *folder, const og_config *config, int32_t *state, char reason[512],
                                   og_error *err) OG_MUST_USE;

typedef struct og_prepared og_prepared; /* an open folder of prepared shards; media are read in place */
/* The structure is checked here, the SHA-256 of a shard when something of it is first got. */
OG_API og_status og_prepared_open(const char *folder, og_prepared **out, og_error *err) OG_MUST_USE;
OG_API void og_prepared_close(og_prepared *prepared);
OG_API const og_config *og_prepared_index(const og_prepared *prepared); /* config used, counters, data set name */
/* SHA-256 over those of the shards: equal folders have equal contents, wherever they were prepared. */
OG_API og_status og_prepared_fingerprint(const og_prepared *prepared, char out[OG_DIGEST_TEXT],
                                         og_error *err) OG_MUST_USE;
OG_API int64_t og_prepared_count(const og_prepared *prepared, int32_t split);
typedef struct og_prepared_document {
    const char *id, *group;
    int64_t n_items;
    int64_t shard, index; /* for og_origin */
} og_prepared_document;
OG_API og_status og_prepared_get(const og_prepared *prepared, int32_t split, int64_t i, og_prepared_document *out,
                                 og_error *err) OG_MUST_USE;
/* item: its number in the document; media borrowed. unique (may be NULL) is the number of the stored item: equal for
 * the same media in several documents, in [0, og_prepared_items). */
OG_API og_status og_prepared_item(const og_prepared *prepared, int32_t split, int64_t i, int64_t item, og_media *out,
                                  int64_t *unique, og_error *err) OG_MUST_USE;
OG_API int64_t og_prepared_items(const og_prepared *prepared);

/* ---- tokenizer (SentencePiece BPE) ---------------------------------------------------------------------------- */
typedef struct og_tokenizer og_tokenizer;
/* texts are UTF-8 [n]; deterministic for equal input; written atomically to path (a SentencePiece model file). */
OG_API og_status og_tokenizer_train(const char *const *texts, const int64_t *bytes, int64_t n, int64_t vocab,
                                    const char *path, og_error *err) OG_MUST_USE;
OG_API og_status og_tokenizer_open(const char *path, og_tokenizer **out, og_error *err) OG_MUST_USE;
OG_API void og_tokenizer_free(og_tokenizer *tokenizer);
OG_API int64_t og_tokenizer_vocab(const og_tokenizer *tokenizer);
OG_API const char *og_tokenizer_fingerprint(const og_tokenizer *tokenizer);
/* *ids [*n], og_release. Text that looks like a marker stays text. */
OG_API og_status og_tokenizer_encode(const og_tokenizer *tokenizer, const char *text, int64_t bytes, int32_t **ids,
                                     int64_t *n, og_error *err) OG_MUST_USE;
OG_API og_status og_tokenizer_decode(const og_tokenizer *tokenizer, const int32_t *ids, int64_t n, char **text,
                                     og_error *err) OG_MUST_USE;

OG_END
#endif
