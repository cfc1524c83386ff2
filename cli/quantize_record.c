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

static og_status add_all(og_digest *digest, const og_config *config, const char *prepared, const char *codebooks,
                         og_error *err) {
    char *json;
    OG_TRY(og_digest_add(digest, og_version(), (int64_t)strlen(og_version()), err));
    OG_TRY(og_config_to_json(config, &json, err));
    og_status status = og_digest_add(digest, json, (int64_t)strlen(json) + 1, err);
    og_release(json);
    OG_TRY(status);
    OG_TRY(add_file(digest, prepared, "index.json", err));
    if (!codebooks) return OG_OK;
    OG_TRY(add_file(digest, codebooks, "tokenizer.model", err));
    OG_TRY(add_file(digest, codebooks, "image.codebook.safetensors", err));
    return add_file(digest, codebooks, "audio.codebook.safetensors", err);
}

og_status og_quantize_key(const og_config *config, const char *prepared, const char *codebooks,
                          char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = add_all(digest, config, prepared, codebooks, err);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
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
