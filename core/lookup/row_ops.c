/* row_ops.c: the plain C kernels of lookups, and the choice of a level. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void copy_lines(uint8_t *out, const uint8_t *row, int64_t lines, int32_t stream) {
    (void)stream;
    memcpy(out, row, (size_t)lines * 64);
}
static inline void copy_part(uint8_t *out, const uint8_t *row, int64_t bytes) { memcpy(out, row, (size_t)bytes); }
#define OG_STREAMS  0
#define OG_FENCE()  (void)0
#define OG_OPS      og_row_ops_c
#define OG_OPS_NAME "c"
#include "lookup/row_ops_body.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(OG_HAVE_AVX2)
#include <cpuid.h>

/* clang 14 knows no name for F16C. */
static int has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static int32_t detect(void) {
    int32_t level = OG_LEVEL_C;
#if defined(OG_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() && __builtin_cpu_supports("bmi2"))
        level = OG_LEVEL_AVX2;
#endif
#if defined(OG_HAVE_AVX512)
    if (level == OG_LEVEL_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        level = OG_LEVEL_AVX512;
#endif
    const char *mask = getenv("OG_CPU");
    if (mask && !strcmp(mask, "c")) level = OG_LEVEL_C;
    if (mask && !strcmp(mask, "avx2") && level > OG_LEVEL_AVX2) level = OG_LEVEL_AVX2;
    return level;
}

int32_t og_cpu_level(void) {
    static _Atomic int32_t known = -1;
    int32_t level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        level = detect();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

const og_row_ops *og_row_ops_of(int32_t level) {
    if (level > og_cpu_level()) return NULL;
#if defined(OG_HAVE_AVX512)
    if (level == OG_LEVEL_AVX512) return &og_row_ops_avx512;
#endif
#if defined(OG_HAVE_AVX2)
    if (level == OG_LEVEL_AVX2) return &og_row_ops_avx2;
#endif
    return level == OG_LEVEL_C ? &og_row_ops_c : NULL;
}
