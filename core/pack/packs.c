/* packs.c: what a set of packs answers. */
#include "pack/packs.h"

#include "pack/pack_file.h"

#include <omnigram/memory.h>

#include <stdatomic.h>
#include <stdio.h>

void og_packs_free(og_packs *p) {
    if (!p) return;
    if (!p->file) {
        void *own[] = {p->tokens,          p->doc_id, p->pos,      p->pos3,  p->loss_weight, p->modality,
                       p->segment_id,      p->row,    p->column,   p->level, p->doc_offsets, p->cu_seqlens,
                       p->segment_offsets, p->origin, p->continues};
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) og_release(own[i]);
    }
    og_release(p->segments);
    og_release(p->codebooks);
    og_release((void *)p->checked);
    og_config_free(p->counters);
    og_release(p->path);
    og_arrays_close(p->file);
    og_release(p);
}

int64_t og_packs_count(const og_packs *packs) { return packs->n_packs; }
int64_t og_packs_capacity(const og_packs *packs) { return packs->capacity; }
const og_id_map *og_packs_ids(const og_packs *packs) { return &packs->ids; }
int32_t og_packs_codebook_count(const og_packs *packs) { return packs->n_codebooks; }
const char *og_packs_codebook(const og_packs *packs, int32_t i) {
    return i >= 0 && i < packs->n_codebooks ? packs->codebooks[i] : NULL;
}
int32_t og_packs_codebook_modality(const og_packs *packs, int32_t i) {
    for (int64_t s = 0; i >= 0 && s < packs->n_segments; s++)
        if (packs->segments[s].codebook == i &&
            (packs->segments[s].modality == OG_IMAGE || packs->segments[s].modality == OG_AUDIO))
            return packs->segments[s].modality;
    return -1;
}
const og_config *og_packs_counters(const og_packs *packs) { return packs->counters; }
const char *og_packs_path(const og_packs *packs) { return packs->path; }

/* What is wrong comes first, then that something is: an edited file hears where it breaks the contract. */
static og_status check(const og_packs *p, int64_t i, const og_pack *pack, og_error *err) {
    uint8_t is[32];
    char texts[2][OG_DIGEST_TEXT];
    OG_TRY(og_pack_check(pack, &p->ids, err));
    for (int64_t k = 0; k < pack->n_segments; k++) /* a pack alone does not know the list of codebooks */
        if (pack->segments[k].codebook >= p->n_codebooks)
            return og_fail(err, OG_EFORMAT, "segment %lld: codebook %d; there are %d", (long long)k,
                           pack->segments[k].codebook, p->n_codebooks);
    OG_TRY(og_packs_digest(pack, is, err));
    for (int32_t b = 0; b < 32; b++) {
        snprintf(texts[0] + 2 * b, 3, "%02x", p->digests[32 * i + b]);
        snprintf(texts[1] + 2 * b, 3, "%02x", is[b]);
    }
    return og_pack_digest_compare(texts[0], texts[1], err);
}

og_status og_packs_get(const og_packs *p, int64_t i, og_pack *out, og_error *err) {
    if (i < 0 || i >= p->n_packs)
        return og_fail(err, OG_EINVAL, "pack %lld; there are %lld", (long long)i, (long long)p->n_packs);
    int64_t t = i * p->capacity, d = p->doc_offsets[i], s = p->segment_offsets[i];
    const og_pack pack = {
        .n_tokens = p->capacity,
        .n_docs = p->doc_offsets[i + 1] - d,
        .n_valid = p->cu_seqlens[p->doc_offsets[i + 1] + i],
        .n_segments = p->segment_offsets[i + 1] - s,
        .tokens = p->tokens + t,
        .cu_seqlens = p->cu_seqlens + d + i,
        .doc_id = p->doc_id + t,
        .pos = p->pos + t,
        .pos3 = p->pos3 + 3 * t,
        .loss_weight = p->loss_weight + t,
        .modality = p->modality + t,
        .segment_id = p->segment_id + t,
        .row = p->row + t,
        .column = p->column + t,
        .level = p->level + t,
        .segments = p->segments + s,
        .origin = p->origin + d,
        .continues = p->continues + d,
    };
    if (p->checked && !atomic_load_explicit(&p->checked[i], memory_order_relaxed)) {
        og_status status = check(p, i, &pack, err);
        if (status != OG_OK) return og_fail_at(err, status, "%s: pack %lld", p->path, (long long)i);
        atomic_store_explicit(&p->checked[i], 1, memory_order_relaxed);
    }
    *out = pack;
    return OG_OK;
}
