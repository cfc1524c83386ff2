/* table_open.c: opens a table, checks what it is, loads rows. */
#include "table_file/table_index.h"
#include "table_file/table_view.h"

#include <omnigram/config.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct og_table_file {
    char *path;
    og_table_index index;
    og_arrays *first; /* the first shard stays open: the header borrows from it */
    og_table_header header;
};

void og_table_file_close(og_table_file *file) {
    if (!file) return;
    if (file->first) og_arrays_close(file->first);
    og_table_index_free(&file->index);
    og_release(file->path);
    og_release(file);
}

const og_table_header *og_table_file_header(const og_table_file *file) { return &file->header; }

static int same_value(const og_config *a, const og_config *b) {
    char *x = NULL, *y = NULL;
    int same = og_config_to_json(a, &x, NULL) == OG_OK && og_config_to_json(b, &y, NULL) == OG_OK && strcmp(x, y) == 0;
    og_release(x);
    og_release(y);
    return same;
}

/* The dotted path of the first key whose values differ; both are maps or the path names the node itself. */
static void first_difference(const og_config *a, const og_config *b, char *path, size_t size, const og_config **x,
                             const og_config **y) {
    *x = a;
    *y = b;
    if (og_config_kind(a) != OG_CONFIG_MAP || og_config_kind(b) != OG_CONFIG_MAP) return;
    for (int side = 0; side < 2; side++) {
        const og_config *map = side ? b : a;
        for (int64_t i = 0; i < og_config_size(map); i++) {
            const char *key = og_config_key_at(map, i);
            const og_config *p = NULL, *q = NULL; /* keys may hold dots, so children are found by position */
            for (int64_t k = 0; k < og_config_size(a); k++)
                if (!strcmp(og_config_key_at(a, k), key)) p = og_config_at(a, k);
            for (int64_t k = 0; k < og_config_size(b); k++)
                if (!strcmp(og_config_key_at(b, k), key)) q = og_config_at(b, k);
            if (p && q && same_value(p, q)) continue;
            size_t used = strlen(path);
            snprintf(path + used, size - used, "%s%s", used ? "." : "", key);
            first_difference(p, q, path, size, x, y);
            return;
        }
    }
}

static void short_value(const og_config *node, char *out, size_t size) {
    char *text = NULL;
    if (!node)
        snprintf(out, size, "absent");
    else if (og_config_to_json(node, &text, NULL) == OG_OK)
        snprintf(out, size, "%.40s%s", text, strlen(text) > 40 ? "..." : "");
    else
        snprintf(out, size, "?");
    og_release(text);
}

/* Why two identities differ: fingerprints, and the key where the descriptions part. */
static og_status check_identity(const char *path, const og_table_identity *have, const og_table_identity *want,
                                og_error *err) {
    if (!want || strcmp(have->fingerprint, want->fingerprint) == 0) return OG_OK;
    char key[120] = "", here[64] = "", there[64] = "";
    og_config *a = NULL, *b = NULL;
    if (want->description &&
        og_config_from_json(have->description, (int64_t)strlen(have->description), path, &a, NULL) == OG_OK &&
        og_config_from_json(want->description, (int64_t)strlen(want->description), "description", &b, NULL) == OG_OK) {
        const og_config *x, *y;
        first_difference(a, b, key, sizeof key, &x, &y);
        short_value(x, here, sizeof here);
        short_value(y, there, sizeof there);
    }
    og_config_free(a);
    og_config_free(b);
    if (!key[0])
        return og_fail(err, OG_EINVAL, "%s: table '%.40s' has fingerprint %s, this model needs %s", path, have->name,
                       have->fingerprint, want->fingerprint);
    return og_fail(err, OG_EINVAL,
                   "%s: table '%.40s' has fingerprint %s, this model needs %s; %s is %s in the file and %s here", path,
                   have->name, have->fingerprint, want->fingerprint, key, here, there);
}

static og_status open_shards(og_table_file *file, og_table_view *view, og_error *err) {
    const char *path = file->path;
    if (og_table_is_index(path)) {
        OG_TRY(og_table_index_read(path, &file->index, err));
    } else {
        file->index.shards = og_alloc_zero(1, sizeof *file->index.shards);
        if (!file->index.shards) return og_fail(err, OG_ENOMEM, "%s: no memory to open a table", path);
        file->index.n = 1;
        file->index.shards[0].path = og_copy_string(path);
        if (!file->index.shards[0].path) return og_fail(err, OG_ENOMEM, "%s: no memory to open a table", path);
    }
    og_table_shard *shards = file->index.shards;
    OG_TRY(og_arrays_open(shards[0].path, 0, &file->first, err));
    OG_TRY(og_table_view_of(file->first, shards[0].path, NULL, view, err));
    if (!og_table_is_index(path)) {
        shards[0].n = view->n;
        if (view->n != view->total)
            return og_fail(err, OG_EFORMAT, "%s: one shard with %lld of %lld rows; open the table's index (.json)",
                           path, (long long)view->n, (long long)view->total);
        return OG_OK;
    }
    int64_t rows = 0;
    for (int32_t i = 0; i < file->index.n; i++) {
        struct stat info;
        rows += shards[i].n;
        if (stat(shards[i].path, &info) != 0)
            return og_fail(err, OG_EIO, "%s: its shard %s is missing", path, shards[i].path);
        if (info.st_size != shards[i].bytes)
            return og_fail(err, OG_EFORMAT, "%s: its shard %s has %lld bytes, the index says %lld", path,
                           shards[i].path, (long long)info.st_size, (long long)shards[i].bytes);
    }
    if (rows != view->total)
        return og_fail(err, OG_EFORMAT, "%s: its shards hold %lld of %lld rows", path, (long long)rows,
                       (long long)view->total);
    return OG_OK;
}

og_status og_table_file_open(const char *path, const og_table_identity *expected, og_table_file **out, og_error *err) {
    og_table_file *file = og_alloc_zero(1, sizeof *file);
    if (!file) return og_fail(err, OG_ENOMEM, "%s: no memory to open a table", path);
    file->path = og_copy_string(path);
    og_table_view v = {0};
    og_status status =
        file->path ? open_shards(file, &v, err) : og_fail(err, OG_ENOMEM, "%s: no memory to open a table", path);
    if (status == OG_OK) status = check_identity(path, &v.identity, expected, err);
    if (status != OG_OK) {
        og_table_file_close(file);
        return status;
    }
    file->header = (og_table_header){v.identity, v.total, v.dim, v.dtype, v.group, v.state, v.layout, file->index.n};
    *out = file;
    return OG_OK;
}

/* What was read is let go: resident memory stays at one piece, however long the shard is. */
static void let_go(const uint8_t *first, int64_t bytes) {
    uintptr_t begin = ((uintptr_t)first + 4095) / 4096 * 4096,
              end = ((uintptr_t)first + (uintptr_t)bytes) / 4096 * 4096;
    if (end > begin) (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* n rows of `from` beginning at row i to rows k.. of `to`. */
static og_status copy_rows(const og_store *from, int64_t i, og_store *to, int64_t k, int64_t n, float *values,
                           og_error *err) {
    int same = from->dtype == to->dtype && from->group == to->group;
    for (int64_t r = 0; r < n; r++) {
        if (same) {
            memcpy(og_store_values(to, k + r), og_store_values(from, i + r), (size_t)to->record.value_bytes);
            if (to->scales)
                memcpy(og_store_scales(to, k + r), og_store_scales(from, i + r), (size_t)to->record.scale_bytes);
        } else {
            og_row_decode(from, i + r, values);
            int64_t bad = og_row_encode(to, k + r, values, 0);
            if (bad >= 0)
                return og_fail(err, OG_EINVAL, "channel %lld of row %lld is %g: %s rows hold finite values only",
                               (long long)bad, (long long)(i + r), (double)values[bad], og_dtype_name(to->dtype));
        }
        if (to->state && from->state)
            memcpy(og_store_state(to, k + r), og_store_state(from, i + r), (size_t)to->state * 4);
        else if (to->state)
            memset(og_store_state(to, k + r), 0, (size_t)to->state * 4);
    }
    return OG_OK;
}

/* The rows of one shard that the store wants, piece by piece. */
static og_status load_shard(const og_table_shard *shard, const og_table_header *h, int64_t first, og_store *to,
                            float *values, og_error *err) {
    og_arrays *arrays;
    og_table_view v = {0};
    OG_TRY(og_arrays_open(shard->path, 0, &arrays, err));
    og_status status = og_table_view_of(arrays, shard->path, NULL, &v, err);
    if (status == OG_OK &&
        (strcmp(v.identity.fingerprint, h->identity.fingerprint) != 0 || v.n != shard->n || v.first != shard->first ||
         v.dim != h->dim || v.dtype != h->dtype || v.group != h->group || v.state != h->state))
        status =
            og_fail(err, OG_EFORMAT, "%s: not the shard that its index describes (fingerprint %s, rows %lld + %lld)",
                    shard->path, v.identity.fingerprint, (long long)v.first, (long long)v.n);
    if (status == OG_OK) {
        og_store from = {.descriptor = -1};
        og_store_over_view(&from, &v);
        int64_t begin = shard->first > first ? shard->first : first;
        int64_t end = shard->first + shard->n < first + to->rows ? shard->first + shard->n : first + to->rows;
        int64_t most = (INT64_C(8) << 20) / v.record.bytes + 1;
        for (int64_t at = begin; status == OG_OK && at < end; at += most) {
            int64_t n = end - at < most ? end - at : most, i = at - shard->first;
            status = copy_rows(&from, i, to, at - first, n, values, err);
            let_go(og_store_values(&from, i), n * from.value_stride);
            if (from.scales) let_go(og_store_scales(&from, i), n * from.scale_stride);
            if (from.state) let_go((const uint8_t *)og_store_state(&from, i), n * from.state_stride);
        }
    }
    og_arrays_close(arrays);
    return status;
}

og_status og_table_file_load(const og_table_file *file, int64_t first, og_store *store, og_error *err) {
    const og_table_header *h = &file->header;
    if (!store->writable) return og_fail(err, OG_EINVAL, "%s: loading into a read-only store", file->path);
    if (store->dim != h->dim)
        return og_fail(err, OG_EINVAL, "%s has rows of %lld values, the store of %lld", file->path, (long long)h->dim,
                       (long long)store->dim);
    if (first < 0 || first > h->rows - store->rows)
        return og_fail(err, OG_EINVAL, "%s has %lld rows, the store wants %lld..%lld", file->path, (long long)h->rows,
                       (long long)first, (long long)(first + store->rows - 1));
    if (store->state && h->state && store->state != h->state)
        return og_fail(err, OG_EINVAL, "%s keeps %d state values a row, the store %d", file->path, h->state,
                       store->state);
    float *values = og_alloc(h->dim, sizeof *values);
    if (!values) return og_fail(err, OG_ENOMEM, "%s: no memory to load rows", file->path);
    og_status status = OG_OK;
    for (int32_t i = 0; status == OG_OK && i < file->index.n; i++) {
        const og_table_shard *shard = &file->index.shards[i];
        if (shard->first < first + store->rows && shard->first + shard->n > first)
            status = load_shard(shard, h, first, store, values, err);
    }
    og_release(values);
    return status;
}

/* One shard of the new table is held in memory at a time. */
og_status og_table_rewrite(const og_table_file *file, const char *to, int32_t layout, int32_t shards, og_error *err) {
    const og_table_header *h = &file->header;
    if (shards < 1 || shards > 99999 || shards > h->rows)
        return og_fail(err, OG_EINVAL, "%s: %d shards of %lld rows: must be in 1..99999 and at most one a row", to,
                       shards, (long long)h->rows);
    if (shards > 1 && !og_table_is_index(to))
        return og_fail(err, OG_EINVAL, "%s: %d shards need a path that ends in .json", to, shards);
    int64_t each = h->rows / shards, more = h->rows % shards, at = 0;
    for (int32_t i = 0; i < shards; i++) {
        og_store_options o = og_store_defaults(each + (i < more), h->dim, h->dtype);
        o.group = h->group;
        o.state = h->state;
        og_store *part;
        OG_TRY(og_store_new(&o, &part, err));
        og_status status = og_table_file_load(file, at, part, err);
        og_table_part whole = {&h->identity, layout, 0, o.rows, 0, h->rows};
        if (status == OG_OK)
            status = og_table_is_index(to)
                         ? og_table_save_part(to, part, 0, o.rows, &h->identity, layout, i, shards, at, h->rows, err)
                         : og_table_write(to, part, &whole, err);
        og_store_free(part);
        OG_TRY(status);
        at += o.rows;
    }
    return og_table_is_index(to) ? og_table_publish(to, shards, err) : OG_OK;
}
