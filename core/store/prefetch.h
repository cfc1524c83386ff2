/* prefetch.h: asks for the lines of a row. */
#ifndef OMNIGRAM_STORE_PREFETCH_H
#define OMNIGRAM_STORE_PREFETCH_H

#include <stdint.h>

/* GCC 12 takes a function of nothing but prefetches for one without effect and drops its calls; the empty asm says
 * otherwise. */
#define OG_KEEP_PREFETCH() __asm__ volatile("")

static inline void og_prefetch_near(const void *row, int64_t bytes) { /* into the first-level cache */
    OG_KEEP_PREFETCH();
    for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)row + b, 0, 3);
}
static inline void og_prefetch_far(const void *row, int64_t bytes) { /* into the second */
    OG_KEEP_PREFETCH();
    for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)row + b, 0, 2);
}

#endif
