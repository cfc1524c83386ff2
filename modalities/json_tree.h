/* json_tree.h: what a jansson value says, as a config tree. */
#ifndef OMNIGRAM_MODALITIES_JSON_TREE_H
#define OMNIGRAM_MODALITIES_JSON_TREE_H

#include <omnigram/config.h>

#include <jansson.h>

/* Takes json, also on failure; NULL: memory was short when it was made. what names it in messages. The caller owns
 * *out. */
og_status og_json_tree(json_t *json, const char *what, og_config **out, og_error *err) OG_MUST_USE;

#endif
