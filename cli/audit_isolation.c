/* audit_isolation.c: `omnigram audit isolation`. */
#include "audit.h"
#include "options.h"
#include "train_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_count(const char *text, const char *name, int64_t *out) {
    if (!text) return 0;
    char *end;
    *out = strtoll(text, &end, 10);
    if (*end || end == text || *out < 1)
        return og_verb_usage("audit isolation", "%s is a count from 1 up, not '%s'", name, text);
    return 0;
}

/* 0 only when nothing leaks and every guard that was taken down was missed. */
static int judge(const json_t *result) {
    const char *name;
    json_t *channel;
    int failed = json_integer_value(json_object_get(result, "leaks")) != 0;
    json_object_foreach(json_object_get(result, "channels"), name, channel) {
        long long leaks = json_integer_value(json_object_get(channel, "leaks")),
                  twin = json_integer_value(json_object_get(channel, "twin_leaks"));
        fprintf(stderr, "%-10s %6lld leaks   %6lld with the guard down%s\n", name, leaks, twin,
                leaks  ? "   LEAKS"
                : twin ? ""
                       : "   the probe sees nothing: it proves nothing");
        if (!twin) failed = 1;
    }
    return failed;
}

int og_verb_audit_isolation(int argc, char **argv) {
    const char *config_path = NULL, *packs_path = NULL, *json = NULL, *packs_text = NULL, *docs_text = NULL;
    const og_option options[] = {{"--config", &config_path, NULL},  {"--packs", &packs_path, NULL},
                                 {"--json", &json, NULL},           {"--packs-probed", &packs_text, NULL},
                                 {"--documents", &docs_text, NULL}, {NULL, NULL, NULL}};
    og_arguments arguments;
    og_isolation_options probe = {0};
    int code = og_options_read("audit isolation", argc, argv, options, 1, &arguments);
    if (!code && arguments.n_files) code = og_verb_usage("audit isolation", "unexpected word '%s'", arguments.files[0]);
    if (!code && !packs_path) code = og_verb_usage("audit isolation", "--packs FILE is missing");
    if (!code) code = read_count(packs_text, "--packs-probed", &probe.n_packs);
    if (!code) code = read_count(docs_text, "--documents", &probe.n_docs);
    og_config *config = NULL;
    if (!code) code = og_options_config("audit isolation", config_path, &arguments, &config);
    og_arguments_free(&arguments);
    if (code) return code;

    og_error err = {{0}};
    og_train_calls call;
    og_packs *packs = NULL;
    char *text = NULL;
    og_status status = og_packs_load(packs_path, &packs, &err);
    if (status == OG_OK) status = og_train_calls_open(&call, &err);
    probe.config = config;
    probe.packs = packs;
    if (status == OG_OK) status = call.audit_isolation(&probe, &text, &err);
    json_t *result = status == OG_OK ? json_loads(text, 0, NULL) : NULL;
    og_release(text);
    og_packs_free(packs);
    og_config_free(config);
    if (status != OG_OK) return og_verb_fail("audit isolation", &err);
    code = judge(result);
    int written = og_json_result("audit isolation", json, result);
    return code ? code : written;
}
