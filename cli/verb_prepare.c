/* verb_prepare.c: data sets to prepared shards. */
#include "options.h"
#include "verb.h"

#include <omnigram/modalities.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: omnigram prepare --config YAML --out FOLDER [--section.key=value ...] [--threads N] [--json FILE]\n"
    "\n"
    "Reads a data set, decodes every distinct item once and writes FOLDER/index.json and\n"
    "FOLDER/shard-NNNNN.safetensors, all or nothing. A folder that was prepared from the same config and files is\n"
    "left as it is; when a file changed, came or went, it is prepared anew.\n"
    "\n"
    "  --config YAML   keys: dataset {name: synthetic | tuxpaint | folder | jsonl, ...}, split {val, test, seed,\n"
    "                  cover}, bad_item, modalities, text, image, audio; a file that has a section `prepare` is\n"
    "                  read from there (docs/data.md has every key)\n"
    "  --out FOLDER    the prepared shards\n"
    "  --threads N     decoding threads (default: the CPUs); the files are the same for any number\n"
    "  --json FILE     counters as JSON (-: standard output)\n"
    "\n"
    "example: omnigram prepare --dataset.name=synthetic --dataset.documents=100 --out data/synthetic\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct watch {
    double last;     /* time of the last line */
    int64_t read;    /* documents so far */
    int32_t waiting; /* for another process */
} watch;

/* The number of documents is not known before the end: a moving line on a terminal, one line in 5 s elsewhere. */
static int32_t progress(void *context, const char *stage, int64_t done, int64_t total) {
    watch *w = context;
    double t = now();
    int terminal = isatty(STDERR_FILENO);
    (void)total;
    w->read = done;
    if (!strncmp(stage, "waiting", 7)) {
        if (!w->waiting++) fprintf(stderr, "prepare: %s, which prepares the same folder\n", stage);
        return 0;
    }
    if (t - w->last < (terminal ? 0.1 : 5)) return 0;
    w->last = t;
    fprintf(stderr, "%sprepare: %lld %s%s", terminal ? "\r\033[K" : "", (long long)done, stage, terminal ? "" : "\n");
    fflush(stderr);
    return 0;
}

static int64_t number(const og_config *map, const char *key) {
    int64_t value = 0;
    const og_config *node = og_config_get(map, key);
    return node && og_config_i64(node, &value, NULL) == OG_OK ? value : 0;
}

static const char *word(const og_config *map, const char *key) {
    const char *text = "";
    return og_config_string(og_config_get(map, key), &text, NULL) == OG_OK ? text : "";
}

static void print_table(FILE *to, const og_config *index) {
    static const char *const names[3] = {"text", "image", "audio"};
    const og_config *counters = og_config_get(index, "counters"), *splits = og_config_get(counters, "splits");
    fprintf(to, "%-8s %10s %10s %10s %10s\n", "items", "read", "kept", "dropped", "distinct");
    for (int m = 0; m < 3; m++) {
        const og_config *row = og_config_get(og_config_get(counters, "items"), names[m]);
        fprintf(to, "%-8s %10lld %10lld %10lld %10lld\n", names[m], (long long)number(row, "read"),
                (long long)number(row, "kept"), (long long)(number(row, "read") - number(row, "kept")),
                (long long)number(row, "distinct"));
    }
    fprintf(to, "%-8s %10s %10s %10s %10s %12s\n", "split", "documents", "text", "image", "audio", "seconds");
    for (int s = 0; s < OG_N_SPLITS; s++) {
        const og_config *row = og_config_get(splits, og_split_name(s));
        double rate = (double)number(og_config_get(index, "preprocess.audio"), "rate");
        fprintf(to, "%-8s %10lld %10lld %10lld %10lld %12.1f\n", og_split_name(s), (long long)number(row, "documents"),
                (long long)number(row, "text"), (long long)number(row, "image"), (long long)number(row, "audio"),
                rate > 0 ? (double)number(row, "audio_samples") / rate : 0);
    }
    const og_config *notes = og_config_get(counters, "notes");
    for (int64_t i = 0; i < og_config_size(notes); i++) {
        int64_t count = number(notes, og_config_key_at(notes, i));
        if (count) fprintf(to, "note: %s: %lld items\n", og_config_key_at(notes, i), (long long)count);
    }
    const og_config *moved = og_config_get(index, "moved");
    for (int64_t i = 0; i < og_config_size(moved); i++) {
        const og_config *entry = og_config_at(moved, i);
        fprintf(to, "group '%s' moved from %s to %s, which lacked what it has (split.cover)\n", word(entry, "group"),
                word(entry, "from"), word(entry, "to"));
    }
    const og_config *log = og_config_get(index, "log");
    if (og_config_size(log))
        fprintf(to, "%lld item%s passed over; index.json names each\n", (long long)og_config_size(log),
                og_config_size(log) == 1 ? "" : "s");
}

/* The table goes to standard error when standard output carries JSON. */
static int report(const char *folder, const char *json, double seconds, int cached) {
    og_error err = {0};
    og_prepared *prepared = NULL;
    char *text = NULL;
    if (og_prepared_open(folder, &prepared, &err) != OG_OK) return og_verb_fail("prepare", &err);
    const og_config *index = og_prepared_index(prepared);
    print_table(json && !strcmp(json, "-") ? stderr : stdout, index);
    int rc = 0;
    if (og_config_to_json(index, &text, &err) != OG_OK) {
        rc = og_verb_fail("prepare", &err);
    } else {
        json_t *object = json_loads(text, 0, NULL), *result = json_object();
        static const char *const kept[] = {"dataset", "config",     "counters", "dataset_counters",
                                           "items",   "preprocess", "log",      "moved"};
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            json_object_set(result, kept[i], json_object_get(object, kept[i]));
        json_object_set_new(result, "folder", json_string(folder));
        json_object_set_new(result, "seconds", json_real(seconds));
        json_object_set_new(result, "cached", json_boolean(cached));
        json_decref(object);
        rc = og_json_result("prepare", json, result);
    }
    og_release(text);
    og_prepared_close(prepared);
    return rc;
}

static int prepare(const og_config *config, const char *folder, long threads, const char *json) {
    og_error err = {0};
    int32_t state;
    char reason[512];
    if (og_prepared_state(folder, config, &state, reason, &err) != OG_OK) return og_verb_fail("prepare", &err);
    if (state == OG_PREPARED_CURRENT) {
        fprintf(stderr, "prepare: %s is up to date\n", folder);
        return report(folder, json, 0, 1);
    }
    if (state == OG_PREPARED_STALE) fprintf(stderr, "prepare: %s is prepared anew: %s\n", folder, reason);
    const og_config *modalities = og_config_get(config, "modalities");
    int text = 0;
    for (int64_t i = 0; i < og_config_size(modalities); i++) {
        const char *name = NULL;
        text |= og_config_string(og_config_at(modalities, i), &name, NULL) == OG_OK && !strcmp(name, "text");
    }
    if (og_config_size(modalities) && !text)
        fprintf(stderr, "prepare: warning: modalities is without text, and quantize needs some for its tokenizer\n");
    og_pool *pool = NULL;
    double start = now();
    watch w = {.last = start};
    og_status status = og_pool_new((int32_t)threads, &pool, &err);
    if (status == OG_OK) status = og_prepare(config, folder, pool, progress, &w, &err);
    og_pool_free(pool);
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
    if (status != OG_OK) return og_verb_fail("prepare", &err);
    double seconds = now() - start;
    if (w.waiting && !w.read) { /* the other process did all of it */
        fprintf(stderr, "prepare: %s is up to date\n", folder);
        return report(folder, json, 0, 1);
    }
    fprintf(stderr, "prepare: wrote %s in %.1f s\n", folder, seconds);
    return report(folder, json, seconds, 0);
}

static int run(int argc, char **argv) {
    const char *path = NULL, *out = NULL, *json = NULL, *threads_text = NULL;
    const og_option options[] = {{"--config", &path, NULL},
                                 {"--out", &out, NULL},
                                 {"--json", &json, NULL},
                                 {"--threads", &threads_text, NULL},
                                 {0}};
    og_arguments arguments;
    og_config *config = NULL;
    int rc = og_options_read("prepare", argc, argv, options, 1, &arguments);
    if (!rc && arguments.n_files) rc = og_verb_usage("prepare", "'%s': prepare takes options only", arguments.files[0]);
    if (!rc && !out) rc = og_verb_usage("prepare", "--out FOLDER is missing");
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (!rc && threads_text) {
        char *end;
        threads = strtol(threads_text, &end, 10);
        if (*end || threads < 1 || threads > 1024)
            rc = og_verb_usage("prepare", "--threads %s: must be 1..1024", threads_text);
    }
    const og_config *section = NULL;
    if (!rc) rc = og_options_section("prepare", path, "prepare", &arguments, &config, &section);
    if (!rc) rc = prepare(section, out, threads < 1 ? 1 : threads > 1024 ? 1024 : threads, json);
    og_config_free(config);
    og_arguments_free(&arguments);
    return rc;
}

const og_verb og_verb_prepare = {"prepare", "data sets to prepared shards", help, run};
