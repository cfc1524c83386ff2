/* inspect_print.c: a pack for the eye. */
#include "inspect.h"

#include <omnigram/memory.h>

#include <string.h>

static const char *const marker_names[OG_N_MARKERS] = {"pad",       "doc-begin", "doc-end",     "image-begin",
                                                       "image-end", "row-end",   "audio-begin", "audio-end"};

const char *og_marker_name(const og_id_map *ids, int32_t token) {
    int64_t mark = (int64_t)token - ids->base[OG_MARKER];
    return mark >= 0 && mark < OG_N_MARKERS ? marker_names[mark] : NULL;
}

static const char *paint(const og_inspect *in, int32_t modality) {
    static const char *const colours[OG_N_MODALITIES] = {"\033[0m", "\033[36m", "\033[35m", "\033[2m"};
    return in->colour ? colours[modality] : "";
}
static const char *plain(const og_inspect *in) { return in->colour ? "\033[0m" : ""; }
static const char *bold(const og_inspect *in) { return in->colour ? "\033[1m" : ""; }

enum { TABLES = 256 }; /* that a line can show */

static int digits(int64_t value) {
    int n = 1;
    for (; value > 9; value /= 10) n++;
    return n;
}

/* The codes of a segment's level as rows of a grid, as many columns as the page is wide. */
static void print_grid(const og_inspect *in, const og_segment *s, int32_t level, FILE *to) {
    const og_id_map *ids = og_packs_ids(in->packs);
    int64_t stride = (int64_t)s->columns * s->levels + s->row_end,
            base = ids->base[s->modality] + (int64_t)level * ids->codes[s->modality];
    int width = digits(ids->codes[s->modality] - 1) + 1;
    int64_t columns = (OG_INSPECT_WIDTH - 6) / width < s->columns ? (OG_INSPECT_WIDTH - 10) / width : s->columns;
    for (int64_t r = 0; r < s->rows; r++) {
        fprintf(to, "      %s", paint(in, s->modality));
        for (int64_t c = 0; c < columns; c++)
            fprintf(to, "%*lld", width,
                    (long long)(in->pack.tokens[s->start + r * stride + c * s->levels + level] - base));
        fprintf(to, "%s%s\n", plain(in), columns < s->columns ? " ..." : "");
    }
}

static void print_segment(const og_inspect *in, int64_t number, FILE *to) {
    const og_segment *s = &in->pack.segments[number];
    fprintf(to, "  %s%-5s%s %3lld  tokens %lld..%lld", paint(in, s->modality), og_modality_name(s->modality), plain(in),
            (long long)number, (long long)s->start, (long long)(s->start + s->length - 1));
    if (s->modality == OG_TEXT) fprintf(to, "  %d codes", s->columns);
    if (s->modality == OG_IMAGE) fprintf(to, "  %d x %d codes%s", s->rows, s->columns, s->row_end ? ", row ends" : "");
    if (s->modality == OG_AUDIO) fprintf(to, "  %d frames", s->columns);
    if (s->levels > 1) fprintf(to, " x %d levels", s->levels);
    const char *book = s->codebook >= 0 ? og_packs_codebook(in->packs, s->codebook) : NULL;
    if (book) fprintf(to, "  codebook %.12s", book);
    fputc('\n', to);
    if (s->modality == OG_TEXT) og_inspect_print_words(in, s, to);
    for (int32_t l = 0; l < s->levels; l++) {
        if (s->levels > 1) fprintf(to, "      level %d\n", l);
        print_grid(in, s, l, to);
    }
}

/* One n-gram column: order:row, order:· where it does not exist. Returns printed columns. */
static int ngram(char *out, size_t room, const og_column *column, int64_t row) {
    if (row < 0) {
        snprintf(out, room, " %d:\u00b7", column->order);
        return 1 + digits(column->order) + 2;
    }
    snprintf(out, room, " %d:%lld", column->order, (long long)row);
    return (int)strlen(out);
}

static int any_row(const int64_t *rows, int32_t n) {
    for (int32_t c = 0; c < n; c++)
        if (rows[c] >= 0) return 1;
    return 0;
}

/* Modalities (bits) of which some token of the pack has a row of table i: the others' lines need
 * not say that there is none. */
static uint32_t modalities_of(const og_inspect *in, int32_t i) {
    const og_table_info *info = og_table_set_info(in->set, i);
    int32_t columns = og_table_set_columns(in->set);
    uint32_t found = 0;
    for (int64_t t = 0; t < in->pack.n_valid; t++)
        if (in->pack.modality[t] != OG_MARKER && any_row(in->rows + t * columns + info->first_column, info->n_columns))
            found |= 1u << in->pack.modality[t];
    return found;
}

static void print_ngrams(const og_inspect *in, int64_t t, const uint32_t *applies, int indent, FILE *to) {
    int32_t columns = og_table_set_columns(in->set);
    int at = indent, tables = og_table_set_count(in->set);
    for (int32_t i = 0; i < tables && i < TABLES; i++) {
        const og_table_info *info = og_table_set_info(in->set, i);
        const int64_t *rows = in->rows + t * columns + info->first_column;
        if (!(applies[i] >> in->pack.modality[t] & 1) && !any_row(rows, info->n_columns)) continue;
        char word[96];
        snprintf(word, sizeof word, "  %.40s", info->name);
        if (at + (int)strlen(word) + 8 > OG_INSPECT_WIDTH) fprintf(to, "\n%*s", at = indent, "");
        fputs(word, to);
        at += (int)strlen(word);
        for (int32_t c = 0; c < info->n_columns; c++) {
            int n = ngram(word, sizeof word, og_table_set_column(in->set, info->first_column + c), rows[c]);
            if (at + n > OG_INSPECT_WIDTH) {
                fprintf(to, "\n%*s", indent + 4, "");
                at = indent + 4;
            }
            fputs(word, to);
            at += n;
        }
    }
}

static void or_dash(char *out, size_t room, int32_t value) {
    if (value < 0)
        snprintf(out, room, "-");
    else
        snprintf(out, room, "%d", value);
}

/* What stands in the column `code`: a marker's name, a piece of text, or the code's number. */
static void print_code(const og_inspect *in, int64_t t, int width, FILE *to) {
    const og_id_map *ids = og_packs_ids(in->packs);
    int32_t m = in->pack.modality[t], token = in->pack.tokens[t];
    const char *name = og_marker_name(ids, token);
    char *words = m == OG_TEXT ? og_inspect_words(in, t, t + 1) : NULL;
    char number[16];
    snprintf(number, sizeof number, "%d", name ? 0 : (token - ids->base[m]) % ids->codes[m]);
    const char *text = name ? name : words ? words : number;
    int n = 0, shown = 0; /* bytes and characters that fit */
    for (; text[n] && (shown < width || (text[n] & 0xC0) == 0x80); n++) shown += (text[n] & 0xC0) != 0x80;
    fprintf(to, " %.*s%*s", n, text, width - shown, "");
    og_release(words);
}

static void print_tokens(const og_inspect *in, FILE *to) {
    const og_pack *p = &in->pack;
    const int width = in->tokenizer ? 16 : 11, indent = 52 + width;
    uint32_t applies[TABLES] = {0};
    for (int32_t i = 0; in->set && i < og_table_set_count(in->set) && i < TABLES; i++)
        applies[i] = modalities_of(in, i);
    fprintf(to, "\n%s%6s %4s %-6s %4s %4s %4s %3s %8s %-*s %5s w%s%s\n", bold(in), "token", "doc", "", "seg", "row",
            "col", "lev", "id", width, in->tokenizer ? "code or piece" : "code", "pos",
            in->set && og_table_set_count(in->set) ? "  n-grams: table order:row (\u00b7: none)" : "", plain(in));
    for (int64_t t = in->from; t < in->to && t < p->n_valid; t++) {
        int32_t m = p->modality[t];
        char doc[16], segment[16], row[16], column[16], level[16];
        or_dash(doc, sizeof doc, p->doc_id[t]);
        or_dash(segment, sizeof segment, p->segment_id[t]);
        or_dash(row, sizeof row, p->row[t]);
        or_dash(column, sizeof column, p->column[t]);
        or_dash(level, sizeof level, p->level[t]);
        fprintf(to, "%s%6lld %4s %-6s %4s %4s %4s %3s %8d", paint(in, m), (long long)t, doc, og_modality_name(m),
                segment, row, column, level, p->tokens[t]);
        print_code(in, t, width, to);
        fprintf(to, " %5d %g", p->pos[t], (double)p->loss_weight[t]);
        if (in->set) print_ngrams(in, t, applies, indent, to);
        fprintf(to, "%s\n", plain(in));
    }
    int64_t pads = in->to - (in->from > p->n_valid ? in->from : p->n_valid);
    if (pads > 0)
        fprintf(to, "%s%6lld..%lld  %lld pads%s\n", paint(in, OG_MARKER), (long long)(in->to - pads),
                (long long)(in->to - 1), (long long)pads, plain(in));
}

void og_inspect_print(const og_inspect *in, FILE *to) {
    const og_pack *p = &in->pack;
    fprintf(to, "%spack %lld of %lld%s  %s\n", bold(in), (long long)in->number, (long long)og_packs_count(in->packs),
            plain(in), in->path);
    fprintf(to, "%lld tokens, %lld pads; %lld documents, %lld segments", (long long)p->n_tokens,
            (long long)(p->n_tokens - p->n_valid), (long long)p->n_docs, (long long)p->n_segments);
    if (in->from > 0 || in->to < p->n_tokens)
        fprintf(to, "; of these, tokens %lld..%lld", (long long)in->from, (long long)in->to - 1);
    fputc('\n', to);
    int64_t s = 0;
    for (int64_t d = 0; d < p->n_docs; d++) {
        const og_origin *o = &p->origin[d];
        int shown = og_inspect_shows(in, p->cu_seqlens[d], p->cu_seqlens[d + 1] - p->cu_seqlens[d]);
        for (; !shown && s < p->n_segments && p->segments[s].doc == d; s++) continue;
        if (!shown) continue;
        const char *name = og_inspect_name(in, o);
        fprintf(to, "\n%sdocument %lld%s  tokens %lld..%lld  from shard %lld, document %lld", bold(in), (long long)d,
                plain(in), (long long)p->cu_seqlens[d], (long long)p->cu_seqlens[d + 1] - 1, (long long)o->shard,
                (long long)o->index);
        if (name) fprintf(to, " (%s)", name);
        if (o->offset) fprintf(to, ", its tokens from %lld on", (long long)o->offset);
        if (p->continues[d]) fputs(", continued", to);
        fputc('\n', to);
        for (; s < p->n_segments && p->segments[s].doc == d; s++)
            if (og_inspect_shows(in, p->segments[s].start, p->segments[s].length)) print_segment(in, s, to);
    }
    if (in->set) {
        fputc('\n', to);
        for (int32_t i = 0; i < og_table_set_count(in->set); i++) {
            const og_table_info *info = og_table_set_info(in->set, i);
            fprintf(to, "table %-16.40s %3d columns, %lld rows of %lld %s, fingerprint %.12s\n", info->name,
                    info->n_columns, (long long)info->rows, (long long)info->dim, og_dtype_name(info->dtype),
                    info->fingerprint);
        }
    }
    print_tokens(in, to);
}
