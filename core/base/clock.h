/* clock.h: time that passes, for waits and measures. */
#ifndef OMNIGRAM_BASE_CLOCK_H
#define OMNIGRAM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment in the past. */
static inline int64_t og_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
