/* quantize_reuse.c: tokenizer and codebooks of an earlier run, refused when the reader prepares otherwise. */
#include "quantize.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <string.h>

/* Whether two trees say the same, by their canonical JSON; the texts for messages (og_release). */
static og_status compare(const og_config *a, const og_config *b, char **a_text, char **b_text, int *same,
                         og_error *err) {
    *a_text = *b_text = NULL;
    OG_TRY(og_config_to_json(a, a_text, err));
    og_status status = og_config_to_json(b, b_text, err);
    if (status != OG_OK) {
        og_release(*a_text);
        return status;
    }
    *same = !strcmp(*a_text, *b_text);
    return OG_OK;
}

/* Names the first key that differs, with both values. */
static og_status refuse(const char *path, const og_config *fitted, const og_config *reader, og_error *err) {
    for (int side = 0; side < 2; side++) {
        const og_config *map = side ? reader : fitted;
        for (int64_t i = 0; i < og_config_size(map); i++) {
            const char *key = og_config_key_at(map, i);
            if (!key) continue;
            char *a, *b;
            int same;
            OG_TRY(compare(og_config_get(fitted, key), og_config_get(reader, key), &a, &b, &same, err));
            og_status status = OG_OK;
            if (!same)
                status =
                    og_fail(err, OG_EINVAL,
                            "%s: the codebook was fitted to vectors with %s: %.120s, the prepared data have %s: %.120s",
                            path, key, a, key, b);
            og_release(a);
            og_release(b);
            if (!same) return status;
        }
    }
    return og_fail(err, OG_EINVAL, "%s: the codebook and the prepared data have different preprocessing", path);
}

static og_status check(const char *path, const og_quantize_part *part, const og_codebook *codebook, int32_t modality,
                       og_error *err) {
    if (codebook->modality != modality)
        return og_fail(err, OG_EINVAL, "%s: a codebook of %s, where one of %s is needed", path,
                       og_modality_name(codebook->modality), part->type->name);
    char *a, *b;
    int same;
    OG_TRY(compare(codebook->preprocess, part->preprocess, &a, &b, &same, err));
    og_release(a);
    og_release(b);
    if (!same) return refuse(path, codebook->preprocess, part->preprocess, err);
    if (codebook->dim != part->type->dim(part->impl))
        return og_fail(err, OG_EFORMAT, "%s: codes of %lld values, the prepared data give vectors of %lld", path,
                       (long long)codebook->dim, (long long)part->type->dim(part->impl));
    return OG_OK;
}

static og_status reuse_part(og_quantize *q, int32_t modality, const og_config *record, og_error *err) {
    og_quantize_part *part = &q->parts[modality];
    char leaf[64], path[4096];
    snprintf(leaf, sizeof leaf, "%s.codebook.safetensors", part->type->name);
    OG_TRY(og_quantize_path(q->codebooks_path, leaf, path, err));
    OG_TRY(og_codebook_load(path, &part->codebook, err));
    OG_TRY(check(path, part, part->codebook, modality, err));
    part->quantizer = og_quantizer_find(part->codebook->quantizer);
    if (!part->quantizer)
        return og_fail(err, OG_ENOTSUP, "%s: made by the quantizer '%s', which this build does not have", path,
                       part->codebook->quantizer);
    OG_TRY(og_quantize_same_part(q, modality, path, record, err));
    OG_TRY(og_quantize_path(q->out, leaf, path, err));
    OG_TRY(og_codebook_save(part->codebook, path, err));
    json_object_set_new(q->result, part->type->name,
                        json_pack("{s:s, s:s, s:I, s:i, s:I, s:I}", "quantizer", part->codebook->quantizer,
                                  "fingerprint", part->codebook->fingerprint, "size", (json_int_t)part->codebook->size,
                                  "levels", part->codebook->levels, "dim", (json_int_t)part->codebook->dim, "items",
                                  (json_int_t)part->items));
    return OG_OK;
}

/* The record of the run that made them; folders of codebooks alone have none. */
static og_status open_record(const char *folder, og_config **out, og_error *err) {
    char path[4096];
    OG_TRY(og_quantize_path(folder, OG_QUANTIZE_RECORD, path, err));
    *out = NULL;
    return og_file_exists(path) ? og_config_from_json_file(path, out, err) : OG_OK;
}

static og_status reuse_tokenizer(og_quantize *q, const og_config *record, og_error *err) {
    char path[4096], *model;
    int64_t bytes;
    OG_TRY(og_quantize_path(q->codebooks_path, "tokenizer.model", path, err));
    OG_TRY(og_tokenizer_open(path, &q->tokenizer, err));
    OG_TRY(og_quantize_same_text(q, path, record, err));
    OG_TRY(og_file_read(path, INT64_C(1) << 30, &model, &bytes, err));
    og_status status = og_quantize_path(q->out, "tokenizer.model", path, err);
    if (status == OG_OK) status = og_file_write(path, model, bytes, err);
    og_release(model);
    OG_TRY(status);
    json_object_set_new(q->result, "text",
                        json_pack("{s:I, s:s}", "vocab", (json_int_t)og_tokenizer_vocab(q->tokenizer), "fingerprint",
                                  og_tokenizer_fingerprint(q->tokenizer)));
    return OG_OK;
}

og_status og_quantize_reuse(og_quantize *q, og_error *err) {
    og_config *record;
    OG_TRY(open_record(q->codebooks_path, &record, err));
    og_status status = reuse_tokenizer(q, record, err);
    for (int32_t m = OG_IMAGE; m <= OG_AUDIO && status == OG_OK; m++)
        if (q->parts[m].items) status = reuse_part(q, m, record, err);
    og_config_free(record);
    return status;
}
