/* hook.c: the measures of a run, as JSON for its metrics and its summary. */
#include <omnigram/eval.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *bits_of(const og_bits *b) {
    json_t *o = json_object();
    for (int m = 0; m < OG_N_MODALITIES; m++)
        json_object_set_new(o, og_modality_name(m),
                            b->tokens[m] ? json_real(b->bits[m] / (double)b->tokens[m]) : json_null());
    return o;
}

static json_t *tokens_of(const og_bits *b) {
    json_t *o = json_object();
    for (int m = 0; m < OG_N_MODALITIES; m++) json_object_set_new(o, og_modality_name(m), json_integer(b->tokens[m]));
    return o;
}

static og_status option(const og_trainer *trainer, const char *key, int64_t *out, og_error *err) {
    return og_config_i64(og_config_get(og_trainer_config(trainer), key), out, err);
}

static og_status at_end(og_eval *e, const og_bits *val, int64_t measured, json_t *out, og_error *err) {
    const og_packs *held = og_eval_val_packs(e);
    json_object_set_new(out, "val_tokens", tokens_of(val));
    json_object_set_new(out, "val_packs",
                        json_pack("{s:s?, s:I, s:I}", "path", og_packs_path(held), "count",
                                  (json_int_t)og_packs_count(held), "measured", (json_int_t)measured));
    const og_packs *train = og_eval_train_packs(e);
    if (!train) return OG_OK;
    int64_t n = 0;
    og_bits bits;
    OG_TRY(option(og_eval_trainer(e), "eval.train_packs", &n, err));
    if (og_trainer_done(og_eval_trainer(e)) > 0) {
        OG_TRY(og_eval_trained(e, n ? n : measured, &bits, err));
        json_object_set_new(out, "train_bits", bits_of(&bits));
    }
    OG_TRY(og_eval_unigram(train, held, &bits, err));
    json_object_set_new(out, "controls", json_pack("{s:{s:o}}", "unigram", "val_bits", bits_of(&bits)));
    return OG_OK;
}

og_status og_eval_report(og_eval *e, int32_t final, const char *documents, char **json, og_error *err) {
    int64_t n = 0, held = og_packs_count(og_eval_val_packs(e));
    og_bits val;
    OG_TRY(option(og_eval_trainer(e), final ? "eval.final_packs" : "eval.packs", &n, err));
    if (!n || n > held) n = held;
    OG_TRY(og_eval_measure(e, n, documents, &val, err));
    json_t *out = json_pack("{s:o}", "val_bits", bits_of(&val));
    if (!out) return og_fail(err, OG_ENOMEM, "eval: no memory");
    og_status status = final ? at_end(e, &val, n, out, err) : OG_OK;
    char *text = status == OG_OK ? json_dumps(out, JSON_SORT_KEYS | JSON_REAL_PRECISION(12)) : NULL;
    char *copy = text ? og_copy_string(text) : NULL;
    free(text);
    json_decref(out);
    if (status != OG_OK) return status;
    if (!copy) return og_fail(err, OG_ENOMEM, "eval: no memory");
    *json = copy;
    return OG_OK;
}

og_status og_eval_hook(void *context, og_trainer *trainer, int64_t step, int32_t final, char **json, og_error *err) {
    (void)step;
    int32_t wanted = 0;
    char path[4200];
    OG_TRY(og_config_bool(og_config_get(og_trainer_config(trainer), "eval.documents"), &wanted, err));
    const char *run = og_trainer_run_folder(trainer);
    snprintf(path, sizeof path, "%s/eval_documents.csv", run);
    return og_eval_report((og_eval *)context, final, final && wanted && run[0] ? path : NULL, json, err);
}
