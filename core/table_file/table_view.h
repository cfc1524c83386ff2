/* table_view.h: where the rows of one table file lie in its map. */
#ifndef OMNIGRAM_TABLE_VIEW_H
#define OMNIGRAM_TABLE_VIEW_H

#include "store/store_internal.h"

#include <omnigram/safetensors.h>
#include <omnigram/table_file.h>

#define OG_TABLE_FORMAT "table/1"

typedef struct og_table_view {
    og_table_identity identity; /* NULL strings for a foreign file */
    int64_t first, n, total;    /* rows of this file in the table */
    int64_t dim;
    int32_t dtype, group, state, layout;
    og_record record;                  /* as a store of this type has it */
    uint8_t *values, *scales, *states; /* of the file's first row */
    int64_t value_stride, scale_stride, state_stride;
} og_table_view;

/* tensor: NULL for a file that og_table_save wrote, else the name of a [rows, dim] tensor of any safetensors file (its
 * scales, where the type has some, are <tensor>_scale_inv or <tensor>_scale). */
og_status og_table_view_of(const og_arrays *arrays, const char *path, const char *tensor, og_table_view *out,
                           og_error *err);

/* A store over the rows of a view, without memory of its own. */
void og_store_over_view(og_store *store, const og_table_view *view);

#endif
