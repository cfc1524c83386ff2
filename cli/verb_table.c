/* verb_table.c: what a table set would cost, before anything is made. */
#include "options.h"
#include "tables_section.h"
#include "verb.h"

#include <omnigram/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: omnigram table --config YAML (--packs FILE | --ids TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]])\n"
    "                      [--tables.NAME.key=value ...] [--json FILE]\n"
    "\n"
    "Prints what the tables of a config are and cost in host memory: columns by order, rows, bytes with and without\n"
    "the state of row-wise Adagrad, fingerprints. Nothing is made.\n"
    "\n"
    "  --config YAML  a config with a section `tables` (--tables YAML is the same)\n"
    "  --packs FILE   packs whose ids and codebooks the tables are for\n"
    "  --ids ...      without packs: sizes of the vocabularies, e.g. 32000,512,1024x8\n"
    "  --json FILE    the same as JSON (-: standard output)\n"
    "\n"
    "example: omnigram table --config train/configs/quickstart.yaml --ids 2000,256,256\n";

/* Bytes of one row as the store lays it out, with `state` values of optimiser state; asked of a
 * store of one row. */
static og_status row_bytes(const og_table_info *info, int32_t state, int64_t *out, og_error *err) {
    og_store *store;
    og_store_options options = og_store_defaults(1, info->dim, info->dtype);
    options.state = state;
    OG_TRY(og_store_new(&options, &store, err));
    *out = og_store_row_bytes(store);
    og_store_free(store);
    return OG_OK;
}

/* rows * bytes, and that added to *total. */
static og_status table_bytes(const og_table_info *info, int64_t row_bytes, int64_t *out, int64_t *total,
                             og_error *err) {
    int64_t bytes, sum;
    if (__builtin_mul_overflow(row_bytes, info->rows, &bytes) || __builtin_add_overflow(*total, bytes, &sum))
        return og_fail(err, OG_EINVAL, "table %s: %lld rows of %lld bytes; the limit of all is 2^63 - 1 bytes",
                       info->name, (long long)info->rows, (long long)row_bytes);
    *out = bytes;
    *total = sum;
    return OG_OK;
}

static og_status describe(const og_table_set *set, FILE *to, json_t *list, int64_t *total, int64_t *trained,
                          og_error *err) {
    fprintf(to, "%-16s %7s %-16s %14s %6s %-8s %12s %12s  %s\n", "table", "columns", "orders", "rows", "dim", "dtype",
            "MiB", "MiB trained", "fingerprint");
    for (int32_t i = 0; i < og_table_set_count(set); i++) {
        const og_table_info *info = og_table_set_info(set, i);
        int64_t frozen, train;
        OG_TRY(row_bytes(info, 0, &frozen, err));
        OG_TRY(row_bytes(info, 1, &train, err));
        int64_t bytes, bytes_trained;
        OG_TRY(table_bytes(info, frozen, &bytes, total, err));
        OG_TRY(table_bytes(info, train, &bytes_trained, trained, err));
        char orders[64] = "";
        size_t n = 0;
        json_t *columns = json_array();
        for (int32_t c = 0; c < info->n_columns; c++) {
            const og_column *column = og_table_set_column(set, info->first_column + c);
            json_array_append_new(columns,
                                  json_pack("{s:i, s:i, s:I, s:I}", "order", column->order, "head", column->head,
                                            "rows", (json_int_t)column->rows, "base", (json_int_t)column->base));
            if (n < sizeof orders - 8)
                n += (size_t)snprintf(orders + n, sizeof orders - n, "%s%d", c ? " " : "", column->order);
        }
        fprintf(to, "%-16.40s %7d %-16.16s %14lld %6lld %-8s %12.1f %12.1f  %.16s\n", info->name, info->n_columns,
                orders, (long long)info->rows, (long long)info->dim, og_dtype_name(info->dtype),
                (double)bytes / 1048576, (double)bytes_trained / 1048576, info->fingerprint);
        json_array_append_new(list, json_pack("{s:s, s:o, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:s}", "name", info->name,
                                              "columns", columns, "rows", (json_int_t)info->rows, "dim",
                                              (json_int_t)info->dim, "dtype", og_dtype_name(info->dtype), "row_bytes",
                                              (json_int_t)frozen, "row_bytes_trained", (json_int_t)train, "bytes",
                                              (json_int_t)bytes, "bytes_trained", (json_int_t)bytes_trained,
                                              "fingerprint", info->fingerprint));
    }
    fprintf(to, "%d columns, %lld values a position, %.1f MiB frozen, %.1f MiB trained\n", og_table_set_columns(set),
            (long long)og_table_set_width(set), (double)*total / 1048576, (double)*trained / 1048576);
    return OG_OK;
}

static int run(int argc, char **argv) {
    const char *config_path = NULL, *tables_path = NULL, *packs_path = NULL, *ids_text = NULL, *json = NULL;
    const og_option options[] = {{"--config", &config_path, NULL}, {"--tables", &tables_path, NULL},
                                 {"--packs", &packs_path, NULL},   {"--ids", &ids_text, NULL},
                                 {"--json", &json, NULL},          {0}};
    og_arguments arguments;
    og_config *config = NULL;
    const og_config *tables = NULL;
    og_packs *packs = NULL;
    og_table_set *set = NULL;
    og_id_map ids;
    og_error err = {{0}};
    int failed = og_options_read("table", argc, argv, options, 1, &arguments);
    if (!failed && arguments.n_files) failed = og_verb_usage("table", "unexpected '%s'", arguments.files[0]);
    if (!failed && !packs_path == !ids_text)
        failed = og_verb_usage("table", "give --packs FILE or --ids TEXT,IMAGE,AUDIO");
    if (!failed) failed = og_tables_option("table", &config_path, tables_path);
    if (!failed && !config_path && !arguments.n_overrides) failed = og_verb_usage("table", "give --config YAML");
    if (!failed && ids_text) failed = og_ids_option("table", ids_text, &ids);
    if (!failed) failed = og_tables_section("table", config_path, &arguments, &config, &tables);
    if (!failed) {
        og_status status = packs_path ? og_packs_load(packs_path, &packs, &err) : OG_OK;
        if (status == OG_OK)
            status = packs ? og_table_set_of_packs(tables, packs, &set, &err)
                           : og_table_set_new(tables, &ids, NULL, NULL, 0, &set, &err);
        json_t *list = json_array();
        int64_t total = 0, trained = 0;
        char *text = NULL; /* whole or not at all */
        size_t bytes = 0;
        FILE *table = open_memstream(&text, &bytes);
        if (!table) status = og_fail(&err, OG_ENOMEM, "no memory for the table");
        if (status == OG_OK) status = describe(set, table, list, &total, &trained, &err);
        if (table) fclose(table);
        if (status == OG_OK) fputs(text, json && !strcmp(json, "-") ? stderr : stdout);
        free(text);
        if (status != OG_OK) {
            json_decref(list);
            failed = og_verb_fail("table", &err);
        } else {
            failed = og_json_result("table", json,
                                    json_pack("{s:o, s:i, s:I, s:I, s:I}", "tables", list, "columns",
                                              og_table_set_columns(set), "width", (json_int_t)og_table_set_width(set),
                                              "bytes", (json_int_t)total, "bytes_trained", (json_int_t)trained));
        }
    }
    og_table_set_free(set);
    og_packs_free(packs);
    og_config_free(config);
    og_arguments_free(&arguments);
    return failed;
}

const og_verb og_verb_table = {"table", "what the tables of a config are and cost", help, run};
