/* update_ops_avx512.c: the kernels of updates for AVX-512. */
#define OG_OPS      og_update_ops_avx512
#define OG_OPS_NAME "avx512"
#include "update/update_ops_body.h"
