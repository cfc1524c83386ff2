/* store_file.c: rows read, or written, in place in a mapped safetensors file. */
#include "table_file/table_view.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Cuts path#tensor in two: the tensor, or NULL when all of it is the path. Folders and files may have a '#' in their
 * names: the first one behind a file is the one that cuts, or, where there is no such file, the last. */
static char *cut_tensor(char *path) {
    struct stat info;
    char *at = stat(path, &info) == 0 ? NULL : strchr(path, '#');
    for (char *next; at; at = next) {
        next = strchr(at + 1, '#');
        *at = 0;
        if (!next || (stat(path, &info) == 0 && S_ISREG(info.st_mode))) return at + 1;
        *at = '#';
    }
    return NULL;
}

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
    const char *tensor = cut_tensor(path);
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
