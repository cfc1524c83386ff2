/* verb_train.c: `omnigram train`. */
#include "options.h"
#include "train_calls.h"
#include "train_check.h"
#include "verb.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: omnigram train --config FILE --run FOLDER --packs FILE [--val FILE] [--json FILE] [--a.b=value ...]\n"
    "       omnigram train --check CONFIG... [--packs FILE] [--val FILE] [--json FILE] [--a.b=value ...]\n"
    "\n"
    "Trains a model on packs and writes the run folder: config.yaml, environment.json, metrics.jsonl, metrics.csv,\n"
    "TensorBoard events, ckpt/step-N, eval_documents.csv, summary.json. A run that was stopped goes on from its\n"
    "newest whole checkpoint, with the bits it would have had. Ctrl-C or SIGTERM ends it after the step it is in,\n"
    "with a checkpoint (exit status 130, 143); a second one ends it at once.\n"
    "\n"
    "  --config FILE   YAML with sections model, memory, tables, train, eval (docs/training.md has every key)\n"
    "  --packs FILE    training packs (omnigram pack)\n"
    "  --val FILE      held-out packs, measured every eval.every steps and at the end\n"
    "  --run FOLDER    where the run is written; without it nothing is\n"
    "  --json FILE     the summary (- is standard output)\n"
    "  --check         trains nothing: checks keys, memory.use, with --packs the tables against their ids and the\n"
    "                  memory there is, with --val too whether it can be measured on; prints steps, weights and\n"
    "                  bytes of each config\n"
    "  --keys          lists every key with its default and limits\n"
    "  --a.b=value     sets a key of the config\n";

static int print_keys(void) {
    og_error err = {{0}};
    og_train_calls call;
    if (og_train_calls_open(&call, &err) != OG_OK) return og_verb_fail("train", &err);
    for (const og_train_section *s = call.train_sections(); s->name; s++) {
        printf("%s: # %s\n", s->name, s->summary);
        for (const og_key *k = s->keys; k->name; k++) {
            printf("  %s: %s  # %s", k->name, k->fallback ? k->fallback : "(required)", k->help);
            if (k->choices) printf(" (%s)", k->choices);
            printf("\n");
        }
    }
    return 0;
}

/* The run that SIGINT and SIGTERM stop; a second one, whichever, ends the program at once. */
static struct {
    void (*stop)(og_trainer *);
    og_trainer *trainer;
    volatile sig_atomic_t by; /* the signal that came, or 0 */
} running;

static void stop_running(int number) {
    static const char line[] = "\nstopping after this step; once more ends at once\n";
    if (running.by) { /* delivered when this handler returns */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    running.by = number;
    running.stop(running.trainer);
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
}

static og_status run_until_stopped(const og_train_calls *call, og_trainer *trainer, og_error *err) {
    static const int signals[] = {SIGINT, SIGTERM};
    const struct sigaction on = {.sa_handler = stop_running, .sa_flags = SA_RESTART};
    struct sigaction before[2];
    running.stop = call->trainer_stop;
    running.trainer = trainer;
    for (int i = 0; i < 2; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &on, NULL); /* nohup, a job in the background */
    }
    og_status status = call->trainer_run(trainer, err);
    for (int i = 0; i < 2; i++) sigaction(signals[i], &before[i], NULL);
    if (call->trainer_done(trainer) >= call->trainer_planned(trainer)) running.by = 0; /* it came too late to matter */
    return status;
}

static og_status train(const og_config *config, const og_packs *packs, const og_packs *val, const char *run,
                       json_t **result, og_error *err) {
    og_train_calls call;
    OG_TRY(og_train_calls_open(&call, err));
    og_trainer_options options = {.config = config, .packs = packs, .run = run, .log = og_train_log};
    og_trainer *trainer = NULL;
    og_eval *eval = NULL;
    char *text = NULL;
    if (val) { /* before the run folder exists */
        og_status fits = call.eval_check(packs, val, err);
        if (fits != OG_OK) return og_fail_at(err, fits, "--val");
    }
    OG_TRY(call.trainer_new(&options, &trainer, err));
    og_status status = val ? call.eval_new(trainer, packs, val, &eval, err) : OG_OK;
    if (status == OG_OK && eval) call.trainer_on_eval(trainer, call.eval_hook, eval);
    if (status == OG_OK) status = run_until_stopped(&call, trainer, err);
    if (status == OG_OK && !running.by) status = call.trainer_summary(trainer, &text, err);
    if (status == OG_OK && text) *result = json_loads(text, 0, NULL);
    og_release(text);
    call.eval_free(eval);
    call.trainer_free(trainer);
    return status;
}

static int run(int argc, char **argv) {
    const char *config_path = NULL, *folder = NULL, *packs_path = NULL, *val_path = NULL, *json = NULL;
    int keys = 0, check = 0;
    const og_option options[] = {{"--config", &config_path, NULL}, {"--run", &folder, NULL},
                                 {"--packs", &packs_path, NULL},   {"--val", &val_path, NULL},
                                 {"--json", &json, NULL},          {"--keys", NULL, &keys},
                                 {"--check", NULL, &check},        {NULL, NULL, NULL}};
    og_arguments arguments;
    int code = og_options_read("train", argc, argv, options, 1, &arguments);
    if (!code && keys) {
        og_arguments_free(&arguments);
        return print_keys();
    }
    if (!code && check) {
        code = folder ? og_verb_usage("train", "--check writes no run; leave --run away")
                      : og_train_check_verb(config_path, &arguments, packs_path, val_path, json);
        og_arguments_free(&arguments);
        return code;
    }
    if (!code && arguments.n_files) code = og_verb_usage("train", "unexpected word '%s'", arguments.files[0]);
    if (!code && !packs_path) code = og_verb_usage("train", "--packs FILE is missing");
    og_config *config = NULL;
    if (!code) code = og_options_config("train", config_path, &arguments, &config);
    og_arguments_free(&arguments);
    if (code) return code;

    og_error err = {{0}};
    og_packs *packs = NULL, *val = NULL;
    json_t *result = NULL;
    og_status status = og_packs_load(packs_path, &packs, &err);
    if (status == OG_OK && val_path) status = og_packs_load(val_path, &val, &err);
    if (status == OG_OK) status = train(config, packs, val, folder, &result, &err);
    og_packs_free(val);
    og_packs_free(packs);
    og_config_free(config);
    if (status != OG_OK) return og_verb_fail("train", &err);
    return running.by ? 128 + running.by : og_json_result("train", json, result);
}

const og_verb og_verb_train = {"train", "train a model on packs, with or without n-gram tables", help, run};
