/* verb_inspect.c: prints a pack as a person reads it. */
#include "inspect.h"
#include "options.h"
#include "tables_section.h"
#include "verb.h"

#include <omnigram/memory.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: omnigram inspect PACKS [--pack I | --origin ORIGIN] [--tokens A..B] [--config YAML] [--tokenizer FILE]\n"
    "                        [--prepared FOLDER] [--json FILE]\n"
    "\n"
    "Prints one pack: its documents and where they are from, text in words, pictures and sounds as grids of codes,\n"
    "and a line for each token with document, modality, segment, row, column, level, id, code or piece, position,\n"
    "loss weight and, for each table, the rows of its n-grams by order (a dot where an n-gram does not exist).\n"
    "\n"
    "  PACKS             what `omnigram pack` wrote\n"
    "  --pack I          which pack (0)\n"
    "  --origin ORIGIN   the document from SHARD:INDEX, in the first pack that holds it; with --prepared also by\n"
    "                    its name\n"
    "  --tokens A..B     only these tokens of the pack, B included, with the documents and segments that they lie\n"
    "                    in; FROM:TO: without TO\n"
    "  --config YAML     a config with a section `tables`; --tables.NAME.key=value changes one key (--tables YAML\n"
    "                    is the same)\n"
    "  --tokenizer FILE  the tokenizer.model that the words come from; without it the one that lies beside the\n"
    "                    packs, in a folder there or in one beside that, is taken if its fingerprint is the packs'\n"
    "  --prepared FOLDER the prepared shards, for the names of documents\n"
    "  --json FILE       the same as JSON (-: standard output, and nothing else there)\n"
    "\n"
    "example: omnigram inspect runs/quickstart/packs/train.safetensors --pack 3 \\\n"
    "             --config train/configs/quickstart.yaml | less -R\n";

static int number(const char *text, const char *option, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0 || errno) return og_verb_usage("inspect", "%s '%s' is no count", option, text);
    *out = value;
    return 0;
}

/* FROM:TO without TO, as slices are written; A..B with B, as the lines of documents and segments say it. */
static int range(const char *text, og_inspect *in) {
    const char *at = strchr(text, ':'), *dots = strstr(text, "..");
    int closed = dots && !at;
    char from[32];
    if (closed) at = dots;
    if (!at || (size_t)(at - text) >= sizeof from)
        return og_verb_usage("inspect", "--tokens '%s' is not A..B or FROM:TO", text);
    snprintf(from, sizeof from, "%.*s", (int)(at - text), text);
    const char *to = at + 1 + closed;
    int failed = *from ? number(from, "--tokens", &in->from) : 0;
    if (!failed && *to) {
        failed = number(to, "--tokens", &in->to);
        if (closed && in->to < INT64_MAX) in->to++;
    }
    if (!failed && (in->from >= in->to || in->to > in->pack.n_tokens))
        return og_verb_usage("inspect", "--tokens %s; the pack has tokens 0..%lld", text,
                             (long long)in->pack.n_tokens - 1);
    return failed;
}

typedef struct words {
    const char *pack, *origin, *tokens, *config, *tables, *tokenizer, *prepared, *json;
} words;

static og_status find(og_inspect *in, const words *w, og_error *err) {
    if (w->origin) return og_inspect_find(in, w->origin, err);
    OG_TRY(og_packs_get(in->packs, in->number, &in->pack, err));
    in->to = in->pack.n_tokens;
    return OG_OK;
}

static int show(og_inspect *in, const og_config *tables, const words *w) {
    og_error err = {{0}};
    og_table_set *set = NULL;
    og_tokenizer *tokenizer = NULL;
    int64_t *rows = NULL;
    og_status status = og_inspect_check_prepared(in, w->prepared, &err);
    if (status == OG_OK) status = find(in, w, &err);
    if (status == OG_OK && tables) status = og_table_set_of_packs(tables, in->packs, &set, &err);
    if (status == OG_OK && set) {
        rows = og_alloc(in->pack.n_tokens * og_table_set_columns(set), sizeof *rows);
        if (!rows)
            status = og_fail(&err, OG_ENOMEM, "no memory for the rows of %lld tokens", (long long)in->pack.n_tokens);
        else
            status = og_table_set_rows(set, &in->pack, NULL, rows, &err);
    }
    if (status == OG_OK) status = og_inspect_tokenizer(in, w->tokenizer, &tokenizer, &err);
    int failed = status == OG_OK ? 0 : og_verb_fail("inspect", &err);
    if (!failed && w->tokens) failed = range(w->tokens, in);
    if (!failed) {
        in->set = set;
        in->rows = rows;
        in->tokenizer = tokenizer;
        if (!w->json || strcmp(w->json, "-")) og_inspect_print(in, stdout);
        failed = og_json_result("inspect", w->json, w->json ? og_inspect_json(in) : json_object());
    }
    og_tokenizer_free(tokenizer);
    og_release(rows);
    og_table_set_free(set);
    return failed;
}

static int run(int argc, char **argv) {
    words w = {0};
    const og_option options[] = {
        {"--pack", &w.pack, NULL},         {"--origin", &w.origin, NULL}, {"--tokens", &w.tokens, NULL},
        {"--config", &w.config, NULL},     {"--tables", &w.tables, NULL}, {"--tokenizer", &w.tokenizer, NULL},
        {"--prepared", &w.prepared, NULL}, {"--json", &w.json, NULL},     {0}};
    og_arguments arguments;
    og_inspect in = {.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR")};
    og_config *config = NULL;
    const og_config *tables = NULL;
    og_packs *packs = NULL;
    og_prepared *prepared = NULL;
    og_error err = {{0}};
    int failed = og_options_read("inspect", argc, argv, options, 1, &arguments);
    if (!failed && arguments.n_files != 1)
        failed = og_verb_usage("inspect", "give one file of packs, not %d", arguments.n_files);
    if (!failed && w.pack && w.origin) failed = og_verb_usage("inspect", "give --pack or --origin, not both");
    if (!failed && w.pack) failed = number(w.pack, "--pack", &in.number);
    if (!failed) failed = og_tables_option("inspect", &w.config, w.tables);
    if (!failed && (w.config || arguments.n_overrides))
        failed = og_tables_section("inspect", w.config, &arguments, &config, &tables);
    if (!failed && og_packs_load(arguments.files[0], &packs, &err) != OG_OK) failed = og_verb_fail("inspect", &err);
    if (!failed && w.prepared && og_prepared_open(w.prepared, &prepared, &err) != OG_OK)
        failed = og_verb_fail("inspect", &err);
    if (!failed) {
        in.path = arguments.files[0];
        in.packs = packs;
        in.prepared = prepared;
        failed = show(&in, tables, &w);
    }
    og_prepared_close(prepared);
    og_packs_free(packs);
    og_config_free(config);
    og_arguments_free(&arguments);
    return failed;
}

const og_verb og_verb_inspect = {"inspect", "print a pack as a grid a person can read", help, run};
