/* memory_state.c: table rows in a checkpoint: whole records (values, scales, optimiser state), as they
 * lie in memory. */
#include "memory_impl.h"

#include <omnigram/safetensors.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void key_of(char key[256], const char *what, const char *table) { snprintf(key, 256, "%s.%s", what, table); }

og_status og_memory_save(const og_memory *m, const char *path, og_error *err) {
    og_arrays_writer *w = NULL;
    OG_TRY(og_arrays_writer_new(path, &w, err));
    og_status status = og_arrays_writer_metadata(w, "format", "omnigram table records 1", err);
    for (int32_t t = 0; t < m->n_tables && status == OG_OK; t++) {
        const og_table_info *info = og_table_set_info(m->set, t);
        const og_store *store = m->stores[t];
        char key[256], state[32];
        snprintf(state, sizeof state, "%d",
                 m->options.mode == OG_MEMORY_TRAIN ? (int)og_update_state(m->options.optimiser, info->dim) : 0);
        key_of(key, "fingerprint", info->name);
        status = og_arrays_writer_metadata(w, key, info->fingerprint, err);
        key_of(key, "state", info->name);
        if (status == OG_OK) status = og_arrays_writer_metadata(w, key, state, err);
        int64_t shape[2] = {og_store_rows(store), og_store_row_bytes(store)};
        if (status == OG_OK) status = og_arrays_writer_declare(w, info->name, OG_U8, 2, shape, err);
    }
    for (int32_t t = 0; t < m->n_tables && status == OG_OK; t++)
        status = og_arrays_writer_append(w, og_store_row(m->stores[t], 0),
                                         og_store_rows(m->stores[t]) * og_store_row_bytes(m->stores[t]), err);
    if (status != OG_OK) {
        og_arrays_writer_abort(w);
        return status;
    }
    return og_arrays_writer_commit(w, err);
}

/* Values only, through a store shaped like the one that was saved. */
static og_status copy_values(og_store *to, const og_table_info *info, int32_t state, const void *records, int64_t bytes,
                             og_error *err) {
    og_store_options o = og_store_defaults(info->rows, info->dim, info->dtype);
    o.state = state;
    og_store *from = NULL;
    OG_TRY(og_store_new(&o, &from, err));
    int64_t block = 1024;
    int64_t *rows = og_alloc(block, sizeof *rows);
    float *values = og_alloc(block * info->dim, sizeof *values);
    og_status status = rows && values ? OG_OK : og_fail(err, OG_ENOMEM, "table %s: no memory", info->name);
    if (status == OG_OK && bytes != og_store_rows(from) * og_store_row_bytes(from))
        status = og_fail(err, OG_EFORMAT, "table %s: %lld bytes of records, %lld expected", info->name,
                         (long long)bytes, (long long)(og_store_rows(from) * og_store_row_bytes(from)));
    if (status == OG_OK) memcpy(og_store_row(from, 0), records, (size_t)bytes);
    for (int64_t first = 0; status == OG_OK && first < info->rows; first += block) {
        int64_t n = info->rows - first < block ? info->rows - first : block;
        for (int64_t i = 0; i < n; i++) rows[i] = first + i;
        status = og_store_read(from, rows, n, values, err);
        if (status == OG_OK) status = og_store_write(to, rows, n, values, err);
    }
    og_release(rows);
    og_release(values);
    og_store_free(from);
    return status;
}

static og_status load_table(og_memory *m, int32_t t, const og_arrays *arrays, int32_t exact, og_error *err) {
    const og_table_info *info = og_table_set_info(m->set, t);
    char key[256];
    key_of(key, "fingerprint", info->name);
    const char *fingerprint = og_arrays_metadata(arrays, key);
    if (!fingerprint) {
        char names[200] = "";
        for (int64_t i = 0, n = 0; i < og_arrays_count(arrays) && n < 120; i++)
            n += snprintf(names + n, 80, "%s%.60s", i ? ", " : "", og_arrays_info(arrays, i)->name);
        return og_fail(err, OG_EFORMAT, "has no rows of table %s; it has: %s", info->name, names);
    }
    if (strcmp(fingerprint, info->fingerprint))
        return og_fail(err, OG_EFORMAT,
                       "table %s: the rows were made for fingerprint %s, this model's table is %s (scheme, stencil, "
                       "ids and codebooks must be equal)",
                       info->name, fingerprint, info->fingerprint);
    int64_t shape[OG_MAX_RANK];
    void *records = NULL;
    OG_TRY(og_arrays_expect(arrays, info->name, OG_U8, 2, shape, &records, err));
    og_store *store = m->stores[t];
    if (shape[0] != info->rows)
        return og_fail(err, OG_EFORMAT, "table %s: %lld rows, %lld expected", info->name, (long long)shape[0],
                       (long long)info->rows);
    key_of(key, "state", info->name);
    const char *state = og_arrays_metadata(arrays, key);
    if (!exact) return copy_values(store, info, state ? atoi(state) : 0, records, shape[0] * shape[1], err);
    if (shape[1] != og_store_row_bytes(store))
        return og_fail(err, OG_EFORMAT, "table %s: records of %lld bytes, %lld expected", info->name,
                       (long long)shape[1], (long long)og_store_row_bytes(store));
    memcpy(og_store_row(store, 0), records, (size_t)(shape[0] * shape[1]));
    return OG_OK;
}

og_status og_memory_load(og_memory *m, const char *path, int32_t exact, og_error *err) {
    og_arrays *arrays = NULL;
    OG_TRY(og_arrays_open(path, 0, &arrays, err));
    og_status status = OG_OK;
    for (int32_t t = 0; t < m->n_tables && status == OG_OK; t++) status = load_table(m, t, arrays, exact, err);
    og_arrays_close(arrays);
    return status == OG_OK ? OG_OK : og_fail_at(err, status, "%s", path);
}
