/* cut.c: documents to pieces that fit a pack. Every token is kept in one piece or counted as lost,
 * by cause. */
#include "pack/cut.h"

#include <omnigram/memory.h>

enum { SHORT_FRAGMENT = 5 }; /* tokens: the highest order of the usual tables */

typedef struct walk {
    og_cut *cut;
    int64_t capacity, room; /* tokens that still fit the pack which the open piece is for */
    const og_documents *documents;
    int64_t overlap; /* tokens of context that a piece begins with, at most */
    int64_t clear;   /* context begins here at the earliest: behind the last image */
    int64_t doc, pos, pos3;
    int32_t truncate, stopped, number;
    og_piece piece; /* the open one; length 0: none */
} walk;

static og_status close_piece(walk *w, og_error *err) {
    og_cut *cut = w->cut;
    if (!w->piece.length) return OG_OK;
    OG_TRY(og_grow((void **)&cut->pieces, &cut->piece_capacity, cut->n_pieces + 1, sizeof *cut->pieces, err));
    cut->pieces[cut->n_pieces++] = w->piece;
    w->piece.length = 0;
    w->number++;
    return OG_OK;
}

static og_status add_range(walk *w, int64_t begin, int64_t n, og_error *err) {
    og_cut *cut = w->cut;
    if (!w->piece.length)
        w->piece = (og_piece){
            .doc = w->doc, .first_range = cut->n_ranges, .pos = w->pos, .pos3 = w->pos3, .number = w->number};
    if (w->piece.n_ranges && cut->ranges[cut->n_ranges - 1].end == begin) {
        cut->ranges[cut->n_ranges - 1].end += n;
    } else {
        OG_TRY(og_grow((void **)&cut->ranges, &cut->range_capacity, cut->n_ranges + 1, sizeof *cut->ranges, err));
        cut->ranges[cut->n_ranges++] = (og_range){begin, begin + n};
        w->piece.n_ranges++;
    }
    w->piece.length += n;
    w->room -= n;
    w->pos += n;
    return OG_OK;
}

int64_t og_segment_after(const og_documents *d, int64_t doc, int64_t token) {
    int64_t low = d->segment_offsets[doc], high = d->segment_offsets[doc + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (d->segments[middle].start + d->segments[middle].length <= token)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Begins a piece with the tokens before `begin` as its context: as many as are asked for and leave room for a unit,
 * whole audio frames, nothing of an image. */
static og_status repeat(walk *w, int64_t begin, int64_t unit, og_error *err) {
    const og_documents *d = w->documents;
    int64_t most = w->overlap < w->capacity - unit ? w->overlap : w->capacity - unit;
    int64_t from = begin - most > w->clear ? begin - most : w->clear;
    if (w->number == 0 || from >= begin) return OG_OK;
    int64_t advance = begin - from, i = og_segment_after(d, w->doc, from);
    for (; i < d->segment_offsets[w->doc + 1] && d->segments[i].start < begin; i++) {
        const og_segment *s = &d->segments[i];
        int64_t first = s->start, end = s->start + s->length < begin ? s->start + s->length : begin;
        if (from > first) { /* into its frames: from the next whole one on */
            first += (from - first + s->levels - 1) / s->levels * s->levels;
            advance -= first - from;
            from = first;
        }
        advance -= (end - first) - (end - first) / s->levels; /* the levels of a frame share its place */
    }
    if (from >= begin) return OG_OK;
    w->pos -= begin - from;
    w->pos3 -= advance;
    OG_TRY(add_range(w, from, begin - from, err));
    w->pos3 += advance;
    w->piece.context = begin - from;
    w->cut->context_tokens += begin - from;
    return OG_OK;
}

/* The next `length` tokens, which may be cut at multiples of unit only; a unit advances pos3 by
 * `advance`. *kept: how many stay. */
static og_status take(walk *w, int64_t begin, int64_t length, int64_t unit, int64_t advance, int64_t *kept,
                      og_error *err) {
    *kept = 0;
    while (length > 0 && !w->stopped) {
        int64_t n = w->room / unit * unit;
        if (n > length) n = length;
        if (n == 0) {
            if (w->truncate) {
                w->stopped = 1;
                break;
            }
            OG_TRY(close_piece(w, err));
            w->room = w->capacity;
            OG_TRY(repeat(w, begin, unit, err));
            continue;
        }
        OG_TRY(add_range(w, begin, n, err));
        w->pos3 += n / unit * advance;
        begin += n;
        length -= n;
        *kept += n;
    }
    return OG_OK;
}

static int64_t image_span(const og_segment *s) { return s->length + 2; } /* with its two markers */
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* What of one document is left out whole, and what that does. */
typedef struct verdict {
    int32_t lost; /* OG_LOST_* of the whole document, or -1 */
    int32_t remove_images;
    int64_t images, removed_images, removed_tokens;
} verdict;

static og_status judge(const og_documents *d, int64_t doc, const og_pack_policy *policy, verdict *out, og_error *err) {
    const og_origin *o = &d->origins[doc];
    int64_t length = d->offsets[doc + 1] - d->offsets[doc], left = 0;
    verdict v = {.lost = -1};
    const og_segment *too_large = NULL;
    for (int64_t s = d->segment_offsets[doc]; s < d->segment_offsets[doc + 1]; s++) {
        const og_segment *segment = &d->segments[s];
        int32_t image = segment->modality == OG_IMAGE;
        v.images += image;
        left++;
        if (!image || image_span(segment) <= policy->capacity) continue;
        if (!too_large) too_large = segment;
        v.removed_images++;
        v.removed_tokens += image_span(segment);
        left--;
    }
    if (too_large) {
        if (policy->image == OG_IMAGE_ATOMIC && policy->long_doc != OG_LONG_DROP)
            return og_fail(err, OG_EINVAL,
                           "document %lld:%lld: an image of %d x %d codes takes %lld tokens with "
                           "its markers, the pack holds %lld; "
                           "pack.image = drop_doc or drop_image leaves it out",
                           (long long)o->shard, (long long)o->index, too_large->rows, too_large->columns,
                           (long long)image_span(too_large), (long long)policy->capacity);
        if (policy->image == OG_IMAGE_DROP_DOC) v.lost = OG_LOST_IMAGE_DOCUMENT;
        if (policy->image == OG_IMAGE_DROP_IMAGE) {
            v.remove_images = 1;
            length -= v.removed_tokens;
            if (left == 0) v.lost = OG_LOST_IMAGE_DOCUMENT;
        }
    }
    if (v.lost < 0 && length > policy->capacity) {
        if (policy->long_doc == OG_LONG_ERROR)
            return og_fail(err, OG_EINVAL,
                           "document %lld:%lld: %lld tokens, the pack holds %lld; pack.long_doc = "
                           "drop, truncate or fragment says what to do",
                           (long long)o->shard, (long long)o->index, (long long)length, (long long)policy->capacity);
        if (policy->long_doc == OG_LONG_DROP) v.lost = OG_LOST_LONG;
    }
    *out = v;
    return OG_OK;
}

static og_status walk_document(walk *w, const og_documents *d, int64_t doc, const verdict *v,
                               int64_t kept[OG_N_MODALITIES], int64_t *kept_images, og_error *err) {
    int64_t at = 0, n, length = d->offsets[doc + 1] - d->offsets[doc];
    for (int64_t i = d->segment_offsets[doc]; i < d->segment_offsets[doc + 1]; i++) {
        const og_segment *s = &d->segments[i];
        int32_t image = s->modality == OG_IMAGE;
        int64_t begin = image ? s->start - 1 : s->start, span = image ? image_span(s) : s->length;
        OG_TRY(take(w, at, begin - at, 1, 1, &n, err)); /* markers before it */
        kept[OG_MARKER] += n;
        at = begin + span;
        if (image && v->remove_images && span > w->capacity) {
            w->clear = at;
            continue;
        }
        int64_t unit = image ? span : s->levels;
        int64_t advance = image ? 2 + max64(s->rows, (int64_t)s->columns + s->row_end) : 1;
        if (unit > w->capacity)
            return og_fail(err, OG_EINVAL,
                           "document %lld:%lld: an audio frame of %d codes cannot be cut, the pack "
                           "holds %lld tokens",
                           (long long)d->origins[doc].shard, (long long)d->origins[doc].index, s->levels,
                           (long long)w->capacity);
        OG_TRY(take(w, begin, span, unit, advance, &n, err));
        if (image) w->clear = at;
        if (image && n) {
            kept[OG_MARKER] += 2 + (s->row_end ? s->rows : 0);
            n -= 2 + (s->row_end ? s->rows : 0);
            *kept_images += 1;
        }
        kept[s->modality] += n;
    }
    OG_TRY(take(w, at, length - at, 1, 1, &n, err));
    kept[OG_MARKER] += n;
    return OG_OK;
}

static og_status cut_document(walk *w, const og_documents *d, int64_t doc, const og_pack_policy *policy,
                              og_error *err) {
    og_cut *cut = w->cut;
    int64_t length = d->offsets[doc + 1] - d->offsets[doc], kept[OG_N_MODALITIES] = {0}, kept_images = 0;
    verdict v = {0};
    OG_TRY(judge(d, doc, policy, &v, err));
    cut->documents.read++;
    cut->tokens.read += length;
    cut->images.read += v.images;

    int64_t n_pieces = cut->n_pieces, n_ranges = cut->n_ranges;
    if (v.lost < 0) {
        w->doc = doc;
        w->pos = w->pos3 = w->clear = 0;
        w->number = 0;
        w->stopped = 0;
        if (policy->method != OG_PACK_CONCAT || policy->long_doc != OG_LONG_FRAGMENT) w->room = w->capacity;
        OG_TRY(walk_document(w, d, doc, &v, kept, &kept_images, err));
        OG_TRY(close_piece(w, err));
        /* what is left are markers: nothing to learn from */
        if (w->stopped && kept[OG_TEXT] + kept[OG_IMAGE] + kept[OG_AUDIO] == 0) {
            cut->n_pieces = n_pieces;
            cut->n_ranges = n_ranges;
            v.lost = OG_LOST_LONG;
        }
    }
    if (v.lost >= 0) {
        cut->documents.lost[v.lost]++;
        cut->tokens.lost[v.lost] += length;
        cut->images.lost[v.lost] += v.images;
        return OG_OK;
    }
    int64_t all = 0, removed_tokens = v.remove_images ? v.removed_tokens : 0,
            removed_images = v.remove_images ? v.removed_images : 0;
    for (int32_t m = 0; m < OG_N_MODALITIES; m++) {
        cut->kept_tokens[m] += kept[m];
        all += kept[m];
    }
    if (all == length)
        cut->documents.kept++;
    else
        cut->documents.cut++;
    cut->tokens.kept += all;
    cut->tokens.lost[OG_LOST_IMAGE] += removed_tokens;
    cut->tokens.lost[OG_LOST_TRUNCATED] += length - all - removed_tokens;
    cut->images.kept += kept_images;
    cut->images.lost[OG_LOST_IMAGE] += removed_images;
    cut->images.lost[OG_LOST_TRUNCATED] += v.images - kept_images - removed_images;
    if (cut->n_pieces - n_pieces > 1) {
        cut->fragmented++;
        for (int64_t p = n_pieces; p < cut->n_pieces; p++)
            cut->short_fragments += cut->pieces[p].length - cut->pieces[p].context < SHORT_FRAGMENT;
    }
    return OG_OK;
}

/* read = kept + cut + dropped, for documents, tokens and images. */
static og_status check_balance(const og_cut *cut, og_error *err) {
    const og_tally *all[3] = {&cut->documents, &cut->tokens, &cut->images};
    static const char *const names[3] = {"documents", "tokens", "images"};
    for (int i = 0; i < 3; i++) {
        int64_t sum = all[i]->kept + all[i]->cut;
        for (int c = 0; c < OG_N_LOST; c++) {
            if (all[i]->lost[c] < 0)
                return og_fail(err, OG_EINTERNAL, "packing counters: %s lost %lld", names[i],
                               (long long)all[i]->lost[c]);
            sum += all[i]->lost[c];
        }
        if (sum != all[i]->read)
            return og_fail(err, OG_EINTERNAL, "packing counters: %lld %s read, %lld kept, cut or dropped",
                           (long long)all[i]->read, names[i], (long long)sum);
    }
    int64_t in_pieces = 0;
    for (int64_t p = 0; p < cut->n_pieces; p++) in_pieces += cut->pieces[p].length;
    if (in_pieces != cut->tokens.kept + cut->context_tokens)
        return og_fail(err, OG_EINTERNAL, "packing counters: %lld tokens kept and %lld of context, %lld in pieces",
                       (long long)cut->tokens.kept, (long long)cut->context_tokens, (long long)in_pieces);
    return OG_OK;
}

og_status og_cut_documents(const og_documents *documents, const og_pack_policy *policy, og_cut *out, og_error *err) {
    og_cut cut = {0};
    walk w = {.cut = &cut,
              .documents = documents,
              .overlap = policy->fragment_context == OG_FRAGMENT_CARRY ? policy->fragment_overlap : 0,
              .capacity = policy->capacity,
              .room = policy->capacity,
              .truncate = policy->long_doc == OG_LONG_TRUNCATE};
    og_status status = OG_OK;
    for (int64_t d = 0; d < documents->n_docs && status == OG_OK; d++)
        status = cut_document(&w, documents, d, policy, err);
    if (status == OG_OK) status = check_balance(&cut, err);
    if (status != OG_OK) {
        og_cut_free(&cut);
        return status;
    }
    *out = cut;
    return OG_OK;
}

void og_cut_free(og_cut *cut) {
    og_release(cut->pieces);
    og_release(cut->ranges);
    *cut = (og_cut){0};
}
