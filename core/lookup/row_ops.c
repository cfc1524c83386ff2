/* row_ops.c: the plain C kernels of lookups, and the kernels of a level. */
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
