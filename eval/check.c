/* check.c: whether held-out packs are of the kind that a model was made for. */
#include <omnigram/eval.h>

#include <string.h>

static og_status check_ids(const og_id_map *train, const og_id_map *val, og_error *err) {
    for (int m = 0; m < OG_N_MODALITIES; m++)
        if (train->base[m] != val->base[m] || train->codes[m] != val->codes[m] || train->levels[m] != val->levels[m])
            return og_fail(err, OG_EINVAL,
                           "the held-out packs have other id ranges than the training packs: %s has %d codes x %d "
                           "levels from %d on, the training packs %d x %d from %d on",
                           og_modality_name(m), (int)val->codes[m], (int)val->levels[m], (int)val->base[m],
                           (int)train->codes[m], (int)train->levels[m], (int)train->base[m]);
    return OG_OK;
}

static og_status check_codebooks(const og_packs *train, const og_packs *val, og_error *err) {
    for (int32_t i = 0; i < og_packs_codebook_count(val); i++) {
        const char *wanted = og_packs_codebook(val, i);
        int32_t k = 0, n = og_packs_codebook_count(train);
        while (k < n && strcmp(og_packs_codebook(train, k), wanted)) k++;
        if (k == n)
            return og_fail(err, OG_EINVAL,
                           "the held-out packs hold codes of codebook %.16s..., which the training packs do not have: "
                           "equal codes would mean other things; quantize both with the same codebooks",
                           wanted);
    }
    return OG_OK;
}

/* Text ids have no codebook; packs that `omnigram quantize` made tell their tokenizer. */
static og_status check_tokenizer(const og_packs *train, const og_packs *val, og_error *err) {
    const og_config *a = og_config_get(og_packs_counters(train), "tokenizer"),
                    *b = og_config_get(og_packs_counters(val), "tokenizer");
    const char *ours, *theirs;
    if (!a || !b) return OG_OK;
    OG_TRY(og_config_string(a, &ours, err));
    OG_TRY(og_config_string(b, &theirs, err));
    if (!strcmp(ours, theirs)) return OG_OK;
    return og_fail(err, OG_EINVAL,
                   "the text of the held-out packs is of tokenizer %.16s..., that of the training packs of %.16s...: "
                   "quantize both with the same tokenizer",
                   theirs, ours);
}

og_status og_eval_check(const og_packs *train, const og_packs *val, og_error *err) {
    if (!og_packs_count(val)) return og_fail(err, OG_EINVAL, "there are no held-out packs");
    OG_TRY(check_ids(og_packs_ids(train), og_packs_ids(val), err));
    if (og_packs_capacity(val) > og_packs_capacity(train))
        return og_fail(err, OG_EINVAL, "the held-out packs hold %lld tokens, the model was made for %lld",
                       (long long)og_packs_capacity(val), (long long)og_packs_capacity(train));
    OG_TRY(check_codebooks(train, val, err));
    return check_tokenizer(train, val, err);
}
