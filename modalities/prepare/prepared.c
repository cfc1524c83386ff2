/* prepared.c: reads prepared shards in place; their structure is checked when the folder is opened, their bytes when
 * they are first asked for. */
#include "prepare/shard.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct shard_view {
    og_arrays *file;
    int64_t first_item, items, documents;
    const int32_t *modality, *rate, *split;
    const int64_t *start, *shape, *doc_start, *doc_items, *name_start;
    const char *names;
    const char *data[3];
    char *path;
    const char *sha256;       /* borrowed from the index */
    _Atomic int32_t verified; /* 1: the file has that digest */
} shard_view;

typedef struct place {
    int64_t shard, index;
} place;

struct og_prepared {
    og_config *index;
    shard_view *shards;
    int64_t n_shards, n_items;
    place *documents[OG_N_SPLITS];
    int64_t n_documents[OG_N_SPLITS], capacity[OG_N_SPLITS];
};

static og_status one(const og_arrays *file, const char *name, og_dtype dtype, int64_t wanted, const void *out,
                     int64_t *length, og_error *err) {
    int64_t shape[OG_MAX_RANK] = {0};
    void *data = NULL;
    OG_TRY(og_arrays_expect(file, name, dtype, 1, shape, &data, err));
    if (wanted >= 0 && shape[0] != wanted)
        return og_fail(err, OG_EFORMAT, "array '%s' has %lld elements, must have %lld", name, (long long)shape[0],
                       (long long)wanted);
    memcpy((void *)(uintptr_t)out, &data, sizeof data);
    if (length) *length = shape[0];
    return OG_OK;
}

static og_status map_shard(shard_view *v, int64_t lengths[3], int64_t *refs, int64_t *name_bytes, og_error *err) {
    int64_t shape[OG_MAX_RANK] = {0};
    void *data = NULL;
    OG_TRY(one(v->file, OG_SHARD_ITEM_MODALITY, OG_I32, -1, &v->modality, &v->items, err));
    OG_TRY(one(v->file, OG_SHARD_ITEM_START, OG_I64, v->items, &v->start, NULL, err));
    OG_TRY(one(v->file, OG_SHARD_ITEM_RATE, OG_I32, v->items, &v->rate, NULL, err));
    OG_TRY(og_arrays_expect(v->file, OG_SHARD_ITEM_SHAPE, OG_I64, 2, shape, &data, err));
    v->shape = data;
    if (shape[0] != v->items || shape[1] != 3)
        return og_fail(err, OG_EFORMAT, "array '%s' must be [%lld][3]", OG_SHARD_ITEM_SHAPE, (long long)v->items);
    OG_TRY(one(v->file, OG_SHARD_DOC_SPLIT, OG_I32, -1, &v->split, &v->documents, err));
    OG_TRY(one(v->file, OG_SHARD_DOC_START, OG_I64, v->documents + 1, &v->doc_start, NULL, err));
    OG_TRY(one(v->file, OG_SHARD_DOC_ITEMS, OG_I64, -1, &v->doc_items, refs, err));
    OG_TRY(one(v->file, OG_SHARD_NAME_START, OG_I64, 2 * v->documents, &v->name_start, NULL, err));
    OG_TRY(one(v->file, OG_SHARD_NAMES, OG_U8, -1, &v->names, name_bytes, err));
    OG_TRY(one(v->file, OG_SHARD_TEXT, OG_U8, -1, &v->data[OG_TEXT], &lengths[OG_TEXT], err));
    OG_TRY(one(v->file, OG_SHARD_IMAGE, OG_U8, -1, &v->data[OG_IMAGE], &lengths[OG_IMAGE], err));
    return one(v->file, OG_SHARD_AUDIO, OG_I16, -1, &v->data[OG_AUDIO], &lengths[OG_AUDIO], err);
}

/* Nothing in a file is trusted later, so that reading an item needs no checks. */
static og_status check_shard(const shard_view *v, const int64_t lengths[3], int64_t refs, int64_t name_bytes,
                             og_error *err) {
    for (int64_t i = 0; i < v->items; i++) {
        int32_t m = v->modality[i];
        const int64_t *s = v->shape + 3 * i;
        if (m < OG_TEXT || m > OG_AUDIO) return og_fail(err, OG_EFORMAT, "item %lld: modality %d", (long long)i, m);
        int64_t room = v->start[i] < 0 ? -1 : lengths[m] - v->start[i];
        if (room < 0 || s[0] < 0 || s[1] < 1 || s[2] < 1 || s[0] > room || s[1] > room + 1 || s[2] > room + 1 ||
            (s[0] && (s[1] > room / s[0] || s[2] > room / s[0] / s[1])))
            return og_fail(err, OG_EFORMAT, "item %lld: start %lld, shape %lld x %lld x %lld leave its array of %lld",
                           (long long)i, (long long)v->start[i], (long long)s[0], (long long)s[1], (long long)s[2],
                           (long long)lengths[m]);
    }
    if (v->doc_start[0] != 0 || v->doc_start[v->documents] != refs)
        return og_fail(err, OG_EFORMAT, "document.start does not cover %lld references", (long long)refs);
    if (v->documents && (name_bytes < 1 || v->names[name_bytes - 1]))
        return og_fail(err, OG_EFORMAT, "document.names does not end in a zero");
    for (int64_t d = 0; d < v->documents; d++) {
        if (v->doc_start[d + 1] < v->doc_start[d] || v->split[d] < 0 || v->split[d] >= OG_N_SPLITS ||
            v->name_start[2 * d] < 0 || v->name_start[2 * d] >= name_bytes || v->name_start[2 * d + 1] < 0 ||
            v->name_start[2 * d + 1] >= name_bytes)
            return og_fail(err, OG_EFORMAT, "document %lld: start, split or name out of range", (long long)d);
    }
    for (int64_t r = 0; r < refs; r++) /* an item is stored before or with the first document that has it */
        if (v->doc_items[r] < 0 || v->doc_items[r] >= v->first_item + v->items)
            return og_fail(err, OG_EFORMAT, "reference %lld: item %lld of %lld", (long long)r,
                           (long long)v->doc_items[r], (long long)(v->first_item + v->items));
    return OG_OK;
}

/* A key that prepare always writes. */
static og_status needed(const og_config *map, const char *path, const char *key, const og_config **out, og_error *err) {
    *out = og_config_get(map, key);
    if (*out) return OG_OK;
    return og_fail(err, OG_EFORMAT, "%s: it has no '%s'; it was not written by prepare, or was cut", path, key);
}

static og_status open_shard(og_prepared *p, const char *folder, const og_config *entry, int64_t number, og_error *err) {
    char path[4200];
    const char *file = NULL;
    shard_view *v = &p->shards[number];
    int64_t lengths[3], refs = 0, name_bytes = 0;
    const og_config *file_node;
    OG_TRY(needed(entry, OG_WHERE(entry), "file", &file_node, err));
    OG_TRY(og_config_string(file_node, &file, err));
    if (strchr(file, '/'))
        return og_fail(err, OG_EFORMAT, "%s: shard file '%s' leaves the folder", OG_WHERE(entry), file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    OG_TRY(og_config_string(og_config_get(entry, "sha256"), &v->sha256, err));
    v->path = og_copy_string(path);
    if (!v->path) return og_fail(err, OG_ENOMEM, "%s: no memory", path);
    OG_TRY(og_arrays_open(path, 0, &v->file, err));
    v->first_item = p->n_items;
    og_status status = map_shard(v, lengths, &refs, &name_bytes, err);
    if (status == OG_OK) status = check_shard(v, lengths, refs, name_bytes, err);
    if (status != OG_OK) return og_fail_at(err, status, "%s", path);
    p->n_items += v->items;
    for (int64_t d = 0; d < v->documents; d++) {
        int32_t s = v->split[d];
        OG_TRY(
            og_grow((void **)&p->documents[s], &p->capacity[s], p->n_documents[s] + 1, sizeof *p->documents[s], err));
        p->documents[s][p->n_documents[s]++] = (place){number, d};
    }
    return OG_OK;
}

static og_status check_index(const og_config *index, const char *path, og_error *err) {
    char is[OG_DIGEST_TEXT];
    const char *format = NULL, *wanted = NULL;
    int64_t version = 0;
    const og_config *format_node, *version_node, *digest, *shards;
    OG_TRY(needed(index, path, "format", &format_node, err));
    OG_TRY(needed(index, path, "version", &version_node, err));
    OG_TRY(og_config_string(format_node, &format, err));
    OG_TRY(og_config_i64(version_node, &version, err));
    if (strcmp(format, "omnigram-prepared") || version != OG_INDEX_VERSION)
        return og_fail(
            err, OG_EFORMAT,
            "%s: format '%.60s' version %lld; this build reads omnigram-prepared version %d: prepare it again", path,
            format, (long long)version, OG_INDEX_VERSION);
    OG_TRY(needed(index, path, "digest", &digest, err));
    OG_TRY(needed(index, path, "shards", &shards, err));
    OG_TRY(og_config_string(digest, &wanted, err));
    OG_TRY(og_index_digest(index, is, err));
    if (!strcmp(wanted, is)) return OG_OK;
    return og_fail(err, OG_EFORMAT, "%s: damaged or changed after it was written: SHA-256 %s, must be %.64s", path, is,
                   wanted);
}

static og_status open_all(og_prepared *p, const char *folder, og_error *err) {
    char path[4200];
    if (snprintf(path, sizeof path, "%s/index.json", folder) >= (int)sizeof path)
        return og_fail(err, OG_EINVAL, "%.200s...: path too long", folder);
    OG_TRY(og_config_from_json_file(path, &p->index, err));
    OG_TRY(check_index(p->index, path, err));
    const og_config *shards = og_config_get(p->index, "shards");
    p->n_shards = og_config_size(shards);
    p->shards = og_alloc_zero(p->n_shards, sizeof *p->shards);
    if (!p->shards) return og_fail(err, OG_ENOMEM, "%s: no memory for %lld shards", path, (long long)p->n_shards);
    for (int64_t i = 0; i < p->n_shards; i++) OG_TRY(open_shard(p, folder, og_config_at(shards, i), i, err));
    return OG_OK;
}

og_status og_prepared_open(const char *folder, og_prepared **out, og_error *err) {
    og_prepared *p = og_alloc_zero(1, sizeof *p);
    if (!p) return og_fail(err, OG_ENOMEM, "prepared: no memory");
    og_status status = open_all(p, folder, err);
    if (status != OG_OK) {
        og_prepared_close(p);
        return status;
    }
    *out = p;
    return OG_OK;
}

void og_prepared_close(og_prepared *p) {
    if (!p) return;
    for (int64_t i = 0; p->shards && i < p->n_shards; i++) {
        og_arrays_close(p->shards[i].file);
        og_release(p->shards[i].path);
    }
    for (int32_t s = 0; s < OG_N_SPLITS; s++) og_release(p->documents[s]);
    og_release(p->shards);
    og_config_free(p->index);
    og_release(p);
}

const og_config *og_prepared_index(const og_prepared *p) { return p->index; }
og_status og_prepared_fingerprint(const og_prepared *p, char out[OG_DIGEST_TEXT], og_error *err) {
    char *text = NULL;
    OG_TRY(og_config_to_json(og_config_get(p->index, "shards"), &text, err));
    og_status status = og_digest_of(text, (int64_t)strlen(text), out, err);
    og_release(text);
    return status;
}
int64_t og_prepared_items(const og_prepared *p) { return p->n_items; }
int64_t og_prepared_count(const og_prepared *p, int32_t split) {
    return split >= 0 && split < OG_N_SPLITS ? p->n_documents[split] : 0;
}

static og_status find(const og_prepared *p, int32_t split, int64_t i, place *out, og_error *err) {
    if (split < 0 || split >= OG_N_SPLITS)
        return og_fail(err, OG_EINVAL, "prepared: split %d, must be 0..%d", split, OG_N_SPLITS - 1);
    if (i < 0 || i >= p->n_documents[split])
        return og_fail(err, OG_EINVAL, "prepared: document %lld of %lld in %s", (long long)i,
                       (long long)p->n_documents[split], og_split_name(split));
    *out = p->documents[split][i];
    return OG_OK;
}

/* One pass over the file before anything of it is used. Two threads that come at once both read it. */
static og_status verify(const og_prepared *p, int64_t shard, og_error *err) {
    shard_view *v = &p->shards[shard];
    char is[OG_DIGEST_TEXT];
    if (atomic_load_explicit(&v->verified, memory_order_acquire)) return OG_OK;
    OG_TRY(og_digest_of_file(v->path, is, err));
    if (strcmp(v->sha256, is))
        return og_fail(err, OG_EFORMAT,
                       "%s: damaged or changed after it was written: SHA-256 %s, must be %.64s; remove its folder and "
                       "prepare the data again",
                       v->path, is, v->sha256);
    atomic_store_explicit(&v->verified, 1, memory_order_release);
    return OG_OK;
}

og_status og_prepared_get(const og_prepared *p, int32_t split, int64_t i, og_prepared_document *out, og_error *err) {
    place at = {0};
    OG_TRY(find(p, split, i, &at, err));
    OG_TRY(verify(p, at.shard, err));
    const shard_view *v = &p->shards[at.shard];
    *out = (og_prepared_document){.id = v->names + v->name_start[2 * at.index],
                                  .group = v->names + v->name_start[2 * at.index + 1],
                                  .n_items = v->doc_start[at.index + 1] - v->doc_start[at.index],
                                  .shard = at.shard,
                                  .index = at.index};
    return OG_OK;
}

og_status og_prepared_item(const og_prepared *p, int32_t split, int64_t i, int64_t item, og_media *out, int64_t *unique,
                           og_error *err) {
    place at = {0};
    OG_TRY(find(p, split, i, &at, err));
    OG_TRY(verify(p, at.shard, err));
    const shard_view *v = &p->shards[at.shard];
    int64_t n = v->doc_start[at.index + 1] - v->doc_start[at.index];
    if (item < 0 || item >= n)
        return og_fail(err, OG_EINVAL, "prepared: item %lld of %lld in document %lld", (long long)item, (long long)n,
                       (long long)i);
    int64_t number = v->doc_items[v->doc_start[at.index] + item], low = 0, high = p->n_shards - 1;
    while (low < high) { /* the shard whose items reach past the number; empty shards are stepped over */
        int64_t middle = low + (high - low) / 2;
        if (p->shards[middle].first_item + p->shards[middle].items > number)
            high = middle;
        else
            low = middle + 1;
    }
    OG_TRY(verify(p, low, err));
    const shard_view *w = &p->shards[low];
    int64_t k = number - w->first_item;
    int32_t m = w->modality[k];
    og_media media = {
        .modality = m, .dtype = m == OG_AUDIO ? OG_I16 : OG_U8, .rank = m == OG_IMAGE ? 3 : 1, .rate_hz = w->rate[k]};
    memcpy(media.shape, w->shape + 3 * k, sizeof media.shape);
    if (m != OG_IMAGE) media.shape[1] = media.shape[2] = 0;
    media.data = (void *)(uintptr_t)(w->data[m] + w->start[k] * (m == OG_AUDIO ? 2 : 1));
    *out = media;
    if (unique) *unique = number;
    return OG_OK;
}
