/* run_compare.c: the config that a run recorded against the one that it is gone on with. */
#include "run_folder.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

typedef struct comparison {
    const char *run;
    og_log_fn *log;
    void *log_context;
} comparison;

/* Keys that say how long, how often and where, and not what is learned; and those that the checkpoint
 * itself refuses. */
static int is_free(const char *path) {
    static const char *const keys[] = {"train.steps",      "train.epochs",       "train.resume",    "train.log_every",
                                       "train.save_every", "train.save_seconds", "train.save_last", "train.threads",
                                       "train.device",     "train.batch",        "train.seed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(path, keys[i])) return 1;
    return 0;
}

/* Weights of one shape mean another function under another value of these. */
static int is_fixed(const char *path) { return !strncmp(path, "model.", 6) || !strcmp(path, "memory.fusion"); }

static int is_number(const og_config *node) {
    return og_config_kind(node) == OG_CONFIG_INTEGER || og_config_kind(node) == OG_CONFIG_REAL;
}

static og_status is_equal(const og_config *then, const og_config *now, int *equal, og_error *err) {
    if (is_number(then) && is_number(now)) { /* 500 and 500.0 */
        double a, b;
        OG_TRY(og_config_f64(then, &a, err));
        OG_TRY(og_config_f64(now, &b, err));
        *equal = a == b;
        return OG_OK;
    }
    char *a = NULL, *b = NULL;
    og_status status = og_config_to_json(then, &a, err);
    if (status == OG_OK) status = og_config_to_json(now, &b, err);
    if (status == OG_OK) *equal = !strcmp(a, b);
    og_release(a);
    og_release(b);
    return status;
}

static og_status differs(const comparison *c, const char *path, const og_config *then, const og_config *now,
                         og_error *err) {
    char *a = NULL, *b = NULL;
    og_status status = og_config_to_json(then, &a, err);
    if (status == OG_OK) status = og_config_to_json(now, &b, err);
    if (status == OG_OK && is_fixed(path)) {
        status =
            og_fail(err, OG_EINVAL,
                    "%s: the run began with %s %.80s, now it is %.80s; use another run folder or train.resume: never",
                    c->run, path, a, b);
    } else if (status == OG_OK && c->log) {
        char line[512];
        snprintf(line, sizeof line, "%s: the run began with %s %.80s, now it is %.80s", c->run, path, a, b);
        c->log(c->log_context, OG_LOG_WARNING, line);
    }
    og_release(a);
    og_release(b);
    return status;
}

static og_status compare(const comparison *c, const char *path, const og_config *then, const og_config *now,
                         og_error *err) {
    if (og_config_kind(then) == OG_CONFIG_MAP && og_config_kind(now) == OG_CONFIG_MAP) {
        for (int64_t i = 0; i < og_config_size(now); i++) {
            const char *key = og_config_key_at(now, i);
            char below[512];
            snprintf(below, sizeof below, "%s.%s", path, key);
            const og_config *value = og_config_get(then, key);
            if (value) OG_TRY(compare(c, below, value, og_config_at(now, i), err));
        }
        return OG_OK;
    }
    int equal = is_free(path);
    if (!equal) OG_TRY(is_equal(then, now, &equal, err));
    return equal ? OG_OK : differs(c, path, then, now, err);
}

og_status og_run_compare(const char *run, const og_config *config, og_log_fn *log, void *log_context, og_error *err) {
    static const char *const sections[] = {"model", "memory", "train"};
    char path[4200];
    snprintf(path, sizeof path, "%s/config.yaml", run);
    if (!og_file_exists(path)) return OG_OK;
    og_config *then = NULL;
    OG_TRY(og_config_from_yaml_file(path, &then, err));
    const comparison c = {run, log, log_context};
    og_status status = OG_OK;
    for (int i = 0; i < 3 && status == OG_OK; i++)
        status = compare(&c, sections[i], og_config_get(then, sections[i]), og_config_get(config, sections[i]), err);
    og_config_free(then);
    return status;
}
