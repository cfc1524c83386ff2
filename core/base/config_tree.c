/* config_tree.c: the nodes of a config tree and the memory they live in. */
#include "config_tree.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

og_status og_tree_new(og_tree **out, og_error *err) {
    og_tree *tree = og_alloc_zero(1, sizeof *tree);
    if (!tree) return og_fail(err, OG_ENOMEM, "no memory for a config tree");
    *out = tree;
    return OG_OK;
}

void og_tree_free(og_tree *tree) {
    if (!tree) return;
    for (og_chunk *chunk = tree->chunks; chunk;) {
        og_chunk *next = chunk->next;
        og_release(chunk);
        chunk = next;
    }
    og_release(tree);
}

/* Lives as long as the tree. */
static og_status tree_alloc(og_tree *tree, int64_t bytes, void **out, og_error *err) {
    bytes = (bytes + 15) / 16 * 16;
    og_chunk *chunk = tree->chunks;
    if (!chunk || chunk->bytes - chunk->used < bytes) {
        const int64_t head = 64;
        int64_t size = chunk ? chunk->bytes * 2 : 2048; /* doubles, so a large tree needs few chunks */
        if (size > (1 << 20)) size = 1 << 20;
        if (size < bytes + head) size = bytes + head;
        chunk = og_alloc(size, 1);
        if (!chunk) return og_fail(err, OG_ENOMEM, "no memory for %lld bytes of a config tree", (long long)size);
        *chunk = (og_chunk){.next = tree->chunks, .used = head, .bytes = size};
        tree->chunks = chunk;
    }
    *out = (char *)chunk + chunk->used;
    chunk->used += bytes;
    return OG_OK;
}

og_status og_tree_string(og_tree *tree, const char *text, int64_t bytes, const char **out, og_error *err) {
    void *copy;
    OG_TRY(tree_alloc(tree, bytes + 1, &copy, err));
    memcpy(copy, text, (size_t)bytes);
    ((char *)copy)[bytes] = 0;
    *out = copy;
    return OG_OK;
}

og_status og_tree_node(og_tree *tree, int32_t kind, const char *place, og_config **out, og_error *err) {
    void *memory;
    OG_TRY(tree_alloc(tree, (int64_t)sizeof(og_config), &memory, err));
    og_config *node = memory;
    *node = (og_config){.kind = kind, .place = place, .tree = tree};
    *out = node;
    return OG_OK;
}

/* Compares a stored key with the first `bytes` of text. */
static int compare_key(const char *stored, const char *text, size_t bytes) {
    int c = strncmp(stored, text, bytes);
    return c ? c : stored[bytes] != 0;
}

/* First place in order whose key is not less. */
static int64_t lower_bound(const og_config *map, const char *key, size_t bytes) {
    int64_t low = 0, high = map->size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare_key(map->entries[map->order[middle]].key, key, bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t og_tree_find(const og_config *map, const char *key, size_t bytes) {
    int64_t at = lower_bound(map, key, bytes);
    if (at == map->size || compare_key(map->entries[map->order[at]].key, key, bytes) != 0) return -1;
    return map->order[at];
}

static og_status reserve(og_config *parent, og_error *err) {
    if (parent->size < parent->capacity) return OG_OK;
    int64_t capacity = parent->capacity ? parent->capacity * 2 : 4;
    void *entries, *order = NULL;
    OG_TRY(tree_alloc(parent->tree, capacity * (int64_t)sizeof(og_entry), &entries, err));
    if (parent->kind == OG_CONFIG_MAP)
        OG_TRY(tree_alloc(parent->tree, capacity * (int64_t)sizeof(int64_t), &order, err));
    if (parent->size) {
        memcpy(entries, parent->entries, (size_t)parent->size * sizeof(og_entry));
        if (order) memcpy(order, parent->order, (size_t)parent->size * sizeof(int64_t));
    }
    parent->entries = entries;
    parent->order = order;
    parent->capacity = capacity;
    return OG_OK;
}

og_status og_tree_append(og_config *parent, const char *key, og_config *value, og_error *err) {
    OG_TRY(reserve(parent, err));
    if (parent->kind == OG_CONFIG_MAP) {
        size_t bytes = strlen(key);
        int64_t at = lower_bound(parent, key, bytes);
        if (at < parent->size && strcmp(parent->entries[parent->order[at]].key, key) == 0) {
            const og_config *first = parent->entries[parent->order[at]].value;
            return og_fail(err, OG_EFORMAT, "%s: key '%s' stands twice (first at %s)", value->place, key, first->place);
        }
        memmove(parent->order + at + 1, parent->order + at, (size_t)(parent->size - at) * sizeof(int64_t));
        parent->order[at] = parent->size;
    }
    parent->entries[parent->size++] = (og_entry){.key = key, .value = value};
    value->parent = parent;
    value->key = key;
    return OG_OK;
}

og_status og_tree_put(og_config *map, const char *key, og_config *value, og_error *err) {
    int64_t i = og_tree_find(map, key, strlen(key));
    if (i >= 0) {
        value->parent = map;
        value->key = map->entries[i].key;
        map->entries[i].value = value;
        return OG_OK;
    }
    const char *copy;
    OG_TRY(og_tree_string(map->tree, key, (int64_t)strlen(key), &copy, err));
    return og_tree_append(map, copy, value, err);
}

void og_tree_remove(og_config *map, int64_t i) {
    memmove(map->entries + i, map->entries + i + 1, (size_t)(map->size - i - 1) * sizeof *map->entries);
    int64_t kept = 0;
    for (int64_t k = 0; k < map->size; k++)
        if (map->order[k] != i) map->order[kept++] = map->order[k] - (map->order[k] > i);
    map->size--;
}

og_status og_tree_seal(og_config *list, og_error *err) {
    list->integers = NULL;
    for (int64_t i = 0; i < list->size; i++)
        if (list->entries[i].value->kind != OG_CONFIG_INTEGER) return OG_OK;
    void *memory;
    OG_TRY(tree_alloc(list->tree, list->size * (int64_t)sizeof(int64_t), &memory, err));
    int64_t *integers = memory;
    for (int64_t i = 0; i < list->size; i++) integers[i] = list->entries[i].value->integer;
    list->integers = integers;
    return OG_OK;
}

/* The depth of a tree is limited where it is made, so recursion is too. */
static og_status copy_node(og_tree *tree, const og_config *node, const char **last_from, const char **last_to,
                           int64_t limit, int64_t *nodes, og_config **out, og_error *err) {
    if (++*nodes > limit)
        return og_fail(err, OG_EFORMAT, "%s: aliases expand to more than %lld values", node->place, (long long)limit);
    if (node->place != *last_from) { /* neighbours share a place: copy it once */
        OG_TRY(og_tree_string(tree, node->place, (int64_t)strlen(node->place), last_to, err));
        *last_from = node->place;
    }
    og_config *copy;
    OG_TRY(og_tree_node(tree, node->kind, *last_to, &copy, err));
    copy->boolean = node->boolean;
    copy->integer = node->integer;
    copy->real = node->real;
    copy->nul_bytes = node->nul_bytes;
    if (node->kind == OG_CONFIG_STRING) {
        int64_t bytes = node->nul_bytes ? node->nul_bytes : (int64_t)strlen(node->string);
        OG_TRY(og_tree_string(tree, node->string, bytes, &copy->string, err));
    }
    for (int64_t i = 0; i < node->size; i++) {
        const og_entry *entry = &node->entries[i];
        const char *key = NULL;
        og_config *value;
        if (entry->key) OG_TRY(og_tree_string(tree, entry->key, (int64_t)strlen(entry->key), &key, err));
        OG_TRY(copy_node(tree, entry->value, last_from, last_to, limit, nodes, &value, err));
        OG_TRY(og_tree_append(copy, key, value, err));
    }
    if (node->kind == OG_CONFIG_LIST) OG_TRY(og_tree_seal(copy, err));
    *out = copy;
    return OG_OK;
}

og_status og_tree_copy(og_tree *tree, const og_config *node, int64_t limit, int64_t *nodes, og_config **out,
                       og_error *err) {
    const char *from = NULL, *to = NULL;
    return copy_node(tree, node, &from, &to, limit, nodes, out, err);
}

/* The tree's root stands at node, or at its child key, for messages. */
static og_status keep_path(og_tree *tree, const og_config *node, const char *key, og_error *err) {
    char path[OG_PATH_TEXT] = "", whole[2 * OG_PATH_TEXT];
    if (node) og_config_path(node, path);
    int n = snprintf(whole, sizeof whole, "%s%s%.190s", path, *path && key ? "." : "", key ? key : "");
    return n > 0 ? og_tree_string(tree, whole, n, &tree->path, err) : OG_OK;
}

og_status og_config_copy(const og_config *node, og_config **out, og_error *err) {
    og_tree *tree;
    OG_TRY(og_tree_new(&tree, err));
    int64_t nodes = 0;
    og_status status = node ? og_tree_copy(tree, node, INT64_MAX, &nodes, &tree->root, err)
                            : og_tree_node(tree, OG_CONFIG_MAP, "(empty)", &tree->root, err);
    if (status == OG_OK && node) status = keep_path(tree, node, NULL, err);
    if (status != OG_OK) {
        og_tree_free(tree);
        return status;
    }
    *out = tree->root;
    return OG_OK;
}

og_status og_config_new_at(const og_config *node, const char *key, og_config **out, og_error *err) {
    og_tree *tree;
    const char *place = NULL;
    OG_TRY(og_tree_new(&tree, err));
    og_status status = og_tree_string(tree, og_config_place(node), (int64_t)strlen(og_config_place(node)), &place, err);
    if (status == OG_OK) status = og_tree_node(tree, OG_CONFIG_MAP, place, &tree->root, err);
    if (status == OG_OK) status = keep_path(tree, node, key, err);
    if (status != OG_OK) {
        og_tree_free(tree);
        return status;
    }
    *out = tree->root;
    return OG_OK;
}

void og_config_free(og_config *root) {
    if (root && root->tree->root == root) og_tree_free(root->tree);
}

int32_t og_config_kind(const og_config *node) { return node ? node->kind : OG_CONFIG_NULL; }
int64_t og_config_size(const og_config *node) { return node ? node->size : 0; }

const og_config *og_config_at(const og_config *node, int64_t i) {
    return node && i >= 0 && i < node->size ? node->entries[i].value : NULL;
}

const char *og_config_key_at(const og_config *map, int64_t i) {
    return map && i >= 0 && i < map->size ? map->entries[i].key : NULL;
}

const char *og_config_place(const og_config *node) { return node ? node->place : "(no config)"; }

/* The element that a path step names in a list: all digits, inside. */
static const og_config *element(const og_config *list, const char *step, size_t bytes) {
    int64_t i = 0;
    if (bytes == 0 || bytes > 18) return NULL;
    for (size_t k = 0; k < bytes; k++) {
        if (step[k] < '0' || step[k] > '9') return NULL;
        i = i * 10 + (step[k] - '0');
    }
    return og_config_at(list, i);
}

const og_config *og_config_get(const og_config *map, const char *key) {
    if (!map || !key) return NULL;
    if (map->kind == OG_CONFIG_MAP) { /* a key may itself have dots: the whole text goes first */
        int64_t i = og_tree_find(map, key, strlen(key));
        if (i >= 0) return map->entries[i].value;
    }
    for (const og_config *node = map; node;) {
        size_t bytes = strcspn(key, ".");
        if (node->kind == OG_CONFIG_MAP) {
            int64_t i = og_tree_find(node, key, bytes);
            node = i >= 0 ? node->entries[i].value : NULL;
        } else {
            node = node->kind == OG_CONFIG_LIST ? element(node, key, bytes) : NULL;
        }
        if (!key[bytes]) return node;
        key += bytes + 1;
    }
    return NULL;
}
