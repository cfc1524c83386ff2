/* prepare.c: a data set to prepared shards: each distinct item is decoded once, on the pool, and stored once. */
#include "prepare/keymap.h"
#include "prepare/output.h"
#include "prepare/shard.h"
#include "prepare/tally.h"

#include "data/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_ERROR, BAD_SKIP };
enum { PENDING = -2, DROPPED = -1 };
enum { BATCH = 256 };                      /* items decoded together */
static const int64_t BATCH_BYTES = 64 << 20; /* of media that came in memory */
static const int64_t LIMIT_BYTES = 1 << 30;  /* of one file */

typedef struct settings {
    const og_config *dataset, *modalities[3];
    int32_t bad_item;
    int64_t shard_bytes;
} settings;

static const og_key keys[] = {
    {"dataset", OG_KEY_NODE, offsetof(settings, dataset), NULL, 0, 0, NULL, "{name: synthetic | tuxpaint | folder | jsonl, ...}"},
    {"bad_item", OG_KEY_CHOICE, offsetof(settings, bad_item), "error", 0, 0, "error|skip", "what a missing or damaged item is"},
    {"text", OG_KEY_NODE, offsetof(settings, modalities[0]), "", 0, 0, NULL, "policies of text"},
    {"image", OG_KEY_NODE, offsetof(settings, modalities[1]), "", 0, 0, NULL, "policies of images"},
    {"audio", OG_KEY_NODE, offsetof(settings, modalities[2]), "", 0, 0, NULL, "policies of audio"},
    {"shard_bytes", OG_KEY_I64, offsetof(settings, shard_bytes), "67108864", 1024, 1e12, NULL, "a shard is closed when it holds this much"},
    {0},
};

typedef struct entry { /* a distinct item */
    int64_t unique;    /* number, PENDING or DROPPED */
    int64_t slot;      /* in the batch while pending */
    int64_t elements;  /* of a stored item */
    int32_t cause;     /* of a dropped one */
} entry;

typedef struct slot { /* a distinct item of the batch */
    og_item item;     /* strings live in `strings`; media is a copy */
    const char *place;
    og_media own;     /* copy of item.media */
    og_media media;   /* decoded */
    og_status status;
    og_error error;
} slot;

typedef struct batch_document {
    const char *id, *group;
    int32_t split;
    int64_t first, n; /* references */
} batch_document;

typedef struct job {
    settings settings;
    const og_modality_type *types[3];
    og_modality_impl *impls[3];
    og_pool *pool;
    og_keymap items, ids;
    entry *entries;
    int64_t n_entries, cap_entries;
    slot *slots;
    int64_t n_slots, cap_slots, slot_bytes;
    batch_document *documents;
    int64_t n_documents, cap_documents;
    int64_t *refs; /* entry numbers */
    int32_t *ref_modality;
    int64_t n_refs, cap_refs, cap_ref_modality;
    int64_t *kept;
    int64_t cap_kept;
    og_strings strings;
    og_shard shard;
    og_output output;
    int64_t uniques;
    json_t *shards;
    og_tally tally;
} job;

static og_status decode_slot(const job *j, slot *s) {
    int32_t m = s->item.modality;
    const og_modality_type *type = j->types[m];
    og_media raw = {0};
    og_error *err = &s->error;
    if (s->item.media) {
        raw = s->own;
        s->own = (og_media){0};
    } else if (s->item.text) {
        OG_TRY(type->decode(j->impls[m], s->place, s->item.text, (int64_t)strlen(s->item.text), &raw, err));
    } else {
        char *bytes = NULL;
        int64_t n = 0;
        OG_TRY(og_file_read(s->item.path, LIMIT_BYTES, &bytes, &n, err));
        og_status status = type->decode(j->impls[m], s->place, bytes, n, &raw, err);
        og_release(bytes);
        OG_TRY(status);
    }
    if (!type->fit || (m == OG_AUDIO && !s->item.media)) { /* decoded sound has its rate already */
        s->media = raw;
        return OG_OK;
    }
    uint32_t notes = raw.notes;
    og_status status = type->fit(j->impls[m], &raw, s->item.crop, s->item.flip, &s->media, err);
    og_media_free(&raw);
    if (status != OG_OK) return og_fail_at(err, status, "%s", s->place);
    s->media.notes = notes;
    return OG_OK;
}

static void decode_range(void *context, int64_t begin, int64_t end, int32_t worker) {
    job *j = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) j->slots[i].status = decode_slot(j, &j->slots[i]);
}

static og_status log_drop(job *j, const slot *s, og_error *err) {
    json_t *entry_json = json_pack("{ss ss}", "item", s->place, "message", s->error.message);
    if (!entry_json) entry_json = json_string("an item whose name is not UTF-8");
    if (json_array_append_new(j->tally.log, entry_json)) return og_fail(err, OG_ENOMEM, "prepare: no memory for the log");
    return OG_OK;
}

/* Stores a decoded slot, or drops it by the policy. */
static og_status settle(job *j, entry *e, og_error *err) {
    slot *s = &j->slots[e->slot];
    int32_t m = s->item.modality;
    if (s->status == OG_OK) {
        OG_TRY(og_shard_add_item(&j->shard, &s->media, err));
        e->unique = j->uniques++;
        e->elements = 1;
        for (int32_t i = 0; i < s->media.rank; i++) e->elements *= s->media.shape[i];
        j->tally.distinct[m]++;
        for (int32_t b = 0; b < OG_N_NOTES; b++) j->tally.notes[b] += s->media.notes >> b & 1;
        return OG_OK;
    }
    e->cause = og_drop_cause(s->status);
    if (j->settings.bad_item == BAD_ERROR || e->cause < 0) {
        if (err) *err = s->error;
        return s->status;
    }
    e->unique = DROPPED;
    return log_drop(j, s, err);
}

static og_status close_shard(job *j, og_error *err) {
    char path[4200], name[64], digest[OG_DIGEST_TEXT];
    int64_t items = j->shard.items, documents = j->shard.documents;
    snprintf(name, sizeof name, "shard-%05lld.safetensors", (long long)json_array_size(j->shards));
    snprintf(path, sizeof path, "%s/%s", j->output.temporary, name);
    OG_TRY(og_shard_write(&j->shard, path, err));
    OG_TRY(og_digest_of_file(path, digest, err));
    if (json_array_append_new(j->shards, json_pack("{ss ss sI sI}", "file", name, "sha256", digest, "items", (json_int_t)items, "documents",
                                                   (json_int_t)documents)))
        return og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    return OG_OK;
}

static og_status store_document(job *j, const batch_document *d, og_error *err) {
    int64_t n = 0, elements[3] = {0}, counts[3] = {0};
    OG_TRY(og_grow((void **)&j->kept, &j->cap_kept, d->n, sizeof *j->kept, err));
    for (int64_t r = d->first; r < d->first + d->n; r++) {
        entry *e = &j->entries[j->refs[r]];
        int32_t m = j->ref_modality[r];
        j->tally.items_read[m]++;
        if (e->unique == PENDING) OG_TRY(settle(j, e, err));
        if (e->unique == DROPPED) {
            j->tally.items_dropped[m][e->cause]++;
            continue;
        }
        j->tally.items_kept[m]++;
        counts[m]++;
        elements[m] += e->elements;
        j->kept[n++] = e->unique;
    }
    if (n == 0) {
        j->tally.documents_dropped++;
        return OG_OK;
    }
    OG_TRY(og_shard_add_document(&j->shard, d->id, d->group, d->split, j->kept, n, err));
    j->tally.documents_kept++;
    j->tally.split_documents[d->split]++;
    for (int32_t m = 0; m < 3; m++) {
        j->tally.split_items[d->split][m] += counts[m];
        j->tally.split_elements[d->split][m] += elements[m];
    }
    return j->shard.bytes >= j->settings.shard_bytes ? close_shard(j, err) : OG_OK;
}

static void clear_batch(job *j) {
    for (int64_t i = 0; i < j->n_slots; i++) {
        og_media_free(&j->slots[i].own);
        og_media_free(&j->slots[i].media);
    }
    j->n_slots = j->n_documents = j->n_refs = j->slot_bytes = 0;
    og_strings_free(&j->strings);
}

static og_status flush(job *j, og_error *err) {
    og_pool_for(j->pool, j->n_slots, 1, decode_range, j);
    for (int64_t i = 0; i < j->n_documents; i++) OG_TRY(store_document(j, &j->documents[i], err));
    clear_batch(j);
    return OG_OK;
}

/* What makes two items the same: the words of a text; the path, crop and mirror of the rest. */
static og_status item_entry(job *j, const og_item *item, int64_t *out, int32_t *found, og_error *err) {
    char key[4400];
    *found = 0;
    *out = j->n_entries;
    if (item->media) return OG_OK;
    if (item->text) {
        int64_t n = (int64_t)strlen(item->text);
        char *text = og_alloc(n + 1, 1);
        if (!text) return og_fail(err, OG_ENOMEM, "prepare: no memory for a text of %lld bytes", (long long)n);
        text[0] = 't';
        memcpy(text + 1, item->text, (size_t)n);
        og_status status = og_keymap_put(&j->items, text, n + 1, j->n_entries, out, found, err);
        og_release(text);
        return status;
    }
    int n = snprintf(key, sizeof key, "%d %a %a %a %a %d %s", item->modality, item->crop[0], item->crop[1], item->crop[2], item->crop[3],
                     item->flip, item->path);
    if (n < 0 || n >= (int)sizeof key) return og_fail(err, OG_EINVAL, "%.200s...: path longer than 4 KiB", item->path);
    return og_keymap_put(&j->items, key, n, j->n_entries, out, found, err);
}

static og_status copy_media(const og_media *from, og_media *to, int64_t *bytes, og_error *err) {
    int64_t n = og_dtype_bits(from->dtype) / 8;
    for (int32_t i = 0; i < from->rank; i++) n *= from->shape[i];
    *to = *from;
    to->data = og_alloc(n, 1);
    if (!to->data) return og_fail(err, OG_ENOMEM, "prepare: no memory for media of %lld bytes", (long long)n);
    if (n) memcpy(to->data, from->data, (size_t)n);
    *bytes = n;
    return OG_OK;
}

static og_status add_slot(job *j, const og_item *item, const char *id, int64_t index, og_error *err) {
    OG_TRY(og_grow((void **)&j->slots, &j->cap_slots, j->n_slots + 1, sizeof *j->slots, err));
    slot *s = &j->slots[j->n_slots];
    *s = (slot){.item = *item};
    int64_t bytes = 0;
    if (item->media) {
        OG_TRY(copy_media(item->media, &s->own, &bytes, err));
    } else if (item->text) {
        s->item.text = og_strings_add(&j->strings, item->text, (int64_t)strlen(item->text));
    } else {
        s->item.path = og_strings_add(&j->strings, item->path, (int64_t)strlen(item->path));
    }
    j->n_slots++;
    j->slot_bytes += bytes;
    s->place = item->path ? s->item.path : og_strings_format(&j->strings, "document '%.200s' item %lld", id, (long long)index);
    if (!s->place || (item->text && !s->item.text)) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    return OG_OK;
}

static og_status add_document(job *j, const og_record *record, og_error *err) {
    int64_t number = 0;
    int32_t found = 0;
    if (!record->id || !*record->id || !record->group || record->n_items < 1)
        return og_fail(err, OG_EINTERNAL, "prepare: a document without id, group or items");
    OG_TRY(og_keymap_put(&j->ids, record->id, (int64_t)strlen(record->id), j->tally.documents_read, &number, &found, err));
    if (found)
        return og_fail(err, OG_EFORMAT, "document id '%.300s' occurs twice (documents %lld and %lld)", record->id, (long long)number,
                       (long long)j->tally.documents_read);
    OG_TRY(og_grow((void **)&j->documents, &j->cap_documents, j->n_documents + 1, sizeof *j->documents, err));
    batch_document *d = &j->documents[j->n_documents];
    *d = (batch_document){.first = j->n_refs, .n = record->n_items};
    d->id = og_strings_add(&j->strings, record->id, (int64_t)strlen(record->id));
    d->group = og_strings_add(&j->strings, record->group, (int64_t)strlen(record->group));
    if (!d->id || !d->group) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    OG_TRY(og_split_of(record->group, &d->split, err));
    for (int64_t i = 0; i < record->n_items; i++) {
        const og_item *item = &record->items[i];
        if (item->modality < OG_TEXT || item->modality > OG_AUDIO || (!item->text && !item->path && !item->media))
            return og_fail(err, OG_EINTERNAL, "document '%.300s' item %lld: modality %d without contents", record->id, (long long)i,
                           item->modality);
        OG_TRY(og_grow((void **)&j->refs, &j->cap_refs, j->n_refs + 1, sizeof *j->refs, err));
        OG_TRY(og_grow((void **)&j->ref_modality, &j->cap_ref_modality, j->n_refs + 1, sizeof *j->ref_modality, err));
        OG_TRY(og_grow((void **)&j->entries, &j->cap_entries, j->n_entries + 1, sizeof *j->entries, err));
        int64_t at = 0;
        OG_TRY(item_entry(j, item, &at, &found, err));
        if (!found) {
            j->entries[j->n_entries++] = (entry){.unique = PENDING, .slot = j->n_slots};
            OG_TRY(add_slot(j, item, record->id, i, err));
        }
        j->refs[j->n_refs] = at;
        j->ref_modality[j->n_refs++] = item->modality;
    }
    j->n_documents++;
    j->tally.documents_read++;
    return j->n_slots >= BATCH || j->n_documents >= 4 * BATCH || j->slot_bytes >= BATCH_BYTES ? flush(j, err) : OG_OK;
}

/* Canonical text of a tree as jansson's value. */
static og_status config_json(const og_config *config, json_t **out, og_error *err) {
    char *text = NULL;
    OG_TRY(og_config_to_json(config, &text, err));
    *out = json_loads(text, JSON_DECODE_ANY, NULL);
    og_release(text);
    return *out ? OG_OK : og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
}

static og_status write_index(job *j, const og_config *config, const og_dataset_type *type, const og_dataset_impl *dataset, og_error *err) {
    json_t *index = json_pack("{ss si ss ss sI sO sO so so}", "format", "omnigram-prepared", "version", 1, "omnigram", og_version(), "dataset",
                              type->name, "items", (json_int_t)j->uniques, "shards", j->shards, "log", j->tally.log, "counters",
                              og_tally_json(&j->tally), "preprocess", json_object());
    og_config *tree = NULL;
    json_t *part = NULL;
    og_status status = index ? config_json(config, &part, err) : og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    if (status == OG_OK) json_object_set_new(index, "config", part);
    if (status == OG_OK) status = type->counters(dataset, &tree, err);
    if (status == OG_OK) status = config_json(tree, &part, err);
    if (status == OG_OK) json_object_set_new(index, "dataset_counters", part);
    og_config_free(tree);
    for (int32_t m = 0; m < 3 && status == OG_OK; m++) {
        tree = NULL;
        status = j->types[m]->describe(j->impls[m], &tree, err);
        if (status == OG_OK) status = config_json(tree, &part, err);
        if (status == OG_OK) json_object_set_new(json_object_get(index, "preprocess"), j->types[m]->name, part);
        og_config_free(tree);
    }
    char *text = status == OG_OK ? json_dumps(index, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    json_decref(index);
    if (status == OG_OK && !text) status = og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    char path[4200];
    snprintf(path, sizeof path, "%s/index.json", j->output.temporary);
    if (status == OG_OK) status = og_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}

static og_status read_all(job *j, const og_config *config, const og_dataset_type *type, og_dataset_impl *dataset, og_progress_fn *progress,
                          void *context, og_error *err) {
    for (;;) {
        og_record record = {0};
        int32_t done = 0;
        OG_TRY(type->next(dataset, &record, &done, err));
        if (done) break;
        OG_TRY(add_document(j, &record, err));
        if (progress && progress(context, "documents", j->tally.documents_read, 0))
            return og_fail(err, OG_ECANCELED, "prepare: cancelled after %lld documents", (long long)j->tally.documents_read);
    }
    OG_TRY(flush(j, err));
    if (j->tally.documents_kept == 0)
        return og_fail(err, OG_EINVAL, "data set %s: %lld documents read, none kept", type->name, (long long)j->tally.documents_read);
    if (j->shard.documents) OG_TRY(close_shard(j, err));
    return write_index(j, config, type, dataset, err);
}

static og_status run(job *j, const og_config *config, const char *folder, og_progress_fn *progress, void *context, og_error *err) {
    const char *name = NULL;
    OG_TRY(og_config_read(config, keys, &j->settings, err));
    const og_config *node = og_config_get(j->settings.dataset, "name");
    if (!node) return og_fail(err, OG_EINVAL, "%s: dataset has no name; known: folder, jsonl, synthetic, tuxpaint", og_config_place(config));
    OG_TRY(og_config_string(node, &name, err));
    const og_dataset_type *type = og_dataset_find(name);
    if (!type) {
        const char *names[64];
        int64_t n = 0;
        for (; og_dataset_types[n] && n < 64; n++) names[n] = og_dataset_types[n]->name;
        const char *nearest = og_config_nearest(name, names, n);
        return og_fail(err, OG_EINVAL, "%s: unknown data set '%.100s'%s%s", og_config_place(node), name, nearest ? "; nearest: " : "",
                       nearest ? nearest : "");
    }
    static const char *const modality_names[3] = {"text", "image", "audio"};
    for (int32_t m = 0; m < 3; m++) {
        j->types[m] = og_modality_find(modality_names[m]);
        OG_TRY(j->types[m]->create(j->settings.modalities[m], &j->impls[m], err));
    }
    j->shards = json_array();
    j->tally.log = json_array();
    if (!j->shards || !j->tally.log) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    og_dataset_impl *dataset = NULL;
    OG_TRY(type->open(j->settings.dataset, &dataset, err));
    og_status status = og_output_open(folder, &j->output, err);
    if (status == OG_OK) status = read_all(j, config, type, dataset, progress, context, err);
    type->close(dataset);
    return status == OG_OK ? og_output_commit(&j->output, err) : status;
}

og_status og_prepare(const og_config *config, const char *folder, og_pool *pool, og_progress_fn *progress, void *context, og_error *err) {
    job *j = og_alloc_zero(1, sizeof *j);
    if (!j) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    j->pool = pool;
    og_status status = run(j, config, folder, progress, context, err);
    og_output_abort(&j->output); /* does nothing after a commit */
    clear_batch(j);
    for (int32_t m = 0; m < 3; m++)
        if (j->impls[m]) j->types[m]->destroy(j->impls[m]);
    og_keymap_free(&j->items);
    og_keymap_free(&j->ids);
    og_shard_free(&j->shard);
    og_release(j->entries);
    og_release(j->slots);
    og_release(j->documents);
    og_release(j->refs);
    og_release(j->ref_modality);
    og_release(j->kept);
    json_decref(j->shards);
    json_decref(j->tally.log);
    og_release(j);
    return status;
}
