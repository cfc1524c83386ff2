/* codebook_file.c: a codebook as a safetensors file. */
#include <omnigram/codebook.h>
#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/safetensors.h>

#include <string.h>

static og_status write_tree(og_arrays_writer *writer, const char *key, const og_config *tree, og_error *err) {
    if (!tree) return OG_OK;
    char *json;
    OG_TRY(og_config_to_json(tree, &json, err));
    og_status status = og_arrays_writer_metadata(writer, key, json, err);
    og_release(json);
    return status;
}

static og_status write_all(og_arrays_writer *writer, const og_codebook *codebook, og_error *err) {
    const int64_t shape[] = {codebook->levels, codebook->size, codebook->dim};
    OG_TRY(og_arrays_writer_metadata(writer, "kind", "codebook", err));
    OG_TRY(og_arrays_writer_metadata(writer, "version", "1", err));
    OG_TRY(og_arrays_writer_metadata(writer, "quantizer", codebook->quantizer, err));
    OG_TRY(og_arrays_writer_metadata(writer, "modality", og_modality_name(codebook->modality), err));
    OG_TRY(og_arrays_writer_metadata(writer, "fingerprint", codebook->fingerprint, err));
    OG_TRY(write_tree(writer, "preprocess", codebook->preprocess, err));
    OG_TRY(write_tree(writer, "health", codebook->health, err));
    OG_TRY(og_arrays_writer_declare(writer, "codes", OG_F32, 3, shape, err));
    return og_arrays_writer_append(writer, codebook->codes,
                                   codebook->levels * codebook->size * codebook->dim * (int64_t)sizeof(float), err);
}

og_status og_codebook_save(const og_codebook *codebook, const char *path, og_error *err) {
    og_arrays_writer *writer;
    OG_TRY(og_arrays_writer_new(path, &writer, err));
    og_status status = write_all(writer, codebook, err);
    if (status == OG_OK) return og_arrays_writer_commit(writer, err);
    og_arrays_writer_abort(writer);
    return status;
}

static og_status want(const og_arrays *arrays, const char *path, const char *key, const char **out, og_error *err) {
    *out = og_arrays_metadata(arrays, key);
    if (!*out) return og_fail(err, OG_EFORMAT, "%s: not a codebook, its metadata has no '%s'", path, key);
    return OG_OK;
}

static og_status read_tree(const og_arrays *arrays, const char *path, const char *key, og_config **out, og_error *err) {
    const char *json = og_arrays_metadata(arrays, key);
    if (!json) return OG_OK;
    og_status status = og_config_from_json(json, (int64_t)strlen(json), key, out, err);
    return status == OG_OK ? OG_OK : og_fail_at(err, status, "%s", path);
}

static og_status read_modality(const char *path, const char *name, int32_t *out, og_error *err) {
    for (int32_t m = 0; m < OG_N_MODALITIES; m++)
        if (!strcmp(name, og_modality_name(m))) {
            *out = m;
            return OG_OK;
        }
    return og_fail(err, OG_EFORMAT, "%s: a codebook of the unknown modality '%.40s'", path, name);
}

static og_status read_all(const og_arrays *arrays, const char *path, og_config **preprocess, og_config **health,
                          og_codebook **out, og_error *err) {
    const char *kind, *version, *quantizer, *modality_name, *fingerprint;
    OG_TRY(want(arrays, path, "kind", &kind, err));
    if (strcmp(kind, "codebook")) return og_fail(err, OG_EFORMAT, "%s: holds '%.40s', not a codebook", path, kind);
    OG_TRY(want(arrays, path, "version", &version, err));
    if (strcmp(version, "1"))
        return og_fail(err, OG_EFORMAT, "%s: a codebook file of version %.20s; this build reads version 1", path,
                       version);
    OG_TRY(want(arrays, path, "quantizer", &quantizer, err));
    OG_TRY(want(arrays, path, "modality", &modality_name, err));
    OG_TRY(want(arrays, path, "fingerprint", &fingerprint, err));
    int32_t modality = -1;
    OG_TRY(read_modality(path, modality_name, &modality, err));
    int64_t shape[3];
    void *codes;
    OG_TRY(og_arrays_expect(arrays, "codes", OG_F32, 3, shape, &codes, err));
    if (shape[0] > INT32_MAX)
        return og_fail(err, OG_EFORMAT, "%s: %lld levels are more than %d", path, (long long)shape[0], INT32_MAX);
    OG_TRY(read_tree(arrays, path, "preprocess", preprocess, err));
    OG_TRY(read_tree(arrays, path, "health", health, err));
    og_codebook *codebook;
    og_status status = og_codebook_new(quantizer, modality, (int32_t)shape[0], shape[1], shape[2], codes, *preprocess,
                                       *health, &codebook, err);
    if (status != OG_OK) return og_fail_at(err, status == OG_EINVAL ? OG_EFORMAT : status, "%s", path);
    *preprocess = *health = NULL; /* the codebook's now */
    if (strcmp(fingerprint, codebook->fingerprint)) {
        status = og_fail(err, OG_EFORMAT,
                         "%s: the codebook was changed: its fingerprint is stored as %.64s, its contents have %s", path,
                         fingerprint, codebook->fingerprint);
        og_codebook_free(codebook);
        return status;
    }
    *out = codebook;
    return OG_OK;
}

og_status og_codebook_load(const char *path, og_codebook **out, og_error *err) {
    og_arrays *arrays;
    OG_TRY(og_arrays_open(path, 0, &arrays, err));
    og_config *preprocess = NULL, *health = NULL;
    og_status status = read_all(arrays, path, &preprocess, &health, out, err);
    og_config_free(preprocess);
    og_config_free(health);
    og_arrays_close(arrays);
    return status;
}
