/* verb_inspect.c: prints a pack as a person reads it. */
#include "inspect.h"
#include "options.h"
#include "tables_section.h"
#include "verb.h"

#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "usage: omnigram inspect PACKS [--pack I] [--tables YAML] [--tokens FROM:TO] [--json FILE]\n"
                           "\n"
                           "Prints one pack: its documents and where they are from, pictures and sounds as grids of "
                           "codes, and a line for each token with\n"
                           "document, modality, segment, row, column, level, id, code, position, loss weight and, for "
                           "each table, the rows of its\n"
                           "n-grams by order (a dot where an n-gram does not exist).\n"
                           "\n"
                           "  PACKS             what `omnigram pack` wrote\n"
                           "  --pack I          which pack (0)\n"
                           "  --tables YAML     a config with a section `tables`; --tables.NAME.key=value changes one "
                           "key\n"
                           "  --tokens FROM:TO  only these tokens, TO not included\n"
                           "  --json FILE       the same as JSON (-: standard output, and nothing else there)\n"
                           "\n"
                           "example: omnigram inspect runs/quickstart/packs/train.safetensors --pack 3 --tables "
                           "train/configs/quickstart.yaml | less -R\n";

static int number(const char *text, const char *option, int64_t *out) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0) return og_verb_usage("inspect", "%s '%s' is no count", option, text);
    *out = value;
    return 0;
}

static int range(const char *text, og_inspect *in) {
    const char *colon = strchr(text, ':');
    char from[32];
    if (!colon || (size_t)(colon - text) >= sizeof from)
        return og_verb_usage("inspect", "--tokens '%s' is not FROM:TO", text);
    snprintf(from, sizeof from, "%.*s", (int)(colon - text), text);
    int failed = *from ? number(from, "--tokens", &in->from) : 0;
    if (!failed && colon[1]) failed = number(colon + 1, "--tokens", &in->to);
    if (!failed && (in->from > in->to || in->to > in->pack.n_tokens))
        return og_verb_usage("inspect", "--tokens %s; the pack has tokens 0:%lld", text, (long long)in->pack.n_tokens);
    return failed;
}

static int show(og_inspect *in, const og_config *tables, const char *tokens, const char *json) {
    og_error err = {{0}};
    og_table_set *set = NULL;
    int64_t *rows = NULL;
    og_status status = og_packs_get(in->packs, in->number, &in->pack, &err);
    if (status == OG_OK && tables) status = og_tables_of_packs(tables, in->packs, &set, &err);
    if (status == OG_OK && set) {
        rows = og_alloc(in->pack.n_tokens * og_table_set_columns(set), sizeof *rows);
        if (!rows)
            status = og_fail(&err, OG_ENOMEM, "no memory for the rows of %lld tokens", (long long)in->pack.n_tokens);
        else
            status = og_table_set_rows(set, &in->pack, NULL, rows, &err);
    }
    int failed = status == OG_OK ? 0 : og_verb_fail("inspect", &err);
    in->to = in->pack.n_tokens;
    if (!failed && tokens) failed = range(tokens, in);
    if (!failed) {
        in->set = set;
        in->rows = rows;
        if (!json || strcmp(json, "-")) og_inspect_print(in, stdout);
        failed = og_json_result("inspect", json, json ? og_inspect_json(in) : json_object());
    }
    og_release(rows);
    og_table_set_free(set);
    return failed;
}

static int run(int argc, char **argv) {
    const char *pack = NULL, *tables_path = NULL, *tokens = NULL, *json = NULL;
    const og_option options[] = {{"--pack", &pack, NULL},
                                 {"--tables", &tables_path, NULL},
                                 {"--tokens", &tokens, NULL},
                                 {"--json", &json, NULL},
                                 {0}};
    og_arguments arguments;
    og_inspect in = {.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR")};
    og_config *config = NULL;
    const og_config *tables = NULL;
    og_packs *packs = NULL;
    og_error err = {{0}};
    int failed = og_options_read("inspect", argc, argv, options, 1, &arguments);
    if (!failed && arguments.n_files != 1)
        failed = og_verb_usage("inspect", "give one file of packs, not %d", arguments.n_files);
    if (!failed && pack) failed = number(pack, "--pack", &in.number);
    if (!failed && (tables_path || arguments.n_overrides))
        failed = og_tables_section("inspect", tables_path, &arguments, &config, &tables);
    if (!failed && og_packs_load(arguments.files[0], &packs, &err) != OG_OK) failed = og_verb_fail("inspect", &err);
    if (!failed) {
        in.path = arguments.files[0];
        in.packs = packs;
        failed = show(&in, tables, tokens, json);
    }
    og_packs_free(packs);
    og_config_free(config);
    og_arguments_free(&arguments);
    return failed;
}

const og_verb og_verb_inspect = {"inspect", "print a pack as a grid a person can read", help, run};
