/* offsets.h: cells at fixed offsets inside one segment's grid: what grid and levels have in common.
 * Not a public header. */
#ifndef OMNIGRAM_OFFSETS_H
#define OMNIGRAM_OFFSETS_H

#include "stencil.h"

typedef struct og_offset {
    int32_t dx, dy, dl; /* columns (right), rows (down), levels (finer) */
} og_offset;

enum { OG_OUTSIDE_ABSENT, OG_OUTSIDE_SENTINEL, OG_OUTSIDE_WRAP };
#define OG_OUTSIDE_CHOICES "absent|sentinel|wrap"
enum { OG_ANCHOR_CURRENT, OG_ANCHOR_NEXT };
#define OG_ANCHOR_CHOICES "current|next"

typedef struct og_offsets {
    int32_t modality, anchor, outside, leak;
    uint32_t levels;  /* bit l: n-grams exist at level l */
    int32_t sentinel; /* code of OG_OUTSIDE_SENTINEL */
    int32_t n;        /* offsets, without the current cell */
    og_offset cell[OG_MAX_ORDER];
} og_offsets;

/* What a stencil's words mean; 0 for a word that it does not know. */
typedef int og_offset_parse(const char *word, og_offset *out);
/* The list of one n-gram: cells differ, and there are as many as a window holds. */
og_status og_offsets_read(const og_config *list, og_offset_parse *parse, int32_t second_is_level, og_offsets *out,
                          og_error *err);

/* What a stencil of offsets alone has in common with every other: create's end, destroy, cells. */
og_status og_offsets_stencil(const og_offsets *offsets, const og_id_map *ids, og_stencil_impl **impl,
                             og_stencil_layout *layout, og_error *err);
void og_offsets_destroy(og_stencil_impl *impl);
void og_offsets_cells(const og_stencil_impl *impl, const og_pack *pack, const og_id_map *ids, int64_t first,
                      og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present);

#endif
