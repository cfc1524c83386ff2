/* job_store.c: decodes a batch of items on the pool and stores them in document order. */
#include "prepare/job.h"

#include <stdio.h>
#include <string.h>

static const int64_t LIMIT_BYTES = 1 << 30; /* of one file */

static og_status decode_slot(const og_job *j, og_job_slot *s) {
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
    og_job *j = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) j->slots[i].status = decode_slot(j, &j->slots[i]);
}

static og_status log_drop(og_job *j, const og_job_slot *s, og_error *err) {
    json_t *entry_json = json_pack("{ss ss}", "item", s->place, "message", s->error.message);
    if (!entry_json) entry_json = json_string("an item whose name is not UTF-8");
    if (json_array_append_new(j->tally.log, entry_json))
        return og_fail(err, OG_ENOMEM, "prepare: no memory for the log");
    return OG_OK;
}

/* Stores a decoded slot, or drops it by the policy. */
static og_status settle(og_job *j, og_job_entry *e, og_error *err) {
    og_job_slot *s = &j->slots[e->slot];
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
    if (j->settings.bad_item == OG_BAD_ITEM_ERROR || e->cause < 0) {
        if (err) *err = s->error;
        return s->status;
    }
    e->unique = OG_ITEM_DROPPED;
    return log_drop(j, s, err);
}

og_status og_job_close_shard(og_job *j, og_error *err) {
    char path[4200], name[64], digest[OG_DIGEST_TEXT];
    int64_t items = j->shard.items, documents = j->shard.documents;
    snprintf(name, sizeof name, "shard-%05lld.safetensors", (long long)json_array_size(j->shards));
    snprintf(path, sizeof path, "%s/%s", j->output.path, name);
    OG_TRY(og_shard_write(&j->shard, path, err));
    OG_TRY(og_digest_of_file(path, digest, err));
    if (json_array_append_new(j->shards, json_pack("{ss ss sI sI}", "file", name, "sha256", digest, "items",
                                                   (json_int_t)items, "documents", (json_int_t)documents)))
        return og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    return OG_OK;
}

static og_status store_document(og_job *j, const og_job_document *d, og_error *err) {
    int64_t n = 0, elements[3] = {0}, counts[3] = {0};
    OG_TRY(og_grow((void **)&j->kept, &j->cap_kept, d->n, sizeof *j->kept, err));
    for (int64_t r = d->first; r < d->first + d->n; r++) {
        og_job_entry *e = &j->entries[j->refs[r]];
        int32_t m = j->ref_modality[r];
        j->tally.items_read[m]++;
        if (e->unique == OG_ITEM_PENDING) OG_TRY(settle(j, e, err));
        if (e->unique == OG_ITEM_DROPPED) {
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
    return j->shard.bytes >= j->settings.shard_bytes ? og_job_close_shard(j, err) : OG_OK;
}

void og_job_clear_batch(og_job *j) {
    for (int64_t i = 0; i < j->n_slots; i++) {
        og_media_free(&j->slots[i].own);
        og_media_free(&j->slots[i].media);
    }
    j->n_slots = j->n_documents = j->n_refs = j->slot_bytes = 0;
    og_strings_free(&j->strings);
}

og_status og_job_flush(og_job *j, og_error *err) {
    og_pool_for(j->pool, j->n_slots, 1, decode_range, j);
    for (int64_t i = 0; i < j->n_documents; i++) OG_TRY(store_document(j, &j->documents[i], err));
    og_job_clear_batch(j);
    return OG_OK;
}
