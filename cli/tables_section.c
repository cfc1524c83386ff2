/* tables_section.c: the section `tables` of a config. */
#include "tables_section.h"

#include <omnigram/memory.h>

#include <string.h>

int og_tables_section(const char *verb, const char *path, const og_arguments *arguments, og_config **config, const og_config **tables) {
    for (int i = 0; i < arguments->n_overrides; i++)
        if (strncmp(arguments->overrides[i], "tables.", 7))
            return og_verb_usage(verb, "unknown option '--%s'; keys are --tables.NAME.key=value", arguments->overrides[i]);
    int failed = og_options_config(verb, path, arguments, config);
    if (failed) return failed;
    *tables = og_config_get(*config, "tables");
    if (!*tables) *tables = *config;
    return 0;
}

og_status og_tables_of_packs(const og_config *tables, const og_packs *packs, og_table_set **out, og_error *err) {
    int32_t n = og_packs_codebook_count(packs);
    const char **codebooks = og_alloc(n, sizeof *codebooks);
    if (!codebooks) return og_fail(err, OG_ENOMEM, "no memory for %d codebooks", n);
    for (int32_t i = 0; i < n; i++) codebooks[i] = og_packs_codebook(packs, i);
    og_status status = og_table_set_new(tables, og_packs_ids(packs), codebooks, n, out, err);
    og_release(codebooks);
    return status;
}
