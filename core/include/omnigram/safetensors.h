/* safetensors (huggingface/safetensors, README "Format"): 8-byte little-endian header length, JSON header, data without
 * holes. The one array format of the project; our extra data is the "__metadata__" map of strings. */
#ifndef OMNIGRAM_SAFETENSORS_H
#define OMNIGRAM_SAFETENSORS_H

#include <omnigram/dtype.h>
#include <omnigram/status.h>

OG_BEGIN

#define OG_MAX_RANK 8

typedef struct og_array_info {
    const char *name; /* borrowed */
    og_dtype dtype;
    int32_t rank;
    int64_t shape[OG_MAX_RANK];
    int64_t bytes;
} og_array_info;

typedef struct og_arrays og_arrays; /* an open file; arrays are read in place */

/* Checks everything before it trusts anything: header length (at most 100 MB), JSON, duplicate names, shapes, 64-bit
 * products, no holes, no overlaps, file size. writable: arrays may be changed in place, by others who map
 * the file too. */
OG_API og_status og_arrays_open(const char *path, int32_t writable, og_arrays **out, og_error *err) OG_MUST_USE;
OG_API void og_arrays_close(og_arrays *arrays);
OG_API int64_t og_arrays_count(const og_arrays *arrays);
OG_API const og_array_info *og_arrays_info(const og_arrays *arrays, int64_t i); /* in the file's order */
/* Borrowed pointer into the map, aligned to the elements: where a foreign file is not, it is a private copy, and an
 * error when writable. info and data may be NULL; an error names the missing array, the file and what it does hold. */
OG_API og_status og_arrays_get(const og_arrays *arrays, const char *name, const og_array_info **info, void **data,
                               og_error *err) OG_MUST_USE;
/* The same with dtype and rank checked. shape may be NULL. */
OG_API og_status og_arrays_expect(const og_arrays *arrays, const char *name, og_dtype dtype, int32_t rank,
                                  int64_t *shape, void **data, og_error *err) OG_MUST_USE;
OG_API const char *og_arrays_metadata(const og_arrays *arrays, const char *key); /* borrowed; NULL when absent */
OG_API int64_t og_arrays_metadata_count(const og_arrays *arrays);
OG_API const char *og_arrays_metadata_key(const og_arrays *arrays, int64_t i);

/* Streaming writer: declare all arrays, then append their bytes in the same order. Memory does not grow with the data.
 * In the file, arrays of whole 64-byte lines come first (each begins at a multiple of 64), then wider elements before
 * narrower ones, so every array can be mapped in place. Disk space is claimed by the first append. NF4 has no name in
 * the format: store its bytes as U8. A failed append leaves only abort. */
typedef struct og_arrays_writer og_arrays_writer;
OG_API og_status og_arrays_writer_new(const char *path, og_arrays_writer **out, og_error *err) OG_MUST_USE;
OG_API og_status og_arrays_writer_metadata(og_arrays_writer *writer, const char *key, const char *value,
                                           og_error *err) OG_MUST_USE;
OG_API og_status og_arrays_writer_declare(og_arrays_writer *writer, const char *name, og_dtype dtype, int32_t rank,
                                          const int64_t *shape, og_error *err) OG_MUST_USE;
OG_API og_status og_arrays_writer_append(og_arrays_writer *writer, const void *data, int64_t bytes,
                                         og_error *err) OG_MUST_USE;
/* Every declared byte must have come. Either one frees the writer. */
OG_API og_status og_arrays_writer_commit(og_arrays_writer *writer, og_error *err) OG_MUST_USE;
OG_API void og_arrays_writer_abort(og_arrays_writer *writer);

OG_END
#endif
