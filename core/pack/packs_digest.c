/* packs_digest.c: the SHA-256 of one pack, by which its bytes in a file are checked before they are used. */
#include "pack/pack_file.h"
#include "pack/packs.h"

#include <omnigram/memory.h>

#include <stdlib.h>

og_status og_packs_digest(const og_pack *p, uint8_t out[32], og_error *err) {
    int64_t *place = NULL, t = p->n_tokens;
    int32_t *grid = NULL;
    char text[OG_DIGEST_TEXT], byte[3] = "";
    OG_TRY(og_pack_segments_split(p->segments, p->n_segments, &place, &grid, err));
#define PART(name, type, rank, ...)                                                                                    \
    { #name, type, rank, {__VA_ARGS__ }, (void *)(uintptr_t)p->name }
    const og_file_array parts[] = {
        PART(tokens, OG_I32, 1, t),
        PART(doc_id, OG_I32, 1, t),
        PART(pos, OG_I32, 1, t),
        PART(pos3, OG_I32, 2, t, 3),
        PART(loss_weight, OG_F32, 1, t),
        PART(modality, OG_INT8, 1, t),
        PART(segment_id, OG_I32, 1, t),
        PART(row, OG_I32, 1, t),
        PART(column, OG_I32, 1, t),
        PART(level, OG_I32, 1, t),
        PART(cu_seqlens, OG_I64, 1, p->n_docs + 1),
        PART(origin, OG_I64, 2, p->n_docs, 4),
        PART(continues, OG_U8, 1, p->n_docs),
        {"segment_place", OG_I64, 2, {p->n_segments, 3}, place},
        {"segment_grid", OG_I32, 2, {p->n_segments, 6}, grid},
    };
#undef PART
    og_status status = og_pack_file_digest(NULL, 0, parts, sizeof parts / sizeof *parts, text, err);
    og_release(place);
    og_release(grid);
    OG_TRY(status);
    for (int32_t i = 0; i < 32; i++) {
        byte[0] = text[2 * i];
        byte[1] = text[2 * i + 1];
        out[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return OG_OK;
}
