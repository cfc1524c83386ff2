/* codebook.c: a codebook in memory and its fingerprint. */
#include <omnigram/codebook.h>
#include <omnigram/memory.h>
#include <omnigram/pack.h>

#include <stdio.h>
#include <string.h>

static og_status check_name(const char *quantizer, og_error *err) {
    size_t length = strspn(quantizer, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!length || quantizer[length] || length >= sizeof((og_codebook *)0)->quantizer)
        return og_fail(err, OG_EINVAL, "a codebook's quantizer is named by 1..%zu of a-z, 0-9 and _, not '%.40s'",
                       sizeof((og_codebook *)0)->quantizer - 1, quantizer);
    return OG_OK;
}

/* Names, modality and sizes are allowed; *values = levels * size * dim. */
static og_status check(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim,
                       int64_t *values, og_error *err) {
    OG_TRY(check_name(quantizer, err));
    if (modality < 0 || modality >= OG_N_MODALITIES)
        return og_fail(err, OG_EINVAL, "a codebook of modality %d: there are 0..%d", modality, OG_N_MODALITIES - 1);
    if (levels < 1 || size < 1 || size > INT32_MAX || dim < 1 || __builtin_mul_overflow(size, dim, values) ||
        __builtin_mul_overflow(*values, (int64_t)levels, values) || *values > INT64_MAX / 8)
        return og_fail(err, OG_EINVAL,
                       "a codebook of %d levels x %lld codes x %lld values: each is at least 1, codes at most %d",
                       levels, (long long)size, (long long)dim, INT32_MAX);
    return OG_OK;
}

static og_status fingerprint(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim,
                             const og_config *preprocess, const float *codes, char out[OG_DIGEST_TEXT], og_error *err) {
    static const char head[] = "{\"dim\":%lld,\"levels\":%d,\"modality\":\"%s\",\"preprocess\":";
    static const char tail[] = ",\"quantizer\":\"%s\",\"size\":%lld}";
    char before[128], after[128]; /* canonical: keys in order, no spaces */
    int n_before = snprintf(before, sizeof before, head, (long long)dim, levels, og_modality_name(modality));
    int n_after = snprintf(after, sizeof after, tail, quantizer, (long long)size);
    char *json;
    OG_TRY(og_config_to_json(preprocess, &json, err));
    og_digest *digest;
    og_status status = og_digest_new(&digest, err);
    if (status == OG_OK) {
        status = og_digest_add(digest, before, n_before, err);
        if (status == OG_OK) status = og_digest_add(digest, json, (int64_t)strlen(json), err);
        if (status == OG_OK) status = og_digest_add(digest, after, n_after, err);
        if (status == OG_OK) status = og_digest_add(digest, codes, levels * size * dim * (int64_t)sizeof *codes, err);
        if (status == OG_OK)
            status = og_digest_end(digest, out, err);
        else
            og_digest_free(digest);
    }
    og_release(json);
    return status;
}

/* The first value that is not finite, or -1. Searches cannot rank a code that holds one. */
static int64_t find_bad(const float *codes, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, codes + i, sizeof bits);
        if ((bits & 0x7f800000u) == 0x7f800000u) return i;
    }
    return -1;
}

og_status og_codebook_new(const char *quantizer, int32_t modality, int32_t levels, int64_t size, int64_t dim,
                          const float *codes, og_config *preprocess, og_config *health, og_codebook **out,
                          og_error *err) {
    og_codebook made = {.modality = modality, .levels = levels, .size = size, .dim = dim};
    int64_t values;
    OG_TRY(check(quantizer, modality, levels, size, dim, &values, err));
    int64_t bad = find_bad(codes, values);
    if (bad >= 0)
        return og_fail(err, OG_EINVAL, "value %lld of code %lld, level %lld is not finite", (long long)(bad % dim),
                       (long long)(bad / dim % size), (long long)(bad / dim / size));
    memcpy(made.quantizer, quantizer, strlen(quantizer) + 1);
    OG_TRY(fingerprint(quantizer, modality, levels, size, dim, preprocess, codes, made.fingerprint, err));
    og_codebook *codebook = og_alloc(1, sizeof *codebook);
    made.codes = og_alloc(values, sizeof *codes);
    if (!codebook || !made.codes) {
        og_release(codebook);
        og_release(made.codes);
        return og_fail(err, OG_ENOMEM, "no memory for a codebook of %lld values", (long long)values);
    }
    memcpy(made.codes, codes, (size_t)values * sizeof *codes);
    made.preprocess = preprocess;
    made.health = health;
    *codebook = made;
    *out = codebook;
    return OG_OK;
}

void og_codebook_free(og_codebook *codebook) {
    if (!codebook) return;
    og_release(codebook->codes);
    og_config_free(codebook->preprocess);
    og_config_free(codebook->health);
    og_release(codebook);
}
