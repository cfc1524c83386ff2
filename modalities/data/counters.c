/* counters.c: named counts to a config tree. */
#include "data/counters.h"

#include <jansson.h>
#include <string.h>

og_status og_counters_config(const og_counter *counters, int64_t n, og_config **out, og_error *err) {
    json_t *json = json_object();
    int failed = !json;
    for (int64_t i = 0; i < n && !failed; i++) failed = json_object_set_new(json, counters[i].name, json_integer(counters[i].value));
    char *text = failed ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    if (!text) return og_fail(err, OG_ENOMEM, "no memory for counters");
    og_status status = og_config_from_json(text, (int64_t)strlen(text), "counters", out, err);
    free(text);
    return status;
}
