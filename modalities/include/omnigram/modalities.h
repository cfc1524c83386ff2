#ifndef OMNIGRAM_MODALITIES_H
#define OMNIGRAM_MODALITIES_H

#include <omnigram/core.h>

OG_BEGIN
typedef struct og_modality_type { uint32_t abi; const char *name; } og_modality_type;
extern OG_API const og_modality_type *const og_modality_types[];
typedef struct og_dataset_type { uint32_t abi; const char *name; } og_dataset_type;
extern OG_API const og_dataset_type *const og_dataset_types[];
OG_END
#endif
