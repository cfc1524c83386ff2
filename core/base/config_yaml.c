/* config_yaml.c: YAML text to a config tree, by libyaml's events. */
#include "config_tree.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define ANCHORS      64     /* of one document */
#define ALIAS_VALUES 100000 /* values that aliases may make, so that a small file stays a small tree */

typedef struct anchor {
    const char *name;
    og_config *node;
    int complete, has_alias;
} anchor;

typedef struct builder {
    og_tree *tree;
    const char *name;
    og_config *open[OG_CONFIG_DEPTH];
    const char *key[OG_CONFIG_DEPTH]; /* of the open map: the key that waits for its value */
    const char *place;                /* of `line` */
    int64_t line;
    int depth, any_root;
    anchor anchors[ANCHORS];
    int n_anchors;
    int64_t alias_values;
} builder;

static og_status place_of(builder *b, const yaml_mark_t *mark, og_error *err) {
    int64_t line = (int64_t)mark->line + 1;
    if (b->place && b->line == line) return OG_OK;
    char text[OG_WHERE_TEXT];
    int n = snprintf(text, sizeof text, "%.256s:%lld", b->name, (long long)line);
    OG_TRY(og_tree_string(b->tree, text, n, &b->place, err));
    b->line = line;
    return OG_OK;
}

/* Puts a new value where the document stands. */
static og_status attach(builder *b, og_config *node, og_error *err) {
    if (b->depth == 0) {
        b->tree->root = node;
        return OG_OK;
    }
    og_config *parent = b->open[b->depth - 1];
    const char *key = b->key[b->depth - 1];
    b->key[b->depth - 1] = NULL;
    if (parent->kind == OG_CONFIG_MAP && !key)
        return og_fail(err, OG_EFORMAT, "%s: a key must be a single word or text", node->place);
    return og_tree_append(parent, key, node, err);
}

static og_status add_anchor(builder *b, const yaml_char_t *name, og_config *node, int complete, og_error *err) {
    if (!name) return OG_OK;
    if (b->n_anchors == ANCHORS) return og_fail(err, OG_EFORMAT, "%s: more than %d anchors", node->place, ANCHORS);
    anchor *a = &b->anchors[b->n_anchors];
    OG_TRY(og_tree_string(b->tree, (const char *)name, (int64_t)strlen((const char *)name), &a->name, err));
    a->node = node;
    a->complete = complete;
    a->has_alias = 0;
    b->n_anchors++;
    return OG_OK;
}

static og_status on_alias(builder *b, const yaml_event_t *event, og_error *err) {
    const char *name = (const char *)event->data.alias.anchor;
    if (b->depth && b->open[b->depth - 1]->kind == OG_CONFIG_MAP && !b->key[b->depth - 1])
        return og_fail(err, OG_EFORMAT, "%s: a key must be a single word or text, not the alias '*%.60s'", b->place,
                       name);
    for (int i = b->n_anchors - 1; i >= 0; i--) { /* the last anchor of a name counts */
        anchor *a = &b->anchors[i];
        if (strcmp(a->name, name) != 0) continue;
        if (!a->complete) return og_fail(err, OG_EFORMAT, "%s: '*%.60s' stands inside itself", b->place, name);
        if (a->has_alias)
            return og_fail(err, OG_EFORMAT, "%s: '*%.60s' holds an alias itself; aliases may not nest", b->place, name);
        og_config *node;
        OG_TRY(og_tree_copy(b->tree, a->node, ALIAS_VALUES, &b->alias_values, &node, err));
        for (int k = 0; k < b->n_anchors; k++)
            if (!b->anchors[k].complete) b->anchors[k].has_alias = 1;
        return attach(b, node, err);
    }
    return og_fail(err, OG_EFORMAT, "%s: no anchor '&%.60s' before '*%.60s'", b->place, name, name);
}

static og_status check_tag(const builder *b, const yaml_char_t *tag, const char *wanted, og_error *err) {
    if (!tag || strcmp((const char *)tag, wanted) == 0 || strcmp((const char *)tag, "!") == 0) return OG_OK;
    return og_fail(err, OG_ENOTSUP, "%s: the tag '%.80s' is not supported; quote a value to make it text", b->place,
                   (const char *)tag);
}

static og_status on_scalar(builder *b, const yaml_event_t *event, og_error *err) {
    const char *text = (const char *)event->data.scalar.value;
    int64_t bytes = (int64_t)event->data.scalar.length;
    OG_TRY(check_tag(b, event->data.scalar.tag, YAML_STR_TAG, err));
    if (memchr(text, 0, (size_t)bytes)) return og_fail(err, OG_EFORMAT, "%s: text with a zero character", b->place);
    const char *copy;
    OG_TRY(og_tree_string(b->tree, text, bytes, &copy, err));
    if (b->depth && b->open[b->depth - 1]->kind == OG_CONFIG_MAP && !b->key[b->depth - 1]) {
        if (strcmp(copy, "<<") == 0 && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
            return og_fail(err, OG_ENOTSUP, "%s: merge keys ('<<') are not part of YAML 1.2; write the keys out",
                           b->place);
        if (event->data.scalar.anchor)
            return og_fail(err, OG_ENOTSUP, "%s: an anchor on the key '%.60s'", b->place, copy);
        b->key[b->depth - 1] = copy;
        return OG_OK;
    }
    og_config *node;
    OG_TRY(og_tree_node(b->tree, OG_CONFIG_STRING, b->place, &node, err));
    node->string = copy;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag)
        OG_TRY(og_scalar_resolve(node, copy, err));
    OG_TRY(add_anchor(b, event->data.scalar.anchor, node, 1, err));
    return attach(b, node, err);
}

static og_status on_open(builder *b, int32_t kind, const yaml_char_t *name, og_error *err) {
    if (b->depth == OG_CONFIG_DEPTH)
        return og_fail(err, OG_EFORMAT, "%s: nested deeper than %d levels", b->place, OG_CONFIG_DEPTH);
    og_config *node;
    OG_TRY(og_tree_node(b->tree, kind, b->place, &node, err));
    OG_TRY(add_anchor(b, name, node, 0, err));
    OG_TRY(attach(b, node, err));
    b->open[b->depth] = node;
    b->key[b->depth] = NULL;
    b->depth++;
    return OG_OK;
}

static og_status on_close(builder *b, og_error *err) {
    og_config *node = b->open[--b->depth];
    for (int i = 0; i < b->n_anchors; i++)
        if (b->anchors[i].node == node) b->anchors[i].complete = 1;
    return node->kind == OG_CONFIG_LIST ? og_tree_seal(node, err) : OG_OK;
}

static og_status on_event(builder *b, const yaml_event_t *event, og_error *err) {
    OG_TRY(place_of(b, &event->start_mark, err));
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->tree->root) return og_fail(err, OG_EFORMAT, "%s: a second document; a config is one", b->place);
        return OG_OK;
    case YAML_ALIAS_EVENT: return on_alias(b, event, err);
    case YAML_SCALAR_EVENT: return on_scalar(b, event, err);
    case YAML_SEQUENCE_START_EVENT:
        OG_TRY(check_tag(b, event->data.sequence_start.tag, YAML_SEQ_TAG, err));
        return on_open(b, OG_CONFIG_LIST, event->data.sequence_start.anchor, err);
    case YAML_MAPPING_START_EVENT:
        OG_TRY(check_tag(b, event->data.mapping_start.tag, YAML_MAP_TAG, err));
        return on_open(b, OG_CONFIG_MAP, event->data.mapping_start.anchor, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return on_close(b, err);
    default: return OG_OK;
    }
}

static og_status parse(builder *b, const char *text, int64_t bytes, og_error *err) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return og_fail(err, OG_ENOMEM, "%s: no memory to read YAML", b->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, (size_t)bytes);
    og_status status = OG_OK;
    for (int done = 0; !done && status == OG_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            const char *problem = parser.problem ? parser.problem : "cannot be read";
            if (parser.error == YAML_MEMORY_ERROR)
                status = og_fail(err, OG_ENOMEM, "%s: no memory to read YAML", b->name);
            else
                status = og_fail(err, OG_EFORMAT, "%.256s:%lld: YAML: %s%s%s", b->name,
                                 (long long)parser.problem_mark.line + 1, parser.context ? parser.context : "",
                                 parser.context ? ": " : "", problem);
            break;
        }
        status = on_event(b, &event, err);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

static og_status build(builder *b, const char *text, int64_t bytes, og_error *err) {
    OG_TRY(parse(b, text, bytes, err));
    og_config *root = b->tree->root;
    if (!root || (root->kind == OG_CONFIG_NULL && !b->any_root)) {
        OG_TRY(place_of(b, &(yaml_mark_t){0}, err));
        return og_tree_node(b->tree, b->any_root ? OG_CONFIG_NULL : OG_CONFIG_MAP, b->place, &b->tree->root, err);
    }
    if (!b->any_root && root->kind != OG_CONFIG_MAP && root->kind != OG_CONFIG_LIST) {
        char what[OG_WHAT_TEXT];
        return og_fail(err, OG_EFORMAT, "%s: a config is a map (key: value), not %s", root->place,
                       og_config_what(root, what));
    }
    return OG_OK;
}

og_status og_yaml_value(const char *text, int64_t bytes, const char *name, int any_root, og_config **out,
                        og_error *err) {
    builder *b = og_alloc_zero(1, sizeof *b); /* some KB: not for a small stack */
    if (!b) return og_fail(err, OG_ENOMEM, "%s: no memory to read YAML", name);
    b->name = name;
    b->any_root = any_root;
    og_status status = og_tree_new(&b->tree, err);
    if (status == OG_OK) status = build(b, text, bytes, err);
    if (status == OG_OK)
        *out = b->tree->root;
    else
        og_tree_free(b->tree);
    og_release(b);
    return status;
}

og_status og_config_from_yaml(const char *text, int64_t bytes, const char *name, og_config **out, og_error *err) {
    return og_yaml_value(text, bytes, name, 0, out, err);
}

og_status og_config_from_yaml_file(const char *path, og_config **out, og_error *err) {
    char *text;
    int64_t bytes;
    OG_TRY(og_file_read(path, OG_CONFIG_FILE_LIMIT, &text, &bytes, err));
    og_status status = og_config_from_yaml(text, bytes, path, out, err);
    og_release(text);
    return status;
}
