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

og_status og_job_write_index(og_job *j, const og_config *config, const og_dataset_type *type,
                             const og_dataset_impl *dataset, og_error *err) {
    json_t *index = json_pack("{ss si ss ss sI sO sO so so}", "format", "omnigram-prepared", "version", 1, "omnigram",
                              og_version(), "dataset", type->name, "items", (json_int_t)j->uniques, "shards", j->shards,
                              "log", j->tally.log, "counters", og_tally_json(&j->tally), "preprocess", json_object());
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
    char *text = status == OG_OK ? json_dumps(index, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    json_decref(index);
    if (status == OG_OK && !text) status = og_fail(err, OG_ENOMEM, "prepare: no memory for the index");
    char path[4200];
    snprintf(path, sizeof path, "%s/index.json", j->output.temporary);
    if (status == OG_OK) status = og_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}
