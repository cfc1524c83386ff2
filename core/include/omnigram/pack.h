/* Documents, packs and packers: the one truth about boundaries. Boundaries are carried as metadata and never inferred
 * from an EOS, a position 0 or an image token. */
#ifndef OMNIGRAM_PACK_H
#define OMNIGRAM_PACK_H

#include <omnigram/config.h>
#include <omnigram/digest.h>
#include <omnigram/pool.h>
#include <omnigram/status.h>
#include <omnigram/window.h>

OG_BEGIN

/* pinned: on disk */
enum {
    OG_TEXT = 0,
    OG_IMAGE = 1,
    OG_AUDIO = 2,
    OG_MARKER = 3, /* begin, end, row end, pad: counted apart from the three */
    OG_N_MODALITIES = 4,
};
OG_API const char *og_modality_name(int32_t modality); /* "text", "image", "audio", "marker" */

/* the marker range, in this order */
enum {
    OG_MARK_PAD = 0,
    OG_MARK_DOC_BEGIN = 1,
    OG_MARK_DOC_END = 2,
    OG_MARK_IMAGE_BEGIN = 3,
    OG_MARK_IMAGE_END = 4,
    OG_MARK_ROW_END = 5,
    OG_MARK_AUDIO_BEGIN = 6,
    OG_MARK_AUDIO_END = 7,
    OG_N_MARKERS = 8,
};

/* Disjoint id ranges. Text begins at 0 (published checkpoints need it). A code of level l is base + l *
 * codes + code. */
typedef struct og_id_map {
    int32_t base[OG_N_MODALITIES];
    int32_t codes[OG_N_MODALITIES];  /* codes of one level */
    int32_t levels[OG_N_MODALITIES]; /* 1 where there are none */
    int32_t size;                    /* ids in all */
} og_id_map;
OG_API og_status og_id_map_make(int64_t text, int64_t image, int64_t image_levels, int64_t audio, int64_t audio_levels,
                                og_id_map *out, og_error *err) OG_MUST_USE;
OG_API og_status og_id_map_check(const og_id_map *map, og_error *err) OG_MUST_USE; /* disjoint, positive, 31-bit */
OG_API int32_t og_id_modality(const og_id_map *map, int32_t id);                   /* -1 when out of range */

typedef struct og_origin {  /* where a document came from: any pack can be rebuilt, any loss traced */
    int64_t shard, index;   /* prepared shard and document in it */
    int64_t offset, length; /* tokens of that document that are here (a fragment: a part) */
} og_origin;

typedef struct og_segment { /* one item of one modality inside a document */
    int64_t doc;
    int64_t start;  /* first code's token, relative to the document */
    int64_t length; /* tokens, row ends included, begin and end markers not */
    int32_t modality;
    int32_t rows, columns, levels; /* grid of codes, level fastest; text: 1 x length x 1; audio: 1 x frames x levels */
    int32_t row_end;               /* 1: a row-end marker follows each row (images only) */
    int32_t codebook;              /* index of the fingerprint, -1 for text */
} og_segment;

/* Documents after layout and before packing; [n_tokens] arrays, document d is offsets[d] .. offsets[d+1]. */
typedef struct og_documents {
    og_id_map ids;
    int64_t n_docs, n_tokens, n_segments;
    int64_t *offsets; /* [n_docs + 1] */
    int32_t *tokens;
    int8_t *modality;
    int32_t *segment; /* index into segments, -1 for markers outside a segment (a row end belongs to its image) */
    int32_t *row, *column, *level; /* -1 where it does not apply: text, markers (row ends have their row, column -1) */
    og_segment *segments;          /* ordered by document, then start */
    int64_t *segment_offsets;      /* [n_docs + 1] into segments */
    og_origin *origins;            /* [n_docs] */
    int32_t n_codebooks;
    char (*codebooks)[OG_DIGEST_TEXT]; /* fingerprints that og_segment.codebook names */
    og_config *counters;               /* what was read, kept, cut, dropped by cause, so far; owned */
} og_documents;

/* Building: items are appended to the document that is open; the layout (markers, row ends) is applied here and nowhere
 * else. */
typedef struct og_documents_builder og_documents_builder;
OG_API og_status og_documents_builder_new(const og_id_map *ids, int32_t row_end, og_documents_builder **out,
                                          og_error *err) OG_MUST_USE;
OG_API void og_documents_builder_free(og_documents_builder *builder);
OG_API og_status og_documents_codebook(og_documents_builder *builder, const char *fingerprint, int32_t *index,
                                       og_error *err) OG_MUST_USE;
OG_API og_status og_documents_begin(og_documents_builder *builder, int64_t shard, int64_t index,
                                    og_error *err) OG_MUST_USE;
/* codes: rows * columns * levels modality-local codes, row-major with level fastest; text and audio have 1 row. A code
 * out of its codebook is an error that names document, item, position, code and limit; a text without codes adds
 * nothing and is counted. */
OG_API og_status og_documents_item(og_documents_builder *builder, int32_t modality, const int32_t *codes, int32_t rows,
                                   int32_t columns, int32_t levels, int32_t codebook, og_error *err) OG_MUST_USE;
OG_API og_status og_documents_end(og_documents_builder *builder,
                                  og_error *err) OG_MUST_USE; /* an empty document is dropped and counted */
/* Takes counters (may be NULL) and adds its own under "layout"; frees both and the builder on failure too. */
OG_API og_status og_documents_finish(og_documents_builder *builder, og_config *counters, og_documents **out,
                                     og_error *err) OG_MUST_USE;
OG_API void og_documents_free(og_documents *documents);
OG_API og_status og_documents_save(const og_documents *documents, const char *path, og_error *err) OG_MUST_USE;
/* Read in place (the arrays must not be written) and checked as by og_documents_check. */
OG_API og_status og_documents_load(const char *path, og_documents **out, og_error *err) OG_MUST_USE;
/* The invariants of this header, each named when it fails. */
OG_API og_status og_documents_check(const og_documents *documents, og_error *err) OG_MUST_USE;

/* What happens to a document longer than the pack, and to an image in it that no pack can hold (with its two markers).
 * An image is never cut: a fragment or a truncated document ends before one that does not fit. Never silent: all is
 * counted. */
enum { OG_LONG_ERROR = 0, OG_LONG_DROP = 1, OG_LONG_TRUNCATE = 2, OG_LONG_FRAGMENT = 3 };
enum { OG_IMAGE_ATOMIC = 0 /* an error */, OG_IMAGE_DROP_DOC = 1, OG_IMAGE_DROP_IMAGE = 2 };
/* A fragment begins anew, or its positions go on from the one before and it begins with that one's last tokens. */
enum { OG_FRAGMENT_RESET = 0, OG_FRAGMENT_CARRY = 1 };
/* best-fit decreasing; first-fit; in reading order (documents are cut where a pack is full if long_doc is fragment,
 * else they begin the next pack); one document a pack */
enum { OG_PACK_BEST_FIT = 0, OG_PACK_FIRST_FIT = 1, OG_PACK_CONCAT = 2, OG_PACK_NONE = 3 };
typedef struct og_pack_policy {
    int64_t capacity; /* tokens of a pack */
    int32_t method;   /* OG_PACK_*: best-fit decreasing, ..., one document a pack */
    int32_t long_doc; /* OG_LONG_* */
    int32_t image;    /* OG_IMAGE_* */
    int32_t fragment_context;
    int64_t fragment_overlap; /* carry: as many tokens of the fragment before, of weight 0, begin a fragment (whole
                                 audio frames, nothing of an image, at most half of the capacity): n - 1 of them
                                 complete the windows of n. 0: only positions go on */
    int64_t seed;             /* order of the packs; -1: as packed */
} og_pack_policy;
OG_API const og_key *og_pack_policy_keys(void); /* for og_config_read into og_pack_policy */

/* A plan: which documents (after the policy cut them) lie in which pack. */
typedef struct og_pack_plan {
    int64_t n_bins;
    int64_t *bin_offsets; /* [n_bins + 1] into docs */
    int64_t *docs;        /* document numbers, in pack order */
    int64_t lower_bound;  /* Martello-Toth L2: no packing has fewer bins */
    double fill;          /* tokens / (n_bins * capacity) */
} og_pack_plan;
/* Packs bare lengths (0 < length <= capacity, else an error naming index, value and limit). */
OG_API og_status og_pack_lengths(const int64_t *lengths, int64_t n, int64_t capacity, int32_t method,
                                 og_pack_plan **out, og_error *err) OG_MUST_USE;
/* -1 when a length is not in 1 .. capacity, the capacity not in 1 .. 2^24, or memory is short. */
OG_API int64_t og_pack_lower_bound(const int64_t *lengths, int64_t n, int64_t capacity);
OG_API void og_pack_plan_free(og_pack_plan *plan);

/* One row of packed documents: the contract everything downstream reads. T = n_tokens. */
typedef struct og_pack {
    int64_t n_tokens, n_valid, n_docs, n_segments;
    const int32_t *tokens;     /* [T]; pads hold the pad marker */
    const int64_t *cu_seqlens; /* [D + 1]: 0 .. n_valid */
    const int32_t *doc_id;     /* [T] number in the pack; pad -1 */
    const int32_t *pos;        /* [T] restarts at each document (unless it continues); pad 0 */
    /* [T][3] (time, row, column), restarts likewise: text, markers and audio frames count all three up together; an
     * image's codes share one time p and have (p, p + row, p + column), its row ends column = columns; what follows it
     * goes on at p + the larger side (M-RoPE, arXiv 2409.12191 section 2.1) */
    const int32_t *pos3;
    const float *loss_weight;            /* [T] of predicting tokens[t]; 0 at each document's first token, at a
                                            fragment's context and at pads */
    const int8_t *modality;              /* [T] pad: OG_MARKER */
    const int32_t *segment_id;           /* [T] into segments, -1 */
    const int32_t *row, *column, *level; /* [T], -1 */
    const og_segment *segments;          /* [S], start and doc relative to this pack */
    const og_origin *origin;             /* [D] */
    const uint8_t *continues;            /* [D] 1: the document continues a fragment and fragment_context is carry */
} og_pack;

typedef struct og_packs og_packs; /* a set of packs, built in memory or mapped from a file */
/* Applies the policy, packs and lays out. Counters: read = kept + cut + dropped for documents, tokens and images. */
OG_API og_status og_packs_build(const og_documents *documents, const og_pack_policy *policy, og_packs **out,
                                og_error *err) OG_MUST_USE;
OG_API void og_packs_free(og_packs *packs);
OG_API og_status og_packs_save(const og_packs *packs, const char *path, og_error *err) OG_MUST_USE;
OG_API og_status og_packs_load(const char *path, og_packs **out, og_error *err) OG_MUST_USE; /* read in place */
OG_API int64_t og_packs_count(const og_packs *packs);
OG_API int64_t og_packs_capacity(const og_packs *packs);
OG_API const og_id_map *og_packs_ids(const og_packs *packs);
OG_API int32_t og_packs_codebook_count(const og_packs *packs);
OG_API const char *og_packs_codebook(const og_packs *packs, int32_t i);
/* OG_IMAGE, OG_AUDIO: what its segments are; -1 where the packs have none of it. Looks at every segment. */
OG_API int32_t og_packs_codebook_modality(const og_packs *packs, int32_t i);
/* Those of the documents and "packing": {fill, bins, lower_bound, documents, tokens, images: {read, kept, cut, dropped:
 * {cause}}}. */
OG_API const og_config *og_packs_counters(const og_packs *packs);
OG_API const char *og_packs_path(const og_packs *packs); /* absolute, of the file loaded; NULL: made in memory */
/* Views, borrowed. A pack of a file is checked as by og_pack_check when it is first got. */
OG_API og_status og_packs_get(const og_packs *packs, int64_t i, og_pack *out, og_error *err) OG_MUST_USE;
/* The invariants above, each named when it fails. Reads nothing outside the arrays, whatever they hold. */
OG_API og_status og_pack_check(const og_pack *pack, const og_id_map *ids, og_error *err) OG_MUST_USE;

OG_END
#endif
