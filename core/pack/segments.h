/* segments.h: what a segment's tokens must be; shared by documents and packs. Not a public header. */
#ifndef OMNIGRAM_PACK_SEGMENTS_H
#define OMNIGRAM_PACK_SEGMENTS_H

#include <omnigram/pack.h>

/* The per-token arrays that documents and packs have alike. */
typedef struct og_token_arrays {
    const int32_t *tokens;
    const int8_t *modality;
    const int32_t *segment;
    const int32_t *row, *column, *level;
} og_token_arrays;

/* Tokens of a grid (row ends included), or -1 when the numbers are not a grid or overflow. */
int64_t og_segment_tokens(int32_t modality, int64_t rows, int64_t columns, int64_t levels, int32_t row_end);

/* Token by token: begin .. end of document number doc (for messages) holds its n segments, numbered
 * from first, in order, and markers between. Segment starts count from token zero. Reads nothing
 * outside begin .. end. whole: an image or audio has both its markers, the document too. */
og_status og_segments_check(const og_token_arrays *at, const og_segment *segments, int64_t first, int64_t n,
                            int64_t doc, int64_t begin, int64_t end, int64_t zero, int32_t whole, int32_t n_codebooks,
                            const og_id_map *ids, og_error *err);

/* Columns of the segments table, for files: doc, start, length (int64) and the six int32 fields. */
enum { OG_SEGMENT_GRID = 6 };

#endif
