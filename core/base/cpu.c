/* cpu.c: the instruction sets of this CPU, and the one that OG_CPU allows. */
#include <omnigram/internal/cpu.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(OG_HAVE_AVX2)
#include <cpuid.h>

/* clang 14 knows no name for F16C. */
static int has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static const char *const level_names[] = {"c", "avx2", "avx512"}; /* of OG_LEVEL_* */
enum { N_LEVELS = sizeof level_names / sizeof *level_names };

/* The level that OG_CPU names: the best without it, -1 for a word that is none. */
static int32_t allowed(void) {
    const char *word = getenv("OG_CPU");
    if (!word || !*word) return N_LEVELS - 1;
    for (int32_t level = 0; level < N_LEVELS; level++)
        if (!strcmp(word, level_names[level])) return level;
    return -1;
}

og_status og_cpu_check(og_error *err) {
    if (allowed() >= 0) return OG_OK;
    return og_fail(err, OG_EINVAL, "the environment variable OG_CPU is '%.40s'; it may be c, avx2 or avx512",
                   getenv("OG_CPU"));
}

static int32_t detect(void) {
    int32_t level = OG_LEVEL_C, most = allowed();
#if defined(OG_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() && __builtin_cpu_supports("bmi2"))
        level = OG_LEVEL_AVX2;
#endif
#if defined(OG_HAVE_AVX512)
    if (level == OG_LEVEL_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        level = OG_LEVEL_AVX512;
#endif
    return most >= 0 && level > most ? most : level;
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
