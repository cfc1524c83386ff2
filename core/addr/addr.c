/* addr.c: the life of an addressing: its scheme found, its config completed, its window set, its
 * constants described. */
#include <omnigram/addr.h>

#include "addr/addr_internal.h"
#include "addr/scheme.h"

#include <omnigram/digest.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

const og_addr_type *og_addr_find(const char *name) {
    const char *preset;
    const char *scheme = og_addr_alias(name, &preset);
    if (scheme) name = scheme;
    for (int i = 0; og_addr_types[i]; i++)
        if (!strcmp(og_addr_types[i]->name, name)) return og_addr_types[i];
    return NULL;
}

const char *og_addr_nearest(const char *name) {
    const char *names[256];
    int n = 0;
    for (; og_addr_types[n] && n < 200; n++) names[n] = og_addr_types[n]->name;
    for (int32_t a = 0; og_addr_alias_at(a) && n < 256; a++) names[n++] = og_addr_alias_at(a);
    size_t length = strlen(name);
    for (int i = 0; length > 2 && i < n; i++) /* "engram" is engram_xor's beginning, though lngram is one letter away */
        if (!strncmp(names[i], name, length)) return names[i];
    return og_config_nearest(name, names, n);
}

static og_status unknown(const og_config *node, const char *name, og_error *err) {
    const char *nearest = og_addr_nearest(name);
    if (nearest)
        return og_fail(err, OG_EINVAL, "%s: unknown addressing scheme '%s', did you mean '%s'?", OG_WHERE(node), name,
                       nearest);
    char known[320] = "";
    for (int i = 0, n = 0; og_addr_types[i] && n < (int)sizeof known; i++)
        n += snprintf(known + n, sizeof known - (size_t)n, "%s%s", i ? ", " : "", og_addr_types[i]->name);
    return og_fail(err, OG_EINVAL, "%s: unknown addressing scheme '%.80s'; there are %s", OG_WHERE(node), name, known);
}

/* The tree that create reads: the alias's preset below the user's keys, and every default written
 * out, so that equal addressings have equal fingerprints however much of them was spelled. */
static og_status complete(const og_config *config, const og_addr_type *type, const char *preset, og_config **out,
                          og_error *err) {
    og_config *tree = NULL, *alias = NULL;
    OG_TRY(og_config_new_at(config, NULL, &tree, err));
    og_status status = OG_OK;
    if (preset && preset[0]) {
        status = og_config_from_yaml(preset, (int64_t)strlen(preset), "preset", &alias, err);
        if (status == OG_OK) status = og_config_merge(tree, alias, err);
        og_config_free(alias);
    }
    if (status == OG_OK) status = og_config_merge(tree, config, err);
    if (status == OG_OK) status = og_config_set(tree, "scheme", type->name, err);
    for (const og_key *key = type->keys; status == OG_OK && key->name; key++)
        if (key->fallback && key->fallback[0] && !og_config_get(tree, key->name))
            status = og_config_set(tree, key->name, key->fallback, err);
    if (status != OG_OK) {
        og_config_free(tree);
        return status;
    }
    *out = tree;
    return OG_OK;
}

static og_status describe(og_addr *addr, og_error *err) {
    char *text = NULL, *constants = NULL, *config = NULL;
    int64_t length = 0, capacity = 0;
    const og_addr_layout *l = &addr->layout;
    const og_window *w = &l->window;
    og_config *tree = NULL;
    og_status status = og_config_to_json(addr->config, &config, err);
    if (status == OG_OK && addr->type->constants) status = addr->type->constants(addr->impl, &constants, err);
    if (status == OG_OK)
        status = og_addr_text(&text, &length, &capacity, err, "{\"config\":%s,\"constants\":%s,\"columns\":[", config,
                              constants ? constants : "{}");
    for (int32_t c = 0; status == OG_OK && c < l->n_columns; c++)
        status = og_addr_text(&text, &length, &capacity, err, "%s[%d,%d,%lld,%lld]", c ? "," : "", l->columns[c].order,
                              l->columns[c].head, (long long)l->columns[c].rows, (long long)l->columns[c].base);
    if (status == OG_OK)
        status = og_addr_text(&text, &length, &capacity, err,
                              "],\"window\":{\"fill\":%d,\"fill_id\":%d,\"span\":%d,\"mode\":[", w->fill, w->fill_id,
                              w->fill_span_max);
    for (int i = 0; status == OG_OK && i < OG_N_BREAKS; i++)
        status = og_addr_text(&text, &length, &capacity, err, "%s%d", i ? "," : "", w->mode[i]);
    if (status == OG_OK)
        status =
            og_addr_text(&text, &length, &capacity, err, "],\"self\":[%d,%d,%d]", w->self[0], w->self[1], w->self[2]);
    const int64_t *lists[3] = {w->eos, w->special, w->image};
    int32_t counts[3] = {w->n_eos, w->n_special, w->n_image};
    static const char *const names[3] = {"eos", "special", "image"};
    for (int l3 = 0; l3 < 3; l3++) {
        if (status == OG_OK) status = og_addr_text(&text, &length, &capacity, err, ",\"%s\":[", names[l3]);
        for (int32_t i = 0; status == OG_OK && i < counts[l3]; i++)
            status = og_addr_text(&text, &length, &capacity, err, "%s%lld", i ? "," : "", (long long)lists[l3][i]);
        if (status == OG_OK) status = og_addr_text(&text, &length, &capacity, err, "]");
    }
    if (status == OG_OK) status = og_addr_text(&text, &length, &capacity, err, "}}");
    if (status == OG_OK) status = og_config_from_json(text, length, "addressing", &tree, err);
    if (status == OG_OK) status = og_config_to_json(tree, &addr->description, err);
    if (status == OG_OK)
        status = og_digest_of(addr->description, (int64_t)strlen(addr->description), addr->fingerprint, err);
    og_config_free(tree);
    og_release(text);
    og_release(config);
    og_release(constants);
    return status;
}

/* A fill's id must be a code, since it is hashed as one. */
static og_status check_window(const og_addr *addr, og_error *err) {
    const og_addr_layout *l = &addr->layout;
    og_engine engine = {0};
    OG_TRY(og_engine_make(&l->window, l->width, l->nothing, &engine, err));
    if (engine.fill != l->nothing && !og_addr_code_ok(l, engine.fill))
        return og_fail(err, OG_EINVAL, "scheme %s: absent cells would read as %d, which is not in [%lld, %lld)",
                       addr->type->name, engine.fill, (long long)l->least_code, (long long)l->code_limit);
    return OG_OK;
}

static og_status make(og_addr *addr, const og_config *config, const char *preset, og_error *err) {
    const og_addr_type *type = addr->type;
    if (type->abi != OG_ABI)
        return og_fail(err, OG_EINVAL, "scheme %s was built for ABI %u, this is %u", type->name, type->abi, OG_ABI);
    OG_TRY(complete(config, type, preset, &addr->config, err));
    addr->layout.extra_code = INT64_MIN;
    OG_TRY(type->create(addr->config, &addr->impl, &addr->layout, err));
    const og_config *window = og_config_get(addr->config, "window");
    if (window) OG_TRY(og_window_read(window, &addr->layout.window, err));
    OG_TRY(check_window(addr, err));
    return describe(addr, err);
}

og_status og_addr_new(const og_config *config, og_addr **out, og_error *err) {
    const og_config *node = og_config_get(config, "scheme");
    if (!node) return og_fail(err, OG_EINVAL, "%s: an addressing needs the key 'scheme'", OG_WHERE(config));
    const char *name, *preset = NULL;
    OG_TRY(og_config_string(node, &name, err));
    const og_addr_type *type = og_addr_find(name);
    if (!type) return unknown(node, name, err);
    og_addr_alias(name, &preset);
    og_addr *addr = og_alloc_zero(1, sizeof *addr);
    if (!addr) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    addr->type = type;
    og_status status = make(addr, config, preset, err);
    if (status != OG_OK) {
        og_addr_free(addr);
        return status;
    }
    *out = addr;
    return OG_OK;
}

void og_addr_free(og_addr *addr) {
    if (!addr) return;
    if (addr->impl) addr->type->destroy(addr->impl);
    og_release(addr->layout.columns);
    og_release(addr->description);
    og_config_free(addr->config);
    og_release(addr);
}

const og_addr_type *og_addr_type_of(const og_addr *addr) { return addr->type; }
const og_addr_layout *og_addr_layout_of(const og_addr *addr) { return &addr->layout; }
const char *og_addr_fingerprint(const og_addr *addr) { return addr->fingerprint; }

int64_t og_addr_total_rows(const og_addr *addr) {
    int64_t total = 0;
    for (int32_t c = 0; c < addr->layout.n_columns; c++) total += addr->layout.columns[c].rows;
    return total;
}

og_status og_addr_describe(const og_addr *addr, char **json, og_error *err) {
    char *copy = og_copy_string(addr->description);
    if (!copy) return og_fail(err, OG_ENOMEM, "no memory for a description");
    *json = copy;
    return OG_OK;
}

const og_addr_impl *og_addr_impl_of(const og_addr *addr) { return addr->impl; }
