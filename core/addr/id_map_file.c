/* id_map_file.c: reads a compressed vocabulary's id map. */
#include "addr/id_map_file.h"

#include <omnigram/memory.h>
#include <omnigram/safetensors.h>

#include <string.h>

static og_status copy(const og_arrays *arrays, const char *path, og_id_map_file *out, og_error *err) {
    int64_t shape[OG_MAX_RANK];
    void *data;
    OG_TRY(og_arrays_expect(arrays, "id_map", OG_I32, 1, shape, &data, err));
    const int32_t *map = data;
    int64_t compressed = 0;
    for (int64_t i = 0; i < shape[0]; i++) {
        /* ids are handed out in order of first appearance, so a new one is the next */
        if (map[i] < 0 || map[i] > compressed)
            return og_fail(err, OG_EFORMAT, "%s: raw id %lld maps to %d, which is not in [0, %lld]", path, (long long)i,
                           map[i], (long long)compressed);
        if (map[i] == compressed) compressed++;
    }
    if (compressed == 0) return og_fail(err, OG_EFORMAT, "%s: an id map without ids", path);
    int32_t *kept = og_alloc(shape[0], sizeof *kept);
    if (!kept) return og_fail(err, OG_ENOMEM, "no memory for %lld ids of %s", (long long)shape[0], path);
    memcpy(kept, map, (size_t)shape[0] * sizeof *kept);
    og_status status = og_digest_of(kept, shape[0] * (int64_t)sizeof *kept, out->digest, err);
    if (status != OG_OK) {
        og_release(kept);
        return status;
    }
    out->map = kept;
    out->raw = shape[0];
    out->compressed = compressed;
    return OG_OK;
}

og_status og_id_map_file_read(const char *path, og_id_map_file *out, og_error *err) {
    og_arrays *arrays;
    OG_TRY(og_arrays_open(path, 0, &arrays, err));
    og_status status = copy(arrays, path, out, err);
    og_arrays_close(arrays);
    return status;
}
