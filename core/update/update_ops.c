/* update_ops.c: the plain C kernels of updates, and the choice of a level. */
#define OG_OPS      og_update_ops_c
#define OG_OPS_NAME "c"
#include "update/update_ops_body.h"

#include "lookup/row_ops.h"

const og_update_ops *og_update_ops_of(int32_t level) {
    if (level > og_cpu_level()) return NULL;
#if defined(OG_HAVE_AVX512)
    if (level == OG_LEVEL_AVX512) return &og_update_ops_avx512;
#endif
#if defined(OG_HAVE_AVX2)
    if (level == OG_LEVEL_AVX2) return &og_update_ops_avx2;
#endif
    return level == OG_LEVEL_C ? &og_update_ops_c : NULL;
}
