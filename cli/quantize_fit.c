/* quantize_fit.c: the tokenizer and the codebooks, fitted to the train split and measured on train and val. */
#include "quantize.h"

#include <omnigram/memory.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

og_status og_quantize_path(const char *folder, const char *leaf, char out[4096], og_error *err) {
    int n = snprintf(out, 4096, "%s/%s", folder, leaf);
    if (n < 0 || n >= 4096)
        return og_fail(err, OG_EINVAL, "the path %.100s.../%s is longer than 4095 bytes", folder, leaf);
    return OG_OK;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct texts {
    const char **text;
    int64_t *bytes;
    int64_t n, capacity_text, capacity_bytes;
} texts;

static og_status add_text(void *context, const og_media *media, int64_t unique, const char *document, int64_t item,
                          og_error *err) {
    (void)unique, (void)document, (void)item;
    texts *t = context;
    void *text = (void *)t->text, *bytes = t->bytes;
    OG_TRY(og_grow(&text, &t->capacity_text, t->n + 1, sizeof *t->text, err));
    t->text = text;
    OG_TRY(og_grow(&bytes, &t->capacity_bytes, t->n + 1, sizeof *t->bytes, err));
    t->bytes = bytes;
    t->text[t->n] = media->data; /* in the mapped shards, so it lives as long as they */
    t->bytes[t->n++] = media->shape[0];
    return OG_OK;
}

/* How many items each side has, and the keys of prepare or the options that help. */
static og_status nothing_to_fit(const og_quantize *q, int32_t modality, const char *what, og_error *err) {
    static const char *const leave_out[OG_N_MODALITIES] = {[OG_IMAGE] = " modalities: [text, audio] leaves it out,",
                                                           [OG_AUDIO] = " modalities: [text, image] leaves it out,"};
    const char *name = og_modality_name(modality), *left = leave_out[modality] ? leave_out[modality] : "";
    int64_t n[OG_N_SPLITS] = {0};
    for (int32_t split = 0; split < OG_N_SPLITS; split++) {
        char key[64];
        snprintf(key, sizeof key, "counters.splits.%s.%s", og_split_name(split), name);
        OG_TRY(og_config_i64(og_config_get(og_prepared_index(q->prepared), key), &n[split], err));
    }
    int none = n[OG_VAL] + n[OG_TEST] == 0;
    return og_fail(err, OG_EINVAL,
                   "%s: no %s in the train split to fit a %s to; %s items: train %lld, val %lld, test %lld. %s%s or "
                   "--encode-only --codebooks FOLDER takes what was fitted before",
                   q->prepared_path, name, what, name, (long long)n[OG_TRAIN], (long long)n[OG_VAL],
                   (long long)n[OG_TEST],
                   none ? "The data need some,"
                        : "In prepare, split.cover: true moves a group to train (but for tuxpaint), other split.val, "
                          "split.test or split.seed sort them anew,",
                   none ? "" : left);
}

static og_status fit_tokenizer(og_quantize *q, og_error *err) {
    char path[4096];
    texts t = {0};
    OG_TRY(og_quantize_path(q->out, "tokenizer.model", path, err));
    double begin = seconds_now();
    og_status status = og_quantize_each(q, OG_TEXT, OG_TRAIN, OG_TRAIN, "read train text", add_text, &t, err);
    if (status == OG_OK && !t.n) status = nothing_to_fit(q, OG_TEXT, "tokenizer", err);
    if (status == OG_OK) status = og_tokenizer_train(t.text, t.bytes, t.n, q->vocab, path, err);
    if (status == OG_OK) status = og_tokenizer_open(path, &q->tokenizer, err);
    if (status == OG_OK) {
        int64_t got = og_tokenizer_vocab(q->tokenizer);
        fprintf(stderr, "quantize: a tokenizer of %lld pieces%s\n", (long long)got,
                got < q->vocab ? "; the text has no more, fewer than text.vocab asks for" : "");
        json_object_set_new(q->result, "text",
                            json_pack("{s:I, s:I, s:I, s:I, s:s, s:f}", "texts", (json_int_t)t.n, "vocab",
                                      (json_int_t)got, "asked", (json_int_t)q->vocab, "got", (json_int_t)got,
                                      "fingerprint", og_tokenizer_fingerprint(q->tokenizer), "fit_seconds",
                                      seconds_now() - begin));
        status = og_quantize_keep_keys(q, "text", json_pack("{s:I}", "vocab", (json_int_t)q->vocab), err);
    }
    og_release((void *)t.text);
    og_release(t.bytes);
    return status;
}

static json_t *real_json(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *use_json(const og_code_use *u) {
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f}", "used", (json_int_t)u->used, "used_tenth",
                     (json_int_t)u->used_tenth, "perplexity", u->perplexity, "perplexity_corrected",
                     u->perplexity_corrected, "gini", u->gini, "top_percent", u->top_percent);
}

/* Health of one split as JSON; a ratio to no variance is null. */
static json_t *health_json(const og_codebook_health *h, const og_level_health *levels, int32_t n, int64_t seen) {
    json_t *out = use_json(&h->use), *by_level = json_array();
    json_t *more =
        json_pack("{s:I, s:I, s:I, s:f, s:f, s:o, s:o}", "vectors", (json_int_t)h->vectors, "of", (json_int_t)seen,
                  "not_finite", (json_int_t)h->not_finite, "expected_used", h->expected_used, "mse", h->mse,
                  "relative_mse", real_json(h->relative_mse), "snr_db", real_json(h->snr_db));
    json_object_update_new(out, more);
    for (int32_t l = 0; l < n; l++) {
        json_t *level = use_json(&levels[l].use);
        json_object_set_new(level, "relative_mse", real_json(levels[l].relative_mse));
        json_array_append_new(by_level, level);
    }
    json_object_set_new(out, "levels", by_level);
    return out;
}

static og_status health_config(json_t *health, og_config **out, og_error *err) {
    char *text = json_dumps(health, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text) return og_fail(err, OG_ENOMEM, "no memory for a codebook's health figures");
    og_status status = og_config_from_json(text, (int64_t)strlen(text), "health", out, err);
    free(text);
    return status;
}

/* The codebook of vectors, before its health is known. */
static og_status fit_codes(const og_quantize *q, int32_t modality, const float *vectors, int64_t n, og_codebook **out,
                           og_error *err) {
    const og_quantize_part *part = &q->parts[modality];
    float *codes;
    int32_t levels;
    int64_t size, dim = part->type->dim(part->impl);
    og_status status = part->quantizer->fit(part->fit, vectors, n, dim, q->pool, &codes, &levels, &size, err);
    if (status != OG_OK) return og_fail_at(err, status, "%s codebook", part->type->name);
    og_config *preprocess = NULL;
    status = og_config_copy(part->preprocess, &preprocess, err);
    if (status == OG_OK)
        status = og_codebook_new(part->quantizer->name, modality, levels, size, dim, codes, preprocess, NULL, out, err);
    if (status != OG_OK) og_config_free(preprocess);
    og_release(codes);
    return status;
}

static og_status measure(const og_quantize *q, int32_t modality, const og_codebook *codebook, int32_t split,
                         const float *vectors, int64_t n, int64_t seen, json_t *health, og_error *err) {
    og_codebook_health h;
    og_level_health *levels = og_alloc(codebook->levels, sizeof *levels);
    if (!levels) return og_fail(err, OG_ENOMEM, "no memory for the figures of %d levels", codebook->levels);
    og_status status = og_codebook_measure(codebook, vectors, n, q->pool, &h, levels, err);
    if (status != OG_OK) {
        og_release(levels);
        return status;
    }
    fprintf(stderr,
            "quantize: %s codebook on %s: %lld of %lld codes used (uniform draws: %.0f), perplexity %.1f, relative "
            "error %.4f, %lld vectors\n",
            q->parts[modality].type->name, og_split_name(split), (long long)h.use.used, (long long)codebook->size,
            h.expected_used, h.use.perplexity, h.relative_mse, (long long)n);
    json_object_set_new(health, og_split_name(split), health_json(&h, levels, codebook->levels, seen));
    og_release(levels);
    return OG_OK;
}

static og_status fit_part(og_quantize *q, int32_t modality, json_t *health, og_error *err) {
    og_quantize_part *part = &q->parts[modality];
    float *vectors;
    int64_t n, seen;
    double begin = seconds_now();
    OG_TRY(og_quantize_vectors(q, modality, OG_TRAIN, part->sample, &vectors, &n, &seen, err));
    og_status status = n ? OG_OK : nothing_to_fit(q, modality, "codebook", err);
    if (status == OG_OK) {
        fprintf(stderr, "quantize: fit %s codebook to %lld vectors of %lld\n", part->type->name, (long long)n,
                (long long)seen);
        status = fit_codes(q, modality, vectors, n, &part->codebook, err);
    }
    double fitted = seconds_now();
    if (status == OG_OK) status = measure(q, modality, part->codebook, OG_TRAIN, vectors, n, seen, health, err);
    og_release(vectors);
    OG_TRY(status);
    OG_TRY(og_quantize_vectors(q, modality, OG_VAL, part->sample, &vectors, &n, &seen, err));
    status = measure(q, modality, part->codebook, OG_VAL, vectors, n, seen, health, err);
    og_release(vectors);
    if (status == OG_OK) status = health_config(health, &part->codebook->health, err);
    if (status == OG_OK)
        json_object_set_new(q->result, part->type->name,
                            json_pack("{s:s, s:s, s:I, s:i, s:I, s:I, s:O, s:f}", "quantizer", part->quantizer->name,
                                      "fingerprint", part->codebook->fingerprint, "size",
                                      (json_int_t)part->codebook->size, "levels", part->codebook->levels, "dim",
                                      (json_int_t)part->codebook->dim, "items", (json_int_t)part->items, "health",
                                      health, "fit_seconds", fitted - begin));
    return status;
}

og_status og_quantize_fit(og_quantize *q, og_error *err) {
    OG_TRY(fit_tokenizer(q, err));
    for (int32_t m = OG_IMAGE; m <= OG_AUDIO; m++) {
        if (!q->parts[m].items) continue;
        json_t *health = json_object();
        og_status status =
            health ? fit_part(q, m, health, err) : og_fail(err, OG_ENOMEM, "no memory for health figures");
        json_decref(health);
        OG_TRY(status);
        char leaf[64], path[4096];
        snprintf(leaf, sizeof leaf, "%s.codebook.safetensors", q->parts[m].type->name);
        OG_TRY(og_quantize_path(q->out, leaf, path, err));
        OG_TRY(og_codebook_save(q->parts[m].codebook, path, err));
        json_t *fitted;
        OG_TRY(og_quantize_keys_json(&q->parts[m], &fitted, err));
        OG_TRY(og_quantize_keep_keys(q, q->parts[m].type->name, fitted, err));
    }
    return OG_OK;
}
