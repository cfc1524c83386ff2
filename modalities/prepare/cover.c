/* cover.c: small data sets: a group moves where train would lack a modality, or val would be empty. */
#include "prepare/job.h"

#include <stdio.h>
#include <string.h>

typedef struct view { /* a written document */
    const char *group;
    int64_t shard, index, counts[3], elements[3];
    int32_t split, was;
} view;

typedef struct plan {
    og_job *job;
    og_arrays **files; /* of the shards: group names lie in them */
    int64_t n_files;
    view *views;
    int64_t n, capacity;
    int32_t *modality; /* of each stored item */
    int64_t *elements;
    int64_t items;
} plan;

static void shard_path(const og_job *j, int64_t shard, char out[4200]) {
    snprintf(out, 4200, "%s/%s", j->output.path,
             json_string_value(json_object_get(json_array_get(j->shards, (size_t)shard), "file")));
}

static og_status column(const og_arrays *file, const char *name, int64_t *n, void *out, og_error *err) {
    const og_array_info *info;
    void *data;
    OG_TRY(og_arrays_get(file, name, &info, &data, err));
    if (n) *n = info->shape[0];
    memcpy(out, &data, sizeof data);
    return OG_OK;
}

static og_status read_shard(plan *p, int64_t shard, og_error *err) {
    char path[4200];
    int64_t items, documents;
    const int64_t *shape, *start, *refs, *name;
    const int32_t *modality, *split;
    const char *names;
    shard_path(p->job, shard, path);
    OG_TRY(og_arrays_open(path, 0, &p->files[shard], err));
    const og_arrays *file = p->files[shard];
    OG_TRY(column(file, OG_SHARD_ITEM_MODALITY, &items, &modality, err));
    OG_TRY(column(file, OG_SHARD_ITEM_SHAPE, NULL, &shape, err));
    OG_TRY(column(file, OG_SHARD_DOC_START, NULL, &start, err));
    OG_TRY(column(file, OG_SHARD_DOC_ITEMS, NULL, &refs, err));
    OG_TRY(column(file, OG_SHARD_DOC_SPLIT, &documents, &split, err));
    OG_TRY(column(file, OG_SHARD_NAME_START, NULL, &name, err));
    OG_TRY(column(file, OG_SHARD_NAMES, NULL, &names, err));
    for (int64_t i = 0; i < items; i++) {
        p->modality[p->items] = modality[i];
        p->elements[p->items++] = shape[3 * i] * shape[3 * i + 1] * shape[3 * i + 2];
    }
    void *views = p->views;
    OG_TRY(og_grow(&views, &p->capacity, p->n + documents, sizeof *p->views, err));
    p->views = views;
    for (int64_t d = 0; d < documents; d++) {
        view v = {.group = names + name[2 * d + 1], .shard = shard, .index = d, .split = split[d], .was = split[d]};
        for (int64_t r = start[d]; r < start[d + 1]; r++) {
            v.counts[p->modality[refs[r]]]++;
            v.elements[p->modality[refs[r]]] += p->elements[refs[r]];
        }
        p->views[p->n++] = v;
    }
    return OG_OK;
}

static og_status move(plan *p, const char *group, int32_t to, og_error *err) {
    int32_t from = to;
    for (int64_t i = 0; i < p->n; i++) {
        if (strcmp(p->views[i].group, group)) continue;
        from = p->views[i].split;
        p->views[i].split = to;
    }
    json_t *name = json_string(group);
    if (!name) name = json_string("(no UTF-8)");
    if (json_array_append_new(p->job->moved, json_pack("{so ss ss}", "group", name, "from", og_split_name(from), "to",
                                                       og_split_name(to))))
        return og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    return OG_OK;
}

/* Documents of a split that have the modality (-1: any), those of a group apart. */
static int64_t count(const plan *p, int32_t split, int32_t modality, const char *apart) {
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        n += p->views[i].split == split && (modality < 0 || p->views[i].counts[modality]) &&
             !(apart && !strcmp(p->views[i].group, apart));
    return n;
}

/* The group of the first document of the split that has more such documents; test where both have as many. */
static og_status give_train(plan *p, int32_t modality, og_error *err) {
    int64_t val = count(p, OG_VAL, modality, NULL), test = count(p, OG_TEST, modality, NULL);
    if (count(p, OG_TRAIN, modality, NULL) || val + test == 0) return OG_OK;
    int32_t from = val > test ? OG_VAL : OG_TEST;
    int64_t i = 0;
    while (p->views[i].split != from || !p->views[i].counts[modality]) i++;
    return move(p, p->views[i].group, OG_TRAIN, err);
}

/* The first group of train without which train still has every modality. At most one group a modality is
 * indispensable, so a few tries do. */
static og_status give_val(plan *p, og_error *err) {
    const char *tried[4];
    int64_t n = 0;
    if (p->job->settings.split.val <= 0 || count(p, OG_VAL, -1, NULL)) return OG_OK;
    for (int64_t i = 0; i < p->n && n < 4; i++) {
        const char *group = p->views[i].group;
        int known = p->views[i].split != OG_TRAIN;
        for (int64_t k = 0; k < n; k++) known |= !strcmp(tried[k], group);
        if (known) continue;
        tried[n++] = group;
        int spare = count(p, OG_TRAIN, -1, group) > 0;
        for (int32_t m = 0; m < 3; m++) spare &= !count(p, OG_TRAIN, m, NULL) || count(p, OG_TRAIN, m, group) > 0;
        if (spare) return move(p, group, OG_VAL, err);
    }
    return OG_OK;
}

/* The shard again, with the new sides. */
static og_status rewrite(plan *p, int64_t shard, int32_t *split, og_error *err) {
    char path[4200], digest[OG_DIGEST_TEXT];
    const og_arrays *file = p->files[shard];
    og_arrays_writer *writer;
    shard_path(p->job, shard, path);
    OG_TRY(og_arrays_writer_new(path, &writer, err));
    og_status status = og_arrays_writer_metadata(writer, "kind", "omnigram-prepared", err);
    for (int64_t i = 0; i < og_arrays_count(file) && status == OG_OK; i++) {
        const og_array_info *info = og_arrays_info(file, i);
        status = og_arrays_writer_declare(writer, info->name, info->dtype, info->rank, info->shape, err);
    }
    for (int64_t i = 0; i < og_arrays_count(file) && status == OG_OK; i++) {
        const og_array_info *info = og_arrays_info(file, i);
        void *data = split;
        if (strcmp(info->name, OG_SHARD_DOC_SPLIT)) status = og_arrays_get(file, info->name, NULL, &data, err);
        if (status == OG_OK && info->bytes) status = og_arrays_writer_append(writer, data, info->bytes, err);
    }
    if (status != OG_OK) {
        og_arrays_writer_abort(writer);
        return status;
    }
    OG_TRY(og_arrays_writer_commit(writer, err));
    OG_TRY(og_digest_of_file(path, digest, err));
    if (json_object_set_new(json_array_get(p->job->shards, (size_t)shard), "sha256", json_string(digest)))
        return og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    return OG_OK;
}

static og_status rewrite_changed(plan *p, og_error *err) {
    for (int64_t first = 0, end; first < p->n; first = end) {
        int changed = 0;
        for (end = first; end < p->n && p->views[end].shard == p->views[first].shard; end++)
            changed |= p->views[end].split != p->views[end].was;
        if (!changed) continue;
        int32_t *split = og_alloc(end - first, sizeof *split);
        if (!split) return og_fail(err, OG_ENOMEM, "prepare: no memory for %lld sides", (long long)(end - first));
        for (int64_t i = first; i < end; i++) split[p->views[i].index] = p->views[i].split;
        og_status status = rewrite(p, p->views[first].shard, split, err);
        og_release(split);
        OG_TRY(status);
    }
    return OG_OK;
}

static void recount(const plan *p, og_tally *tally) {
    memset(tally->split_documents, 0, sizeof tally->split_documents);
    memset(tally->split_items, 0, sizeof tally->split_items);
    memset(tally->split_elements, 0, sizeof tally->split_elements);
    for (int64_t i = 0; i < p->n; i++) {
        const view *v = &p->views[i];
        tally->split_documents[v->split]++;
        for (int32_t m = 0; m < 3; m++) {
            tally->split_items[v->split][m] += v->counts[m];
            tally->split_elements[v->split][m] += v->elements[m];
        }
    }
}

static og_status cover(plan *p, og_error *err) {
    og_job *j = p->job;
    p->n_files = (int64_t)json_array_size(j->shards);
    p->files = og_alloc_zero(p->n_files, sizeof(og_arrays *));
    p->modality = og_alloc(j->uniques, sizeof *p->modality);
    p->elements = og_alloc(j->uniques, sizeof *p->elements);
    if (!p->files || !p->modality || !p->elements)
        return og_fail(err, OG_ENOMEM, "prepare: no memory for %lld items", (long long)j->uniques);
    for (int64_t i = 0; i < p->n_files; i++) OG_TRY(read_shard(p, i, err));
    for (int32_t m = 0; m < 3; m++) OG_TRY(give_train(p, m, err));
    OG_TRY(give_val(p, err));
    OG_TRY(rewrite_changed(p, err));
    recount(p, &j->tally);
    return OG_OK;
}

og_status og_job_cover(og_job *j, og_error *err) {
    const og_tally *t = &j->tally;
    int needed = j->settings.split.val > 0 && !t->split_documents[OG_VAL];
    for (int32_t m = 0; m < 3; m++) needed |= t->items_kept[m] && !t->split_items[OG_TRAIN][m];
    if (!needed || !j->settings.split.cover) return OG_OK;
    plan p = {.job = j};
    og_status status = cover(&p, err);
    for (int64_t i = 0; p.files && i < p.n_files; i++) og_arrays_close(p.files[i]);
    og_release((void *)p.files);
    og_release(p.views);
    og_release(p.modality);
    og_release(p.elements);
    return status;
}
