/* quantize_keys.c: the keys that decide a codebook: checked before the work, kept in the record of the run. */
#include "quantize.h"

#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>

static og_status find_quantizer(const char *name, og_quantize_part *part, og_error *err) {
    part->quantizer = og_quantizer_find(name);
    if (part->quantizer) return OG_OK;
    char known[256] = "";
    for (int i = 0; og_quantizer_types[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 og_quantizer_types[i]->name);
    return og_fail(err, OG_EINVAL, "%s.quantizer: '%.40s' is unknown; there are %s", part->type->name, name, known);
}

/* Every key by the quantizer's own table; the values are read again where they are used. */
og_status og_quantize_check_keys(const og_quantize_part *part, og_error *err) {
    size_t most = 0;
    for (const og_key *key = part->quantizer->keys; key->name; key++)
        if (key->offset > most) most = key->offset;
    void *scratch = og_alloc_zero((int64_t)(most + sizeof(og_i64_list)), 1); /* the widest field of a table */
    if (!scratch) return og_fail(err, OG_ENOMEM, "no memory for the keys of %s", part->quantizer->name);
    og_status status = og_config_read(part->fit, part->quantizer->keys, scratch, err);
    og_release(scratch);
    return status;
}

og_status og_quantize_read_keys(const og_config *map, int encode_only, og_quantize_part *part, og_error *err) {
    static const og_key nothing[] = {{0}};
    const char *name = NULL;
    part->given = map;
    part->sample = 131072; /* 256 for each of 512 codes, FAISS's own measure of enough */
    OG_TRY(og_config_new_at(map, NULL, &part->fit, err));
    if (og_config_kind(map) != OG_CONFIG_MAP) OG_TRY(og_config_read(map, nothing, &(int){0}, err));
    for (int64_t i = 0; i < og_config_size(map); i++) {
        const char *key = og_config_key_at(map, i);
        const og_config *value = og_config_at(map, i);
        if (og_config_kind(value) == OG_CONFIG_NULL && (!strcmp(key, "quantizer") || !strcmp(key, "sample"))) continue;
        if (!strcmp(key, "quantizer")) {
            OG_TRY(og_config_string(value, &name, err));
        } else if (!strcmp(key, "sample")) {
            OG_TRY(og_config_i64(value, &part->sample, err));
            if (part->sample < 1)
                return og_fail(err, OG_EINVAL, "%s: is %lld, and must be at least 1", OG_WHERE(value),
                               (long long)part->sample);
        } else {
            OG_TRY(og_config_put(part->fit, key, value, err));
        }
    }
    OG_TRY(find_quantizer(name ? name : "kmeans", part, err));
    /* A codebook knows its own quantizer, whose keys are checked when it is read. */
    return encode_only ? OG_OK : og_quantize_check_keys(part, err);
}

static og_status fill_in(const og_key *keys, og_config *map, og_error *err) {
    for (const og_key *key = keys; key->name; key++) {
        if (!key->fallback || !*key->fallback || og_config_kind(og_config_get(map, key->name)) != OG_CONFIG_NULL)
            continue;
        char text[256];
        int quoted = key->type == OG_KEY_STRING;
        snprintf(text, sizeof text, quoted ? "'%s'" : "%s", key->fallback);
        OG_TRY(og_config_set(map, key->name, text, err));
    }
    return OG_OK;
}

og_status og_quantize_keys_json(const og_quantize_part *part, json_t **out, og_error *err) {
    og_config *map;
    char *text = NULL;
    OG_TRY(og_config_copy(part->fit, &map, err));
    og_status status = fill_in(part->quantizer->keys, map, err);
    if (status == OG_OK) status = og_config_to_json(map, &text, err);
    og_config_free(map);
    OG_TRY(status);
    json_t *json = json_loads(text, 0, NULL);
    og_release(text);
    if (!json || json_object_set_new(json, "quantizer", json_string(part->quantizer->name)) ||
        json_object_set_new(json, "sample", json_integer(part->sample))) {
        json_decref(json);
        return og_fail(err, OG_ENOMEM, "no memory for the keys of %s", part->type->name);
    }
    *out = json;
    return OG_OK;
}
