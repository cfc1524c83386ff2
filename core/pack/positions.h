/* positions.h: positions inside a document, for the builder and the check; not a public header. */
#ifndef OMNIGRAM_PACK_POSITIONS_H
#define OMNIGRAM_PACK_POSITIONS_H

#include <omnigram/pack.h>

/* (time, row, column) of tokens begin .. end of one document of a pack, whose n segments begin
 * there (starts count from token 0 of the pack); the first has position `first`. out: [end -
 * begin][3]. */
static inline void og_positions3(const og_segment *segments, int64_t n, int64_t begin, int64_t end, int64_t first,
                                 int32_t *out) {
    int64_t p = first, t = begin;
    for (int64_t i = 0; i <= n; i++) {
        int64_t stop = i < n ? segments[i].start : end;
        for (; t < stop; t++, p++, out += 3) out[0] = out[1] = out[2] = (int32_t)p;
        if (i == n) break;
        const og_segment *s = &segments[i];
        int64_t width = (int64_t)s->columns * s->levels, stride = width + s->row_end;
        if (s->modality == OG_IMAGE) {
            for (int64_t k = 0; k < s->length; k++, t++, out += 3) {
                int64_t column = k % stride == width ? s->columns : k % stride / s->levels;
                out[0] = (int32_t)p;
                out[1] = (int32_t)(p + k / stride);
                out[2] = (int32_t)(p + column);
            }
            int64_t side = (int64_t)s->columns + s->row_end;
            p += s->rows > side ? s->rows : side;
        } else { /* text, frames */
            for (int64_t k = 0; k < s->length; k++, t++, out += 3)
                out[0] = out[1] = out[2] = (int32_t)(p + k / s->levels);
            p += s->length / s->levels;
        }
    }
}

#endif
