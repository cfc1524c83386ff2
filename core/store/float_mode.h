/* float_mode.h: IEEE arithmetic for the length of a kernel, whatever the thread has set. */
#ifndef OMNIGRAM_STORE_FLOAT_MODE_H
#define OMNIGRAM_STORE_FLOAT_MODE_H

#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Frameworks set flush-to-zero on some threads and not on others; then the same update gives other bits on another
 * thread. enter returns what leave restores. */
static inline uint32_t og_float_mode_enter(void) {
#if defined(__x86_64__)
    uint32_t before = _mm_getcsr();
    _mm_setcsr(0x1f80); /* all exceptions masked, nearest, no FTZ, no DAZ */
    return before;
#else
    return 0;
#endif
}

static inline void og_float_mode_leave(uint32_t before) {
#if defined(__x86_64__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

#endif
