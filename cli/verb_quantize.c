/* verb_quantize.c: prepared shards to tokenizer, codebooks and documents of codes. */
#include "options.h"
#include "quantize.h"
#include "verb.h"

#include <omnigram/file.h>
#include <omnigram/staged_folder.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static og_status do_all(const og_config *config, og_quantize *q, og_error *err) {
    OG_TRY(og_quantize_open(config, q, err));
    OG_TRY(q->codebooks_path ? og_quantize_reuse(q, err) : og_quantize_fit(q, err));
    OG_TRY(og_quantize_encode(q, err));
    OG_TRY(og_quantize_documents(q, err));
    return og_quantize_preview(q, err);
}

/* The whole run into a folder beside out, which then takes its place. */
static og_status run_staged(const og_config *config, const char *out, const char *key, json_t *settings, og_quantize *q,
                            og_error *err) {
    og_staged_folder folder = {0};
    double begin = seconds_now();
    OG_TRY(og_staged_begin(out, OG_QUANTIZE_RECORD, &folder, err));
    q->out = folder.path;
    og_status status = do_all(config, q, err);
    json_object_set_new(q->result, "key", json_string(key));
    json_object_set(q->result, "settings", settings);
    json_object_set_new(q->result, "seconds", json_real(seconds_now() - begin));
    if (status == OG_OK) status = og_quantize_record(folder.path, q->result, err);
    if (status == OG_OK) return og_staged_commit(&folder, err);
    og_staged_abort(&folder);
    return status;
}

static int32_t wait_for(void *context, int64_t pid) {
    int *said = context;
    if (!(*said)++)
        fprintf(stderr, "quantize: waiting for process %lld, which fills the same folder\n", (long long)pid);
    return 0;
}

/* With the lock of out. */
static int work(const char *prepared, const char *out, const char *codebooks, const char *json, const og_config *config,
                json_t *settings) {
    og_error err = {{0}};
    char key[OG_DIGEST_TEXT];
    int there = 0;
    if (og_quantize_key(settings, prepared, key, &err) != OG_OK) return og_verb_fail("quantize", &err);
    json_t *record = og_quantize_cached(out, key);
    if (record) {
        fprintf(stderr, "quantize: %s is up to date\n", out);
        json_object_set_new(record, "cached", json_true());
        return og_json_result("quantize", json, record);
    }
    if (og_quantize_replaceable(out, settings, &there, &err) != OG_OK) return og_verb_fail("quantize", &err);
    if (there)
        fprintf(stderr, "quantize: %s is made anew: the shards, its files or the version of omnigram changed\n", out);
    og_quantize q = {.prepared_path = prepared,
                     .codebooks_path = codebooks,
                     .progress = og_progress_print,
                     .progress_context = "quantize",
                     .result = json_object()};
    og_status status = q.result ? run_staged(config, out, key, settings, &q, &err)
                                : og_fail(&err, OG_ENOMEM, "no memory for the result");
    og_quantize_close(&q);
    if (status != OG_OK) {
        json_decref(q.result);
        return og_verb_fail("quantize", &err);
    }
    json_object_set_new(q.result, "cached", json_false());
    return og_json_result("quantize", json, q.result);
}

static int quantize(const char *prepared, const char *out, const char *codebooks, const char *json,
                    const og_config *config) {
    og_error err = {{0}};
    json_t *settings = NULL;
    og_lock *lock = NULL;
    if (og_quantize_settings(config, prepared, codebooks, &settings, &err) != OG_OK)
        return og_verb_fail("quantize", &err);
    int failed = og_lock_take(out, wait_for, &(int){0}, &lock, &err) == OG_OK
                     ? work(prepared, out, codebooks, json, config, settings)
                     : og_verb_fail("quantize", &err);
    og_lock_drop(lock);
    json_decref(settings);
    return failed;
}

static int run(int argc, char **argv) {
    const char *prepared = NULL, *out = NULL, *config_path = NULL, *codebooks = NULL, *json = NULL;
    int encode_only = 0;
    const og_option options[] = {
        {"--prepared", &prepared, NULL},
        {"--out", &out, NULL},
        {"--config", &config_path, NULL},
        {"--codebooks", &codebooks, NULL},
        {"--json", &json, NULL},
        {"--encode-only", NULL, &encode_only},
        {NULL, NULL, NULL},
    };
    og_arguments arguments;
    int failed = og_options_read("quantize", argc, argv, options, 1, &arguments);
    og_config *config = NULL;
    const og_config *section = NULL;
    if (failed)
        ;
    else if (arguments.n_files)
        failed = og_verb_usage("quantize", "'%s' is not an option", arguments.files[0]);
    else if (!prepared || !out)
        failed = og_verb_usage("quantize", "%s FOLDER is needed", prepared ? "--out" : "--prepared");
    else if (encode_only != (codebooks != NULL))
        failed = og_verb_usage("quantize", "--encode-only and --codebooks FOLDER go together");
    else
        failed = og_options_section("quantize", config_path, "quantize", &arguments, &config, &section);
    if (!failed) failed = quantize(prepared, out, codebooks, json, section);
    og_config_free(config);
    og_arguments_free(&arguments);
    return failed;
}

const og_verb og_verb_quantize = {
    "quantize",
    "prepared shards to codebooks and documents of codes",
    "usage: omnigram quantize --prepared FOLDER --out FOLDER [--config YAML] [--KEY=VALUE ...] [--json FILE]\n"
    "\n"
    "Fits a tokenizer and codebooks to the train split of prepared shards, encodes every split, and writes to OUT:\n"
    "  tokenizer.model                          SentencePiece BPE\n"
    "  image.codebook.safetensors               codes, preprocessing, health figures, fingerprint; audio likewise\n"
    "  {train,val,test}.documents.safetensors   documents of codes, for `omnigram pack`\n"
    "  preview.safetensors                      held-out pictures and clips beside what their codes restore\n"
    "  quantize.json                            what --json writes\n"
    "OUT appears whole or not at all; when nothing changed since the last run, that run's result stands. Codes\n"
    "of other settings are never replaced.\n"
    "\n"
    "  --encode-only --codebooks FOLDER   take tokenizer and codebooks from an earlier OUT; other preprocessing,\n"
    "                                     or keys, than they were made with are refused\n"
    "\n"
    "keys (YAML, there or in a section `quantize`, or --KEY=VALUE):\n"
    "  text.vocab=2000          pieces of the tokenizer\n"
    "  image.size=512           codes of the codebook; audio.size likewise\n"
    "  image.quantizer=kmeans   kmeans or rvq; docs/quantizers.md has the keys of each\n"
    "  image.sample=131072      vectors that a codebook is fitted to and measured on, chosen by their place alone\n"
    "  row_end=1                a marker ends each row of an image\n"
    "  previews=8               pictures in preview.safetensors, and a quarter as many clips\n"
    "  threads=0                0: one for each processor; results do not depend on it\n",
    run,
};
