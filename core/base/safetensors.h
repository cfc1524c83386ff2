/* safetensors.h: rules that the reader and the writer of safetensors share. */
#ifndef OMNIGRAM_BASE_SAFETENSORS_H
#define OMNIGRAM_BASE_SAFETENSORS_H

#include <omnigram/safetensors.h>

#define OG_HEADER_LIMIT INT64_C(100000000) /* of the format's own implementation */
#define OG_METADATA_KEY "__metadata__"

/* Bytes of an array; an error names `what` (file and array), the shape's fault and the limit. NF4 has no name in the
 * format, so it is refused. */
og_status og_array_bytes(const char *file, const char *name, og_dtype dtype, int32_t rank, const int64_t *shape,
                         int64_t *bytes, og_error *err) OG_MUST_USE;
/* Bytes that og_arrays_get will allocate for a copy of an array that is not aligned to its elements; else 0. */
int64_t og_arrays_copy_bytes(const og_arrays *arrays, const char *name);
/* The dtype that the format calls so, or 0. */
og_dtype og_array_dtype(const char *name);

#endif
