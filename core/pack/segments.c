/* segments.c: the invariants of segments, token by token. */
#include "pack/segments.h"

int64_t og_segment_tokens(int32_t modality, int64_t rows, int64_t columns, int64_t levels, int32_t row_end) {
    if (modality < OG_TEXT || modality > OG_AUDIO || rows < 1 || columns < 1 || levels < 1) return -1;
    if (rows > INT32_MAX || columns > INT32_MAX || levels > INT32_MAX || (row_end != 0 && row_end != 1)) return -1;
    if (modality != OG_IMAGE && (rows != 1 || row_end)) return -1;
    if (modality == OG_TEXT && levels != 1) return -1;
    int64_t tokens;
    if (__builtin_mul_overflow(columns, levels, &tokens) || __builtin_add_overflow(tokens, (int64_t)row_end, &tokens) ||
        __builtin_mul_overflow(tokens, rows, &tokens))
        return -1;
    return tokens;
}

static og_status token_fault(int64_t doc, int64_t t, const char *field, int64_t value, int64_t wanted, og_error *err) {
    return og_fail(err, OG_EFORMAT, "document %lld, token %lld: %s is %lld; it must be %lld", (long long)doc,
                   (long long)t, field, (long long)value, (long long)wanted);
}

static og_status check_marker(const og_token_arrays *at, int64_t t, int64_t doc, const og_id_map *ids, og_error *err) {
    int64_t mark = (int64_t)at->tokens[t] - ids->base[OG_MARKER];
    if (mark < 0 || mark >= OG_N_MARKERS || mark == OG_MARK_PAD || mark == OG_MARK_ROW_END)
        return og_fail(err, OG_EFORMAT,
                       "document %lld, token %lld: id %d lies outside every segment and is no "
                       "begin or end marker",
                       (long long)doc, (long long)t, at->tokens[t]);
    if (at->modality[t] != OG_MARKER) return token_fault(doc, t, "modality", at->modality[t], OG_MARKER, err);
    if (at->segment[t] != -1) return token_fault(doc, t, "segment", at->segment[t], -1, err);
    if (at->row[t] != -1) return token_fault(doc, t, "row", at->row[t], -1, err);
    if (at->column[t] != -1) return token_fault(doc, t, "column", at->column[t], -1, err);
    if (at->level[t] != -1) return token_fault(doc, t, "level", at->level[t], -1, err);
    return OG_OK;
}

static og_status check_codes(const og_token_arrays *at, const og_segment *s, int64_t number, int64_t begin, int64_t doc,
                             const og_id_map *ids, og_error *err) {
    int64_t width = (int64_t)s->columns * s->levels, stride = width + s->row_end;
    for (int64_t r = 0, t = begin; r < s->rows; r++) {
        for (int64_t k = 0; k < stride; k++, t++) {
            int32_t is_end = k == width, text = s->modality == OG_TEXT;
            int64_t level = is_end || text ? -1 : k % s->levels, row = text ? -1 : r;
            int64_t column = is_end || text ? -1 : k / s->levels;
            int32_t modality = is_end ? OG_MARKER : s->modality;
            int64_t least = is_end ? (int64_t)ids->base[OG_MARKER] + OG_MARK_ROW_END
                                   : ids->base[modality] + (level > 0 ? level : 0) * ids->codes[modality];
            int64_t limit = is_end ? least + 1 : least + ids->codes[modality];
            if (at->tokens[t] < least || at->tokens[t] >= limit)
                return og_fail(err, OG_EFORMAT,
                               "document %lld, token %lld: id %d is not in [%lld, %lld), the %s of "
                               "segment %lld",
                               (long long)doc, (long long)t, at->tokens[t], (long long)least, (long long)limit,
                               is_end ? "row end" : og_modality_name(modality), (long long)number);
            if (at->modality[t] != modality) return token_fault(doc, t, "modality", at->modality[t], modality, err);
            if (at->segment[t] != number) return token_fault(doc, t, "segment", at->segment[t], number, err);
            if (at->row[t] != row) return token_fault(doc, t, "row", at->row[t], row, err);
            if (at->column[t] != column) return token_fault(doc, t, "column", at->column[t], column, err);
            if (at->level[t] != level) return token_fault(doc, t, "level", at->level[t], level, err);
        }
    }
    return OG_OK;
}

/* The segment's tokens lie in [least, limit), its start counts from zero. */
static og_status check_segment(const og_segment *s, int64_t number, int64_t doc, int64_t least, int64_t limit,
                               int64_t zero, int32_t n_codebooks, const og_id_map *ids, og_error *err) {
    if (s->doc != doc)
        return og_fail(err, OG_EFORMAT, "segment %lld: document %lld; it must be %lld", (long long)number,
                       (long long)s->doc, (long long)doc);
    int64_t tokens = og_segment_tokens(s->modality, s->rows, s->columns, s->levels, s->row_end);
    if (tokens < 0 || tokens != s->length)
        return og_fail(
            err, OG_EFORMAT, "segment %lld: %lld tokens of modality %d for a grid of %d x %d x %d with row end %d",
            (long long)number, (long long)s->length, s->modality, s->rows, s->columns, s->levels, s->row_end);
    if (s->levels > ids->levels[s->modality])
        return og_fail(err, OG_EFORMAT, "segment %lld: %d levels; %s has %d", (long long)number, s->levels,
                       og_modality_name(s->modality), ids->levels[s->modality]);
    if (s->start < least - zero || s->start > limit - zero || s->length > limit - zero - s->start)
        return og_fail(err, OG_EFORMAT, "segment %lld: tokens [%lld, +%lld) are not inside its document's [%lld, %lld)",
                       (long long)number, (long long)s->start, (long long)s->length, (long long)(least - zero),
                       (long long)(limit - zero));
    if (s->modality == OG_TEXT ? s->codebook != -1 : s->codebook < 0 || s->codebook >= n_codebooks)
        return og_fail(err, OG_EFORMAT, "segment %lld: codebook %d of a %s; there are %d", (long long)number,
                       s->codebook, og_modality_name(s->modality), n_codebooks);
    return OG_OK;
}

og_status og_segments_check(const og_token_arrays *at, const og_segment *segments, int64_t first, int64_t n,
                            int64_t doc, int64_t begin, int64_t end, int64_t zero, int32_t whole, int32_t n_codebooks,
                            const og_id_map *ids, og_error *err) {
    const int64_t mark = ids->base[OG_MARKER];
    int64_t t = begin;
    for (int64_t i = 0; i < n; i++) {
        const og_segment *s = &segments[i];
        OG_TRY(check_segment(s, first + i, doc, t, end, zero, n_codebooks, ids, err));
        int64_t start = zero + s->start;
        for (; t < start; t++) OG_TRY(check_marker(at, t, doc, ids, err));
        OG_TRY(check_codes(at, s, first + i, start, doc, ids, err));
        t = start + s->length;
        /* images are never cut, so theirs must be there even in a part of a document */
        if (s->modality != OG_IMAGE && !(whole && s->modality == OG_AUDIO)) continue;
        int64_t open = mark + (s->modality == OG_IMAGE ? OG_MARK_IMAGE_BEGIN : OG_MARK_AUDIO_BEGIN);
        int64_t close = mark + (s->modality == OG_IMAGE ? OG_MARK_IMAGE_END : OG_MARK_AUDIO_END);
        if (start == begin || at->tokens[start - 1] != open || t == end || at->tokens[t] != close)
            return og_fail(err, OG_EFORMAT, "document %lld, segment %lld: the %s lacks its begin or end marker",
                           (long long)doc, (long long)(first + i), og_modality_name(s->modality));
    }
    for (; t < end; t++) OG_TRY(check_marker(at, t, doc, ids, err));
    if (whole && (end - begin < 2 || at->tokens[begin] != mark + OG_MARK_DOC_BEGIN ||
                  at->tokens[end - 1] != mark + OG_MARK_DOC_END))
        return og_fail(err, OG_EFORMAT, "document %lld lacks its begin or end marker", (long long)doc);
    return OG_OK;
}
