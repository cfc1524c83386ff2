/* table_view.c: reads the shape of a table file, ours or foreign, and checks every number before it is used. */
#include "table_file/table_view.h"

#include "base/safetensors.h"
#include "store/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static og_status text_key(const og_arrays *arrays, const char *path, const char *key, const char **out, og_error *err) {
    *out = og_arrays_metadata(arrays, key);
    if (!*out) return og_fail(err, OG_EFORMAT, "%s: metadata key '%s' is missing", path, key);
    return OG_OK;
}

static og_status number_key(const og_arrays *arrays, const char *path, const char *key, int64_t least, int64_t most,
                            int64_t *out, og_error *err) {
    const char *text;
    OG_TRY(text_key(arrays, path, key, &text, err));
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return og_fail(err, OG_EFORMAT, "%s: metadata key '%s' is '%.40s': must be in %lld..%lld", path, key, text,
                       (long long)least, (long long)most);
    *out = value;
    return OG_OK;
}

/* An array of rows. One that is not aligned is copied, and that may be more memory than the machine has. */
static og_status get_rows(const og_arrays *arrays, const char *path, const char *name, const og_array_info **info,
                          void **data, og_error *err) {
    int64_t bytes = og_arrays_copy_bytes(arrays, name);
    if (bytes) {
        char what[400];
        og_limits limits;
        og_limits_read("", &limits);
        snprintf(what, sizeof what,
                 "%.200s: tensor '%.80s' is not aligned to its elements; the copy that is read instead", path, name);
        OG_TRY(og_limits_check(&limits, bytes, 0, what, err));
    }
    return og_arrays_get(arrays, name, info, data, err);
}

static og_status want_shape(const char *path, const og_array_info *info, int64_t rows, int64_t columns, og_dtype dtype,
                            og_error *err) {
    if (info->rank == 2 && info->shape[0] == rows && info->shape[1] == columns && info->dtype == dtype) return OG_OK;
    return og_fail(err, OG_EFORMAT, "%s: tensor '%s' is %s of rank %d [%lld, %lld]: should be %s [%lld, %lld]", path,
                   info->name, og_dtype_name(info->dtype), info->rank, (long long)info->shape[0],
                   (long long)(info->rank > 1 ? info->shape[1] : 0), og_dtype_name(dtype), (long long)rows,
                   (long long)columns);
}

static og_status aligned(const char *path, const char *name, const void *data, uintptr_t to, og_error *err) {
    if ((uintptr_t)data % to == 0) return OG_OK;
    return og_fail(err, OG_EFORMAT,
                   "%s: tensor '%s' does not begin at a multiple of %d bytes, so it cannot be read in place", path,
                   name, (int)to);
}

static og_status view_packed(const og_arrays *arrays, const char *path, og_table_view *v, og_error *err) {
    const og_array_info *info;
    void *data;
    OG_TRY(get_rows(arrays, path, "records", &info, &data, err));
    OG_TRY(want_shape(path, info, v->n, v->record.bytes, OG_U8, err));
    OG_TRY(aligned(path, "records", data, 8, err));
    v->values = data;
    v->value_stride = v->scale_stride = v->state_stride = v->record.bytes;
    if (v->group) v->scales = v->values + v->record.scale_offset;
    if (v->state) v->states = v->values + v->record.state_offset;
    return OG_OK;
}

static og_dtype plain_dtype(int32_t dtype) { return dtype == OG_NF4 ? OG_U8 : dtype; }

static og_status view_plain(const og_arrays *arrays, const char *path, const char *tensor, og_table_view *v,
                            og_error *err) {
    char name[512];
    const og_array_info *info;
    void *data;
    OG_TRY(get_rows(arrays, path, tensor, &info, &data, err));
    OG_TRY(
        want_shape(path, info, v->n, v->dtype == OG_NF4 ? v->record.value_bytes : v->dim, plain_dtype(v->dtype), err));
    OG_TRY(aligned(path, tensor, data, v->dtype == OG_F32 ? 4 : v->group ? 1 : 2, err));
    v->values = data;
    v->value_stride = v->record.value_bytes;
    if (v->group) {
        snprintf(name, sizeof name, "%s%s", tensor, v->dtype == OG_FP8_E4M3 ? "_scale_inv" : "_scale");
        OG_TRY(get_rows(arrays, path, name, &info, &data, err));
        OG_TRY(want_shape(path, info, v->n, og_group_count(v->dim, v->group), v->dtype == OG_FP8_E4M3 ? OG_U8 : OG_F32,
                          err));
        v->scales = data;
        v->scale_stride = v->record.scale_bytes;
    }
    if (v->state) {
        OG_TRY(get_rows(arrays, path, "state", &info, &data, err));
        OG_TRY(want_shape(path, info, v->n, v->state, OG_F32, err));
        OG_TRY(aligned(path, "state", data, 4, err));
        v->states = data;
        v->state_stride = (int64_t)v->state * 4;
    }
    return OG_OK;
}

static og_status set_record(const char *path, og_table_view *v, og_error *err) {
    og_store_options o = og_store_defaults(v->n, v->dim, v->dtype);
    o.group = v->group;
    o.state = v->state;
    og_status status = og_record_of(&o, &v->record, err);
    if (status != OG_OK) return og_fail_at(err, OG_EFORMAT, "%s", path);
    v->group = og_group_of(&o);
    return OG_OK;
}

/* Rows, dim and type of a foreign tensor, from its shape. */
static og_status view_foreign(const og_arrays *arrays, const char *path, const char *tensor, og_table_view *v,
                              og_error *err) {
    const og_array_info *info;
    void *data;
    OG_TRY(get_rows(arrays, path, tensor, &info, &data, err));
    if (info->rank != 2)
        return og_fail(err, OG_EFORMAT, "%s: tensor '%s' has rank %d: a table has rank 2", path, tensor, info->rank);
    v->n = v->total = info->shape[0];
    v->dim = info->shape[1];
    v->dtype = info->dtype;
    if (v->dtype == OG_FP8_E4M3) {
        char name[512];
        const og_array_info *scale;
        snprintf(name, sizeof name, "%s_scale_inv", tensor);
        OG_TRY(get_rows(arrays, path, name, &scale, &data, err));
        int64_t groups = scale->rank == 2 ? scale->shape[1] : 0;
        if (groups < 1 || v->dim % groups)
            return og_fail(err, OG_EFORMAT, "%s: '%s' has %lld scales a row for %lld values", path, name,
                           (long long)groups, (long long)v->dim);
        v->group = (int32_t)(v->dim / groups);
    }
    OG_TRY(set_record(path, v, err));
    return view_plain(arrays, path, tensor, v, err);
}

og_status og_table_view_of(const og_arrays *arrays, const char *path, const char *tensor, og_table_view *out,
                           og_error *err) {
    og_table_view v = {0};
    if (tensor) {
        OG_TRY(view_foreign(arrays, path, tensor, &v, err));
        *out = v;
        return OG_OK;
    }
    const char *text;
    int64_t number;
    OG_TRY(text_key(arrays, path, "omnigram.format", &text, err));
    if (strcmp(text, OG_TABLE_FORMAT) != 0)
        return og_fail(err, OG_EFORMAT, "%s: format '%.40s', this build reads '%s'", path, text, OG_TABLE_FORMAT);
    OG_TRY(text_key(arrays, path, "omnigram.name", &v.identity.name, err));
    OG_TRY(text_key(arrays, path, "omnigram.fingerprint", &v.identity.fingerprint, err));
    OG_TRY(text_key(arrays, path, "omnigram.description", &v.identity.description, err));
    OG_TRY(text_key(arrays, path, "omnigram.constants", &v.identity.constants, err));
    OG_TRY(text_key(arrays, path, "omnigram.dtype", &text, err));
    v.dtype = og_dtype_from_name(text);
    OG_TRY(number_key(arrays, path, "omnigram.total_rows", 1, INT64_C(1) << 47, &v.total, err));
    OG_TRY(number_key(arrays, path, "omnigram.first_row", 0, v.total - 1, &v.first, err));
    OG_TRY(number_key(arrays, path, "omnigram.rows", 1, v.total - v.first, &v.n, err));
    OG_TRY(number_key(arrays, path, "omnigram.dim", 1, 65536, &v.dim, err));
    OG_TRY(number_key(arrays, path, "omnigram.group", 0, 65536, &number, err));
    v.group = (int32_t)number;
    OG_TRY(number_key(arrays, path, "omnigram.state", 0, 4 * 65536, &number, err));
    v.state = (int32_t)number;
    OG_TRY(text_key(arrays, path, "omnigram.layout", &text, err));
    v.layout = strcmp(text, "packed") == 0 ? OG_LAYOUT_PACKED : strcmp(text, "plain") == 0 ? OG_LAYOUT_PLAIN : -1;
    if (v.layout < 0) return og_fail(err, OG_EFORMAT, "%s: layout '%.40s': must be plain or packed", path, text);
    OG_TRY(set_record(path, &v, err));
    OG_TRY(v.layout == OG_LAYOUT_PACKED ? view_packed(arrays, path, &v, err)
                                        : view_plain(arrays, path, "weight", &v, err));
    *out = v;
    return OG_OK;
}

void og_store_over_view(og_store *store, const og_table_view *v) {
    store->rows = v->n;
    store->dim = v->dim;
    store->dtype = v->dtype;
    store->group = v->group;
    store->state = v->state;
    store->record = v->record;
    store->values = v->values;
    store->scales = v->scales;
    store->states = v->states;
    store->value_stride = v->value_stride;
    store->scale_stride = v->scale_stride;
    store->state_stride = v->state_stride;
}
