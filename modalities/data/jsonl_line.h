/* jsonl_line.h: one line of an interleaved-document file. */
#ifndef OMNIGRAM_MODALITIES_JSONL_LINE_H
#define OMNIGRAM_MODALITIES_JSONL_LINE_H

#include "data/strings.h"

#include <omnigram/modalities.h>

typedef struct og_jsonl_document {
    const char *id, *group; /* NULL when the line gives none */
    og_item *items;         /* og_release */
    int64_t n_items;
} og_jsonl_document;
/* A list of items, or {"items": [...], "id": ..., "group": ...}. An item has exactly one of text, image, audio; image
 * and audio are paths relative to root; it may have language, crop [x, y, w, h], flip. Strings go to `strings`. place
 * ("file:line") is in every message. */
og_status og_jsonl_line(const char *place, const char *root, const char *line, int64_t bytes, og_strings *strings,
                        og_jsonl_document *out, og_error *err);

#endif
