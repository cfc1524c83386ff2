/* memory_tables.c: which tables a model has, from the sections tables and memory. */
#include "memory.h"

#include <omnigram/memory.h>
#include <omnigram/update.h>

/* The tables that memory.use names (all without it), as a tree of their own. */
og_status og_memory_choose(const og_config *merged, const og_config *use, og_config **out, og_error *err) {
    const og_config *tables = og_config_get(merged, "tables");
    if (og_config_kind(tables) != OG_CONFIG_MAP || !og_config_size(tables))
        return og_fail(err, OG_EINVAL, "section tables is missing or empty, but memory.mode is not off");
    if (og_config_kind(use) != OG_CONFIG_LIST) return og_config_copy(tables, out, err);
    if (!og_config_size(use)) return og_fail(err, OG_EINVAL, "%s: is empty; say memory.mode: off", OG_WHERE(use));
    og_config *root = NULL;
    OG_TRY(og_config_new_at(tables, NULL, &root, err));
    og_status status = OG_OK;
    for (int64_t i = 0; status == OG_OK && i < og_config_size(use); i++) {
        const og_config *node = og_config_at(use, i);
        const char *name = NULL;
        status = og_config_string(node, &name, err);
        const og_config *table = status == OG_OK ? og_config_get(tables, name) : NULL;
        if (status == OG_OK && !table) {
            const char *names[64], *near = NULL;
            int64_t n = 0;
            for (; n < og_config_size(tables) && n < 64; n++) names[n] = og_config_key_at(tables, n);
            near = og_config_nearest(name, names, n);
            status = og_fail(err, OG_EINVAL, "%s: names '%s', which section tables does not have%s%s%s", OG_WHERE(node),
                             name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        if (status == OG_OK && og_config_get(root, name))
            status = og_fail(err, OG_EINVAL, "%s: names '%s' twice", OG_WHERE(node), name);
        if (status == OG_OK) status = og_config_put(root, name, table, err);
    }
    if (status != OG_OK) {
        og_config_free(root);
        return status;
    }
    *out = root;
    return OG_OK;
}

og_status og_memory_table_set(const og_config *merged, const og_config *use, const og_packs *packs, og_table_set **out,
                              og_error *err) {
    og_config *tables = NULL;
    OG_TRY(og_memory_choose(merged, use, &tables, err));
    og_status status = og_table_set_of_packs(tables, packs, out, err);
    og_config_free(tables);
    return status;
}

og_store_options og_memory_store_options(const og_memory_options *options, const og_table_info *info) {
    og_store_options o = og_store_defaults(info->rows, info->dim, info->dtype);
    o.huge = options->huge;
    o.state = options->mode == OG_MEMORY_TRAIN ? og_update_state(options->optimiser, info->dim) : 0;
    return o;
}
