/* store_file.c: rows read, or written, in place in a mapped safetensors file. */
#include "table_file/table_view.h"

#include <string.h>
#include <sys/mman.h>

og_status og_store_map_file(og_store *store, const og_store_options *options, og_error *err) {
    if (options->lock == 1)
        return og_fail(err, OG_EINVAL, "store %s: a file-backed store is not locked; load it into memory for that",
                       options->name);
    store->name = og_copy_string(options->name);
    char *path = og_copy_string(options->name);
    if (!store->name || !path) {
        og_release(path);
        return og_fail(err, OG_ENOMEM, "no memory for the name of a store");
    }
    char *tensor = strchr(path, '#');
    if (tensor) *tensor++ = 0;
    og_table_view view = {0};
    og_status status = og_arrays_open(path, store->writable, &store->file, err);
    if (status == OG_OK) status = og_table_view_of(store->file, path, tensor, &view, err);
    if (status == OG_OK && ((options->rows && options->rows != view.n) || (options->dim && options->dim != view.dim) ||
                            (options->dtype && options->dtype != view.dtype)))
        status = og_fail(err, OG_EINVAL, "%s holds %lld rows x %lld of %s, not %lld x %lld of %s", options->name,
                         (long long)view.n, (long long)view.dim, og_dtype_name(view.dtype), (long long)options->rows,
                         (long long)options->dim,
                         og_dtype_name(options->dtype) ? og_dtype_name(options->dtype) : "any type");
    og_release(path);
    if (status != OG_OK) return status;
    og_store_over_view(store, &view);
    /* the report counts the pages that the tensors lie in */
    uint8_t *first = view.values, *last = view.values + view.n * view.value_stride;
    if (view.scales && view.scales + view.n * view.scale_stride > last) last = view.scales + view.n * view.scale_stride;
    if (view.states && view.states + view.n * view.state_stride > last) last = view.states + view.n * view.state_stride;
    store->memory = (uint8_t *)((uintptr_t)first / 4096 * 4096);
    store->memory_bytes = last - store->memory;
    (void)madvise(store->memory, (size_t)store->memory_bytes, MADV_RANDOM); /* rows are read at random: no read-ahead */
    return OG_OK;
}
