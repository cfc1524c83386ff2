/* fit.c: the keys of an addressing that its corpus decides. */
#include "addr/scheme.h"

#include <stdio.h>
#include <string.h>

/* An alias's numbers are its released system's, and a corpus does not replace them. */
static og_status preset_has(const og_config *config, const char *key, int32_t *out, og_error *err) {
    const char *name, *preset = NULL;
    og_config *tree;
    *out = 0;
    OG_TRY(og_config_string(og_config_get(config, "scheme"), &name, err));
    if (!og_addr_alias(name, &preset) || !*preset) return OG_OK;
    OG_TRY(og_config_from_yaml(preset, (int64_t)strlen(preset), "preset", &tree, err));
    *out = og_config_get(tree, key) != NULL;
    og_config_free(tree);
    return OG_OK;
}

og_status og_addr_fit_key(og_config *config, const char *key, int64_t value, og_error *err) {
    int32_t preset = 0;
    if (og_config_get(config, key)) return OG_OK;
    OG_TRY(preset_has(config, key, &preset, err));
    if (preset) return OG_OK;
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return og_config_set(config, key, text, err);
}

og_status og_addr_fit(og_config *config, int64_t codes, int32_t width, og_error *err) {
    const og_config *node = og_config_get(config, "scheme");
    const char *name;
    if (!node) return og_fail(err, OG_EINVAL, "%s: an addressing needs the key 'scheme'", OG_WHERE(config));
    OG_TRY(og_config_string(node, &name, err));
    const og_addr_type *type = og_addr_find(name);
    if (!type) return OG_OK; /* og_addr_new says so, with the nearest name */
    if (type->fit) {
        og_status status = type->fit(config, codes, width, err);
        return status == OG_OK ? OG_OK : og_fail_at(err, status, "%s: scheme %s", OG_WHERE(config), type->name);
    }
    for (const og_key *key = type->keys; key->name; key++)
        if (!strcmp(key->name, "vocab")) return og_addr_fit_key(config, "vocab", codes, err);
    return OG_OK;
}
