/* verb_eval.c: `omnigram eval`. */
#include "options.h"
#include "train_calls.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: omnigram eval --run FOLDER --val FILE [--packs FILE] [--checkpoint FOLDER] [--documents FILE]\n"
    "                     [--json FILE] [--a.b=value ...]\n"
    "\n"
    "Measures a checkpoint on held-out packs: bits a token of each modality (log2; markers apart).\n"
    "\n"
    "  --run FOLDER         a run folder; its config.yaml makes the model\n"
    "  --checkpoint FOLDER  one checkpoint (default: the newest whole one of the run)\n"
    "  --val FILE           held-out packs\n"
    "  --packs FILE         the training packs: adds the unigram control\n"
    "  --documents FILE     CSV of the losses of each document and modality\n"
    "  --json FILE          the figures (- is standard output)\n";

typedef struct paths {
    const char *run, *checkpoint, *val, *packs, *documents;
} paths;

static og_status measure(const paths *p, const og_config *config, const og_packs *packs, const og_packs *val,
                         json_t **result, og_error *err) {
    og_train_calls call;
    OG_TRY(og_train_calls_open(&call, err));
    og_trainer_options options = {.config = config, .packs = packs ? packs : val, .log = og_train_log};
    og_trainer *trainer = NULL;
    og_eval *eval = NULL;
    char *text = NULL;
    OG_TRY(call.trainer_new(&options, &trainer, err));
    og_status status = call.trainer_load(trainer, p->checkpoint ? p->checkpoint : p->run, err);
    if (status == OG_OK) status = call.eval_new(trainer, packs, val, &eval, err);
    if (status == OG_OK) status = call.eval_report(eval, 1, p->documents, &text, err);
    if (status == OG_OK) *result = json_loads(text, 0, NULL);
    og_release(text);
    call.eval_free(eval);
    call.trainer_free(trainer);
    return status;
}

static void print_bits(const json_t *result) {
    const char *name;
    json_t *bits;
    json_object_foreach(json_object_get(result, "val_bits"), name, bits) if (json_is_number(bits))
        printf("%-7s %8.4f bits a token  (%lld tokens)\n", name, json_number_value(bits),
               (long long)json_integer_value(json_object_get(json_object_get(result, "val_tokens"), name)));
}

static int run(int argc, char **argv) {
    paths p = {0};
    const char *json = NULL;
    const og_option options[] = {
        {"--run", &p.run, NULL},     {"--checkpoint", &p.checkpoint, NULL}, {"--val", &p.val, NULL},
        {"--packs", &p.packs, NULL}, {"--documents", &p.documents, NULL},   {"--json", &json, NULL},
        {NULL, NULL, NULL}};
    og_arguments arguments;
    int code = og_options_read("eval", argc, argv, options, 1, &arguments);
    if (!code && arguments.n_files) code = og_verb_usage("eval", "unexpected word '%s'", arguments.files[0]);
    if (!code && (!p.run || !p.val))
        code = og_verb_usage("eval", "%s is missing", p.run ? "--val FILE" : "--run FOLDER");
    if (!code) code = og_output_apart("eval", "--documents", p.documents, "--val", p.val);
    if (!code) code = og_output_apart("eval", "--documents", p.documents, "--packs", p.packs);
    og_config *config = NULL;
    char path[4200];
    snprintf(path, sizeof path, "%s/config.yaml", p.run ? p.run : "");
    if (!code) code = og_options_config("eval", path, &arguments, &config);
    og_arguments_free(&arguments);
    if (code) return code;

    og_error err = {{0}};
    og_packs *packs = NULL, *val = NULL;
    json_t *result = NULL;
    og_status status = og_config_override(config, "train.steps=0", &err); /* no step is made, so none can be too many */
    if (status == OG_OK) status = og_packs_load(p.val, &val, &err);
    if (status == OG_OK && p.packs) status = og_packs_load(p.packs, &packs, &err);
    if (status == OG_OK) status = measure(&p, config, packs, val, &result, &err);
    og_packs_free(val);
    og_packs_free(packs);
    og_config_free(config);
    if (status != OG_OK) return og_verb_fail("eval", &err);
    if (!json || strcmp(json, "-")) print_bits(result);
    return og_json_result("eval", json, result);
}

const og_verb og_verb_eval = {"eval", "measure a checkpoint on held-out packs", help, run};
