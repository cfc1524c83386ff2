/* train_check.c: `omnigram train --check`: what is wrong with configs is said before anything is trained. */
#include "train_check.h"

#include "train_calls.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

typedef struct checks {
    og_train_calls call;
    const og_arguments *arguments;
    og_packs *packs, *val;
    json_t *found; /* {path: what og_train_check says} */
    FILE *to;
} checks;

static void print(FILE *to, const char *path, const json_t *about) {
    fprintf(to, "%s: fine; memory %s", path, json_string_value(json_object_get(about, "memory")));
    const json_t *steps = json_object_get(about, "steps"), *table;
    if (!steps) {
        fprintf(to, " (without --packs, tables are not checked against ids)\n");
        return;
    }
    fprintf(to, ", %lld steps over %lld packs, %.2f M weights", (long long)json_integer_value(steps),
            (long long)json_integer_value(json_object_get(about, "packs")),
            1e-6 * (double)json_integer_value(json_object_get(about, "parameters")));
    const char *name;
    json_object_foreach(json_object_get(about, "tables"), name, table)
        fprintf(to, "; table %s: %lld rows of %lld, %.1f MiB", name,
                (long long)json_integer_value(json_object_get(table, "rows")),
                (long long)json_integer_value(json_object_get(table, "dim")),
                (double)json_integer_value(json_object_get(table, "bytes")) / 1048576);
    fputc('\n', to);
}

static int check_one(checks *c, const char *path) {
    og_error err = {{0}};
    og_config *config = NULL;
    char *text = NULL;
    int code = og_options_config("train", path, c->arguments, &config);
    if (code) return code;
    og_status status = c->call.train_check(config, c->packs, &text, &err);
    og_config_free(config);
    if (status != OG_OK) {
        if (path && !strstr(err.message, path)) status = og_fail_at(&err, status, "%s", path);
        return og_verb_fail("train", &err);
    }
    json_t *about = json_loads(text, 0, NULL);
    og_release(text);
    print(c->to, path ? path : "command line", about);
    json_object_set_new(c->found, path ? path : "", about);
    return 0;
}

int og_train_check_verb(const char *config, const og_arguments *arguments, const char *packs, const char *val,
                        const char *json) {
    og_error err = {{0}};
    checks c = {.arguments = arguments, .found = json_object(), .to = json && !strcmp(json, "-") ? stderr : stdout};
    og_status status = og_train_calls_open(&c.call, &err);
    if (status == OG_OK && packs) status = og_packs_load(packs, &c.packs, &err);
    if (status == OG_OK && val) status = og_packs_load(val, &c.val, &err);
    if (status == OG_OK && packs && val) {
        status = c.call.eval_check(c.packs, c.val, &err);
        if (status != OG_OK) status = og_fail_at(&err, status, "--val %s", val);
    }
    int code = status == OG_OK ? 0 : og_verb_fail("train", &err);
    /* every config is looked at, so that one run names all faults */
    if (status == OG_OK && (config || !arguments->n_files)) code |= check_one(&c, config);
    for (int i = 0; status == OG_OK && i < arguments->n_files; i++) code |= check_one(&c, arguments->files[i]);
    og_packs_free(c.val);
    og_packs_free(c.packs);
    if (!code) return og_json_result("train", json, c.found);
    json_decref(c.found);
    return code;
}
