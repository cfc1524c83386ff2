/* quantize_same.c: keys given beside earlier codebooks: refused where those were made with other values. */
#include "quantize.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

/* What the record says of a tokenizer or codebook, if it is of the one that lies there now. */
static const og_config *recorded(const og_config *record, const char *name, const char *fingerprint) {
    char key[64];
    const char *stored = NULL;
    snprintf(key, sizeof key, "%s.fingerprint", name);
    const og_config *node = og_config_get(record, key);
    if (!node || og_config_string(node, &stored, NULL) != OG_OK || strcmp(stored, fingerprint)) return NULL;
    snprintf(key, sizeof key, "config.%s", name);
    return og_config_get(record, key);
}

static og_status refuse_other(const char *path, const char *name, const char *key, const og_config *given,
                              const og_config *made, og_error *err) {
    char *a, *b;
    OG_TRY(og_config_to_json(given, &a, err));
    og_status status = og_config_to_json(made, &b, err);
    if (status == OG_OK) {
        if (strcmp(a, b))
            status = og_fail(err, OG_EINVAL,
                             "%s: is %.120s, but %s was made with %s.%s %.120s; leave the key out, or leave "
                             "--encode-only out and fit anew",
                             OG_WHERE(given), a, path, name, key, b);
        og_release(b);
    }
    og_release(a);
    return status;
}

/* Every key of given is in made, with the same value. */
static og_status same(const char *path, const char *name, const og_config *given, const og_config *made,
                      og_error *err) {
    for (int64_t i = 0; i < og_config_size(given); i++) {
        const char *key = og_config_key_at(given, i);
        const og_config *value = og_config_at(given, i), *was = og_config_get(made, key);
        if (og_config_kind(value) == OG_CONFIG_NULL) continue; /* as if it were not there */
        if (was) OG_TRY(refuse_other(path, name, key, value, was, err));
        if (!was)
            fprintf(stderr, "quantize: %s: not compared: no record tells with which value %s was made\n",
                    OG_WHERE(value), path);
    }
    return OG_OK;
}

og_status og_quantize_keep_keys(og_quantize *q, const char *name, json_t *keys, og_error *err) {
    json_t *all = json_object_get(q->result, "config");
    if (!all) json_object_set_new(q->result, "config", all = json_object());
    return json_object_set_new(all, name, keys) ? og_fail(err, OG_ENOMEM, "no memory for the keys of %s", name) : OG_OK;
}

static og_status keep(og_quantize *q, const char *name, const og_config *keys, og_error *err) {
    char *text;
    OG_TRY(og_config_to_json(keys, &text, err));
    json_t *json = json_loads(text, 0, NULL);
    og_release(text);
    return og_quantize_keep_keys(q, name, json, err);
}

/* A key of the reader: the canvas, say. The codebook and the prepared data agree on it already. */
static og_status refuse_preprocess(const char *path, const og_quantize_part *part, og_error *err) {
    for (int64_t i = 0; i < og_config_size(part->fit); i++) {
        const char *key = og_config_key_at(part->fit, i);
        const og_config *value = og_config_at(part->fit, i), *was = og_config_get(part->codebook->preprocess, key);
        const og_key *own = part->quantizer->keys;
        while (own->name && strcmp(own->name, key)) own++;
        if (own->name || !was) continue;
        char *a, *b;
        OG_TRY(og_config_to_json(value, &a, err));
        og_status status = og_config_to_json(was, &b, err);
        if (status == OG_OK) {
            status = og_fail(err, OG_EINVAL,
                             "%s: is %.120s, and a key of prepare, not of quantize; %s was fitted to vectors with %s "
                             "%.120s",
                             OG_WHERE(value), a, path, key, b);
            og_release(b);
        }
        og_release(a);
        return status;
    }
    return OG_OK;
}

/* The quantizer first: the keys of another one are none of the codebook's. */
static og_status check_part(const char *path, const og_quantize_part *part, const og_config *made, og_error *err) {
    const og_config *name = og_config_get(part->given, "quantizer"), *was = og_config_get(made, "quantizer");
    if (was && og_config_kind(name) != OG_CONFIG_NULL)
        OG_TRY(refuse_other(path, part->type->name, "quantizer", name, was, err));
    OG_TRY(refuse_preprocess(path, part, err));
    return og_quantize_check_keys(part, err);
}

/* Compares with what the record has, which is kept, or with what the file itself tells. part: NULL for text. */
static og_status compare(og_quantize *q, const og_quantize_part *part, const char *path, const og_config *kept,
                         const char *told, og_error *err) {
    const char *name = part ? part->type->name : "text";
    const og_config *given = part ? part->given : q->text_given;
    og_config *own = NULL;
    if (!kept) OG_TRY(og_config_from_json(told, (int64_t)strlen(told), path, &own, err));
    const og_config *made = kept ? kept : own;
    og_status status = part ? check_part(path, part, made, err) : OG_OK;
    if (status == OG_OK) status = same(path, name, given, made, err);
    if (status == OG_OK && kept) status = keep(q, name, kept, err);
    og_config_free(own);
    return status;
}

og_status og_quantize_same_text(og_quantize *q, const char *path, const og_config *record, og_error *err) {
    char told[64];
    snprintf(told, sizeof told, "{\"vocab\":%lld}", (long long)og_tokenizer_vocab(q->tokenizer));
    const og_config *kept = recorded(record, "text", og_tokenizer_fingerprint(q->tokenizer));
    return compare(q, NULL, path, kept, told, err);
}

og_status og_quantize_same_part(og_quantize *q, int32_t modality, const char *path, const og_config *record,
                                og_error *err) {
    const og_quantize_part *part = &q->parts[modality];
    char told[256];
    snprintf(told, sizeof told, "{\"quantizer\":\"%.100s\",\"size\":%lld,\"levels\":%d}", part->codebook->quantizer,
             (long long)part->codebook->size, part->codebook->levels);
    const og_config *kept = recorded(record, part->type->name, part->codebook->fingerprint);
    return compare(q, part, path, kept, told, err);
}
