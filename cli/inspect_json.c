/* inspect_json.c: a pack for scripts. */
#include "inspect.h"

#include <omnigram/memory.h>

#include <string.h>

int og_inspect_shows(const og_inspect *in, int64_t start, int64_t length) {
    return start < in->to && start + length > in->from;
}

static json_t *integer_or_null(int64_t value) { return value < 0 ? json_null() : json_integer(value); }

static json_t *documents(const og_inspect *in) {
    const og_pack *p = &in->pack;
    json_t *list = json_array();
    for (int64_t d = 0; d < p->n_docs; d++) {
        int64_t begin = p->cu_seqlens[d], end = p->cu_seqlens[d + 1];
        if (!og_inspect_shows(in, begin, end - begin)) continue;
        const char *name = og_inspect_name(in, &p->origin[d]);
        json_t *document = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "document", (json_int_t)d, "begin",
                                     (json_int_t)begin, "end", (json_int_t)end, "shard", (json_int_t)p->origin[d].shard,
                                     "index", (json_int_t)p->origin[d].index, "offset", (json_int_t)p->origin[d].offset,
                                     "length", (json_int_t)p->origin[d].length, "continues", p->continues[d]);
        if (name) json_object_set_new(document, "name", json_string(name));
        json_array_append_new(list, document);
    }
    return list;
}

static json_t *segments(const og_inspect *in) {
    json_t *list = json_array();
    for (int64_t i = 0; i < in->pack.n_segments; i++) {
        const og_segment *s = &in->pack.segments[i];
        if (!og_inspect_shows(in, s->start, s->length)) continue;
        const char *book = s->codebook >= 0 ? og_packs_codebook(in->packs, s->codebook) : NULL;
        json_array_append_new(list,
                              json_pack("{s:I, s:I, s:s, s:I, s:I, s:i, s:i, s:i, s:b, s:o}", "segment", (json_int_t)i,
                                        "document", (json_int_t)s->doc, "modality", og_modality_name(s->modality),
                                        "start", (json_int_t)s->start, "length", (json_int_t)s->length, "rows", s->rows,
                                        "columns", s->columns, "levels", s->levels, "row_end", s->row_end, "codebook",
                                        book ? json_string(book) : json_null()));
    }
    return list;
}

static json_t *token(const og_inspect *in, int64_t t) {
    const og_pack *p = &in->pack;
    const og_id_map *ids = og_packs_ids(in->packs);
    int32_t m = p->modality[t];
    const char *marker = og_marker_name(ids, p->tokens[t]);
    json_t *out = json_pack(
        "{s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:i, s:[i,i,i], s:f}", "token", (json_int_t)t, "document",
        integer_or_null(p->doc_id[t]), "modality", og_modality_name(m), "segment", integer_or_null(p->segment_id[t]),
        "row", integer_or_null(p->row[t]), "column", integer_or_null(p->column[t]), "level",
        integer_or_null(p->level[t]), "id", p->tokens[t], "code",
        marker ? json_string(marker) : json_integer((p->tokens[t] - ids->base[m]) % ids->codes[m]), "pos", p->pos[t],
        "pos3", p->pos3[3 * t], p->pos3[3 * t + 1], p->pos3[3 * t + 2], "loss_weight", (double)p->loss_weight[t]);
    char *words = m == OG_TEXT ? og_inspect_words(in, t, t + 1) : NULL;
    if (words) json_object_set_new(out, "piece", json_stringn(words + 1, strlen(words) - 2));
    og_release(words);
    if (!in->set) return out;
    json_t *rows = json_object();
    int32_t columns = og_table_set_columns(in->set);
    for (int32_t i = 0; i < og_table_set_count(in->set); i++) {
        const og_table_info *info = og_table_set_info(in->set, i);
        json_t *list = json_array();
        for (int32_t c = 0; c < info->n_columns; c++)
            json_array_append_new(list, integer_or_null(in->rows[t * columns + info->first_column + c]));
        json_object_set_new(rows, info->name, list);
    }
    json_object_set_new(out, "rows", rows);
    return out;
}

json_t *og_inspect_json(const og_inspect *in) {
    json_t *tokens = json_array();
    for (int64_t t = in->from; t < in->to; t++) json_array_append_new(tokens, token(in, t));
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "packs", in->path, "pack", (json_int_t)in->number,
                     "count", (json_int_t)og_packs_count(in->packs), "n_tokens", (json_int_t)in->pack.n_tokens,
                     "n_valid", (json_int_t)in->pack.n_valid, "documents", documents(in), "segments", segments(in),
                     "tokens", tokens);
}
