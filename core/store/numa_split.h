/* numa_split.h: which part of a table lies on which node when its rows are split over nodes. */
#ifndef OMNIGRAM_STORE_NUMA_SPLIT_H
#define OMNIGRAM_STORE_NUMA_SPLIT_H

#include <stdint.h>

/* Byte range of `node`: the equal range of rows it owns, with both ends rounded down to whole pages, so that the ranges
 * of all nodes cover [0, bytes) once. A row that crosses a page boundary lies on the node of its page. */
static inline void og_numa_split(int64_t rows, int64_t row_bytes, int64_t page_bytes, int32_t nodes, int32_t node,
                                 int64_t bytes, int64_t *begin, int64_t *end) {
    int64_t each = rows / nodes, more = rows % nodes;
    int64_t first = node * each + (node < more ? node : more);
    int64_t last = first + each + (node < more ? 1 : 0);
    *begin = first * row_bytes / page_bytes * page_bytes;
    *end = node + 1 == nodes ? bytes : last * row_bytes / page_bytes * page_bytes;
}

#endif
