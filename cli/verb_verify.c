/* verb_verify.c: replays test vectors against this build. */
#include "options.h"
#include "verb.h"
#include "verify_report.h"

#include <omnigram/addr.h>
#include <omnigram/canonical.h>
#include <omnigram/verify.h>

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: omnigram verify FILE... [--all] [--json FILE]\n"
    "       omnigram verify --schemes\n"
    "\n"
    "Replays files of test vectors (format 2, docs/addressing.md: addresses of n-grams by every published scheme,\n"
    "Engram's canonical texts, fp8 rows, product keys, SCONE matches) through the same code that training uses, and\n"
    "prints for each system the cases, those this build supports, the values compared and the mismatches; then what\n"
    "is not supported and why. A case that is malformed or refused is a mismatch; one with nothing to compare is\n"
    "not supported. Exits 1 on any mismatch, on a file that cannot be read (the others are still replayed), and\n"
    "when no case at all could be replayed.\n"
    "\n"
    "  --json FILE   {cases, supported, values, mismatches, files_not_read, by_system, unsupported} to FILE\n"
    "                (-: standard output)\n"
    "  --all         every mismatch, not the first 20\n"
    "  --schemes     prints each addressing scheme with its source, keys, defaults and what is unresolved about it\n";

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
    og_verify_tally tally = {.most = all ? INT64_MAX : 20};
    const og_verify_report report = {&tally, og_tally_mismatch, og_tally_case};
    og_error err = {{0}};
    for (int i = 0; !bad && i < arguments.n_files; i++)
        switch (og_verify_file(arguments.files[i], og_canonical_key, &report, &counts, &err)) {
        case OG_OK: break;
        case OG_ENOMEM: bad = og_verb_fail("verify", &err); break;
        default: og_tally_unread(&tally, &err); /* the other files may still say something */
        }
    og_arguments_free(&arguments);
    if (!bad && tally.no_memory) {
        og_fail(&err, OG_ENOMEM, "no memory for the results");
        bad = og_verb_fail("verify", &err);
    }
    if (!bad) {
        if (tally.printed > tally.most)
            fprintf(stderr, "... and %lld more mismatches (--all prints them)\n",
                    (long long)(tally.printed - tally.most));
        og_tally_print(&tally, &counts, json && !strcmp(json, "-") ? stderr : stdout);
        bad = og_json_result("verify", json, og_tally_json(&tally, &counts));
        if (og_tally_failed(&tally, &counts)) bad = 1;
    }
    og_tally_free(&tally);
    return bad;
}

const og_verb og_verb_verify = {"verify", "replay published test vectors against this build", help, run};
