/* config_tree.h: how a config tree lies in memory; private to the config_*.c files. */
#ifndef OMNIGRAM_BASE_CONFIG_TREE_H
#define OMNIGRAM_BASE_CONFIG_TREE_H

#include "nearest.h"
#include "text.h"

#include <omnigram/config.h>

#define OG_CONFIG_DEPTH      64
#define OG_CONFIG_FILE_LIMIT (INT64_C(256) << 20)

typedef struct og_tree og_tree;

typedef struct og_entry {
    const char *key; /* NULL in a list */
    og_config *value;
} og_entry;

struct og_config {
    int32_t kind;
    int32_t boolean;
    int64_t integer;
    double real;
    const char *string;
    int64_t nul_bytes; /* of a string that holds NUL: its bytes; else 0 */
    const char *place; /* "file:line"; nodes of one line share it */
    const char *key;   /* in the parent, or NULL */
    og_config *parent;
    og_tree *tree;
    og_entry *entries; /* of a list or map, in file order */
    int64_t *order;    /* of a map: entry numbers sorted by key */
    int64_t *integers; /* of a list of integers only: its values */
    int64_t size, capacity;
};

/* The tree owns every byte of its nodes; what an edit replaces is freed with the tree. */
typedef struct og_chunk {
    struct og_chunk *next;
    int64_t used, bytes;
} og_chunk;

struct og_tree {
    og_chunk *chunks;
    og_config *root;
    const char *path; /* of the root in the config that it was copied from; NULL: it is the whole */
};

og_status og_tree_new(og_tree **out, og_error *err) OG_MUST_USE;
void og_tree_free(og_tree *tree);
og_status og_tree_string(og_tree *tree, const char *text, int64_t bytes, const char **out, og_error *err) OG_MUST_USE;
og_status og_tree_node(og_tree *tree, int32_t kind, const char *place, og_config **out, og_error *err) OG_MUST_USE;
/* Puts value behind the last element of a list, or of a map under key (refuses a duplicate). */
og_status og_tree_append(og_config *parent, const char *key, og_config *value, og_error *err) OG_MUST_USE;
/* Replaces the value of an entry, or appends. key is copied. */
og_status og_tree_put(og_config *map, const char *key, og_config *value, og_error *err) OG_MUST_USE;
/* Takes entry i out of a map; the rest keep their order. */
void og_tree_remove(og_config *map, int64_t i);
/* Gives a finished list of integers its array of values. */
og_status og_tree_seal(og_config *list, og_error *err) OG_MUST_USE;
/* Copies node (of any tree) into tree; counts nodes into *nodes and refuses more than limit. */
og_status og_tree_copy(og_tree *tree, const og_config *node, int64_t limit, int64_t *nodes, og_config **out,
                       og_error *err) OG_MUST_USE;
/* Entry number of key in a map, or -1. */
int64_t og_tree_find(const og_config *map, const char *key, size_t bytes);

/* Sets kind and value of node from a plain scalar by YAML's core schema; text is not copied. */
og_status og_scalar_resolve(og_config *node, const char *text, og_error *err) OG_MUST_USE;
#define OG_NUMBER_TEXT 32
/* Shortest text that reads back equal, always with '.', 'e', "inf" or "nan" in it (Python's repr). */
void og_scalar_real(double value, char out[OG_NUMBER_TEXT]);

/* One YAML text; any_root: it may be a single scalar. */
og_status og_yaml_value(const char *text, int64_t bytes, const char *name, int any_root, og_config **out,
                        og_error *err) OG_MUST_USE;

/* "a.b[2]" of a node into text; of the whole config: "". */
#define OG_PATH_TEXT 192
const char *og_config_path(const og_config *node, char text[OG_PATH_TEXT]);
/* "the string 'x'" and so on, for messages. */
#define OG_WHAT_TEXT 96
const char *og_config_what(const og_config *node, char text[OG_WHAT_TEXT]);

#endif
