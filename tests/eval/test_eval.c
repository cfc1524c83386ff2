/* test_eval.c: measures and the isolation audit through the C ABI. */
#include "../train/fixture.h"

#include <omnigram/eval.h>

static void an_untrained_model_is_worth_the_uniform_one(const og_packs *packs) {
    og_error err;
    og_config *config = make_config("model.init_std=0");
    og_trainer_options options = {.config = config, .packs = packs};
    og_trainer *trainer = NULL;
    og_eval *eval = NULL;
    CHECK_OK(og_trainer_new(&options, &trainer, &err));
    CHECK_OK(og_eval_new(trainer, packs, packs, &eval, &err));
    og_bits bits;
    CHECK_OK(og_eval_measure(eval, 3, NULL, &bits, &err)); /* all logits are equal: log2 of the number of ids */
    double uniform = log2(og_packs_ids(packs)->size);
    for (int m = 0; m < OG_N_MODALITIES; m++)
        if (bits.tokens[m]) CHECK(fabs(bits.bits[m] / (double)bits.tokens[m] - uniform) < 1e-5);
    CHECK(bits.tokens[OG_TEXT] > 0 && bits.tokens[OG_IMAGE] > 0 && bits.tokens[OG_AUDIO] == 0);
    og_eval_free(eval);
    og_trainer_free(trainer);
    og_config_free(config);
}

static void isolation(const og_packs *packs) {
    og_error err;
    og_config *config = make_config(NULL);
    og_isolation_options options = {.config = config, .packs = packs, .n_packs = 2, .n_docs = 3};
    char *json = NULL;
    CHECK_OK(og_audit_isolation(&options, &json, &err));
    og_config *found = NULL;
    CHECK_OK(og_config_from_json(json, (int64_t)strlen(json), "audit", &found, &err));
    int64_t leaks = -1, twin = 0;
    CHECK_OK(og_config_i64(og_config_get(found, "leaks"), &leaks, &err));
    CHECK(leaks == 0);
    const og_config *channels = og_config_get(found, "channels");
    CHECK(og_config_size(channels) == 4);
    for (int64_t i = 0; i < og_config_size(channels); i++) {
        CHECK_OK(og_config_i64(og_config_get(og_config_at(channels, i), "twin_leaks"), &twin, &err));
        if (twin < 1) og_test_fail(__FILE__, __LINE__, og_config_key_at(channels, i));
    }
    og_config_free(found);
    og_release(json);
    og_config_free(config);
}

int main(void) {
    og_packs *packs = make_packs(40);
    int64_t before = og_alloc_count();
    an_untrained_model_is_worth_the_uniform_one(packs);
    isolation(packs);
    CHECK(og_alloc_count() == before);
    og_packs_free(packs);
    return 0;
}
