/* check.c: what a config would make of packs, without making it. */
#include "memory.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Dense weights: what model.cpp makes. */
static int64_t parameters(const og_model_options *o, int64_t ids, int64_t table_values) {
    int64_t w = o->width, gates = o->mlp == OG_MLP_SWIGLU ? 2 : 1;
    int64_t block = 2 * w + 4 * w * w + (gates + 1) * w * o->hidden;
    return ids * w * (o->tied ? 1 : 2) + o->layers * block + w + table_values * w;
}

static og_status check_load(const og_memory_options *o, og_error *err) {
    char path[4200];
    if (!o->load || !o->load[0]) return OG_OK;
    snprintf(path, sizeof path, "%s/tables.safetensors", o->load);
    return og_file_exists(path) ? OG_OK : og_fail(err, OG_EIO, "memory.load: there is no %s", path);
}

/* {NAME: {rows, dim, columns, bytes}} of the tables. A store takes no memory before it is touched, and refuses what
 * cannot fit beside those that are there. */
static og_status describe_in(og_store **stores, const og_table_set *set, const og_memory_options *options,
                             json_t *tables, int64_t *bytes, og_error *err) {
    for (int32_t i = 0; i < og_table_set_count(set); i++) {
        const og_table_info *info = og_table_set_info(set, i);
        og_store_options o = og_memory_store_options(options, info);
        og_status status = og_store_new(&o, &stores[i], err);
        if (status != OG_OK) return og_fail_at(err, status, "table %s", info->name);
        int64_t own = og_store_rows(stores[i]) * og_store_row_bytes(stores[i]);
        *bytes += own;
        if (json_object_set_new(tables, info->name,
                                json_pack("{s:I,s:I,s:i,s:I}", "rows", (json_int_t)info->rows, "dim",
                                          (json_int_t)info->dim, "columns", (int)info->n_columns, "bytes",
                                          (json_int_t)own)))
            return og_fail(err, OG_ENOMEM, "check: no memory");
    }
    return OG_OK;
}

static og_status describe(const og_table_set *set, const og_memory_options *options, json_t *tables, int64_t *bytes,
                          og_error *err) {
    int32_t n = og_table_set_count(set);
    og_store **stores = og_alloc_zero(n, sizeof *stores);
    if (!stores) return og_fail(err, OG_ENOMEM, "check: no memory");
    og_status status = describe_in(stores, set, options, tables, bytes, err);
    for (int32_t i = 0; i < n; i++) og_store_free(stores[i]);
    og_release(stores);
    return status;
}

static og_status against_packs(const og_config *merged, const og_all_options *o, const og_packs *packs, json_t *root,
                               og_error *err) {
    int64_t n = og_packs_count(packs), available = og_steps_available(&o->train, n), values = 0, bytes = 0;
    if (!n) return og_fail(err, OG_EINVAL, "there are no training packs");
    json_t *tables = json_object();
    og_status status = tables ? OG_OK : og_fail(err, OG_ENOMEM, "check: no memory");
    if (status == OG_OK && o->memory.mode != OG_MEMORY_OFF) {
        og_table_set *set = NULL;
        status = og_memory_table_set(merged, o->memory.use, packs, &set, err);
        if (status == OG_OK) status = describe(set, &o->memory, tables, &bytes, err);
        if (status == OG_OK) values = og_table_set_width(set);
        og_table_set_free(set);
    }
    int64_t steps =
        o->train.steps && (o->train.steps < available || o->train.overfit_one_batch) ? o->train.steps : available;
    json_object_set_new(root, "steps", json_integer((json_int_t)steps));
    json_object_set_new(root, "packs", json_integer((json_int_t)n));
    json_object_set_new(root, "parameters",
                        json_integer((json_int_t)parameters(&o->model, og_packs_ids(packs)->size, values)));
    json_object_set_new(root, "table_values", json_integer((json_int_t)values));
    json_object_set_new(root, "table_bytes", json_integer((json_int_t)bytes));
    json_object_set_new(root, "tables", tables);
    return status;
}

static og_status check(const og_config *merged, const og_packs *packs, json_t *root, og_error *err) {
    static const char *const modes[] = {"off", "frozen", "train"};
    og_all_options o;
    OG_TRY(og_options_read(merged, &o, err));
    json_object_set_new(root, "memory", json_string(modes[o.memory.mode]));
    if (o.memory.mode != OG_MEMORY_OFF) {
        og_config *tables = NULL;
        OG_TRY(og_memory_choose(merged, o.memory.use, &tables, err));
        og_config_free(tables);
        OG_TRY(check_load(&o.memory, err));
    }
    return packs ? against_packs(merged, &o, packs, root, err) : OG_OK;
}

og_status og_train_check(const og_config *config, const og_packs *packs, char **json, og_error *err) {
    og_config *merged = NULL;
    OG_TRY(og_train_config(config, &merged, err));
    json_t *root = json_object();
    og_status status = root ? check(merged, packs, root, err) : og_fail(err, OG_ENOMEM, "check: no memory");
    og_config_free(merged);
    char *text = status == OG_OK ? json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(1)) : NULL;
    char *copy = text ? og_copy_string(text) : NULL;
    free(text);
    json_decref(root);
    if (status != OG_OK) return status;
    if (!copy) return og_fail(err, OG_ENOMEM, "check: no memory");
    *json = copy;
    return OG_OK;
}
