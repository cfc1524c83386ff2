/* table_config.c: one table's map to its stencils and addressings. */
#include "table_set.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

static int has_key(const og_key *keys, const char *name) {
    for (; keys->name; keys++)
        if (!strcmp(keys->name, name)) return 1;
    return 0;
}

static og_status find_stencil(const og_config *map, const og_stencil_type **out, og_error *err) {
    const og_config *node = og_config_get(map, "stencil");
    const char *name = "lags", *names[64];
    if (node) OG_TRY(og_config_string(node, &name, err));
    const og_stencil_type *type = og_stencil_find(name);
    if (!type) {
        int n = 0;
        for (; og_stencil_types[n] && n < 64; n++) names[n] = og_stencil_types[n]->name;
        const char *nearest = og_config_nearest(name, names, n);
        return og_fail(err, OG_EINVAL, "%s: unknown stencil '%s'%s%s%s", OG_WHERE(node), name,
                       nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    if (type->abi != OG_ABI)
        return og_fail(err, OG_EINVAL, "stencil %s was built for ABI %u, this is %u", name, type->abi, OG_ABI);
    *out = type;
    return OG_OK;
}

static og_status set_i64(og_config *map, const char *key, int64_t value, og_error *err) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return og_config_set(map, key, text, err);
}

/* The addressing's map as the user gave it, with scheme and orders filled in. cells: those of a
 * fixed n-gram, or 0. */
static og_status addressing_of(const og_config *map, int32_t cells, int64_t number, og_config **out, og_error *err) {
    const og_config *given = og_config_get(map, "addressing"), *orders = og_config_get(map, "orders");
    og_config *tree;
    if (given) {
        if (og_config_kind(given) != OG_CONFIG_MAP)
            return og_fail(err, OG_EINVAL, "%s: is a map, such as {scheme: mix64, rows: 65537}", OG_WHERE(given));
        OG_TRY(og_config_copy(given, &tree, err));
    } else {
        OG_TRY(og_config_new_at(map, "addressing", &tree, err));
    }
    og_status status = OG_OK;
    const char *name = "mix64";
    const og_config *scheme = og_config_get(tree, "scheme");
    if (scheme)
        status = og_config_string(scheme, &name, err);
    else
        status = og_config_set(tree, "scheme", name, err);
    const og_addr_type *type = status == OG_OK ? og_addr_find(name) : NULL;
    if (!type) { /* og_addr_new says so, with the nearest name */
        if (status != OG_OK)
            og_config_free(tree);
        else
            *out = tree;
        return status;
    }
    if (cells) {
        if (has_key(type->keys, "orders") && !og_config_get(tree, "orders")) {
            char list[32];
            snprintf(list, sizeof list, "[%d]", cells);
            status = og_config_set(tree, "orders", list, err);
        } else if (has_key(type->keys, "max_order") && !og_config_get(tree, "max_order")) {
            status = set_i64(tree, "max_order", cells, err);
        }
    } else if (orders) {
        if (!has_key(type->keys, "orders"))
            status = og_fail(err, OG_EINVAL, "%s: scheme %s has its own orders; leave the key out", OG_WHERE(orders),
                             type->name);
        else if (!og_config_get(tree, "orders"))
            status = og_config_put(tree, "orders", orders, err);
    }
    /* n-grams of one table are hashed apart */
    int64_t seed = 0;
    if (status == OG_OK && number > 0 && has_key(type->keys, "seed")) {
        if (og_config_get(tree, "seed")) status = og_config_i64(og_config_get(tree, "seed"), &seed, err);
        if (status == OG_OK) status = set_i64(tree, "seed", seed + number, err);
    }
    if (status != OG_OK) {
        og_config_free(tree);
        return status;
    }
    *out = tree;
    return OG_OK;
}

/* Of a window, a set uses the fill and the latches and holes at marked ids; the rest would be
 * ignored, so it is refused. */
static og_status check_window(const og_config *addressing, const og_addr *addr, og_error *err) {
    const og_window *w = &og_addr_layout_of(addr)->window;
    const int32_t counts[3] = {w->n_eos, w->n_special, w->n_image};
    static const char *const names[OG_N_BREAKS] = {"eos",      "special", "image_token", "turn",
                                                   "modality", "image",   "row",         "fragment"};
    for (int b = 0; b < 3; b++)
        if (w->mode[b] == OG_BREAK_SKIP && counts[b])
            return og_fail(err, OG_EINVAL,
                           "%s: window.breaks.%s: skip; cells of a stencil can be absent (latch, "
                           "hole), not passed over",
                           OG_WHERE(addressing), names[b]);
    for (int b = 3; b < OG_N_BREAKS; b++) {
        char key[64];
        snprintf(key, sizeof key, "window.breaks.%s", names[b]);
        if (og_config_get(addressing, key) && w->mode[b] != OG_BREAK_NONE)
            return og_fail(err, OG_EINVAL, "%s: window.breaks.%s; in a table the stencil decides that (lags: across)",
                           OG_WHERE(addressing), names[b]);
    }
    if (w->fill == OG_FILL_LEAK)
        return og_fail(err, OG_EINVAL, "%s: window.fill leak; in a table this is the table's key leak: true",
                       OG_WHERE(addressing));
    return OG_OK;
}

static int32_t fill_code(const og_addr_layout *l) {
    switch (l->window.fill) {
    case OG_FILL_ZERO_ID: return 0;
    case OG_FILL_PAD_ID: return l->window.fill_id;
    case OG_FILL_EOS_ID: return (int32_t)l->window.eos[0];
    default: return l->nothing;
    }
}

static og_status finish_part(og_part *part, const og_config *addressing, const og_config *map, og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(part->addr);
    OG_TRY(check_window(addressing, part->addr, err));
    if (l->width != part->layout.width)
        return og_fail(err, OG_EINVAL, "%s: scheme %s reads %d codes a position, stencil %s gives %d%s", OG_WHERE(map),
                       og_addr_type_of(part->addr)->name, l->width, part->stencil->name, part->layout.width,
                       l->width > 1 ? "; the stencil positions gives one for each level" : "");
    if (l->window.max_order > part->layout.order)
        return og_fail(err, OG_EINVAL, "%s: scheme %s needs %d cells, the n-gram has %d", OG_WHERE(map),
                       og_addr_type_of(part->addr)->name, l->window.max_order, part->layout.order);
    if (l->least_code > 0 || l->code_limit < part->layout.code_limit)
        return og_fail(err, OG_EINVAL, "%s: scheme %s takes codes in [%lld, %lld), this table's are in [0, %lld)",
                       OG_WHERE(map), og_addr_type_of(part->addr)->name, (long long)l->least_code,
                       (long long)l->code_limit, (long long)part->layout.code_limit);
    part->fill = fill_code(l);
    part->shift = og_alloc(l->n_columns, sizeof *part->shift);
    if (!part->shift) return og_fail(err, OG_ENOMEM, "no memory for %d columns", l->n_columns);
    return OG_OK;
}

static og_status make_part(const og_config *map, const og_stencil_type *type, const og_config *cells, int64_t number,
                           const og_id_map *ids, og_part *part, og_config **own, og_config **addressing,
                           og_error *err) {
    OG_TRY(og_config_copy(map, own, err));
    if (cells) OG_TRY(og_config_put(*own, "cells", cells, err));
    int32_t fixed = 0;
    if (cells) {
        OG_TRY(type->create(*own, ids, &part->impl, &part->layout, err));
        part->stencil = type;
        if (!part->layout.width) part->layout.width = 1;
        fixed = part->layout.order;
    }
    OG_TRY(addressing_of(map, fixed, number, addressing, err));
    if (!cells) { /* as many cells as the scheme's orders need */
        og_addr *probe;
        OG_TRY(og_addr_new(*addressing, &probe, err));
        int32_t order = og_addr_layout_of(probe)->window.max_order;
        og_addr_free(probe);
        if (has_key(type->keys, "order") && !og_config_get(map, "order")) OG_TRY(set_i64(*own, "order", order, err));
        OG_TRY(type->create(*own, ids, &part->impl, &part->layout, err));
        part->stencil = type;
        if (!part->layout.width) part->layout.width = 1;
    }
    OG_TRY(og_addr_fit(*addressing, part->layout.code_limit, part->layout.width, err));
    OG_TRY(og_addr_new(*addressing, &part->addr, err));
    return finish_part(part, *addressing, map, err);
}

typedef struct common_keys { /* the first OG_N_STENCIL_KEYS rows of any stencil's table, read alone */
    og_stencil_keys common;
} common_keys;

static og_status read_common(const og_config *map, og_table *table, og_error *err) {
    static const og_key keys[] = {OG_STENCIL_KEYS(common_keys), {0}};
    common_keys k = {{0}};
    og_config *only; /* the stencil has checked all keys; these are read from a map of their own */
    OG_TRY(og_config_new_at(map, NULL, &only, err));
    og_status status = OG_OK;
    for (const og_key *key = keys; key->name && status == OG_OK; key++)
        if (og_config_get(map, key->name)) status = og_config_put(only, key->name, og_config_get(map, key->name), err);
    if (status == OG_OK) status = og_config_read(only, keys, &k, err);
    if (status == OG_OK) {
        table->info.dim = k.common.dim;
        table->info.dtype = og_dtype_from_name(k.common.dtype);
        static const og_dtype allowed[] = {OG_F32, OG_BF16, OG_F16, OG_FP8_E4M3, OG_INT8, OG_NF4};
        int found = 0;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) found |= table->info.dtype == allowed[i];
        if (!found)
            status = og_fail(err, OG_EINVAL, "%s: dtype '%s'; rows are f32, bf16, f16, fp8_e4m3, int8 or nf4",
                             OG_WHERE(map), k.common.dtype);
    }
    og_config_free(only);
    return status;
}

static og_status read_parts(const og_config *map, const og_id_map *ids, og_table *table, og_error *err) {
    const og_stencil_type *type = NULL;
    OG_TRY(find_stencil(map, &type, err));
    const og_config *list = NULL;
    if (has_key(type->keys, "cells")) {
        list = og_config_get(map, "cells");
        if (og_config_kind(list) != OG_CONFIG_LIST || og_config_size(list) < 1)
            return og_fail(err, OG_EINVAL, "%s%s: is a list of n-grams, such as [[W], [N], [W, N]]",
                           OG_WHERE(list ? list : map), list ? "" : ".cells");
    }
    int64_t n = list ? og_config_size(list) : 1;
    if (n > 256)
        return og_fail(err, OG_EINVAL, "%s: %lld n-grams; a table has at most 256", OG_WHERE(list), (long long)n);
    table->parts = og_alloc_zero(n, sizeof *table->parts);
    if (!table->parts) return og_fail(err, OG_ENOMEM, "no memory for %lld n-grams", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        og_config *own = NULL, *addressing = NULL;
        table->n_parts = (int32_t)i + 1;
        og_status status =
            make_part(map, type, og_config_at(list, i), i, ids, &table->parts[i], &own, &addressing, err);
        og_config_free(own);
        og_config_free(addressing);
        OG_TRY(status);
    }
    return OG_OK;
}

og_status og_table_read(const og_config *map, const og_id_map *ids, const og_books *books, og_table *out,
                        og_error *err) {
    if (og_config_kind(map) != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: a table is a map, such as {stencil: lags, modality: text, dim: 64}",
                       OG_WHERE(map));
    og_table table = {0};
    og_status status = read_parts(map, ids, &table, err);
    if (status == OG_OK) status = read_common(map, &table, err);
    for (int32_t p = 0; status == OG_OK && p < table.n_parts; p++) { /* rows of all columns, one behind the other */
        og_part *part = &table.parts[p];
        const og_addr_layout *l = og_addr_layout_of(part->addr);
        for (int32_t c = 0; status == OG_OK && c < l->n_columns; c++) {
            part->shift[c] = table.info.rows - l->columns[c].base;
            if (l->columns[c].rows > (INT64_C(1) << 61) - table.info.rows)
                status = og_fail(err, OG_EINVAL, "%s: more than 2^61 rows", OG_WHERE(map));
            else
                table.info.rows += l->columns[c].rows;
        }
        part->column = table.info.n_columns;
        table.info.n_columns += l->n_columns;
    }
    if (status == OG_OK) status = og_table_describe(&table, map, ids, books, err);
    if (status != OG_OK) {
        og_table_release(&table);
        return status;
    }
    *out = table;
    return OG_OK;
}

void og_table_release(og_table *table) {
    for (int32_t p = 0; p < table->n_parts; p++) {
        og_part *part = &table->parts[p];
        if (part->impl) part->stencil->destroy(part->impl);
        og_addr_free(part->addr);
        og_release(part->shift);
    }
    og_release(table->parts);
    og_release(table->name);
    og_release(table->description);
}
