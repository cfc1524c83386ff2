#ifndef OMNIGRAM_QUANTIZERS_H
#define OMNIGRAM_QUANTIZERS_H

#include <omnigram/core.h>

OG_BEGIN
typedef struct og_quantizer_type { uint32_t abi; const char *name; } og_quantizer_type;
extern OG_API const og_quantizer_type *const og_quantizer_types[];
OG_END
#endif
