/* pack_check.c: the invariants of a pack. */
#include "pack/positions.h"
#include "pack/segments.h"

#include <omnigram/memory.h>

#include <string.h>

static og_status check_document(const og_pack *pack, int64_t d, const og_id_map *ids, int64_t *segment, int32_t *pos3,
                                og_error *err) {
    int64_t begin = pack->cu_seqlens[d], end = pack->cu_seqlens[d + 1], first = *segment, last = first;
    if (begin >= end || end > pack->n_valid)
        return og_fail(err, OG_EFORMAT, "document %lld: tokens [%lld, %lld) of %lld; it must not be empty",
                       (long long)d, (long long)begin, (long long)end, (long long)pack->n_valid);
    if (pack->origin[d].length != end - begin || pack->origin[d].offset < 0)
        return og_fail(err, OG_EFORMAT, "document %lld: origin [%lld, +%lld) of %lld tokens", (long long)d,
                       (long long)pack->origin[d].offset, (long long)pack->origin[d].length, (long long)(end - begin));
    while (last < pack->n_segments && pack->segments[last].doc == d) last++;
    const og_token_arrays at = {pack->tokens, pack->modality, pack->segment_id, pack->row, pack->column, pack->level};
    OG_TRY(
        og_segments_check(&at, pack->segments + first, first, last - first, d, begin, end, 0, 0, INT32_MAX, ids, err));
    *segment = last;
    if (pack->continues[d] > 1)
        return og_fail(err, OG_EFORMAT, "document %lld: continues is %d; it must be 0 or 1", (long long)d,
                       pack->continues[d]);
    int32_t start = pack->continues[d] ? pack->pos[begin] : 0, start3 = pack->continues[d] ? pack->pos3[3 * begin] : 0;
    if (start < 0 || start3 < 0 || start > INT32_MAX - (end - begin) || start3 > INT32_MAX - 2 * (end - begin))
        return og_fail(err, OG_EFORMAT, "document %lld: positions start at %d and %d", (long long)d, start, start3);
    /* a continued image would have a row unlike its time; images are never cut, so the first token
     * has all three alike */
    og_positions3(pack->segments + first, last - first, begin, end, start3, pos3);
    for (int64_t t = begin; t < end; t++) {
        if (pack->doc_id[t] != d)
            return og_fail(err, OG_EFORMAT, "token %lld: document id %d; it must be %lld", (long long)t,
                           pack->doc_id[t], (long long)d);
        if (pack->pos[t] != start + (t - begin))
            return og_fail(err, OG_EFORMAT, "token %lld: position %d; it must be %lld", (long long)t, pack->pos[t],
                           (long long)(start + (t - begin)));
        if (memcmp(pack->pos3 + 3 * t, pos3 + 3 * (t - begin), 3 * sizeof *pos3))
            return og_fail(err, OG_EFORMAT, "token %lld: position (%d, %d, %d); it must be (%d, %d, %d)", (long long)t,
                           pack->pos3[3 * t], pack->pos3[3 * t + 1], pack->pos3[3 * t + 2], pos3[3 * (t - begin)],
                           pos3[3 * (t - begin) + 1], pos3[3 * (t - begin) + 2]);
        if (!(pack->loss_weight[t] >= 0) || (t == begin && pack->loss_weight[t] != 0))
            return og_fail(err, OG_EFORMAT,
                           "token %lld: loss weight %g; it must be at least 0, and 0 at a "
                           "document's first token",
                           (long long)t, (double)pack->loss_weight[t]);
    }
    return OG_OK;
}

static og_status check_pads(const og_pack *pack, const og_id_map *ids, og_error *err) {
    for (int64_t t = pack->n_valid; t < pack->n_tokens; t++)
        if (pack->tokens[t] != ids->base[OG_MARKER] + OG_MARK_PAD || pack->doc_id[t] != -1 ||
            pack->loss_weight[t] != 0 || pack->modality[t] != OG_MARKER || pack->segment_id[t] != -1 ||
            pack->row[t] != -1 || pack->column[t] != -1 || pack->level[t] != -1 || pack->pos[t] != 0 ||
            pack->pos3[3 * t] || pack->pos3[3 * t + 1] || pack->pos3[3 * t + 2])
            return og_fail(err, OG_EFORMAT,
                           "token %lld is behind the last document and no pad (id %d, document %d, weight %g)",
                           (long long)t, pack->tokens[t], pack->doc_id[t], (double)pack->loss_weight[t]);
    return OG_OK;
}

og_status og_pack_check(const og_pack *pack, const og_id_map *ids, og_error *err) {
    OG_TRY(og_id_map_check(ids, err));
    if (pack->n_tokens < 0 || pack->n_docs < 0 || pack->n_segments < 0 || pack->n_valid < 0 ||
        pack->n_valid > pack->n_tokens || pack->cu_seqlens[0] != 0 || pack->cu_seqlens[pack->n_docs] != pack->n_valid)
        return og_fail(err, OG_EFORMAT, "%lld documents end at token %lld of %lld", (long long)pack->n_docs,
                       (long long)pack->n_valid, (long long)pack->n_tokens);
    int64_t longest = 0, segment = 0;
    for (int64_t d = 0; d < pack->n_docs; d++) {
        int64_t begin = pack->cu_seqlens[d], end = pack->cu_seqlens[d + 1];
        if (begin < 0 || begin >= end || end > pack->n_valid)
            return og_fail(err, OG_EFORMAT, "document %lld: tokens [%lld, %lld) of %lld; it must not be empty",
                           (long long)d, (long long)begin, (long long)end, (long long)pack->n_valid);
        if (end - begin > longest) longest = end - begin;
    }
    int32_t *pos3 = og_alloc(longest, 3 * sizeof *pos3);
    if (!pos3) return og_fail(err, OG_ENOMEM, "no memory to check a document of %lld tokens", (long long)longest);
    og_status status = OG_OK;
    for (int64_t d = 0; d < pack->n_docs && status == OG_OK; d++)
        status = check_document(pack, d, ids, &segment, pos3, err);
    og_release(pos3);
    if (status != OG_OK) return status;
    if (segment != pack->n_segments)
        return og_fail(err, OG_EFORMAT,
                       "segment %lld: document %lld; segments must be ordered by document, of 0 .. %lld",
                       (long long)segment, (long long)pack->segments[segment].doc, (long long)pack->n_docs - 1);
    return check_pads(pack, ids, err);
}
