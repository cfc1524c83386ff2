/* pack_file.h: what the documents file and the packs file have in common; not a public header.
 * docs/packing.md is the format. */
#ifndef OMNIGRAM_PACK_FILE_H
#define OMNIGRAM_PACK_FILE_H

#include <omnigram/pack.h>
#include <omnigram/safetensors.h>

#define OG_PACK_FILE_VERSION "2"

/* Metadata that the digest of a file covers, in this order. */
enum { OG_PACK_FILE_TEXTS = 5, OG_PACK_FILE_ARRAYS = 20 };
extern const char *const og_pack_file_texts[OG_PACK_FILE_TEXTS];

/* One array of a file (8-byte elements come first, 1-byte ones last, so that all are aligned in the
 * map). When it is read: dtype, rank and the lengths >= 0 of shape are demanded, -1 takes what the
 * file has; data receives the pointer into the map. */
typedef struct og_file_array {
    const char *name;
    og_dtype dtype;
    int32_t rank;
    int64_t shape[3];
    void *data;
} og_file_array;

/* What both files say beside their arrays. */
typedef struct og_pack_about {
    og_id_map ids;
    char (*codebooks)[OG_DIGEST_TEXT];
    int32_t n_codebooks;
    og_config *counters;
} og_pack_about;

/* The first n_digested arrays go into the digest of the file; a packs file has one digest a pack for the others. */
og_status og_pack_file_write(const char *path, const char *kind, const og_pack_about *about,
                             const og_file_array *arrays, int32_t n_arrays, int32_t n_digested, og_error *err);
/* Checks kind and version. */
og_status og_pack_file_open(const char *path, const char *kind, og_arrays **out, og_error *err);
og_status og_pack_file_array(const og_arrays *file, og_file_array *array, og_error *err);
/* codebooks (og_release) and counters (og_config_free) are the caller's afterwards. */
og_status og_pack_file_about(const og_arrays *file, og_pack_about *out, og_error *err);

/* SHA-256 of key, 0, value, 0 of each text and name, 0, bytes of each array, in the order of their names. */
og_status og_pack_file_digest(const char *const (*texts)[2], int32_t n_texts, const og_file_array *arrays,
                              int32_t n_arrays, char out[OG_DIGEST_TEXT], og_error *err);
/* Compares the digest in the metadata with that of the file's texts and these arrays. */
og_status og_pack_file_verify(const og_arrays *file, const og_file_array *arrays, int32_t n_arrays, og_error *err);
og_status og_pack_digest_compare(const char *wanted, const char *is, og_error *err);

/* The segment table is two arrays in a file: segment_place I64 [S][3] (document, start, length) and
 * segment_grid I32 [S][6] (modality, rows, columns, levels, row_end, codebook). */
og_status og_pack_segments_split(const og_segment *segments, int64_t n, int64_t **place, int32_t **grid, og_error *err);
og_status og_pack_segments_join(const og_arrays *file, og_segment **out, int64_t *n, og_error *err);

#endif
