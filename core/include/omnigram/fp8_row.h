/* A row of fp8 values with block scales, as DeepSeek-V4.1 stores Engram's tables: 256 e4m3 bytes
 * and 8 ue8m0 bytes. */
#ifndef OMNIGRAM_FP8_ROW_H
#define OMNIGRAM_FP8_ROW_H

#include <omnigram/status.h>

OG_BEGIN

/* out[i] = e4m3[i] * 2^(ue8m0[i / (n / n_scales)] - 127), exact in f32 but for results below its
 * subnormals. n_scales divides n. A NaN byte of either gives NaN. out [n]. Source: vllm
 * docs/features/engram.md @0952bd72. */
OG_API og_status og_fp8_row_decode(const uint8_t *e4m3, int64_t n, const uint8_t *ue8m0, int64_t n_scales, float *out,
                                   og_error *err) OG_MUST_USE;

OG_END
#endif
