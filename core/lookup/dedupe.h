/* dedupe.h: ids sorted with their positions, for lookups and updates. */
#ifndef OMNIGRAM_LOOKUP_DEDUPE_H
#define OMNIGRAM_LOOKUP_DEDUPE_H

#include <stdint.h>

/* Ids in ascending order; equal ids in order of position. Lives in the scratch it was made in. */
typedef struct og_sorted {
    const uint64_t *packed; /* (id - least) << shift | position; or NULL: */
    const uint64_t *wide;   /* pairs of id - least, position */
    int64_t least, n;
    int32_t shift;
} og_sorted;

/* scratch: og_dedupe_bytes(n). */
og_sorted og_sort_ids(const int64_t *ids, int64_t n, void *scratch);

/* id - least */
static inline uint64_t og_sorted_id(const og_sorted *s, int64_t i) {
    return s->packed ? s->packed[i] >> s->shift : s->wide[2 * i];
}
static inline int64_t og_sorted_position(const og_sorted *s, int64_t i) {
    return (int64_t)(s->packed ? s->packed[i] & ((UINT64_C(1) << s->shift) - 1) : s->wide[2 * i + 1]);
}

/* Estimate of distinct / all for ids[0], ids[step] ..., from about a thousand of them. Negative ids do not count. */
double og_distinct_share(const int64_t *ids, int64_t step, int64_t n);

#endif
