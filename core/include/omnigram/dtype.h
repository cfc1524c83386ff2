/* Element types and exact conversions. */
#ifndef OMNIGRAM_DTYPE_H
#define OMNIGRAM_DTYPE_H

#include <omnigram/status.h>

OG_BEGIN

typedef int32_t og_dtype; /* pinned: on disk */
enum {
    OG_F32 = 1,
    OG_BF16 = 2,
    OG_F16 = 3,
    OG_FP8_E4M3 = 4, /* e4m3fn: no infinity, 0x7F and 0xFF are NaN */
    OG_INT8 = 5,
    OG_NF4 = 6, /* two values a byte, low nibble first */
    OG_F64 = 7,
    OG_U8 = 8,
    OG_I16 = 9,
    OG_I32 = 10,
    OG_I64 = 11,
    OG_BOOL = 12, /* one byte, 0 or 1 */
    OG_U16 = 13,
    OG_U32 = 14,
    OG_U64 = 15,
    OG_FP8_E5M2 = 16, /* stored, not computed with */
    OG_UE8M0 = 17,    /* a power of two: scales of FP8 blocks */
};

OG_API const char *
og_dtype_name(og_dtype dtype); /* safetensors' names: "F32", "BF16", "F8_E4M3", "I8" ...; NULL if unknown */
OG_API og_dtype og_dtype_from_name(const char *name); /* any case; "int8", "fp8_e4m3" too; 0 if unknown */
OG_API int64_t og_dtype_bits(og_dtype dtype);         /* of one element; 0 if unknown */

/* Round to nearest even; NaN stays NaN (payload kept where it fits, never turned into infinity); -0 and subnormals
 * stay. */
OG_API uint16_t og_bf16_from_f32(float value);
OG_API float og_f32_from_bf16(uint16_t bits);
OG_API uint16_t og_f16_from_f32(float value);
OG_API float og_f32_from_f16(uint16_t bits);
OG_API uint8_t og_e4m3_from_f32(float value); /* saturates at +-448 */
OG_API float og_f32_from_e4m3(uint8_t bits);
OG_API float og_f32_from_ue8m0(uint8_t bits); /* 2^(bits-127); 255 is NaN */

OG_END
#endif
