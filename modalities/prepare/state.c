/* state.c: whether a folder already holds what og_prepare would write. */
#include "prepare/shard.h"
#include "prepare/sources.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int is_empty(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    for (struct dirent *entry; dir && n <= 2 && (entry = readdir(dir));) n++;
    if (dir) closedir(dir);
    return dir && n == 2; /* . and .. */
}

static og_status same_config(const og_config *ours, const og_config *index, int *same, og_error *err) {
    char *a = NULL, *b = NULL;
    OG_TRY(og_config_to_json(ours, &a, err));
    og_status status = og_config_to_json(og_config_get(index, "config"), &b, err);
    *same = status == OG_OK && !strcmp(a, b);
    og_release(a);
    og_release(b);
    return status;
}

static og_status compare_sources(const char *folder, const og_config *config, char reason[512], og_error *err) {
    og_error fault = {{0}};
    const char *name = NULL;
    const og_config *dataset = og_config_get(config, "dataset");
    OG_TRY(og_config_string(og_config_get(dataset, "name"), &name, err));
    const og_dataset_type *type = og_dataset_find(name);
    if (!type) return og_fail(err, OG_EINVAL, "dataset.name '%.100s' is unknown", name);
    og_sources now = {0};
    og_status status = og_sources_walk(type, dataset, &now, err);
    og_status compared = status == OG_OK ? og_sources_changes(folder, &now, reason, 512, &fault) : OG_OK;
    if (compared == OG_ENOMEM)
        status = og_fail(err, OG_ENOMEM, "%s", fault.message);
    else if (compared != OG_OK)
        snprintf(reason, 512, "its list of files cannot be read (%.400s)", fault.message);
    og_sources_free(&now);
    return status;
}

og_status og_prepared_state(const char *folder, const og_config *config, int32_t *state, char reason[512],
                            og_error *err) {
    char path[4200], text[512] = "";
    og_config *index = NULL;
    og_prepared *prepared = NULL;
    og_error fault = {{0}};
    int64_t version = 0;
    int same = 0;
    if (!og_file_exists(folder) || is_empty(folder)) {
        *state = OG_PREPARED_NONE;
        return OG_OK;
    }
    if (snprintf(path, sizeof path, "%s/index.json", folder) >= (int)sizeof path)
        return og_fail(err, OG_EINVAL, "%.200s...: path too long", folder);
    og_status status = og_config_from_json_file(path, &index, err);
    if (status != OG_OK) return og_fail_at(err, status, "%s exists but is no prepared folder", folder);
    status = same_config(config, index, &same, err);
    if (status == OG_OK && !same)
        status =
            og_fail(err, OG_EINVAL, "%s was prepared from another config; remove it or name another folder", folder);
    if (status == OG_OK) status = og_config_i64(og_config_get(index, "version"), &version, err);
    og_config_free(index);
    OG_TRY(status);
    if (version != OG_INDEX_VERSION)
        snprintf(text, sizeof text, "it has version %lld, this omnigram writes %d", (long long)version,
                 OG_INDEX_VERSION);
    else if ((status = og_prepared_open(folder, &prepared, &fault)) == OG_ENOMEM)
        return og_fail(err, OG_ENOMEM, "%s", fault.message);
    else if (status != OG_OK)
        snprintf(text, sizeof text, "it is damaged (%.400s)", fault.message);
    else
        status = compare_sources(folder, config, text, err);
    og_prepared_close(prepared);
    if (!prepared) status = OG_OK; /* damaged: said in text */
    OG_TRY(status);
    memcpy(reason, text, sizeof text);
    *state = *text ? OG_PREPARED_STALE : OG_PREPARED_CURRENT;
    return OG_OK;
}
