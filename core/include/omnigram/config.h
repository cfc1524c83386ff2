/* One config tree: typed values that know their file and line. It is filled from YAML, JSON or
 * `--a.b=value`, and read through tables of keys, so that an unknown key, a wrong type and a value out of
 * range are all found in one place and named with file, line and the nearest known key. */
#ifndef OMNIGRAM_CONFIG_H
#define OMNIGRAM_CONFIG_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_config og_config; /* a node: null, bool, integer, real, string, list or map */

enum {
    OG_CONFIG_NULL = 0,
    OG_CONFIG_BOOL = 1,
    OG_CONFIG_INTEGER = 2,
    OG_CONFIG_REAL = 3,
    OG_CONFIG_STRING = 4,
    OG_CONFIG_LIST = 5,
    OG_CONFIG_MAP = 6,
};

/* name is used in messages ("quickstart.yaml", "--train.lr"). Duplicate keys, aliases that nest and
 * documents deeper than 64 are errors. An empty text is an empty map. */
OG_API og_status og_config_from_yaml(const char *text, int64_t bytes, const char *name, og_config **out,
                                     og_error *err) OG_MUST_USE;
OG_API og_status og_config_from_yaml_file(const char *path, og_config **out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_from_json(const char *text, int64_t bytes, const char *name, og_config **out,
                                     og_error *err) OG_MUST_USE;
/* The same for data: a text may hold NUL. og_config_text reads any; to whatever else reads or writes a text, one with a
 * NUL is an error. */
OG_API og_status og_config_from_json_data(const char *text, int64_t bytes, const char *name, og_config **out,
                                          og_error *err) OG_MUST_USE;
OG_API og_status og_config_from_json_file(const char *path, og_config **out, og_error *err) OG_MUST_USE;
OG_API void og_config_free(og_config *root); /* the whole tree; only for a root */
/* A deep copy that its caller owns. Messages name the places and the whole key paths of what was copied. */
OG_API og_status og_config_copy(const og_config *node, og_config **out, og_error *err) OG_MUST_USE;
/* An empty map that messages name as if it stood at node (key NULL) or at node's child key. */
OG_API og_status og_config_new_at(const og_config *node, const char *key, og_config **out, og_error *err) OG_MUST_USE;

/* Applies "a.b.c=value" (value is YAML: 3, true, [1, 2], {x: 1}, text); makes missing maps on the way. null,
 * or nothing, takes a key away that is there. */
OG_API og_status og_config_override(og_config *root, const char *assignment, og_error *err) OG_MUST_USE;
/* Puts a deep copy of value, of any tree, under key (the whole word, dots and all); it keeps its places. */
OG_API og_status og_config_put(og_config *map, const char *key, const og_config *value, og_error *err) OG_MUST_USE;
/* The same for a value as YAML text, which messages name at the map's place: a default that the program fills in. */
OG_API og_status og_config_set(og_config *map, const char *key, const char *yaml, og_error *err) OG_MUST_USE;
/* Values of over replace those of base, maps merge, null takes a key away. over is unchanged. */
OG_API og_status og_config_merge(og_config *base, const og_config *over, og_error *err) OG_MUST_USE;

OG_API int32_t og_config_kind(const og_config *node); /* NULL: OG_CONFIG_NULL */
OG_API int64_t og_config_size(const og_config *node); /* elements of a list or map, else 0 */
/* Borrowed child by (dotted) key, or NULL. */
OG_API const og_config *og_config_get(const og_config *map, const char *key);
OG_API const og_config *og_config_at(const og_config *node, int64_t i); /* i-th value, in file order */
OG_API const char *og_config_key_at(const og_config *map, int64_t i);   /* i-th key */
OG_API const char *og_config_place(const og_config *node);              /* "file:line" */
/* For messages, into text: "file:12: a.b[2]", or "--a.b" where an override set it. OG_WHERE(node) is the same in a
 * block's own memory. */
#define OG_WHERE_TEXT 320
OG_API const char *og_config_where(const og_config *node, char text[OG_WHERE_TEXT]);
#define OG_WHERE(node) og_config_where(node, (char[OG_WHERE_TEXT]){0})

/* The value of one node; an error names place, value and the wanted type. Strings and arrays are
 * borrowed from the tree. An integer is a valid real. */
OG_API og_status og_config_bool(const og_config *node, int32_t *out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_i64(const og_config *node, int64_t *out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_f64(const og_config *node, double *out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_string(const og_config *node, const char **out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_text(const og_config *node, const char **out, int64_t *bytes, og_error *err) OG_MUST_USE;

/* Text of a tree, to be released with og_release. JSON is canonical: keys sorted, no spaces, shortest numbers that
 * read back equal, so that equal trees give equal bytes (fingerprints rest on it). */
OG_API og_status og_config_to_json(const og_config *node, char **out, og_error *err) OG_MUST_USE;
OG_API og_status og_config_to_yaml(const og_config *node, char **out, og_error *err) OG_MUST_USE;

typedef struct og_i64_list {
    const int64_t *values; /* borrowed from the tree */
    int64_t n;
} og_i64_list;

/* Types of a key and what the field at `offset` is. */
enum {
    OG_KEY_I64 = 1,      /* int64_t */
    OG_KEY_F64 = 2,      /* double */
    OG_KEY_BOOL = 3,     /* int32_t */
    OG_KEY_STRING = 4,   /* const char *, borrowed from the tree or from the key table */
    OG_KEY_CHOICE = 5,   /* int32_t: index into choices "a|b|c" */
    OG_KEY_I64_LIST = 6, /* og_i64_list, borrowed from the tree; a bare integer is a list of one */
    OG_KEY_NODE = 7,     /* const og_config *, borrowed; NULL when absent */
};

/* One row of a table of keys; a table ends with a row whose name is NULL. */
typedef struct og_key {
    const char *name;
    int32_t type;
    size_t offset;
    /* Default as YAML scalar text (a list: "[1, 2]"; a string: the text itself, no quotes). NULL: the key is required;
     * "": absent (0, NULL, empty). A list from here lives as long as the process: equal texts share it. */
    const char *fallback;
    double least, most;  /* of each number (both 0: no limit); of the length for a string */
    const char *choices; /* OG_KEY_CHOICE: "hf|serving" */
    const char *help;    /* one line, with unit and source of the default */
} og_key;

/* Fills the struct at out from a map (NULL: an empty one) by its table. A key whose value is null takes its default.
 * Unknown keys, missing keys, wrong types and values out of limits are errors that name place, key, value, limit and
 * the nearest key.
 * On failure out is unspecified but owns nothing. */
OG_API og_status og_config_read(const og_config *map, const og_key *keys, void *out, og_error *err) OG_MUST_USE;
/* The nearest of `keys` to a word by edit distance, or NULL when none is near. */
OG_API const char *og_config_nearest(const char *word, const char *const *words, int64_t n);

OG_END
#endif
