/* counters.c: named counts to a config tree. */
#include "data/counters.h"
#include "json_tree.h"

og_status og_counters_config(const og_counter *counters, int64_t n, og_config **out, og_error *err) {
    json_t *json = json_object();
    int failed = !json;
    for (int64_t i = 0; i < n && !failed; i++)
        failed = json_object_set_new(json, counters[i].name, json_integer(counters[i].value));
    if (failed) {
        json_decref(json);
        json = NULL;
    }
    return og_json_tree(json, "counters", out, err);
}
