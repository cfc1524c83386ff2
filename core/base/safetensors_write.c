/* safetensors_write.c: safetensors files written as a stream, with memory that does not grow with the data. */
#include "file_writer.h"
#include "safetensors.h"
#include "text.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct declared {
    char *name;
    og_dtype dtype;
    int32_t rank;
    int64_t shape[OG_MAX_RANK];
    int64_t bytes;
    int64_t offset; /* behind the header, known when the header is written */
    int64_t order;  /* of declaration */
} declared;

struct og_arrays_writer {
    og_writer *file;
    char *path;
    og_text metadata; /* "key":"value",... */
    char **keys;      /* of metadata */
    int64_t n_keys, keys_room;
    declared *arrays; /* in the order of declaration, which is that of the bytes */
    int64_t n, room;
    int64_t header_bytes;  /* 0: not yet written */
    int64_t current, done; /* array that is being filled, bytes of it that came */
    int32_t failed;
};

static void free_writer(og_arrays_writer *w) {
    for (int64_t i = 0; i < w->n; i++) og_release(w->arrays[i].name);
    for (int64_t i = 0; i < w->n_keys; i++) og_release(w->keys[i]);
    og_release(w->arrays);
    og_release(w->keys);
    og_release(w->metadata.data);
    og_release(w->path);
    og_release(w);
}

og_status og_arrays_writer_new(const char *path, og_arrays_writer **out, og_error *err) {
    og_arrays_writer *w = og_alloc_zero(1, sizeof *w);
    char *copy = og_copy_string(path);
    og_status status =
        w && copy ? og_writer_open(path, &w->file, err) : og_fail(err, OG_ENOMEM, "%s: no memory to write it", path);
    if (status != OG_OK) {
        og_release(copy);
        og_release(w);
        return status;
    }
    w->path = copy;
    *out = w;
    return OG_OK;
}

static og_status check_open(const og_arrays_writer *w, const char *name, og_error *err) {
    if (w->header_bytes)
        return og_fail(err, OG_EINVAL, "%.200s: '%.100s' comes after the first bytes; the header is written", w->path,
                       name);
    if (!og_text_is_utf8(name)) return og_fail(err, OG_EINVAL, "%.200s: a name is no UTF-8", w->path);
    return OG_OK;
}

static og_status put_pair(og_text *text, const char *key, const char *value, og_error *err) {
    if (text->bytes) OG_TRY(og_text_put(text, ",", err));
    OG_TRY(og_text_quoted(text, key, 0, err));
    OG_TRY(og_text_put(text, ":", err));
    return og_text_quoted(text, value, 0, err);
}

og_status og_arrays_writer_metadata(og_arrays_writer *w, const char *key, const char *value, og_error *err) {
    OG_TRY(check_open(w, key, err));
    if (!og_text_is_utf8(value))
        return og_fail(err, OG_EINVAL, "%.200s: the value of metadata '%.100s' is no UTF-8", w->path, key);
    for (int64_t i = 0; i < w->n_keys; i++)
        if (strcmp(w->keys[i], key) == 0)
            return og_fail(err, OG_EINVAL, "%.200s: metadata '%.100s' is given twice", w->path, key);
    void *keys = w->keys;
    OG_TRY(og_grow(&keys, &w->keys_room, w->n_keys + 1, sizeof *w->keys, err));
    w->keys = keys;
    int64_t before = w->metadata.bytes;
    og_status status = put_pair(&w->metadata, key, value, err);
    char *copy = status == OG_OK ? og_copy_string(key) : NULL;
    if (status == OG_OK && !copy) status = og_fail(err, OG_ENOMEM, "%.200s: no memory for metadata", w->path);
    if (status != OG_OK) {
        w->metadata.bytes = before;
        return status;
    }
    w->keys[w->n_keys++] = copy;
    return OG_OK;
}

og_status og_arrays_writer_declare(og_arrays_writer *w, const char *name, og_dtype dtype, int32_t rank,
                                   const int64_t *shape, og_error *err) {
    OG_TRY(check_open(w, name, err));
    declared array = {.dtype = dtype, .rank = rank, .order = w->n};
    OG_TRY(og_array_bytes(w->path, name, dtype, rank, shape, &array.bytes, err));
    if (strcmp(name, OG_METADATA_KEY) == 0)
        return og_fail(err, OG_EINVAL, "%.200s: an array may not be named " OG_METADATA_KEY, w->path);
    if (rank) memcpy(array.shape, shape, (size_t)rank * sizeof *shape);
    void *arrays = w->arrays;
    OG_TRY(og_grow(&arrays, &w->room, w->n + 1, sizeof *w->arrays, err));
    w->arrays = arrays;
    array.name = og_copy_string(name);
    if (!array.name) return og_fail(err, OG_ENOMEM, "%.200s: no memory for array '%.100s'", w->path, name);
    w->arrays[w->n++] = array;
    return OG_OK;
}

static int compare_names(const void *left, const void *right) {
    return strcmp((*(declared *const *)left)->name, (*(declared *const *)right)->name);
}

/* Whole cache lines first, then the wider elements first: then every array is aligned to its elements, and to 64 bytes
 * where its neighbours allow. */
static int compare_layout(const void *left, const void *right) {
    const declared *a = *(declared *const *)left, *b = *(declared *const *)right;
    int odd_a = a->bytes % 64 != 0, odd_b = b->bytes % 64 != 0;
    if (odd_a != odd_b) return odd_a - odd_b;
    int64_t bits_a = odd_a ? og_dtype_bits(a->dtype) : 0, bits_b = odd_b ? og_dtype_bits(b->dtype) : 0;
    if (bits_a != bits_b) return bits_a > bits_b ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static og_status lay_out(og_arrays_writer *w, declared **sorted, int64_t *total, og_error *err) {
    for (int64_t i = 0; i < w->n; i++) sorted[i] = &w->arrays[i];
    if (w->n) qsort(sorted, (size_t)w->n, sizeof *sorted, compare_names);
    for (int64_t i = 1; i < w->n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return og_fail(err, OG_EINVAL, "%.200s: array '%.100s' is declared twice", w->path, sorted[i]->name);
    if (w->n) qsort(sorted, (size_t)w->n, sizeof *sorted, compare_layout);
    *total = 0;
    for (int64_t i = 0; i < w->n; i++) {
        sorted[i]->offset = *total;
        if (*total > (INT64_C(1) << 62) - sorted[i]->bytes)
            return og_fail(err, OG_EINVAL, "%.200s: its arrays have more than 2^62 bytes", w->path);
        *total += sorted[i]->bytes;
    }
    return OG_OK;
}

static og_status put_array(og_text *text, const declared *array, og_error *err) {
    char number[64];
    if (text->bytes > 1) OG_TRY(og_text_put(text, ",", err));
    OG_TRY(og_text_quoted(text, array->name, 0, err));
    OG_TRY(og_text_put(text, ":{\"dtype\":\"", err));
    OG_TRY(og_text_put(text, og_dtype_name(array->dtype), err));
    OG_TRY(og_text_put(text, "\",\"shape\":[", err));
    for (int32_t i = 0; i < array->rank; i++) {
        snprintf(number, sizeof number, "%s%lld", i ? "," : "", (long long)array->shape[i]);
        OG_TRY(og_text_put(text, number, err));
    }
    snprintf(number, sizeof number, "],\"data_offsets\":[%lld,%lld]}", (long long)array->offset,
             (long long)(array->offset + array->bytes));
    return og_text_put(text, number, err);
}

static og_status put_header(og_arrays_writer *w, og_text *text, declared **sorted, int64_t *total, og_error *err) {
    OG_TRY(lay_out(w, sorted, total, err));
    OG_TRY(og_text_put(text, "{", err));
    if (w->metadata.bytes) {
        OG_TRY(og_text_put(text, "\"" OG_METADATA_KEY "\":{", err));
        OG_TRY(og_text_add(text, w->metadata.data, w->metadata.bytes, err));
        OG_TRY(og_text_put(text, "}", err));
    }
    for (int64_t i = 0; i < w->n; i++) OG_TRY(put_array(text, sorted[i], err));
    OG_TRY(og_text_put(text, "}", err));
    while ((text->bytes + 8) % 64) OG_TRY(og_text_put(text, " ", err));
    if (text->bytes > OG_HEADER_LIMIT)
        return og_fail(err, OG_EINVAL, "%.200s: its header would have %lld bytes; at most %lld are allowed", w->path,
                       (long long)text->bytes, (long long)OG_HEADER_LIMIT);
    return OG_OK;
}

static og_status write_header(og_arrays_writer *w, og_error *err) {
    og_text text = {0};
    int64_t total = 0;
    declared **sorted = og_alloc(w->n, sizeof *sorted);
    og_status status = sorted ? put_header(w, &text, sorted, &total, err)
                              : og_fail(err, OG_ENOMEM, "%.200s: no memory for its header", w->path);
    og_release(sorted);
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)text.bytes >> (8 * i));
    if (status == OG_OK) status = og_writer_reserve(w->file, 8 + text.bytes + total, err);
    if (status == OG_OK) status = og_writer_write(w->file, length, 8, err);
    if (status == OG_OK) status = og_writer_write(w->file, text.data, text.bytes, err);
    og_release(text.data);
    if (status == OG_OK) w->header_bytes = 8 + text.bytes;
    return status;
}

/* Goes to the next array that wants bytes. */
static og_status advance(og_arrays_writer *w, og_error *err) {
    while (w->current < w->n && w->done == w->arrays[w->current].bytes) {
        w->current++;
        w->done = 0;
    }
    if (w->current == w->n || w->done) return OG_OK;
    return og_writer_seek(w->file, w->header_bytes + w->arrays[w->current].offset, err);
}

static og_status append(og_arrays_writer *w, const char *data, int64_t bytes, og_error *err) {
    if (!w->header_bytes) OG_TRY(write_header(w, err));
    OG_TRY(advance(w, err));
    while (bytes > 0) {
        if (w->current == w->n)
            return og_fail(err, OG_EINVAL, "%.200s: %lld bytes more than its arrays have", w->path, (long long)bytes);
        int64_t left = w->arrays[w->current].bytes - w->done, part = bytes < left ? bytes : left;
        OG_TRY(og_writer_write(w->file, data, part, err));
        w->done += part;
        data += part;
        bytes -= part;
        OG_TRY(advance(w, err));
    }
    return OG_OK;
}

og_status og_arrays_writer_append(og_arrays_writer *w, const void *data, int64_t bytes, og_error *err) {
    if (w->failed) return og_fail(err, OG_EIO, "%.200s: an earlier write of it failed", w->path);
    if (bytes < 0) return og_fail(err, OG_EINVAL, "%.200s: cannot append %lld bytes", w->path, (long long)bytes);
    og_status status = append(w, data, bytes, err);
    if (status != OG_OK) w->failed = 1;
    return status;
}

og_status og_arrays_writer_commit(og_arrays_writer *w, og_error *err) {
    og_status status = og_arrays_writer_append(w, NULL, 0, err); /* the header of a file without bytes */
    if (status == OG_OK && w->current < w->n)
        status = og_fail(err, OG_EINVAL, "%.200s: array '%.100s' got %lld of its %lld bytes", w->path,
                         w->arrays[w->current].name, (long long)w->done, (long long)w->arrays[w->current].bytes);
    if (status != OG_OK) {
        og_arrays_writer_abort(w);
        return status;
    }
    status = og_writer_commit(w->file, err);
    free_writer(w);
    return status;
}

void og_arrays_writer_abort(og_arrays_writer *w) {
    if (!w) return;
    og_writer_abort(w->file);
    free_writer(w);
}
