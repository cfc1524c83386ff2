/* safetensors_read.c: safetensors files, checked whole and read in place. */
#include "nearest.h"
#include "safetensors.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct array {
    og_array_info info; /* name borrowed from `header` */
    int64_t begin, end; /* of its bytes behind the header */
    void *copy;         /* aligned copy, made when first asked for */
} array;

struct og_arrays {
    char *path;
    og_map *map;
    int32_t writable;
    json_t *header;
    json_t *metadata; /* borrowed from header; NULL when absent */
    const char *data; /* behind the header */
    int64_t data_bytes;
    array *arrays; /* by offset */
    array **by_name;
    int64_t n;
    pthread_mutex_t lock; /* of each array's copy: const calls may run together */
};

static og_status fail_array(const og_arrays *a, const char *name, const char *what, og_error *err) {
    return og_fail(err, OG_EFORMAT, "%.200s: array '%.100s': %s", a->path, name, what);
}

static og_status read_header(og_arrays *a, og_error *err) {
    int64_t bytes = og_map_bytes(a->map), length = 0;
    const unsigned char *file = og_map_data(a->map);
    if (bytes < 8)
        return og_fail(err, OG_EFORMAT, "%s: has %lld bytes; a safetensors file has at least 8", a->path,
                       (long long)bytes);
    for (int i = 7; i >= 0; i--) {
        if (length > INT64_MAX >> 8) return og_fail(err, OG_EFORMAT, "%s: its header length is over 2^63", a->path);
        length = length << 8 | file[i];
    }
    if (length > OG_HEADER_LIMIT)
        return og_fail(err, OG_EFORMAT,
                       "%s: its header says it has %lld bytes; at most %lld are allowed (is it a safetensors file?)",
                       a->path, (long long)length, (long long)OG_HEADER_LIMIT);
    if (length > bytes - 8)
        return og_fail(err, OG_EFORMAT, "%s: its header should have %lld bytes, but the file ends after %lld", a->path,
                       (long long)length, (long long)bytes - 8);
    if (length == 0 || file[8] != '{')
        return og_fail(err, OG_EFORMAT, "%s: its header does not begin with '{'", a->path);
    json_error_t fault;
    a->header = json_loadb((const char *)file + 8, (size_t)length, JSON_REJECT_DUPLICATES, &fault);
    if (!a->header && json_error_code(&fault) == json_error_out_of_memory)
        return og_fail(err, OG_ENOMEM, "%s: no memory for its header", a->path);
    if (!a->header) return og_fail(err, OG_EFORMAT, "%s: its header, byte %d: %s", a->path, fault.position, fault.text);
    a->data = (const char *)file + 8 + length;
    a->data_bytes = bytes - 8 - length;
    return OG_OK;
}

static og_status check_metadata(og_arrays *a, og_error *err) {
    a->metadata = json_object_get(a->header, OG_METADATA_KEY);
    if (!a->metadata) return OG_OK;
    if (!json_is_object(a->metadata)) return og_fail(err, OG_EFORMAT, "%s: its " OG_METADATA_KEY " is no map", a->path);
    const char *key;
    json_t *value;
    json_object_foreach(a->metadata, key, value) if (!json_is_string(value)) return og_fail(
        err, OG_EFORMAT, "%s: its " OG_METADATA_KEY " '%.100s' is no string", a->path, key);
    return OG_OK;
}

static og_status read_shape(const og_arrays *a, const char *name, const json_t *shape, og_array_info *info,
                            og_error *err) {
    if (!json_is_array(shape)) return fail_array(a, name, "has no list 'shape'", err);
    size_t rank = json_array_size(shape);
    if (rank > OG_MAX_RANK)
        return og_fail(err, OG_ENOTSUP, "%.200s: array '%.100s' has %zu dimensions; at most %d are supported", a->path,
                       name, rank, OG_MAX_RANK);
    info->rank = (int32_t)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *dimension = json_array_get(shape, i);
        if (!json_is_integer(dimension)) return fail_array(a, name, "its 'shape' is not of integers", err);
        info->shape[i] = json_integer_value(dimension);
    }
    return OG_OK;
}

static og_status read_array(const og_arrays *a, const char *name, const json_t *entry, array *out, og_error *err) {
    if (!json_is_object(entry)) return fail_array(a, name, "is no map", err);
    og_array_info *info = &out->info;
    info->name = name;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) return fail_array(a, name, "has no 'dtype'", err);
    info->dtype = og_array_dtype(dtype);
    if (!info->dtype)
        return og_fail(err, OG_ENOTSUP, "%.200s: array '%.100s' has the unknown element type '%.40s'", a->path, name,
                       dtype);
    OG_TRY(read_shape(a, name, json_object_get(entry, "shape"), info, err));
    og_status status = og_array_bytes(a->path, name, info->dtype, info->rank, info->shape, &info->bytes, err);
    if (status != OG_OK) return status == OG_EINVAL ? OG_EFORMAT : status;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return fail_array(a, name, "has no two integers 'data_offsets'", err);
    out->begin = json_integer_value(begin);
    out->end = json_integer_value(end);
    if (out->begin < 0 || out->end < out->begin || out->end - out->begin != info->bytes)
        return og_fail(err, OG_EFORMAT,
                       "%.200s: array '%.100s': its offsets %lld .. %lld are not the %lld bytes of its shape", a->path,
                       name, (long long)out->begin, (long long)out->end, (long long)info->bytes);
    return OG_OK;
}

static int by_offset(const void *left, const void *right) {
    const array *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1; /* empty arrays first */
    return strcmp(a->info.name, b->info.name);
}

static int by_name(const void *left, const void *right) {
    return strcmp((*(array *const *)left)->info.name, (*(array *const *)right)->info.name);
}

static og_status read_arrays(og_arrays *a, og_error *err) {
    a->n = (int64_t)json_object_size(a->header) - (a->metadata != NULL);
    a->arrays = og_alloc_zero(a->n, sizeof *a->arrays);
    a->by_name = og_alloc(a->n, sizeof *a->by_name);
    if (!a->arrays || !a->by_name)
        return og_fail(err, OG_ENOMEM, "%s: no memory for its %lld arrays", a->path, (long long)a->n);
    int64_t i = 0;
    const char *name;
    json_t *entry;
    json_object_foreach(a->header, name, entry) if (entry != a->metadata)
        OG_TRY(read_array(a, name, entry, &a->arrays[i++], err));
    qsort(a->arrays, (size_t)a->n, sizeof *a->arrays, by_offset);
    int64_t at = 0;
    for (i = 0; i < a->n; i++) {
        a->by_name[i] = &a->arrays[i];
        if (a->arrays[i].begin != at)
            return og_fail(err, OG_EFORMAT, "%.200s: array '%.100s' begins at byte %lld, but %s ends at %lld: %s",
                           a->path, a->arrays[i].info.name, (long long)a->arrays[i].begin,
                           i ? "the one before it" : "the header", (long long)at,
                           a->arrays[i].begin > at ? "a hole" : "they overlap");
        at = a->arrays[i].end;
    }
    if (at != a->data_bytes)
        return og_fail(err, OG_EFORMAT, "%s: its arrays have %lld bytes, but %lld follow the header (%s)", a->path,
                       (long long)at, (long long)a->data_bytes,
                       at > a->data_bytes ? "the file is cut off" : "extra bytes at its end");
    qsort(a->by_name, (size_t)a->n, sizeof *a->by_name, by_name);
    return OG_OK;
}

static og_status open_file(og_arrays *a, const char *path, og_error *err) {
    a->path = og_copy_string(path);
    if (!a->path) return og_fail(err, OG_ENOMEM, "%s: no memory to open it", path);
    OG_TRY(og_map_open(path, a->writable, &a->map, err));
    OG_TRY(read_header(a, err));
    OG_TRY(check_metadata(a, err));
    return read_arrays(a, err);
}

og_status og_arrays_open(const char *path, int32_t writable, og_arrays **out, og_error *err) {
    og_arrays *a = og_alloc_zero(1, sizeof *a);
    if (!a) return og_fail(err, OG_ENOMEM, "%s: no memory to open it", path);
    a->writable = writable;
    pthread_mutex_init(&a->lock, NULL);
    og_status status = open_file(a, path, err);
    if (status != OG_OK) {
        og_arrays_close(a);
        return status;
    }
    *out = a;
    return OG_OK;
}

void og_arrays_close(og_arrays *a) {
    if (!a) return;
    for (int64_t i = 0; a->arrays && i < a->n; i++) og_release(a->arrays[i].copy);
    og_release(a->by_name);
    og_release(a->arrays);
    json_decref(a->header);
    og_map_close(a->map);
    og_release(a->path);
    pthread_mutex_destroy(&a->lock);
    og_release(a);
}

int64_t og_arrays_count(const og_arrays *a) { return a->n; }

const og_array_info *og_arrays_info(const og_arrays *a, int64_t i) {
    return i >= 0 && i < a->n ? &a->arrays[i].info : NULL;
}

static og_status fail_missing(const og_arrays *a, const char *name, og_error *err) {
    char known[240] = "";
    size_t n = 0;
    const char *nearest = NULL;
    int32_t best = -1;
    for (int64_t i = 0; i < a->n; i++) {
        const char *other = a->by_name[i]->info.name;
        int32_t distance = og_nearest_distance(name, other, strlen(other));
        if (distance >= 0 && (best < 0 || distance < best)) {
            best = distance;
            nearest = other;
        }
        if (n < sizeof known) n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", other);
    }
    if (nearest)
        return og_fail(err, OG_EFORMAT, "%.120s: has no array '%.80s'; did you mean '%.80s'? It has: %s%s", a->path,
                       name, nearest, known, n >= sizeof known ? " ..." : "");
    return og_fail(err, OG_EFORMAT, "%.120s: has no array '%.80s'; it has: %s%s", a->path, name, a->n ? known : "none",
                   n >= sizeof known ? " ..." : "");
}

/* Files of others may put an array at an odd byte; C must not read it there. */
static og_status aligned(const og_arrays *a, array *found, void **data, og_error *err) {
    if (a->writable)
        return og_fail(err, OG_ENOTSUP,
                       "%.200s: array '%.100s' is not aligned to its elements, so it cannot be changed in place; "
                       "save the file anew",
                       a->path, found->info.name);
    og_arrays *own = (og_arrays *)(uintptr_t)a; /* the lock is all that changes but the copy it guards */
    pthread_mutex_lock(&own->lock);
    if (!found->copy) {
        found->copy = og_alloc(found->info.bytes, 1);
        if (found->copy) memcpy(found->copy, a->data + found->begin, (size_t)found->info.bytes);
    }
    *data = found->copy;
    pthread_mutex_unlock(&own->lock);
    if (!*data)
        return og_fail(err, OG_ENOMEM, "%.200s: no memory for an aligned copy of array '%.100s', %lld bytes", a->path,
                       found->info.name, (long long)found->info.bytes);
    return OG_OK;
}

static array *find(const og_arrays *a, const char *name) {
    array key = {.info.name = name}, *at = &key;
    array **found = bsearch(&at, a->by_name, (size_t)a->n, sizeof *a->by_name, by_name);
    return found ? *found : NULL;
}

static void *place_of(const og_arrays *a, const array *found) { return (void *)(uintptr_t)(a->data + found->begin); }

static int is_aligned(const og_arrays *a, const array *found) {
    return (uintptr_t)place_of(a, found) % (uintptr_t)(og_dtype_bits(found->info.dtype) / 8) == 0;
}

int64_t og_arrays_copy_bytes(const og_arrays *a, const char *name) {
    const array *found = find(a, name);
    if (!found || a->writable || is_aligned(a, found)) return 0;
    og_arrays *own = (og_arrays *)(uintptr_t)a;
    pthread_mutex_lock(&own->lock);
    int64_t bytes = found->copy ? 0 : found->info.bytes;
    pthread_mutex_unlock(&own->lock);
    return bytes;
}

og_status og_arrays_get(const og_arrays *a, const char *name, const og_array_info **info, void **data, og_error *err) {
    array *found = find(a, name);
    if (!found) return fail_missing(a, name, err);
    void *place = place_of(a, found);
    if (!is_aligned(a, found)) OG_TRY(aligned(a, found, &place, err));
    if (info) *info = &found->info;
    if (data) *data = place;
    return OG_OK;
}

og_status og_arrays_expect(const og_arrays *a, const char *name, og_dtype dtype, int32_t rank, int64_t *shape,
                           void **data, og_error *err) {
    const og_array_info *info;
    void *place;
    OG_TRY(og_arrays_get(a, name, &info, &place, err));
    if (info->dtype != dtype || info->rank != rank)
        return og_fail(err, OG_EFORMAT, "%.200s: array '%.100s' has %s and %d dimensions; wanted are %s and %d",
                       a->path, name, og_dtype_name(info->dtype), (int)info->rank,
                       og_dtype_name(dtype) ? og_dtype_name(dtype) : "?", (int)rank);
    if (shape) memcpy(shape, info->shape, (size_t)rank * sizeof *shape);
    if (data) *data = place;
    return OG_OK;
}

const char *og_arrays_metadata(const og_arrays *a, const char *key) {
    return json_string_value(json_object_get(a->metadata, key));
}

int64_t og_arrays_metadata_count(const og_arrays *a) { return (int64_t)json_object_size(a->metadata); }

const char *og_arrays_metadata_key(const og_arrays *a, int64_t i) {
    void *iter = json_object_iter(a->metadata);
    for (; iter && i > 0; i--) iter = json_object_iter_next(a->metadata, iter);
    return iter && i == 0 ? json_object_iter_key(iter) : NULL;
}
