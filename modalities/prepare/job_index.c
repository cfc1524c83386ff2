/* job_index.c: writes index.json: what was asked, what was done, what was counted, and where it
 * lies. */
#include "prepare/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Canonical text of a tree as jansson's value. */
static og_status config_json(const og_config *config, json_t **out, og_error *err) {
    char *text = NULL;
    OG_TRY(og_config_to_json(config, &text, err));
    *out = json_loads(text, JSON_DECODE_ANY, NULL);
    og_release(text);
    return *out ? OG_OK : og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
}

/* By the tree that a reader will have. */
static og_status add_digest(json_t *index, og_error *err) {
    char *text = json_dumps(index, JSON_COMPACT | JSON_SORT_KEYS), digest[OG_DIGEST_TEXT];
    if (!text) return og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    og_config *tree = NULL;
    og_status status = og_config_from_json(text, (int64_t)strlen(text), "index.json", &tree, err);
    free(text);
    if (status == OG_OK) status = og_index_digest(tree, digest, err);
    og_config_free(tree);
    if (status == OG_OK && json_object_set_new(index, "digest", json_string(digest)))
        status = og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    return status;
}

og_status og_job_write_index(og_job *j, const og_config *config, const og_dataset_type *type,
                             const og_dataset_impl *dataset, og_error *err) {
    json_t *index = json_pack("{ss si ss ss sI sO sO sO so so}", "format", "omnigram-prepared", "version",
                              OG_INDEX_VERSION, "omnigram", og_version(), "dataset", type->name, "items",
                              (json_int_t)j->uniques, "shards", j->shards, "log", j->tally.log, "moved", j->moved,
                              "counters", og_tally_json(&j->tally), "preprocess", json_object());
    og_config *tree = NULL;
    json_t *part = NULL;
    og_status status =
        index ? config_json(config, &part, err) : og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
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
    if (status == OG_OK) status = add_digest(index, err);
    char *text = status == OG_OK ? json_dumps(index, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    json_decref(index);
    if (status == OG_OK && !text) status = og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    char path[4200];
    snprintf(path, sizeof path, "%s/index.json", j->output.path);
    if (status == OG_OK) status = og_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}
