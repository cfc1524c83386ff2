/* verb_verify.c: replays test vectors against this build. */
#include "options.h"
#include "verb.h"

#include <omnigram/addr.h>
#include <omnigram/canonical.h>
#include <omnigram/verify.h>

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: omnigram verify FILE... [--json FILE]\n"
    "       omnigram verify --schemes\n"
    "\n"
    "Replays files of test vectors (format 2, docs/addressing.md: addresses of n-grams by every "
    "published scheme, Engram's\n"
    "canonical texts, fp8 rows, product keys, SCONE matches) through the same code that training "
    "uses, and prints the cases,\n"
    "those this build supports, the values compared and the mismatches. Exits 1 on any mismatch.\n"
    "\n"
    "  --json FILE   {cases, supported, values, mismatches} to FILE (-: standard output)\n"
    "  --all         every mismatch, not the first 20\n"
    "  --schemes     prints each addressing scheme with its source, keys, defaults and what is "
    "unresolved about it\n";

typedef struct report {
    int64_t printed, most;
} report;

static void print_line(void *context, int32_t mismatch, const char *line) {
    report *r = context;
    if (mismatch && r->printed++ >= r->most) return;
    fprintf(stderr, "%s%s\n", mismatch ? "MISMATCH " : "", line);
}

static void print_schemes(void) {
    for (int i = 0; og_addr_types[i]; i++) {
        const og_addr_type *type = og_addr_types[i];
        printf("%s%s: %s\n  source: %s\n", i ? "\n" : "", type->name, type->summary, type->source);
        for (const og_key *key = type->keys; key->name; key++)
            if (strcmp(key->name, "scheme"))
                printf("  %s%s%s%s%s%s  %s\n", key->name, key->choices ? " = " : "", key->choices ? key->choices : "",
                       !key->fallback     ? " (required)"
                       : key->fallback[0] ? " (default "
                                          : "",
                       key->fallback && key->fallback[0] ? key->fallback : "",
                       key->fallback && key->fallback[0] ? ")" : "", key->help);
    }
}

static int run(int argc, char **argv) {
    const char *json = NULL;
    int all = 0, schemes = 0;
    const og_option options[] = {
        {"--json", &json, NULL}, {"--all", NULL, &all}, {"--schemes", NULL, &schemes}, {NULL, NULL, NULL}};
    og_arguments arguments;
    int bad = og_options_read("verify", argc, argv, options, 0, &arguments);
    if (!bad && schemes) print_schemes();
    if (!bad && schemes && arguments.n_files == 0) {
        og_arguments_free(&arguments);
        return 0;
    }
    if (!bad && arguments.n_files == 0) bad = og_verb_usage("verify", "a file of test vectors is wanted");
    og_verify_counts counts = {0};
    report lines = {0, all ? INT64_MAX : 20};
    for (int i = 0; !bad && i < arguments.n_files; i++) {
        og_error err = {{0}};
        if (og_verify_file(arguments.files[i], og_canonical_key, print_line, &lines, &counts, &err) != OG_OK)
            bad = og_verb_fail("verify", &err);
    }
    og_arguments_free(&arguments);
    if (bad) return bad;
    if (lines.printed > lines.most)
        fprintf(stderr, "... and %lld more mismatches (--all prints them)\n", (long long)(lines.printed - lines.most));
    if (!json || json[0] != '-' || json[1])
        printf("cases %lld  supported %lld  values %lld  mismatches %lld\n", (long long)counts.cases,
               (long long)counts.supported, (long long)counts.values, (long long)counts.mismatches);
    json_t *result =
        json_pack("{s:I,s:I,s:I,s:I}", "cases", (json_int_t)counts.cases, "supported", (json_int_t)counts.supported,
                  "values", (json_int_t)counts.values, "mismatches", (json_int_t)counts.mismatches);
    int failed = og_json_result("verify", json, result);
    return failed || counts.mismatches ? 1 : 0;
}

const og_verb og_verb_verify = {"verify", "replay published test vectors against this build", help, run};
