/* table_save.c: streams rows of a store into one table file. */
#include "table_file/table_index.h"
#include "table_file/table_view.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

typedef struct piece {
    og_arrays_writer *writer;
    uint8_t *buffer;
} piece;

/* n rows of `bytes` each, `stride` apart, as one array: straight from memory when they touch. */
static og_status append_rows(piece *p, const uint8_t *rows, int64_t stride, int64_t bytes, int64_t n, og_error *err) {
    if (stride == bytes) return og_arrays_writer_append(p->writer, rows, n * bytes, err);
    int64_t most = PIECE_BYTES / bytes < 1 ? 1 : PIECE_BYTES / bytes;
    for (int64_t at = 0; at < n; at += most) {
        int64_t here = n - at < most ? n - at : most;
        for (int64_t i = 0; i < here; i++) memcpy(p->buffer + i * bytes, rows + (at + i) * stride, (size_t)bytes);
        OG_TRY(og_arrays_writer_append(p->writer, p->buffer, here * bytes, err));
    }
    return OG_OK;
}

static og_status append_records(piece *p, const og_store *s, int64_t row, int64_t n, og_error *err) {
    og_record r = s->record;
    if (s->value_stride == r.bytes && s->scale_stride == r.bytes && s->state_stride == r.bytes)
        return og_arrays_writer_append(p->writer, og_store_values(s, row), n * r.bytes, err);
    int64_t most = PIECE_BYTES / r.bytes < 1 ? 1 : PIECE_BYTES / r.bytes;
    memset(p->buffer, 0, (size_t)(most * r.bytes)); /* padding is zero */
    for (int64_t at = 0; at < n; at += most) {
        int64_t here = n - at < most ? n - at : most;
        for (int64_t i = 0; i < here; i++) {
            uint8_t *record = p->buffer + i * r.bytes;
            memcpy(record, og_store_values(s, row + at + i), (size_t)r.value_bytes);
            if (s->scales) memcpy(record + r.scale_offset, og_store_scales(s, row + at + i), (size_t)r.scale_bytes);
            if (s->state) memcpy(record + r.state_offset, og_store_state(s, row + at + i), (size_t)s->state * 4);
        }
        OG_TRY(og_arrays_writer_append(p->writer, p->buffer, here * r.bytes, err));
    }
    return OG_OK;
}

static og_status put_number(og_arrays_writer *w, const char *key, int64_t value, og_error *err) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return og_arrays_writer_metadata(w, key, text, err);
}

static og_status put_metadata(og_arrays_writer *w, const og_store *s, const og_table_part *part, og_error *err) {
    const og_table_identity *id = part->identity;
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.format", OG_TABLE_FORMAT, err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.name", id->name, err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.fingerprint", id->fingerprint, err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.description", id->description, err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.constants", id->constants ? id->constants : "{}", err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.layout", part->layout == OG_LAYOUT_PACKED ? "packed" : "plain", err));
    OG_TRY(og_arrays_writer_metadata(w, "omnigram.dtype", og_dtype_name(s->dtype), err));
    OG_TRY(put_number(w, "omnigram.total_rows", part->total, err));
    OG_TRY(put_number(w, "omnigram.first_row", part->first, err));
    OG_TRY(put_number(w, "omnigram.rows", part->n, err));
    OG_TRY(put_number(w, "omnigram.dim", s->dim, err));
    OG_TRY(put_number(w, "omnigram.group", s->group, err));
    return put_number(w, "omnigram.state", s->state, err);
}

static og_status put_arrays(piece *p, const og_store *s, const og_table_part *part, og_error *err) {
    og_arrays_writer *w = p->writer;
    og_record r = s->record;
    int64_t n = part->n, row = part->row;
    if (part->layout == OG_LAYOUT_PACKED) {
        OG_TRY(og_arrays_writer_declare(w, "records", OG_U8, 2, (int64_t[]){n, r.bytes}, err));
        return append_records(p, s, row, n, err);
    }
    og_dtype type = s->dtype == OG_NF4 ? OG_U8 : s->dtype;
    int64_t columns = s->dtype == OG_NF4 ? r.value_bytes : s->dim;
    /* widest elements first: then every tensor of a file that begins aligned is aligned */
    if (s->state) OG_TRY(og_arrays_writer_declare(w, "state", OG_F32, 2, (int64_t[]){n, s->state}, err));
    if (s->group && s->dtype != OG_FP8_E4M3)
        OG_TRY(og_arrays_writer_declare(w, "weight_scale", OG_F32, 2, (int64_t[]){n, r.scale_bytes / 4}, err));
    OG_TRY(og_arrays_writer_declare(w, "weight", type, 2, (int64_t[]){n, columns}, err));
    if (s->dtype == OG_FP8_E4M3)
        OG_TRY(og_arrays_writer_declare(w, "weight_scale_inv", OG_U8, 2, (int64_t[]){n, r.scale_bytes}, err));
    if (s->state)
        OG_TRY(append_rows(p, s->states + row * s->state_stride, s->state_stride, (int64_t)s->state * 4, n, err));
    if (s->group && s->dtype != OG_FP8_E4M3)
        OG_TRY(append_rows(p, og_store_scales(s, row), s->scale_stride, r.scale_bytes, n, err));
    OG_TRY(append_rows(p, og_store_values(s, row), s->value_stride, r.value_bytes, n, err));
    if (s->dtype == OG_FP8_E4M3)
        OG_TRY(append_rows(p, og_store_scales(s, row), s->scale_stride, r.scale_bytes, n, err));
    return OG_OK;
}

og_status og_table_write(const char *path, const og_store *store, const og_table_part *part, og_error *err) {
    const og_table_identity *id = part->identity;
    if (!id || !id->name || !*id->name || !id->fingerprint || !*id->fingerprint || !id->description ||
        !*id->description)
        return og_fail(err, OG_EINVAL, "%s: a table needs a name, a fingerprint and a description", path);
    if (part->layout != OG_LAYOUT_PLAIN && part->layout != OG_LAYOUT_PACKED)
        return og_fail(err, OG_EINVAL, "%s: layout %d: must be 0 (plain) or 1 (packed)", path, part->layout);
    if (part->n < 1 || part->row < 0 || part->n > store->rows - part->row)
        return og_fail(err, OG_EINVAL, "%s: rows %lld..%lld of a store of %lld rows", path, (long long)part->row,
                       (long long)(part->row + part->n - 1), (long long)store->rows);
    if (part->first < 0 || part->total < part->n || part->first > part->total - part->n)
        return og_fail(err, OG_EINVAL, "%s: rows %lld..%lld of a table of %lld rows", path, (long long)part->first,
                       (long long)(part->first + part->n - 1), (long long)part->total);
    int64_t widest = store->record.bytes > PIECE_BYTES ? store->record.bytes : PIECE_BYTES;
    piece p = {NULL, og_alloc(widest, 1)};
    if (!p.buffer) return og_fail(err, OG_ENOMEM, "%s: no memory to write a table", path);
    og_status status = og_arrays_writer_new(path, &p.writer, err);
    if (status != OG_OK) {
        og_release(p.buffer);
        return status;
    }
    status = put_metadata(p.writer, store, part, err);
    if (status == OG_OK) status = put_arrays(&p, store, part, err);
    if (status == OG_OK)
        status = og_arrays_writer_commit(p.writer, err);
    else
        og_arrays_writer_abort(p.writer);
    og_release(p.buffer);
    return status;
}

og_status og_table_save_part(const char *path, const og_store *store, int64_t row, int64_t n,
                             const og_table_identity *identity, int32_t layout, int32_t part, int32_t parts,
                             int64_t first, int64_t total, og_error *err) {
    char file[4096];
    OG_TRY(og_table_part_path(path, part, parts, file, sizeof file, err));
    og_table_part p = {identity, layout, row, n, first, total};
    return og_table_write(file, store, &p, err);
}

og_status og_table_save(const char *path, const og_store *store, const og_table_identity *identity, int32_t layout,
                        int32_t shards, og_error *err) {
    if (shards < 1 || shards > 99999 || shards > store->rows)
        return og_fail(err, OG_EINVAL, "%s: %d shards of %lld rows: must be in 1..99999 and at most one a row", path,
                       shards, (long long)store->rows);
    if (!og_table_is_index(path)) {
        if (shards != 1) return og_fail(err, OG_EINVAL, "%s: %d shards need a path that ends in .json", path, shards);
        og_table_part all = {identity, layout, 0, store->rows, 0, store->rows};
        return og_table_write(path, store, &all, err);
    }
    int64_t each = store->rows / shards, more = store->rows % shards, at = 0;
    for (int32_t i = 0; i < shards; i++) {
        int64_t n = each + (i < more);
        OG_TRY(og_table_save_part(path, store, at, n, identity, layout, i, shards, at, store->rows, err));
        at += n;
    }
    return og_table_publish(path, shards, err);
}

og_status og_table_convert(const char *from, const char *to, int32_t layout, int32_t shards, og_error *err) {
    og_table_file *file;
    OG_TRY(og_table_file_open(from, NULL, &file, err));
    og_status status = og_table_rewrite(file, to, layout, shards, err);
    og_table_file_close(file);
    return status;
}
