/* quantize_record.c: the record of a finished run, by which the next one knows that there is nothing to do. */
#include "quantize.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>

static og_status add_file(og_digest *digest, const char *folder, const char *leaf, og_error *err) {
    char path[4096], text[OG_DIGEST_TEXT];
    OG_TRY(og_quantize_path(folder, leaf, path, err));
    if (!og_file_exists(path)) return og_digest_add(digest, "none", 4, err);
    OG_TRY(og_digest_of_file(path, text, err));
    return og_digest_add(digest, text, OG_DIGEST_TEXT - 1, err);
}

static og_status digest_of_files(const char *folder, const char *const *leaves, char out[OG_DIGEST_TEXT],
                                 og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = OG_OK;
    for (; *leaves && status == OG_OK; leaves++) status = add_file(digest, folder, *leaves, err);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}

/* The config that the shards were prepared from. */
static og_status prepared_settings(const char *folder, char out[OG_DIGEST_TEXT], og_error *err) {
    char path[4096], *text = NULL;
    og_config *index = NULL;
    OG_TRY(og_quantize_path(folder, "index.json", path, err));
    OG_TRY(og_config_from_json_file(path, &index, err));
    og_status status = og_config_to_json(og_config_get(index, "config"), &text, err);
    if (status == OG_OK) status = og_digest_of(text, (int64_t)strlen(text), out, err);
    og_release(text);
    og_config_free(index);
    return status;
}

og_status og_quantize_settings(const og_config *config, const char *prepared, const char *codebooks, json_t **out,
                               og_error *err) {
    static const char *const files[] = {"tokenizer.model", "image.codebook.safetensors", "audio.codebook.safetensors",
                                        NULL};
    char *text, from[OG_DIGEST_TEXT], reused[OG_DIGEST_TEXT];
    OG_TRY(prepared_settings(prepared, from, err));
    if (codebooks) OG_TRY(digest_of_files(codebooks, files, reused, err));
    OG_TRY(og_config_to_json(config, &text, err));
    json_t *keys = json_loads(text, 0, NULL);
    og_release(text);
    if (!json_is_object(keys)) { /* an empty file is null */
        json_decref(keys);
        keys = json_object();
    }
    json_object_del(keys, "threads"); /* results do not depend on it */
    if (json_object_set_new(keys, "--prepared", json_string(from)) ||
        (codebooks && json_object_set_new(keys, "--codebooks", json_string(reused)))) {
        json_decref(keys);
        return og_fail(err, OG_ENOMEM, "no memory for the settings");
    }
    *out = keys;
    return OG_OK;
}

og_status og_quantize_key(const json_t *settings, const char *prepared, char out[OG_DIGEST_TEXT], og_error *err) {
    static const char *const files[] = {"index.json", NULL};
    char shards[OG_DIGEST_TEXT];
    OG_TRY(digest_of_files(prepared, files, shards, err));
    json_t *all = json_pack("{s:s, s:O, s:s}", "version", og_version(), "settings", settings, "shards", shards);
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    og_status status =
        text ? og_digest_of(text, (int64_t)strlen(text), out, err) : og_fail(err, OG_ENOMEM, "no memory for the key");
    free(text);
    json_decref(all);
    return status;
}

/* The first key of a that b has otherwise, or not. */
static const char *other_key(json_t *a, json_t *b) {
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value) if (!json_equal(value, json_object_get(b, key))) return key;
    return NULL;
}

static og_status refuse(const char *folder, const char *key, const json_t *then, const json_t *now, og_error *err) {
    char *before = json_dumps(then, JSON_ENCODE_ANY | JSON_COMPACT),
         *after = json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT);
    og_status status = og_fail(err, OG_EINVAL,
                               "%s was made with other settings (%.60s); remove it or name another folder; %.60s is "
                               "%.100s there and %.100s here",
                               folder, key, key, before ? before : "not given", after ? after : "not given");
    free(before);
    free(after);
    return status;
}

og_status og_quantize_replaceable(const char *folder, json_t *settings, int *there, og_error *err) {
    char path[4096];
    OG_TRY(og_quantize_path(folder, OG_QUANTIZE_RECORD, path, err));
    json_t *record = json_load_file(path, 0, NULL), *then = json_object_get(record, "settings");
    const char *key = json_is_object(then) ? other_key(settings, then) : NULL;
    if (!key && json_is_object(then)) key = other_key(then, settings);
    *there = record != NULL;
    og_status status =
        key ? refuse(folder, key, json_object_get(then, key), json_object_get(settings, key), err) : OG_OK;
    json_decref(record);
    return status;
}

json_t *og_quantize_cached(const char *folder, const char *key) {
    char path[4096];
    if (og_quantize_path(folder, OG_QUANTIZE_RECORD, path, NULL) != OG_OK) return NULL;
    json_t *record = json_load_file(path, 0, NULL);
    const char *stored = json_string_value(json_object_get(record, "key"));
    int good = stored && !strcmp(stored, key);
    static const char *const leaves[] = {"tokenizer.model", "train.documents.safetensors", "val.documents.safetensors",
                                         "test.documents.safetensors", "preview.safetensors"};
    for (size_t i = 0; good && i < sizeof leaves / sizeof *leaves; i++)
        good = og_quantize_path(folder, leaves[i], path, NULL) == OG_OK && og_file_exists(path);
    for (int32_t m = OG_IMAGE; good && m <= OG_AUDIO; m++) {
        if (!json_object_get(record, og_modality_name(m))) continue;
        snprintf(path, sizeof path, "%s/%s.codebook.safetensors", folder, og_modality_name(m));
        good = og_file_exists(path);
    }
    if (good) return record;
    json_decref(record);
    return NULL;
}

og_status og_quantize_record(const char *folder, json_t *record, og_error *err) {
    char path[4096];
    OG_TRY(og_quantize_path(folder, OG_QUANTIZE_RECORD, path, err));
    char *text = json_dumps(record, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text) return og_fail(err, OG_ENOMEM, "no memory for %s", path);
    og_status status = og_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    return status;
}
