/* test_trainer.c: the trainer through its C ABI: steps, weights, errors; nothing is left behind. */
#include "fixture.h"

#include <omnigram/safetensors.h>

static double run_steps(og_trainer *trainer, int n) {
    og_error err;
    og_step step = {0};
    for (int i = 0; i < n; i++) {
        int32_t done = 0;
        CHECK_OK(og_trainer_step(trainer, &step, &done, &err));
        CHECK(!done && step.step == og_trainer_done(trainer) && isfinite(step.loss) && step.weight > 0);
    }
    return step.loss;
}

static void steps_repeat_bit_for_bit(const og_packs *packs) {
    og_error err;
    double last[2] = {0};
    for (int k = 0; k < 2; k++) {
        og_config *config = make_config(NULL);
        og_trainer_options options = {.config = config, .packs = packs};
        og_trainer *trainer = NULL;
        CHECK_OK(og_trainer_new(&options, &trainer, &err));
        og_config_free(config);
        CHECK(og_trainer_planned(trainer) == (og_packs_count(packs) + 1) / 2);
        last[k] = run_steps(trainer, 3);
        og_trainer_free(trainer);
    }
    CHECK(!memcmp(&last[0], &last[1], sizeof last[0]));
}

static void finite_differences(const og_packs *packs) {
    og_error err;
    og_config *config = make_config("train.precision=fp64");
    CHECK_OK(og_config_override(config, "memory.rows=normal", &err));
    og_trainer_options options = {.config = config, .packs = packs};
    og_trainer *trainer = NULL;
    CHECK_OK(og_trainer_new(&options, &trainer, &err));
    int64_t batch[2] = {0, 1};
    double loss = 0, up = 0, down = 0;
    CHECK_OK(og_trainer_gradients(trainer, batch, 2, 0, &loss, NULL, &err));
    for (int64_t i = 0; i < og_trainer_parameters(trainer); i++) {
        DLTensor value, gradient;
        const char *name;
        CHECK_OK(og_trainer_parameter(trainer, i, &name, &value, &err));
        CHECK_OK(og_trainer_gradient(trainer, i, &gradient, &err));
        double *v = value.data, wanted = ((double *)gradient.data)[3], kept = v[3], h = 1e-5;
        v[3] = kept + h;
        CHECK_OK(og_trainer_gradients(trainer, batch, 2, 1, &up, NULL, &err));
        v[3] = kept - h;
        CHECK_OK(og_trainer_gradients(trainer, batch, 2, 1, &down, NULL, &err));
        v[3] = kept;
        CHECK_OK(og_trainer_gradients(trainer, batch, 2, 0, &loss, NULL, &err));
        if (fabs((up - down) / (2 * h) - wanted) > 1e-7 * (1 + fabs(wanted))) og_test_fail(__FILE__, __LINE__, name);
    }
    og_trainer_free(trainer);
    og_config_free(config);
}

static void faults_are_named(const og_packs *packs) {
    og_error err;
    og_trainer *trainer = NULL;
    static const struct {
        const char *override, *word;
    } cases[] = {{"train.btach=3", "batch"}, {"model.heads=3", "heads"}, {"memory.mode=of", "of"},
                 {"trian.lr=1", "train"},    {"train.batch=0", "batch"}, {"memory.use=[]", "memory.use"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        og_config *config = make_config(cases[i].override);
        og_trainer_options options = {.config = config, .packs = packs};
        err.message[0] = 0;
        CHECK(og_trainer_new(&options, &trainer, &err) == OG_EINVAL && !trainer);
        if (!strstr(err.message, cases[i].word)) og_test_fail(__FILE__, __LINE__, err.message);
        og_config_free(config);
    }
    og_config *config = make_config(NULL);
    og_trainer_options options = {.config = config, .packs = packs};
    CHECK_OK(og_trainer_new(&options, &trainer, &err));
    float one;
    CHECK_FAILS(og_trainer_logits(trainer, 0, &one, 1, &err), OG_EINVAL, "room for 1");
    CHECK_FAILS(og_trainer_load(trainer, "/nowhere", &err), OG_EINVAL, "/nowhere");
    CHECK_FAILS(og_trainer_save(trainer, &err), OG_EINVAL, "run folder");
    og_trainer_free(trainer);
    og_config_free(config);
}

/* One file steers all stages: training takes the quickstart's as it is, other verbs' sections included. */
static void the_quickstarts_file_is_a_config(void) {
    og_error err;
    og_config *user = NULL, *merged = NULL;
    CHECK_OK(og_config_from_yaml_file(OG_TEST_DATA "/../train/configs/quickstart.yaml", &user, &err));
    CHECK_OK(og_train_config(user, &merged, &err));
    og_config_free(merged);
    CHECK_OK(og_config_override(user, "dataset={}", &err));
    CHECK_FAILS(og_train_config(user, &merged, &err), OG_EINVAL, "did you mean 'datasets'");
    og_config_free(user);
}

int main(void) {
    og_packs *packs = make_packs(40);
    int64_t before = og_alloc_count();
    steps_repeat_bit_for_bit(packs);
    finite_differences(packs);
    faults_are_named(packs);
    the_quickstarts_file_is_a_config();
    CHECK(og_alloc_count() == before);
    og_packs_free(packs);
    return 0;
}
