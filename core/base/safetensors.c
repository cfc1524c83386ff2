/* safetensors.c: rules that the reader and the writer of safetensors share. */
#include "safetensors.h"

#include <string.h>

og_dtype og_array_dtype(const char *name) {
    og_dtype dtype = og_dtype_from_name(name);
    return dtype && dtype != OG_NF4 && strcmp(og_dtype_name(dtype), name) == 0 ? dtype : 0;
}

og_status og_array_bytes(const char *file, const char *name, og_dtype dtype, int32_t rank, const int64_t *shape,
                         int64_t *bytes, og_error *err) {
    int64_t total = og_dtype_bits(dtype) / 8;
    if (total == 0)
        return og_fail(err, OG_EINVAL,
                       "%.200s: array '%.100s': safetensors has no element type %s (%d); store packed "
                       "values as U8",
                       file, name, og_dtype_name(dtype) ? og_dtype_name(dtype) : "of that number", (int)dtype);
    if (rank < 0 || rank > OG_MAX_RANK)
        return og_fail(err, OG_ENOTSUP, "%.200s: array '%.100s' has %d dimensions; at most %d are supported", file,
                       name, (int)rank, OG_MAX_RANK);
    for (int32_t i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(total, shape[i], &total))
            return og_fail(err, OG_EINVAL, "%.200s: array '%.100s': dimension %d is %lld: %s", file, name, (int)i,
                           (long long)shape[i], shape[i] < 0 ? "negative" : "its bytes do not fit in 64 bits");
    *bytes = total;
    return OG_OK;
}
