/* json_tree.c: a jansson value to a config tree. */
#include "json_tree.h"

#include <string.h>

og_status og_json_tree(json_t *json, const char *what, og_config **out, og_error *err) {
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text) return og_fail(err, OG_ENOMEM, "%s: no memory for its description", what);
    og_status status = og_config_from_json(text, (int64_t)strlen(text), what, out, err);
    free(text);
    return status;
}
