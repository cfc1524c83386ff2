/* stencil.h: what the stencils' files share. Not a public header. */
#ifndef OMNIGRAM_STENCIL_H
#define OMNIGRAM_STENCIL_H

#include <omnigram/tables.h>

/* Keys of every table; first member of every stencil's struct of keys. */
typedef struct og_stencil_keys {
    const char *stencil, *dtype;
    const og_config *addressing;
    int64_t dim;
    int32_t leak;
} og_stencil_keys;

/* clang-format off */
#define OG_STENCIL_KEYS(type)                                                                      \
    {"stencil", OG_KEY_STRING, offsetof(type, common.stencil), "lags", 0, 0, NULL,                 \
     "which earlier codes an n-gram is made of"},                                                  \
    {"addressing", OG_KEY_NODE, offsetof(type, common.addressing), "", 0, 0, NULL,                 \
     "scheme and its keys; absent: {scheme: mix64}"},                                              \
    {"dim", OG_KEY_I64, offsetof(type, common.dim), "64", 1, 65536, NULL, "values of a row"},      \
    {"dtype", OG_KEY_STRING, offsetof(type, common.dtype), "bf16", 1, 16, NULL,                    \
     "f32, bf16, f16, fp8_e4m3, int8 or nf4"},                                                     \
    {"leak", OG_KEY_BOOL, offsetof(type, common.leak), "false", 0, 0, NULL,                        \
     "look past every boundary, documents too: an ablation that must fail the audits"}
/* clang-format on */
#define OG_N_STENCIL_KEYS 5

#define OG_MODALITY_CHOICES "text|image|audio"

/* Codes of a modality over all its levels: id - base is below it. */
static inline int64_t og_stencil_codes(const og_id_map *ids, int32_t modality) {
    return (int64_t)ids->codes[modality] * ids->levels[modality];
}
/* Refuses a modality that the id map has no codes of. */
og_status og_stencil_modality(const og_config *config, const og_id_map *ids, int32_t modality, og_error *err);

#endif
