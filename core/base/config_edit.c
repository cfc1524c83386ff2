/* config_edit.c: overrides, merging, and defaults written into a tree. */
#include "config_tree.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

/* The value of one path step below node: finds it, or makes an empty map there. */
static og_status step_into(og_config *node, const char *step, const char *place, og_config **out, og_error *err) {
    const og_config *found = og_config_get(node, step);
    char where[OG_WHERE_TEXT];
    if (!found && node->kind == OG_CONFIG_LIST)
        return og_fail(err, OG_EINVAL, "%s: '%s' is no element of %s, a list of %lld", place, step,
                       og_config_where(node, where), (long long)node->size);
    if (found && (found->kind == OG_CONFIG_MAP || found->kind == OG_CONFIG_LIST)) {
        *out = (og_config *)(uintptr_t)found; /* node is ours to change, so its child is too */
        return OG_OK;
    }
    if (found && found->kind != OG_CONFIG_NULL) {
        char what[OG_WHAT_TEXT];
        return og_fail(err, OG_EINVAL, "%s: '%s' is %s (at %s), not a map", place, step, og_config_what(found, what),
                       found->place);
    }
    og_config *map;
    OG_TRY(og_tree_node(node->tree, OG_CONFIG_MAP, place, &map, err));
    OG_TRY(og_tree_put(node, step, map, err));
    *out = map;
    return OG_OK;
}

/* Null takes a key that is there away, so that it has its default again and a map forgets what another kind of table,
 * say, does not know. A null where there is no such key stays: a mistyped key must be seen. */
static og_status put(og_config *map, const char *key, og_config *value, og_error *err) {
    int64_t at = value->kind == OG_CONFIG_NULL ? og_tree_find(map, key, strlen(key)) : -1;
    if (at < 0) return og_tree_put(map, key, value, err);
    og_tree_remove(map, at);
    return OG_OK;
}

static og_status set_last(og_config *node, const char *step, og_config *value, og_error *err) {
    if (node->kind == OG_CONFIG_MAP) return put(node, step, value, err);
    const og_config *old = og_config_get(node, step);
    for (int64_t i = 0; i < node->size; i++)
        if (node->entries[i].value == old && old) {
            node->entries[i].value = value;
            value->parent = node;
            value->key = NULL;
            return og_tree_seal(node, err);
        }
    char where[OG_WHERE_TEXT];
    return og_fail(err, OG_EINVAL, "%s: '%s' is no element of %s, a list of %lld", value->place, step,
                   og_config_where(node, where), (long long)node->size);
}

static void set_places(og_config *node, const char *place) {
    node->place = place;
    for (int64_t i = 0; i < node->size; i++) set_places(node->entries[i].value, place);
}

/* path is "a.b.c", cut at the dots here. */
static og_status assign(og_config *root, char *path, const og_config *value, const char *place, og_error *err) {
    og_config *copy;
    int64_t nodes = 0;
    const char *kept;
    OG_TRY(og_tree_string(root->tree, place, (int64_t)strlen(place), &kept, err));
    OG_TRY(og_tree_copy(root->tree, value, INT64_MAX, &nodes, &copy, err));
    set_places(copy, kept);
    og_config *node = root;
    int depth = 0;
    for (char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        *dot = 0;
        if (++depth >= OG_CONFIG_DEPTH / 2)
            return og_fail(err, OG_EINVAL, "%s: nested deeper than %d levels", kept, OG_CONFIG_DEPTH / 2);
        OG_TRY(step_into(node, path, kept, &node, err));
    }
    return set_last(node, path, copy, err);
}

og_status og_config_override(og_config *root, const char *assignment, og_error *err) {
    if (strncmp(assignment, "--", 2) == 0) assignment += 2;
    const char *equals = strchr(assignment, '=');
    size_t bytes = equals ? (size_t)(equals - assignment) : 0;
    if (!bytes || assignment[0] == '.' || equals[-1] == '.' || memmem(assignment, bytes, "..", 2))
        return og_fail(err, OG_EINVAL, "'%.200s' is no override; write a.b=value", assignment);
    if (root->kind != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: cannot set '%.200s' in a list", root->place, assignment);
    if (bytes > 200) return og_fail(err, OG_EINVAL, "--%.60s...: a key of %zu bytes; at most 200", assignment, bytes);
    if (!og_text_is_utf8(assignment)) return og_fail(err, OG_EINVAL, "'--%.200s' is no UTF-8", assignment);
    char place[208], path[208];
    snprintf(place, sizeof place, "--%.*s", (int)bytes, assignment);
    snprintf(path, sizeof path, "%.*s", (int)bytes, assignment);
    og_config *value;
    OG_TRY(og_yaml_value(equals + 1, (int64_t)strlen(equals + 1), place, 1, &value, err));
    og_status status = assign(root, path, value, place, err);
    og_config_free(value);
    return status;
}

og_status og_config_put(og_config *map, const char *key, const og_config *value, og_error *err) {
    og_config *copy;
    int64_t nodes = 0;
    if (map->kind != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: is no map, so it has no '%s'", OG_WHERE(map), key);
    OG_TRY(og_tree_copy(map->tree, value, INT64_MAX, &nodes, &copy, err));
    return og_tree_put(map, key, copy, err);
}

og_status og_config_set(og_config *map, const char *key, const char *yaml, og_error *err) {
    og_config *value, *copy = NULL;
    int64_t nodes = 0;
    if (map->kind != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: is no map, so it has no '%s'", OG_WHERE(map), key);
    OG_TRY(og_yaml_value(yaml, (int64_t)strlen(yaml), key, 1, &value, err));
    og_status status = og_tree_copy(map->tree, value, INT64_MAX, &nodes, &copy, err);
    if (status == OG_OK) {
        set_places(copy, map->place);
        status = og_tree_put(map, key, copy, err);
    }
    og_config_free(value);
    return status;
}

static og_status merge(og_config *base, const og_config *over, og_error *err) {
    for (int64_t i = 0; i < over->size; i++) {
        const og_entry *entry = &over->entries[i];
        int64_t at = og_tree_find(base, entry->key, strlen(entry->key));
        og_config *old = at >= 0 ? base->entries[at].value : NULL;
        if (old && old->kind == OG_CONFIG_MAP && entry->value->kind == OG_CONFIG_MAP) {
            OG_TRY(merge(old, entry->value, err));
            continue;
        }
        og_config *copy;
        int64_t nodes = 0;
        OG_TRY(og_tree_copy(base->tree, entry->value, INT64_MAX, &nodes, &copy, err));
        OG_TRY(put(base, entry->key, copy, err));
    }
    return OG_OK;
}

og_status og_config_merge(og_config *base, const og_config *over, og_error *err) {
    if (!over) return OG_OK;
    if (base->kind != OG_CONFIG_MAP || over->kind != OG_CONFIG_MAP)
        return og_fail(err, OG_EINVAL, "%s: only maps can be merged",
                       base->kind != OG_CONFIG_MAP ? base->place : over->place);
    return merge(base, over, err);
}
