/* documents.c: items to documents: the one place where the layout (markers, row ends, ids) is made. */
#include "pack/documents.h"
#include "pack/segments.h"

#include <omnigram/memory.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct og_documents_builder {
    og_documents_owner *made;
    int32_t row_end;
    int32_t open;         /* a document is open */
    int64_t n_items;      /* of the open document */
    int64_t shard, index; /* of the open document */
    int64_t token_capacity[6], segment_capacity, offset_capacity, segment_offset_capacity, origin_capacity,
        codebook_capacity;
    int64_t read, empty; /* documents */
    int64_t items[OG_N_MODALITIES], empty_items, tokens[OG_N_MODALITIES];
};

og_status og_documents_builder_new(const og_id_map *ids, int32_t row_end, og_documents_builder **out, og_error *err) {
    OG_TRY(og_id_map_check(ids, err));
    if (row_end != 0 && row_end != 1)
        return og_fail(err, OG_EINVAL, "documents: row_end is %d; it must be 0 or 1", row_end);
    og_documents_builder *builder = og_alloc_zero(1, sizeof *builder);
    if (builder) builder->made = og_alloc_zero(1, sizeof *builder->made);
    if (!builder || !builder->made) {
        og_release(builder);
        return og_fail(err, OG_ENOMEM, "no memory for a documents builder");
    }
    og_documents *d = &builder->made->documents;
    d->ids = *ids;
    builder->row_end = row_end;
    og_status status = og_grow((void **)&d->offsets, &builder->offset_capacity, 1, sizeof *d->offsets, err);
    if (status == OG_OK)
        status = og_grow((void **)&d->segment_offsets, &builder->segment_offset_capacity, 1, sizeof *d->segment_offsets,
                         err);
    if (status != OG_OK) {
        og_documents_builder_free(builder);
        return status;
    }
    d->offsets[0] = d->segment_offsets[0] = 0;
    *out = builder;
    return OG_OK;
}

void og_documents_builder_free(og_documents_builder *builder) {
    if (!builder) return;
    og_documents_free(&builder->made->documents);
    og_release(builder);
}

void og_documents_free(og_documents *d) {
    if (!d) return;
    og_documents_owner *made = (og_documents_owner *)d;
    if (!made->file) {
        void *own[] = {d->offsets, d->tokens, d->modality,        d->segment, d->row,
                       d->column,  d->level,  d->segment_offsets, d->origins};
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) og_release(own[i]);
    }
    og_release(d->segments);
    og_release(d->codebooks);
    og_config_free(d->counters);
    og_arrays_close(made->file);
    og_release(made);
}

og_status og_documents_codebook(og_documents_builder *builder, const char *fingerprint, int32_t *index, og_error *err) {
    og_documents *d = &builder->made->documents;
    size_t bytes = strlen(fingerprint) + 1;
    if (bytes < 2 || bytes > OG_DIGEST_TEXT || strspn(fingerprint, "0123456789abcdef") != bytes - 1)
        return og_fail(err, OG_EINVAL, "codebook fingerprint '%.80s'; it must be 1 .. %d lower-case hexadecimal digits",
                       fingerprint, OG_DIGEST_TEXT - 1);
    int32_t i = 0;
    while (i < d->n_codebooks && strcmp(d->codebooks[i], fingerprint)) i++;
    if (i == d->n_codebooks) {
        OG_TRY(og_grow((void **)&d->codebooks, &builder->codebook_capacity, i + 1, sizeof *d->codebooks, err));
        memset(d->codebooks[i], 0, sizeof *d->codebooks);
        memcpy(d->codebooks[i], fingerprint, bytes);
        d->n_codebooks++;
    }
    *index = i;
    return OG_OK;
}

static og_status room_for(og_documents_builder *builder, int64_t tokens, og_error *err) {
    og_documents *d = &builder->made->documents;
    int64_t n = d->n_tokens + tokens;
    void **arrays[6] = {(void **)&d->tokens, (void **)&d->modality, (void **)&d->segment,
                        (void **)&d->row,    (void **)&d->column,   (void **)&d->level};
    for (int i = 0; i < 6; i++)
        OG_TRY(
            og_grow(arrays[i], &builder->token_capacity[i], n, i == 1 ? sizeof *d->modality : sizeof *d->tokens, err));
    return OG_OK;
}

static void put(og_documents *d, int32_t token, int32_t modality, int32_t segment, int32_t row, int32_t column,
                int32_t level) {
    int64_t t = d->n_tokens++;
    d->tokens[t] = token;
    d->modality[t] = (int8_t)modality;
    d->segment[t] = segment;
    d->row[t] = row;
    d->column[t] = column;
    d->level[t] = level;
}
static void put_marker(og_documents *d, int32_t mark) {
    put(d, d->ids.base[OG_MARKER] + mark, OG_MARKER, -1, -1, -1, -1);
}

og_status og_documents_begin(og_documents_builder *builder, int64_t shard, int64_t index, og_error *err) {
    if (builder->open)
        return og_fail(err, OG_EINVAL, "document %lld:%lld begins while %lld:%lld is open", (long long)shard,
                       (long long)index, (long long)builder->shard, (long long)builder->index);
    OG_TRY(room_for(builder, 1, err));
    builder->open = 1;
    builder->n_items = 0;
    builder->shard = shard;
    builder->index = index;
    put_marker(&builder->made->documents, OG_MARK_DOC_BEGIN);
    return OG_OK;
}

static og_status check_item(const og_documents_builder *builder, int32_t modality, const int32_t *codes, int32_t rows,
                            int32_t columns, int32_t levels, int32_t codebook, int64_t *n, og_error *err) {
    const og_documents *d = &builder->made->documents;
    char place[96];
    snprintf(place, sizeof place, "document %lld:%lld, item %lld (%s)", (long long)builder->shard,
             (long long)builder->index, (long long)builder->n_items, og_modality_name(modality));
    *n = og_segment_tokens(modality, rows, columns, levels, 0);
    if (*n < 0)
        return og_fail(err, OG_EINVAL,
                       "%s: %d x %d x %d codes (rows x columns x levels); each must be at least 1, "
                       "text and audio have 1 row, text 1 level",
                       place, rows, columns, levels);
    if (levels > d->ids.levels[modality])
        return og_fail(err, OG_EINVAL, "%s: %d levels; the id map has %d", place, levels, d->ids.levels[modality]);
    if (modality == OG_TEXT ? codebook != -1 : codebook < 0 || codebook >= d->n_codebooks)
        return og_fail(err, OG_EINVAL, "%s: codebook %d; text has -1, the others 0 .. %d (og_documents_codebook)",
                       place, codebook, d->n_codebooks - 1);
    if (d->n_segments >= INT32_MAX) return og_fail(err, OG_EINVAL, "%s: more than %d items", place, INT32_MAX);
    for (int64_t i = 0; i < *n; i++)
        if (codes[i] < 0 || codes[i] >= d->ids.codes[modality])
            return og_fail(err, OG_EINVAL, "%s: code %d at position %lld; it must be in [0, %d)", place, codes[i],
                           (long long)i, d->ids.codes[modality]);
    return OG_OK;
}

og_status og_documents_item(og_documents_builder *builder, int32_t modality, const int32_t *codes, int32_t rows,
                            int32_t columns, int32_t levels, int32_t codebook, og_error *err) {
    og_documents *d = &builder->made->documents;
    if (!builder->open) return og_fail(err, OG_EINVAL, "an item comes while no document is open");
    if (modality < OG_TEXT || modality > OG_AUDIO)
        return og_fail(err, OG_EINVAL, "item of modality %d; it must be 0 .. 2", modality);
    if (modality == OG_TEXT && columns == 0) {
        builder->n_items++;
        builder->empty_items++;
        return OG_OK;
    }
    int64_t n;
    OG_TRY(check_item(builder, modality, codes, rows, columns, levels, codebook, &n, err));
    int32_t row_end = modality == OG_IMAGE && builder->row_end;
    OG_TRY(room_for(builder, n + (row_end ? rows : 0) + 2, err));
    OG_TRY(og_grow((void **)&d->segments, &builder->segment_capacity, d->n_segments + 1, sizeof *d->segments, err));

    if (modality == OG_IMAGE) put_marker(d, OG_MARK_IMAGE_BEGIN);
    if (modality == OG_AUDIO) put_marker(d, OG_MARK_AUDIO_BEGIN);
    int32_t number = (int32_t)d->n_segments++, base = d->ids.base[modality], size = d->ids.codes[modality];
    og_segment *s = &d->segments[number];
    *s = (og_segment){.doc = d->n_docs,
                      .start = d->n_tokens - d->offsets[d->n_docs],
                      .length = n + (row_end ? rows : 0),
                      .modality = modality,
                      .rows = rows,
                      .columns = columns,
                      .levels = levels,
                      .row_end = row_end,
                      .codebook = codebook};
    if (modality == OG_TEXT) {
        for (int64_t i = 0; i < n; i++) put(d, base + codes[i], modality, number, -1, -1, -1);
    } else {
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t c = 0; c < columns; c++)
                for (int32_t l = 0; l < levels; l++) put(d, base + l * size + *codes++, modality, number, r, c, l);
            if (row_end) put(d, d->ids.base[OG_MARKER] + OG_MARK_ROW_END, OG_MARKER, number, r, -1, -1);
        }
    }
    if (modality == OG_IMAGE) put_marker(d, OG_MARK_IMAGE_END);
    if (modality == OG_AUDIO) put_marker(d, OG_MARK_AUDIO_END);
    builder->n_items++;
    builder->items[modality]++;
    builder->tokens[modality] += n;
    return OG_OK;
}

og_status og_documents_end(og_documents_builder *builder, og_error *err) {
    og_documents *d = &builder->made->documents;
    if (!builder->open) return og_fail(err, OG_EINVAL, "a document ends while none is open");
    if (d->n_segments == d->segment_offsets[d->n_docs]) { /* nothing in it */
        d->n_tokens = d->offsets[d->n_docs];
        builder->open = 0;
        builder->read++;
        builder->empty++;
        return OG_OK;
    }
    OG_TRY(room_for(builder, 1, err));
    OG_TRY(og_grow((void **)&d->offsets, &builder->offset_capacity, d->n_docs + 2, sizeof *d->offsets, err));
    OG_TRY(og_grow((void **)&d->segment_offsets, &builder->segment_offset_capacity, d->n_docs + 2,
                   sizeof *d->segment_offsets, err));
    OG_TRY(og_grow((void **)&d->origins, &builder->origin_capacity, d->n_docs + 1, sizeof *d->origins, err));
    put_marker(d, OG_MARK_DOC_END);
    d->origins[d->n_docs] = (og_origin){builder->shard, builder->index, 0, d->n_tokens - d->offsets[d->n_docs]};
    d->n_docs++;
    d->offsets[d->n_docs] = d->n_tokens;
    d->segment_offsets[d->n_docs] = d->n_segments;
    builder->open = 0;
    builder->read++;
    return OG_OK;
}

static og_status count(const og_documents_builder *builder, og_config **counters, og_error *err) {
    const og_documents *d = &builder->made->documents;
    int64_t markers = d->n_tokens;
    for (int32_t m = OG_TEXT; m <= OG_AUDIO; m++) markers -= builder->tokens[m];
    char json[1024];
    int n = snprintf(
        json, sizeof json,
        "{\"layout\":{\"documents\":{\"read\":%" PRId64 ",\"kept\":%" PRId64
        ",\"cut\":0,\"dropped\":{\"empty\":%" PRId64 "}},"
        "\"items\":{\"text\":%" PRId64 ",\"image\":%" PRId64 ",\"audio\":%" PRId64 ",\"empty\":%" PRId64 "},"
        "\"tokens\":{\"text\":%" PRId64 ",\"image\":%" PRId64 ",\"audio\":%" PRId64 ",\"marker\":%" PRId64 "}}}",
        builder->read, d->n_docs, builder->empty, builder->items[OG_TEXT], builder->items[OG_IMAGE],
        builder->items[OG_AUDIO], builder->empty_items, builder->tokens[OG_TEXT], builder->tokens[OG_IMAGE],
        builder->tokens[OG_AUDIO], markers);
    og_config *own = NULL;
    OG_TRY(og_config_from_json(json, n, "layout counters", &own, err));
    if (!*counters) {
        *counters = own;
        return OG_OK;
    }
    og_status status = og_config_merge(*counters, own, err);
    og_config_free(own);
    return status;
}

og_status og_documents_finish(og_documents_builder *builder, og_config *counters, og_documents **out, og_error *err) {
    og_documents *d = &builder->made->documents;
    og_status status = OG_OK;
    if (builder->open)
        status = og_fail(err, OG_EINVAL, "document %lld:%lld is still open", (long long)builder->shard,
                         (long long)builder->index);
    else if (builder->read != d->n_docs + builder->empty)
        status = og_fail(err, OG_EINTERNAL, "layout counters: read %lld, kept %lld, empty %lld",
                         (long long)builder->read, (long long)d->n_docs, (long long)builder->empty);
    if (status == OG_OK) status = count(builder, &counters, err);
    if (status != OG_OK) {
        og_config_free(counters);
        og_documents_builder_free(builder);
        return status;
    }
    d->counters = counters;
    *out = d;
    og_release(builder);
    return OG_OK;
}

og_status og_documents_check(const og_documents *d, og_error *err) {
    OG_TRY(og_id_map_check(&d->ids, err));
    if (d->offsets[0] != 0 || d->offsets[d->n_docs] != d->n_tokens)
        return og_fail(err, OG_EFORMAT, "document offsets run %lld .. %lld; it must be 0 .. %lld",
                       (long long)d->offsets[0], (long long)d->offsets[d->n_docs], (long long)d->n_tokens);
    if (d->segment_offsets[0] != 0 || d->segment_offsets[d->n_docs] != d->n_segments)
        return og_fail(err, OG_EFORMAT, "segment offsets run %lld .. %lld; it must be 0 .. %lld",
                       (long long)d->segment_offsets[0], (long long)d->segment_offsets[d->n_docs],
                       (long long)d->n_segments);
    const og_token_arrays at = {d->tokens, d->modality, d->segment, d->row, d->column, d->level};
    for (int64_t i = 0; i < d->n_docs; i++) {
        int64_t begin = d->offsets[i], end = d->offsets[i + 1], first = d->segment_offsets[i],
                last = d->segment_offsets[i + 1];
        if (begin >= end || end > d->n_tokens)
            return og_fail(err, OG_EFORMAT, "document %lld: tokens [%lld, %lld) of %lld; it must not be empty",
                           (long long)i, (long long)begin, (long long)end, (long long)d->n_tokens);
        if (first > last || last > d->n_segments)
            return og_fail(err, OG_EFORMAT, "document %lld: segments [%lld, %lld) of %lld", (long long)i,
                           (long long)first, (long long)last, (long long)d->n_segments);
        if (d->origins[i].length != end - begin || d->origins[i].offset != 0)
            return og_fail(err, OG_EFORMAT, "document %lld: origin [%lld, +%lld); it has %lld tokens", (long long)i,
                           (long long)d->origins[i].offset, (long long)d->origins[i].length, (long long)(end - begin));
        OG_TRY(og_segments_check(&at, d->segments + first, first, last - first, i, begin, end, begin, 1, d->n_codebooks,
                                 &d->ids, err));
    }
    return OG_OK;
}
