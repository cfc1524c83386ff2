/* tables_section.c: the section `tables` of a config. */
#include "tables_section.h"

#include <omnigram/memory.h>

#include <stdlib.h>
#include <string.h>

int og_tables_section(const char *verb, const char *path, const og_arguments *arguments, og_config **config,
                      const og_config **tables) {
    for (int i = 0; i < arguments->n_overrides; i++)
        if (strncmp(arguments->overrides[i], "tables.", 7))
            return og_verb_usage(verb, "unknown option '--%s'; keys are --tables.NAME.key=value",
                                 arguments->overrides[i]);
    int failed = og_options_config(verb, path, arguments, config);
    if (failed) return failed;
    *tables = og_config_get(*config, "tables");
    if (!*tables) *tables = *config;
    if (og_config_size(*tables) > 0) return 0;
    og_error err = {{0}};
    og_fail(&err, OG_EINVAL, "%s has no tables", path ? path : "the command line");
    return og_verb_fail(verb, &err);
}

int og_tables_option(const char *verb, const char **config, const char *tables) {
    if (*config && tables) return og_verb_usage(verb, "--tables is another name of --config; give one");
    if (tables) *config = tables;
    return 0;
}

int og_ids_option(const char *verb, const char *text, og_id_map *ids) {
    int64_t n[3] = {0, 0, 0}, levels[3] = {1, 1, 1};
    og_error err = {{0}};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        n[i] = strtoll(at, &end, 10);
        if (end == at) return og_verb_usage(verb, "--ids '%s' is not TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]]", text);
        at = end;
        if (*at == 'x') {
            levels[i] = strtoll(at + 1, &end, 10);
            if (end == at + 1 || i == 0)
                return og_verb_usage(verb, "--ids '%s' is not TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]]", text);
            at = end;
        }
        if (!*at) break;
        if (*at++ != ',' || i == 2)
            return og_verb_usage(verb, "--ids '%s' is not TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]]", text);
    }
    return og_id_map_make(n[0], n[1], levels[1], n[2], levels[2], ids, &err) == OG_OK ? 0 : og_verb_fail(verb, &err);
}
