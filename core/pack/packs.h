/* packs.h: og_packs as it lies in memory; not a public header. */
#ifndef OMNIGRAM_PACKS_H
#define OMNIGRAM_PACKS_H

#include <omnigram/pack.h>
#include <omnigram/safetensors.h>

/* Pack p has tokens [p * capacity, (p + 1) * capacity), documents doc_offsets[p] .. doc_offsets[p +
 * 1], their cumulative lengths at cu_seqlens[doc_offsets[p] + p], and segments segment_offsets[p]
 * .. segment_offsets[p + 1]. */
struct og_packs {
    int64_t n_packs, capacity, n_docs, n_segments;
    og_id_map ids;
    int32_t *tokens, *doc_id, *pos, *pos3;
    float *loss_weight;
    int8_t *modality;
    int32_t *segment_id, *row, *column, *level;
    int64_t *doc_offsets, *cu_seqlens, *segment_offsets;
    og_origin *origin;
    uint8_t *continues;
    og_segment *segments;
    int32_t n_codebooks;
    char (*codebooks)[OG_DIGEST_TEXT];
    og_config *counters;
    char *path;               /* absolute, of the file; NULL as `file` */
    const uint8_t *digests;   /* [n_packs][32] of a file: SHA-256 of each pack (packs_digest.c) */
    og_arrays *file;          /* NULL: the arrays are our own; else they lie in it (segments and codebooks
                                 stay ours) */
    _Atomic uint8_t *checked; /* [n_packs] of a file: 1 once og_pack_check has passed */
};

/* SHA-256 of everything that belongs to one pack (docs/packing.md, Files). */
og_status og_packs_digest(const og_pack *pack, uint8_t out[32], og_error *err);

#endif
