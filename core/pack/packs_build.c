/* packs_build.c: documents to packs: cut by the policy, packed, laid out. */
#include "pack/cut.h"
#include "pack/packs.h"
#include "pack/plan.h"
#include "pack/positions.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const og_key policy_keys[] = {
    {"capacity", OG_KEY_I64, offsetof(og_pack_policy, capacity), "2048", 1, (double)OG_PACK_CAPACITY_MAX, NULL,
     "tokens of a pack"},
    {"method", OG_KEY_CHOICE, offsetof(og_pack_policy, method), "best_fit", 0, 0, "best_fit|first_fit|concat|none",
     "best-fit decreasing, first-fit, reading order, or one document a pack"},
    {"long_doc", OG_KEY_CHOICE, offsetof(og_pack_policy, long_doc), "error", 0, 0, "error|drop|truncate|fragment",
     "what happens to a document longer than a pack"},
    {"image", OG_KEY_CHOICE, offsetof(og_pack_policy, image), "atomic", 0, 0, "atomic|drop_doc|drop_image",
     "what happens to an image that no pack can hold: an error, or its document or it alone is "
     "left out"},
    {"fragment_context", OG_KEY_CHOICE, offsetof(og_pack_policy, fragment_context), "reset", 0, 0, "reset|carry",
     "whether a fragment begins anew, or its positions and windows go on from the one before"},
    {"fragment_overlap", OG_KEY_I64, offsetof(og_pack_policy, fragment_overlap), "4", 0, OG_PACK_CAPACITY_MAX, NULL,
     "carry: tokens of the fragment before, of weight 0, that a fragment begins with; n - 1 complete windows of n"},
    {"seed", OG_KEY_I64, offsetof(og_pack_policy, seed), "-1", -1, 9e15, NULL, "order of the packs; -1: as packed"},
    {0},
};
const og_key *og_pack_policy_keys(void) { return policy_keys; }

static og_status check_policy(const og_pack_policy *p, og_error *err) {
    if (p->capacity < 1 || p->capacity > OG_PACK_CAPACITY_MAX)
        return og_fail(err, OG_EINVAL, "pack.capacity %lld; it must be 1 .. %lld tokens", (long long)p->capacity,
                       (long long)OG_PACK_CAPACITY_MAX);
    const int32_t values[] = {p->method, p->long_doc, p->image, p->fragment_context};
    static const int32_t limits[] = {OG_PACK_NONE, OG_LONG_FRAGMENT, OG_IMAGE_DROP_IMAGE, OG_FRAGMENT_CARRY};
    static const char *const names[] = {"method", "long_doc", "image", "fragment_context"};
    for (int i = 0; i < 4; i++)
        if (values[i] < 0 || values[i] > limits[i])
            return og_fail(err, OG_EINVAL, "pack.%s %d; it must be 0 .. %d", names[i], values[i], limits[i]);
    if (p->fragment_overlap < 0 || (p->fragment_context == OG_FRAGMENT_CARRY && p->fragment_overlap > p->capacity / 2))
        return og_fail(err, OG_EINVAL, "pack.fragment_overlap %lld; it must be 0 .. %lld, half of pack.capacity",
                       (long long)p->fragment_overlap, (long long)p->capacity / 2);
    if (p->seed < -1) return og_fail(err, OG_EINVAL, "pack.seed %lld; it must be at least -1", (long long)p->seed);
    return OG_OK;
}

/* A piece touches a segment in at most one range (ranges part only where an image was removed). */
static int64_t overlap(const og_segment *s, const og_range *r, int64_t *begin) {
    int64_t end = s->start + s->length < r->end ? s->start + s->length : r->end;
    *begin = s->start > r->begin ? s->start : r->begin;
    return end > *begin ? end - *begin : 0;
}

static int64_t count_segments(const og_documents *d, const og_cut *cut, const og_piece *piece) {
    int64_t n = 0, begin;
    for (int64_t r = 0; r < piece->n_ranges; r++) {
        const og_range *range = &cut->ranges[piece->first_range + r];
        for (int64_t s = og_segment_after(d, piece->doc, range->begin); s < d->segment_offsets[piece->doc + 1]; s++) {
            if (!overlap(&d->segments[s], range, &begin)) break;
            n++;
        }
    }
    return n;
}

/* Lays a piece at token t of the packs' arrays, as document `number` of a pack that begins at token
 * zero. *segment: the next free one; its number in the pack is that minus first_segment. */
static void lay_piece(og_packs *p, const og_documents *d, const og_cut *cut, const og_piece *piece, int64_t number,
                      int64_t zero, int64_t t, int64_t first_segment, int64_t *segment) {
    const int64_t offset = d->offsets[piece->doc], begin = t;
    for (int64_t r = 0; r < piece->n_ranges; r++) {
        const og_range *range = &cut->ranges[piece->first_range + r];
        int64_t n = range->end - range->begin, from = offset + range->begin, at;
        memcpy(p->tokens + t, d->tokens + from, (size_t)n * sizeof *p->tokens);
        memcpy(p->modality + t, d->modality + from, (size_t)n * sizeof *p->modality);
        memcpy(p->row + t, d->row + from, (size_t)n * sizeof *p->row);
        memcpy(p->column + t, d->column + from, (size_t)n * sizeof *p->column);
        memcpy(p->level + t, d->level + from, (size_t)n * sizeof *p->level);
        for (int64_t i = 0; i < n; i++) p->segment_id[t + i] = -1;
        for (int64_t s = og_segment_after(d, piece->doc, range->begin); s < d->segment_offsets[piece->doc + 1]; s++) {
            int64_t length = overlap(&d->segments[s], range, &at);
            if (!length) break;
            int32_t id = (int32_t)(*segment - first_segment);
            og_segment *made = &p->segments[(*segment)++];
            *made = d->segments[s];
            int64_t start = t + at - range->begin, skipped = (at - made->start) / made->levels;
            if (made->modality != OG_IMAGE) { /* a part of a text or of the frames is a smaller one */
                made->columns = (int32_t)(length / made->levels);
                if (made->modality == OG_AUDIO)
                    for (int64_t i = start; i < start + length; i++) p->column[i] -= (int32_t)skipped;
            }
            made->doc = number;
            made->start = start - zero;
            made->length = length;
            for (int64_t i = start; i < start + length; i++) p->segment_id[i] = id;
        }
        t += n;
    }
    for (int64_t i = begin; i < t; i++) {
        p->doc_id[i] = (int32_t)number;
        p->loss_weight[i] = i - begin < (piece->context ? piece->context : 1) ? 0.0f : 1.0f;
    }
}

static void lay_positions(og_packs *p, const og_piece *piece, int32_t carry, int64_t zero, int64_t t, int64_t first_own,
                          int64_t n_own) {
    int64_t pos = carry ? piece->pos : 0, pos3 = carry ? piece->pos3 : 0;
    for (int64_t i = 0; i < piece->length; i++) p->pos[t + i] = (int32_t)(pos + i);
    og_positions3(p->segments + first_own, n_own, t - zero, t - zero + piece->length, pos3, p->pos3 + 3 * t);
}

static void lay_pads(og_packs *p, int64_t t, int64_t end) {
    for (; t < end; t++) {
        p->tokens[t] = p->ids.base[OG_MARKER] + OG_MARK_PAD;
        p->modality[t] = OG_MARKER;
        p->doc_id[t] = p->segment_id[t] = p->row[t] = p->column[t] = p->level[t] = -1;
        p->pos[t] = p->pos3[3 * t] = p->pos3[3 * t + 1] = p->pos3[3 * t + 2] = 0;
        p->loss_weight[t] = 0;
    }
}

static og_status allocate(og_packs *p, const og_documents *d, og_error *err) {
    int64_t tokens, n = p->n_packs;
    if (__builtin_mul_overflow(n, p->capacity, &tokens))
        return og_fail(err, OG_ENOMEM, "%lld packs of %lld tokens", (long long)n, (long long)p->capacity);
    p->tokens = og_alloc(tokens, sizeof *p->tokens);
    p->doc_id = og_alloc(tokens, sizeof *p->doc_id);
    p->pos = og_alloc(tokens, sizeof *p->pos);
    p->pos3 = og_alloc(tokens, 3 * sizeof *p->pos3);
    p->loss_weight = og_alloc(tokens, sizeof *p->loss_weight);
    p->modality = og_alloc(tokens, sizeof *p->modality);
    p->segment_id = og_alloc(tokens, sizeof *p->segment_id);
    p->row = og_alloc(tokens, sizeof *p->row);
    p->column = og_alloc(tokens, sizeof *p->column);
    p->level = og_alloc(tokens, sizeof *p->level);
    p->doc_offsets = og_alloc_zero(n + 1, sizeof *p->doc_offsets);
    p->segment_offsets = og_alloc_zero(n + 1, sizeof *p->segment_offsets);
    p->cu_seqlens = og_alloc(p->n_docs + n, sizeof *p->cu_seqlens);
    p->origin = og_alloc(p->n_docs, sizeof *p->origin);
    p->continues = og_alloc_zero(p->n_docs, sizeof *p->continues);
    p->segments = og_alloc(p->n_segments, sizeof *p->segments);
    p->codebooks = og_alloc(d->n_codebooks, sizeof *p->codebooks);
    if (!p->tokens || !p->doc_id || !p->pos || !p->pos3 || !p->loss_weight || !p->modality || !p->segment_id ||
        !p->row || !p->column || !p->level || !p->doc_offsets || !p->segment_offsets || !p->cu_seqlens || !p->origin ||
        !p->continues || !p->segments || !p->codebooks)
        return og_fail(err, OG_ENOMEM, "no memory for %lld packs of %lld tokens", (long long)n, (long long)p->capacity);
    if (d->n_codebooks) memcpy(p->codebooks, d->codebooks, (size_t)d->n_codebooks * sizeof *p->codebooks);
    p->n_codebooks = d->n_codebooks;
    return OG_OK;
}

static void lay_out(og_packs *p, const og_documents *d, const og_cut *cut, const og_pack_plan *plan,
                    const int64_t *order, int32_t carry) {
    int64_t doc = 0, segment = 0;
    for (int64_t k = 0; k < p->n_packs; k++) {
        int64_t zero = k * p->capacity, t = zero, first_segment = segment, bin = order[k];
        int64_t *cu = p->cu_seqlens + doc + k;
        *cu = 0;
        for (int64_t i = plan->bin_offsets[bin]; i < plan->bin_offsets[bin + 1]; i++, doc++) {
            const og_piece *piece = &cut->pieces[plan->docs[i]];
            int64_t number = i - plan->bin_offsets[bin], own = segment;
            lay_piece(p, d, cut, piece, number, zero, t, first_segment, &segment);
            lay_positions(p, piece, carry, zero, t, own, segment - own);
            p->origin[doc] = d->origins[piece->doc];
            p->origin[doc].offset += cut->ranges[piece->first_range].begin;
            p->origin[doc].length = piece->length;
            p->continues[doc] = carry && piece->number > 0;
            t += piece->length;
            cu[number + 1] = t - zero;
        }
        p->doc_offsets[k + 1] = doc;
        p->segment_offsets[k + 1] = segment;
        lay_pads(p, t, zero + p->capacity);
    }
}

static int tally_json(char *at, size_t room, const char *name, const og_tally *t, int tokens) {
    int64_t cut = tokens ? t->lost[OG_LOST_TRUNCATED] : t->cut;
    return snprintf(at, room,
                    "\"%s\":{\"read\":%" PRId64 ",\"kept\":%" PRId64 ",\"cut\":%" PRId64
                    ",\"dropped\":{\"long\":%" PRId64 ",\"image_document\":%" PRId64 ",\"image\":%" PRId64
                    ",\"truncated\":%" PRId64 "}},",
                    name, t->read, t->kept, cut, t->lost[OG_LOST_LONG], t->lost[OG_LOST_IMAGE_DOCUMENT],
                    t->lost[OG_LOST_IMAGE], tokens ? 0 : t->lost[OG_LOST_TRUNCATED]);
}

static og_status count(og_packs *p, const og_documents *d, const og_cut *cut, const og_pack_plan *plan,
                       const og_pack_policy *policy, og_error *err) {
    static const char *const methods[] = {"best_fit", "first_fit", "concat", "none"};
    char json[2048];
    size_t n = (size_t)snprintf(json, sizeof json, "{\"packing\":{");
    n += (size_t)tally_json(json + n, sizeof json - n, "documents", &cut->documents, 0);
    n += (size_t)tally_json(json + n, sizeof json - n, "tokens", &cut->tokens, 1);
    n += (size_t)tally_json(json + n, sizeof json - n, "images", &cut->images, 0);
    n += (size_t)snprintf(json + n, sizeof json - n,
                          "\"kept_tokens\":{\"text\":%" PRId64 ",\"image\":%" PRId64 ",\"audio\":%" PRId64
                          ",\"marker\":%" PRId64 ",\"context\":%" PRId64 ",\"pad\":%" PRId64 "},\"fragmented\":%" PRId64
                          ",\"pieces\":%" PRId64 ",\"short_fragments\":%" PRId64 ",\"capacity\":%" PRId64
                          ",\"method\":\"%s\",\"bins\":%" PRId64 ",\"lower_bound\":%" PRId64 ",\"fill\":%.17g}}",
                          cut->kept_tokens[OG_TEXT], cut->kept_tokens[OG_IMAGE], cut->kept_tokens[OG_AUDIO],
                          cut->kept_tokens[OG_MARKER], cut->context_tokens,
                          plan->n_bins * policy->capacity - cut->tokens.kept - cut->context_tokens, cut->fragmented,
                          cut->n_pieces, cut->short_fragments, policy->capacity, methods[policy->method], plan->n_bins,
                          plan->lower_bound, plan->fill);
    og_config *own = NULL;
    OG_TRY(og_config_from_json(json, (int64_t)n, "packing counters", &own, err));
    if (!d->counters) {
        p->counters = own;
        return OG_OK;
    }
    og_status status = og_config_copy(d->counters, &p->counters, err);
    if (status == OG_OK) status = og_config_merge(p->counters, own, err);
    og_config_free(own);
    return status;
}

static og_status build(og_packs *p, const og_documents *d, const og_pack_policy *policy, og_cut *cut,
                       og_pack_plan **plan, int64_t **scratch, og_error *err) {
    OG_TRY(og_cut_documents(d, policy, cut, err));
    int64_t *lengths = *scratch = og_alloc(cut->n_pieces, sizeof *lengths);
    if (!lengths) return og_fail(err, OG_ENOMEM, "no memory to pack %lld documents", (long long)cut->n_pieces);
    for (int64_t i = 0; i < cut->n_pieces; i++) {
        lengths[i] = cut->pieces[i].length;
        p->n_segments += count_segments(d, cut, &cut->pieces[i]);
    }
    OG_TRY(og_pack_lengths(lengths, cut->n_pieces, policy->capacity, policy->method, plan, err));
    p->n_packs = (*plan)->n_bins;
    p->n_docs = cut->n_pieces;
    OG_TRY(allocate(p, d, err));
    int64_t *order = lengths; /* there are no more packs than pieces */
    for (int64_t i = 0; i < p->n_packs; i++) {
        order[i] = i;
        if (policy->seed < 0) continue;
        int64_t j = (int64_t)og_random_below((uint64_t)policy->seed, (uint64_t)i, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    lay_out(p, d, cut, *plan, order, policy->fragment_context == OG_FRAGMENT_CARRY);
    return count(p, d, cut, *plan, policy, err);
}

og_status og_packs_build(const og_documents *documents, const og_pack_policy *policy, og_packs **out, og_error *err) {
    OG_TRY(check_policy(policy, err));
    og_packs *p = og_alloc_zero(1, sizeof *p);
    if (!p) return og_fail(err, OG_ENOMEM, "no memory for packs");
    p->ids = documents->ids;
    p->capacity = policy->capacity;
    og_cut cut = {0};
    og_pack_plan *plan = NULL;
    int64_t *scratch = NULL;
    og_status status = build(p, documents, policy, &cut, &plan, &scratch, err);
    og_cut_free(&cut);
    og_pack_plan_free(plan);
    og_release(scratch);
    if (status != OG_OK) {
        og_packs_free(p);
        return status;
    }
    *out = p;
    return OG_OK;
}
