/* prepare.c: a data set to prepared shards: each distinct item is decoded once, on the pool, and stored once. */
#include "prepare/job.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 256 };                        /* items decoded together */
static const int64_t BATCH_BYTES = 64 << 20; /* of media that came in memory */

static const og_key keys[] = {
    {"dataset", OG_KEY_NODE, offsetof(og_job_settings, dataset), NULL, 0, 0, NULL,
     "{name: synthetic | tuxpaint | folder | jsonl, ...}"},
    {"split", OG_KEY_NODE, offsetof(og_job_settings, split_node), "", 0, 0, NULL,
     "shares of val and test, and the seed"},
    {"modalities", OG_KEY_NODE, offsetof(og_job_settings, wanted_node), "", 0, 0, NULL,
     "list of what is kept; default [text, image, audio]"},
    {"bad_item", OG_KEY_CHOICE, offsetof(og_job_settings, bad_item), "error", 0, 0, "error|skip",
     "what a missing or damaged item is"},
    {"text", OG_KEY_NODE, offsetof(og_job_settings, modalities[0]), "", 0, 0, NULL, "policies of text"},
    {"image", OG_KEY_NODE, offsetof(og_job_settings, modalities[1]), "", 0, 0, NULL, "policies of images"},
    {"audio", OG_KEY_NODE, offsetof(og_job_settings, modalities[2]), "", 0, 0, NULL, "policies of audio"},
    {"shard_bytes", OG_KEY_I64, offsetof(og_job_settings, shard_bytes), "67108864", 1024, 1e12, NULL,
     "a shard is closed when it holds this much"},
    {0},
};

/* What makes two items the same: the words of a text; the path, crop and mirror of the rest. */
static og_status item_entry(og_job *j, const og_item *item, int64_t *out, int32_t *found, og_error *err) {
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
    int n = snprintf(key, sizeof key, "%d %a %a %a %a %d %s", item->modality, item->crop[0], item->crop[1],
                     item->crop[2], item->crop[3], item->flip, item->path);
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

static og_status add_slot(og_job *j, const og_item *item, const char *id, int64_t index, og_error *err) {
    OG_TRY(og_grow((void **)&j->slots, &j->cap_slots, j->n_slots + 1, sizeof *j->slots, err));
    og_job_slot *s = &j->slots[j->n_slots];
    *s = (og_job_slot){.item = *item};
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
    if (item->path) OG_TRY(og_sources_add(&j->sources, item->path, err));
    const char *root = j->sources.root;
    s->place = item->path ? s->item.path
                          : og_strings_format(&j->strings, "%s%sdocument '%.200s' item %lld", root ? root : "",
                                              root ? ": " : "", id, (long long)index);
    if (!s->place || (item->text && !s->item.text)) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    return OG_OK;
}

static og_status add_document(og_job *j, const og_record *record, og_error *err) {
    int64_t number = 0;
    int32_t found = 0;
    if (!record->id || !*record->id || !record->group || record->n_items < 1)
        return og_fail(err, OG_EINTERNAL, "prepare: a document without id, group or items");
    OG_TRY(
        og_keymap_put(&j->ids, record->id, (int64_t)strlen(record->id), j->tally.documents_read, &number, &found, err));
    if (found)
        return og_fail(err, OG_EFORMAT, "%s%sdocument id '%.300s' occurs twice (documents %lld and %lld, from 0)",
                       j->sources.root ? j->sources.root : "", j->sources.root ? ": " : "", record->id,
                       (long long)number, (long long)j->tally.documents_read);
    OG_TRY(og_grow((void **)&j->documents, &j->cap_documents, j->n_documents + 1, sizeof *j->documents, err));
    og_job_document *d = &j->documents[j->n_documents];
    *d = (og_job_document){.first = j->n_refs, .n = record->n_items};
    d->id = og_strings_add(&j->strings, record->id, (int64_t)strlen(record->id));
    d->group = og_strings_add(&j->strings, record->group, (int64_t)strlen(record->group));
    if (!d->id || !d->group) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    OG_TRY(og_split_of(&j->settings.split, record->group, &d->split, err));
    for (int64_t i = 0; i < record->n_items; i++) {
        const og_item *item = &record->items[i];
        if (item->modality < OG_TEXT || item->modality > OG_AUDIO || (!item->text && !item->path && !item->media))
            return og_fail(err, OG_EINTERNAL, "document '%.300s' item %lld: modality %d without contents", record->id,
                           (long long)i, item->modality);
        OG_TRY(og_grow((void **)&j->refs, &j->cap_refs, j->n_refs + 1, sizeof *j->refs, err));
        OG_TRY(og_grow((void **)&j->ref_modality, &j->cap_ref_modality, j->n_refs + 1, sizeof *j->ref_modality, err));
        OG_TRY(og_grow((void **)&j->entries, &j->cap_entries, j->n_entries + 1, sizeof *j->entries, err));
        int64_t at = 0;
        if (j->settings.left_out[item->modality]) {
            j->tally.items_read[item->modality]++;
            j->tally.items_dropped[item->modality][OG_DROP_LEFT_OUT]++;
            d->n--;
            continue;
        }
        OG_TRY(item_entry(j, item, &at, &found, err));
        if (!found) {
            j->entries[j->n_entries++] = (og_job_entry){.unique = OG_ITEM_PENDING, .slot = j->n_slots};
            OG_TRY(add_slot(j, item, record->id, i, err));
        }
        j->refs[j->n_refs] = at;
        j->ref_modality[j->n_refs++] = item->modality;
    }
    j->n_documents++;
    j->tally.documents_read++;
    return j->n_slots >= BATCH || j->n_documents >= 4 * BATCH || j->slot_bytes >= BATCH_BYTES ? og_job_flush(j, err)
                                                                                              : OG_OK;
}

static og_status read_all(og_job *j, const og_config *config, const og_dataset_type *type, og_dataset_impl *dataset,
                          og_progress_fn *progress, void *context, og_error *err) {
    for (;;) {
        og_record record = {0};
        int32_t done = 0;
        OG_TRY(type->next(dataset, &record, &done, err));
        if (done) break;
        OG_TRY(add_document(j, &record, err));
        if (progress && progress(context, "documents", j->tally.documents_read, 0))
            return og_fail(err, OG_ECANCELED, "prepare: cancelled after %lld documents",
                           (long long)j->tally.documents_read);
    }
    OG_TRY(og_job_flush(j, err));
    if (j->tally.documents_kept == 0)
        return og_fail(err, OG_EINVAL, "data set %s%s%s: %lld documents read, none kept", type->name,
                       j->sources.root ? ", " : "", j->sources.root ? j->sources.root : "",
                       (long long)j->tally.documents_read);
    if (j->shard.documents) OG_TRY(og_job_close_shard(j, err));
    if (!type->sided) OG_TRY(og_job_cover(j, err));
    OG_TRY(og_sources_write(&j->sources, j->output.path, err));
    return og_job_write_index(j, config, type, dataset, err);
}

static og_status read_wanted(og_job *j, const char *const names[3], og_error *err) {
    const og_config *list = j->settings.wanted_node;
    if (!list) return OG_OK;
    if (og_config_kind(list) != OG_CONFIG_LIST || og_config_size(list) == 0)
        return og_fail(err, OG_EINVAL, "%s: modalities is a list of text, image, audio", og_config_place(list));
    for (int32_t m = 0; m < 3; m++) j->settings.left_out[m] = 1;
    for (int64_t i = 0; i < og_config_size(list); i++) {
        const char *name = NULL;
        int32_t m = 0;
        OG_TRY(og_config_string(og_config_at(list, i), &name, err));
        while (m < 3 && strcmp(name, names[m])) m++;
        if (m == 3)
            return og_fail(err, OG_EINVAL, "%s: modalities has '%.60s'; known: text, image, audio",
                           og_config_place(list), name);
        j->settings.left_out[m] = 0;
    }
    return OG_OK;
}

static og_status read_settings(og_job *j, const og_config *config, const og_dataset_type **out, og_error *err) {
    static const char *const modality_names[3] = {"text", "image", "audio"};
    const char *name = NULL;
    OG_TRY(og_config_read(config, keys, &j->settings, err));
    const og_config *node = og_config_get(j->settings.dataset, "name");
    if (!node)
        return og_fail(err, OG_EINVAL, "%s: dataset.name: missing; known: folder, jsonl, synthetic, tuxpaint",
                       OG_WHERE(config));
    OG_TRY(og_config_string(node, &name, err));
    const og_dataset_type *type = og_dataset_find(name);
    if (!type) {
        const char *names[64];
        int64_t n = 0;
        for (; og_dataset_types[n] && n < 64; n++) names[n] = og_dataset_types[n]->name;
        const char *nearest = og_config_nearest(name, names, n);
        return og_fail(err, OG_EINVAL, "%s: unknown data set '%.100s'%s%s", OG_WHERE(node), name,
                       nearest ? "; nearest: " : "", nearest ? nearest : "");
    }
    OG_TRY(og_split_read(j->settings.split_node, &j->settings.split, err));
    OG_TRY(read_wanted(j, modality_names, err));
    for (int32_t m = 0; m < 3; m++) {
        j->types[m] = og_modality_find(modality_names[m]);
        OG_TRY(j->types[m]->create(j->settings.modalities[m], &j->impls[m], err));
    }
    j->shards = json_array();
    j->moved = json_array();
    j->tally.log = json_array();
    if (!j->shards || !j->moved || !j->tally.log) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    *out = type;
    return OG_OK;
}

static og_status run(og_job *j, const og_config *config, const char *folder, og_progress_fn *progress, void *context,
                     og_error *err) {
    int32_t state;
    char reason[512];
    const og_dataset_type *type;
    og_dataset_impl *dataset = NULL;
    OG_TRY(read_settings(j, config, &type, err));
    OG_TRY(og_prepared_state(folder, config, &state, reason, err));
    if (state == OG_PREPARED_CURRENT) return OG_OK;
    /* Listed before anything is read: a file that changes meanwhile counts as changed the next time. */
    OG_TRY(og_sources_walk(type, j->settings.dataset, &j->sources, err));
    OG_TRY(og_sources_apart(&j->sources, folder, err));
    OG_TRY(type->open(j->settings.dataset, &j->settings.split, &dataset, err));
    og_status status = og_staged_begin(folder, "index.json", &j->output, err);
    if (status == OG_OK) status = read_all(j, config, type, dataset, progress, context, err);
    type->close(dataset);
    return status == OG_OK ? og_staged_commit(&j->output, err) : status;
}

typedef struct waiting {
    og_progress_fn *progress;
    void *context;
} waiting;

static int32_t wait_for(void *context, int64_t pid) {
    const waiting *w = context;
    char stage[64];
    snprintf(stage, sizeof stage, "waiting for process %lld", (long long)pid);
    return w->progress ? w->progress(w->context, stage, 0, 0) : 0;
}

og_status og_prepare(const og_config *config, const char *folder, og_pool *pool, og_progress_fn *progress,
                     void *context, og_error *err) {
    og_job *j = og_alloc_zero(1, sizeof *j);
    if (!j) return og_fail(err, OG_ENOMEM, "prepare: no memory");
    j->pool = pool;
    waiting w = {progress, context};
    og_lock *lock = NULL;
    og_status status = og_lock_take(folder, wait_for, &w, &lock, err);
    if (status == OG_OK) status = run(j, config, folder, progress, context, err);
    og_staged_abort(&j->output); /* does nothing after a commit */
    og_lock_drop(lock);
    og_sources_free(&j->sources);
    og_job_clear_batch(j);
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
    json_decref(j->moved);
    json_decref(j->tally.log);
    og_release(j);
    return status;
}
