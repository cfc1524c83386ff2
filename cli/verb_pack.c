/* verb_pack.c: documents to packs; or bare lengths, to see how well they would pack. */
#include "options.h"
#include "pack_lengths.h"
#include "verb.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: omnigram pack --documents FILE --out FILE [--config YAML] [--pack.key=value ...] [--json FILE]\n"
    "       omnigram pack --lengths FILE --capacity N [--pack.key=value ...] [--json FILE]\n"
    "\n"
    "Packs documents into rows of a fixed number of tokens and writes them with every boundary as metadata; or\n"
    "packs bare lengths (one integer a line) and says how well they fit.\n"
    "\n"
    "  --documents FILE  what `omnigram quantize` wrote\n"
    "  --out FILE        the packs\n"
    "  --config YAML     its section `pack` is read\n"
    "  --capacity N      the same as --pack.capacity=N\n"
    "  --json FILE       bins, lower_bound, fill, counters (-: standard output)\n"
    "\n"
    "keys of pack (docs/packing.md):\n"
    "  capacity          tokens of a pack (2048)\n"
    "  method            best_fit | first_fit | concat | none\n"
    "  long_doc          error | drop | truncate | fragment: a document longer than a pack\n"
    "  image             atomic | drop_doc | drop_image: an image that no pack can hold; images are never cut\n"
    "  fragment_context  reset | carry: whether positions and windows of a fragment go on\n"
    "  fragment_overlap  carry: tokens of the fragment before that begin one, weight 0 (4)\n"
    "  seed              order of the packs; -1: as packed\n"
    "\n"
    "examples: omnigram pack --documents runs/x/train.documents.safetensors \\\n"
    "              --out runs/x/train.packs.safetensors --pack.capacity=512\n"
    "          seq 1 2048 | shuf > lengths.txt && omnigram pack --lengths lengths.txt --capacity 2048 --json -\n";

static int read_policy(const char *path, const char *capacity, const og_arguments *arguments, og_pack_policy *policy) {
    og_config *config;
    og_error err = {{0}};
    for (int i = 0; i < arguments->n_overrides; i++)
        if (strncmp(arguments->overrides[i], "pack.", 5))
            return og_verb_usage("pack", "unknown option '--%s'; keys are --pack.capacity=N and so on",
                                 arguments->overrides[i]);
    if (og_options_config("pack", path, arguments, &config)) return 1;
    char line[64];
    og_status status = OG_OK;
    if (capacity) {
        snprintf(line, sizeof line, "pack.capacity=%.40s", capacity);
        status = og_config_override(config, line, &err);
    }
    if (status == OG_OK) status = og_config_read(og_config_get(config, "pack"), og_pack_policy_keys(), policy, &err);
    og_config_free(config);
    return status == OG_OK ? 0 : og_verb_fail("pack", &err);
}

static int64_t number(const og_config *map, const char *key) {
    int64_t value = 0;
    const og_config *node = og_config_get(map, key);
    return node && og_config_i64(node, &value, NULL) == OG_OK ? value : 0;
}

static void print_summary(FILE *to, const og_config *packing, const char *out) {
    static const char *const rows[] = {"documents", "tokens", "images"};
    double fill = 0;
    og_status ignored = og_config_f64(og_config_get(packing, "fill"), &fill, NULL);
    (void)ignored;
    fprintf(to, "%lld packs of %lld tokens in %s: %.2f %% full, no packing has fewer than %lld\n",
            (long long)number(packing, "bins"), (long long)number(packing, "capacity"), out, 100 * fill,
            (long long)number(packing, "lower_bound"));
    fprintf(to, "%-10s %12s %12s %12s %12s   dropped: long / with an image / image / behind the cut\n", "", "read",
            "kept", "cut", "dropped");
    for (int i = 0; i < 3; i++) {
        const og_config *row = og_config_get(packing, rows[i]), *lost = og_config_get(row, "dropped");
        int64_t by[4] = {number(lost, "long"), number(lost, "image_document"), number(lost, "image"),
                         number(lost, "truncated")};
        fprintf(to, "%-10s %12lld %12lld %12lld %12lld   %lld / %lld / %lld / %lld\n", rows[i],
                (long long)number(row, "read"), (long long)number(row, "kept"), (long long)number(row, "cut"),
                (long long)(by[0] + by[1] + by[2] + by[3]), (long long)by[0], (long long)by[1], (long long)by[2],
                (long long)by[3]);
    }
}

/* Packs of nothing train nothing: said here, where it is known why, rather than at the first step. */
static og_status refuse_empty(const char *path, const og_documents *documents, const og_packs *packs, og_error *err) {
    const og_config *counters = og_packs_counters(packs);
    if (og_packs_count(packs) > 0) return OG_OK;
    if (!documents->n_docs) {
        return og_fail(
            err, OG_EINVAL,
            "%s: the split is empty: it holds no documents, so there is nothing to pack. Prepared so far: train "
            "%lld, val %lld, test %lld documents; read more, or use another split",
            path, (long long)number(counters, "prepare.splits.train.documents"),
            (long long)number(counters, "prepare.splits.val.documents"),
            (long long)number(counters, "prepare.splits.test.documents"));
    }
    return og_fail(err, OG_EINVAL,
                   "%s: all of its %lld documents were dropped: they are longer than pack.capacity %lld", path,
                   (long long)documents->n_docs, (long long)og_packs_capacity(packs));
}

static int pack_documents(const char *documents_path, const char *out, const og_pack_policy *policy, const char *json) {
    og_error err = {{0}};
    og_documents *documents = NULL;
    og_packs *packs = NULL;
    char *text = NULL;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    og_status status = og_documents_load(documents_path, &documents, &err);
    if (status == OG_OK) {
        status = og_packs_build(documents, policy, &packs, &err);
        if (status != OG_OK) status = og_fail_at(&err, status, "%s", documents_path);
    }
    if (status == OG_OK) status = refuse_empty(documents_path, documents, packs, &err);
    if (status == OG_OK) status = og_packs_save(packs, out, &err);
    if (status == OG_OK) status = og_config_to_json(og_packs_counters(packs), &text, &err);
    int failed = status == OG_OK ? 0 : og_verb_fail("pack", &err);
    if (!failed) {
        clock_gettime(CLOCK_MONOTONIC, &b);
        print_summary(json && !strcmp(json, "-") ? stderr : stdout, og_config_get(og_packs_counters(packs), "packing"),
                      out);
        json_t *counters = json_loads(text, 0, NULL), *packing = json_object_get(counters, "packing");
        json_t *object =
            json_pack("{s:s, s:f, s:o}", "out", out, "seconds",
                      (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec), "counters", counters);
        static const char *const up[] = {"bins", "lower_bound", "fill",
                                         "capacity"}; /* what scripts ask for lies on top */
        for (size_t i = 0; i < sizeof up / sizeof *up; i++)
            json_object_set(object, up[i], json_object_get(packing, up[i]));
        failed = og_json_result("pack", json, object);
    }
    og_release(text);
    og_packs_free(packs);
    og_documents_free(documents);
    return failed;
}

static int run(int argc, char **argv) {
    const char *documents = NULL, *out = NULL, *config = NULL, *json = NULL, *lengths = NULL, *capacity = NULL;
    const og_option options[] = {{"--documents", &documents, NULL},
                                 {"--out", &out, NULL},
                                 {"--config", &config, NULL},
                                 {"--json", &json, NULL},
                                 {"--lengths", &lengths, NULL},
                                 {"--capacity", &capacity, NULL},
                                 {0}};
    og_arguments arguments;
    og_pack_policy policy;
    int failed = og_options_read("pack", argc, argv, options, 1, &arguments);
    if (!failed && arguments.n_files) failed = og_verb_usage("pack", "unexpected '%s'", arguments.files[0]);
    if (!failed && !documents == !lengths) failed = og_verb_usage("pack", "give --documents FILE or --lengths FILE");
    if (!failed && documents && !out) failed = og_verb_usage("pack", "--documents needs --out FILE");
    if (!failed && lengths && out) failed = og_verb_usage("pack", "--lengths writes no packs; leave --out away");
    if (!failed) failed = read_policy(config, capacity, &arguments, &policy);
    if (!failed)
        failed =
            documents ? pack_documents(documents, out, &policy, json) : og_pack_lengths_file(lengths, &policy, json);
    og_arguments_free(&arguments);
    return failed;
}

const og_verb og_verb_pack = {"pack", "put documents into packs, with every boundary as metadata", help, run};
