/* shard.c: gathers and writes one shard. */
#include "prepare/shard.h"

#include <string.h>

static const struct {
    const char *name;
    og_dtype dtype;
    size_t size;
} kinds[OG_N_COLS] = {
    [OG_COL_MODALITY] = {OG_SHARD_ITEM_MODALITY, OG_I32, 4},
    [OG_COL_START] = {OG_SHARD_ITEM_START, OG_I64, 8},
    [OG_COL_SHAPE] = {OG_SHARD_ITEM_SHAPE, OG_I64, 8},
    [OG_COL_RATE] = {OG_SHARD_ITEM_RATE, OG_I32, 4},
    [OG_COL_DOC_START] = {OG_SHARD_DOC_START, OG_I64, 8},
    [OG_COL_DOC_ITEMS] = {OG_SHARD_DOC_ITEMS, OG_I64, 8},
    [OG_COL_DOC_SPLIT] = {OG_SHARD_DOC_SPLIT, OG_I32, 4},
    [OG_COL_NAME_START] = {OG_SHARD_NAME_START, OG_I64, 8},
    [OG_COL_NAMES] = {OG_SHARD_NAMES, OG_U8, 1},
    [OG_COL_TEXT] = {OG_SHARD_TEXT, OG_U8, 1},
    [OG_COL_IMAGE] = {OG_SHARD_IMAGE, OG_U8, 1},
    [OG_COL_AUDIO] = {OG_SHARD_AUDIO, OG_I16, 2},
};

static og_status append(og_shard *shard, int32_t column, const void *data, int64_t n, og_error *err) {
    og_shard_column *c = &shard->columns[column];
    if (n == 0) return OG_OK;
    OG_TRY(og_grow(&c->data, &c->capacity, c->n + n, kinds[column].size, err));
    memcpy((char *)c->data + c->n * (int64_t)kinds[column].size, data, (size_t)n * kinds[column].size);
    c->n += n;
    shard->bytes += n * (int64_t)kinds[column].size;
    return OG_OK;
}

og_status og_shard_add_item(og_shard *shard, const og_media *media, og_error *err) {
    int32_t column = media->modality == OG_TEXT    ? OG_COL_TEXT
                     : media->modality == OG_IMAGE ? OG_COL_IMAGE
                                                   : OG_COL_AUDIO;
    int64_t shape[3] = {1, 1, 1}, elements = 1, start = shard->columns[column].n;
    if (media->modality < OG_TEXT || media->modality > OG_AUDIO || media->dtype != kinds[column].dtype ||
        media->rank < 1 || media->rank > 3)
        return og_fail(err, OG_EINVAL, "prepare: media of modality %d, dtype %s, rank %d cannot be stored",
                       media->modality, og_dtype_name(media->dtype), media->rank);
    for (int32_t i = 0; i < media->rank; i++) elements *= shape[i] = media->shape[i];
    OG_TRY(append(shard, OG_COL_MODALITY, &media->modality, 1, err));
    OG_TRY(append(shard, OG_COL_START, &start, 1, err));
    OG_TRY(append(shard, OG_COL_SHAPE, shape, 3, err));
    OG_TRY(append(shard, OG_COL_RATE, &media->rate_hz, 1, err));
    OG_TRY(append(shard, column, media->data, elements, err));
    shard->items++;
    return OG_OK;
}

og_status og_shard_add_document(og_shard *shard, const char *id, const char *group, int32_t split, const int64_t *items,
                                int64_t n, og_error *err) {
    int64_t start = shard->columns[OG_COL_DOC_ITEMS].n, names[2];
    OG_TRY(append(shard, OG_COL_DOC_START, &start, 1, err));
    OG_TRY(append(shard, OG_COL_DOC_ITEMS, items, n, err));
    OG_TRY(append(shard, OG_COL_DOC_SPLIT, &split, 1, err));
    names[0] = shard->columns[OG_COL_NAMES].n;
    OG_TRY(append(shard, OG_COL_NAMES, id, (int64_t)strlen(id) + 1, err));
    names[1] = shard->columns[OG_COL_NAMES].n;
    OG_TRY(append(shard, OG_COL_NAMES, group, (int64_t)strlen(group) + 1, err));
    OG_TRY(append(shard, OG_COL_NAME_START, names, 2, err));
    shard->documents++;
    return OG_OK;
}

static og_status write_all(og_shard *shard, og_arrays_writer *writer, og_error *err) {
    OG_TRY(og_arrays_writer_metadata(writer, "kind", "omnigram-prepared", err));
    for (int32_t i = 0; i < OG_N_COLS; i++) {
        int64_t shape[2] = {shard->columns[i].n, 3};
        if (i == OG_COL_SHAPE) shape[0] /= 3;
        OG_TRY(og_arrays_writer_declare(writer, kinds[i].name, kinds[i].dtype, i == OG_COL_SHAPE ? 2 : 1, shape, err));
    }
    for (int32_t i = 0; i < OG_N_COLS; i++)
        if (shard->columns[i].n)
            OG_TRY(og_arrays_writer_append(writer, shard->columns[i].data, shard->columns[i].n * (int64_t)kinds[i].size,
                                           err));
    return OG_OK;
}

og_status og_shard_write(og_shard *shard, const char *path, og_error *err) {
    int64_t end = shard->columns[OG_COL_DOC_ITEMS].n;
    OG_TRY(append(shard, OG_COL_DOC_START, &end, 1, err));
    og_arrays_writer *writer = NULL;
    OG_TRY(og_arrays_writer_new(path, &writer, err));
    og_status status = write_all(shard, writer, err);
    if (status != OG_OK) {
        og_arrays_writer_abort(writer);
        return status;
    }
    OG_TRY(og_arrays_writer_commit(writer, err));
    for (int32_t i = 0; i < OG_N_COLS; i++) shard->columns[i].n = 0;
    shard->items = shard->documents = shard->bytes = 0;
    return OG_OK;
}

void og_shard_free(og_shard *shard) {
    for (int32_t i = 0; i < OG_N_COLS; i++) og_release(shard->columns[i].data);
    *shard = (og_shard){0};
}
