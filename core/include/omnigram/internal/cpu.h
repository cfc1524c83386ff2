/* The instruction sets of this CPU, asked in one place. Not installed, not exported. */
#ifndef OMNIGRAM_INTERNAL_CPU_H
#define OMNIGRAM_INTERNAL_CPU_H

#include <omnigram/status.h>

OG_BEGIN

enum { OG_LEVEL_C = 0, OG_LEVEL_AVX2 = 1, OG_LEVEL_AVX512 = 2 }; /* what files named x_avx2.c and x_avx512.c may use */

/* The best level that this CPU has, that this build holds and that the environment variable OG_CPU (c, avx2, avx512)
 * allows; with a wrong value of it, the best: og_cpu_check says so. Read once. */
int32_t og_cpu_level(void);

OG_END
#endif
