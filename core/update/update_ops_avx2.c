/* update_ops_avx2.c: the kernels of updates for AVX2. */
#define OG_OPS      og_update_ops_avx2
#define OG_OPS_NAME "avx2"
#include "update/update_ops_body.h"
