/* offsets.c: cells at fixed offsets inside a grid, row by row. */
#include "offsets.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

enum { FARTHEST = 128 }; /* as JBIG2's adaptive pixels: T.88, 6.2.5.4 */

static og_status refuse(const og_config *node, const char *why, og_error *err) {
    char *text = NULL;
    og_status status = og_config_to_json(node, &text, err);
    if (status == OG_OK) status = og_fail(err, OG_EINVAL, "%s: cell %.60s %s", OG_WHERE(node), text, why);
    og_release(text);
    return status;
}

/* Reads one cell: a word, or a list of two integers. Refuses look-ahead, the cell itself and what
 * lies too far, naming the cell. */
static og_status read_cell(const og_config *node, og_offset_parse *parse, int32_t second_is_level, og_offset *out,
                           og_error *err) {
    og_offset o = {0};
    if (og_config_kind(node) == OG_CONFIG_LIST && og_config_size(node) == 2) {
        int64_t a, b;
        OG_TRY(og_config_i64(og_config_at(node, 0), &a, err));
        OG_TRY(og_config_i64(og_config_at(node, 1), &b, err));
        if (a < -FARTHEST || a >= FARTHEST || b < -FARTHEST || b >= FARTHEST)
            return refuse(node, "lies farther than 128 away", err);
        o.dx = (int32_t)a;
        if (second_is_level)
            o.dl = (int32_t)b;
        else
            o.dy = (int32_t)b;
    } else if (og_config_kind(node) == OG_CONFIG_STRING) {
        const char *word;
        OG_TRY(og_config_string(node, &word, err));
        if (!parse(word, &o))
            return refuse(node,
                          second_is_level ? "is no name such as T, TT, L or TL" : "is no name such as W, N, NE or NNW",
                          err);
    } else {
        return refuse(node,
                      second_is_level ? "is neither a name nor a pair [frames, levels]"
                                      : "is neither a name nor a pair [dx, dy]",
                      err);
    }
    if (!o.dx && !o.dy && !o.dl) return refuse(node, "is the cell itself", err);
    if (o.dy > 0 || (o.dy == 0 && (o.dx > 0 || (o.dx == 0 && o.dl > 0))))
        return refuse(node, "looks ahead: it is read after the cell that it would predict", err);
    *out = o;
    return OG_OK;
}

og_status og_offsets_read(const og_config *list, og_offset_parse *parse, int32_t second_is_level, og_offsets *out,
                          og_error *err) {
    int64_t n = og_config_size(list), most = OG_MAX_ORDER - (out->anchor == OG_ANCHOR_CURRENT);
    if (og_config_kind(list) != OG_CONFIG_LIST || n < 1 || n > most)
        return og_fail(err, OG_EINVAL, "%s: an n-gram of %lld cells; it is a list of 1 to %lld", OG_WHERE(list),
                       (long long)n, (long long)most);
    for (int64_t i = 0; i < n; i++) {
        OG_TRY(read_cell(og_config_at(list, i), parse, second_is_level, &out->cell[i], err));
        for (int64_t j = 0; j < i; j++)
            if (!memcmp(&out->cell[i], &out->cell[j], sizeof *out->cell))
                return refuse(og_config_at(list, i), "comes twice", err);
    }
    out->n = (int32_t)n;
    return OG_OK;
}

struct og_stencil_impl {
    og_offsets offsets;
};

og_status og_offsets_stencil(const og_offsets *o, const og_id_map *ids, og_stencil_impl **impl,
                             og_stencil_layout *layout, og_error *err) {
    og_stencil_impl *made = og_alloc(1, sizeof *made);
    if (!made) return og_fail(err, OG_ENOMEM, "no memory for a stencil");
    made->offsets = *o;
    int64_t codes = og_stencil_codes(ids, o->modality);
    *layout = (og_stencil_layout){.order = o->n + (o->anchor == OG_ANCHOR_CURRENT),
                                  .modality = o->modality,
                                  .anchor_next = o->anchor == OG_ANCHOR_NEXT,
                                  .sources = 1u << o->modality,
                                  .code_limit = codes + (o->outside == OG_OUTSIDE_SENTINEL)};
    *impl = made;
    return OG_OK;
}

void og_offsets_destroy(og_stencil_impl *impl) { og_release(impl); }

/* The token of an offset cell that lies outside the grid, as the policy has it; -1: absent, -2: the
 * sentinel. */
static int64_t outside(const og_offsets *o, const og_offset *at, const og_pack *pack, const og_segment *s,
                       int64_t stride, int64_t r, int64_t c, int64_t l) {
    int64_t level = l + at->dl;
    if (o->leak) {
        /* as if all codes of the modality in the pack were one stream, row behind row */
        int64_t t = s->start + r * stride + c * s->levels + l,
                back = -((at->dy * (int64_t)s->columns + at->dx) * s->levels + at->dl);
        if (back <= 0) return -1;
        while (--t >= 0)
            if (pack->modality[t] == o->modality && --back == 0) return t;
        return -1;
    }
    if (level < 0 || level >= s->levels) return -1;
    if (o->outside == OG_OUTSIDE_SENTINEL) return -2;
    if (o->outside == OG_OUTSIDE_ABSENT) return -1;
    int64_t here = r * s->columns + c, there = here + (int64_t)at->dy * s->columns + at->dx;
    if (there < 0 || there >= here) return -1; /* in a narrow grid a cell above right wraps onto this one */
    return s->start + there / s->columns * stride + there % s->columns * s->levels + level;
}

typedef struct run { /* columns [begin, end) of row r at level l; window i0 + (c - begin) * step is
                        that of column c */
    const og_segment *segment;
    int64_t stride, r, begin, end, l, i0, step;
} run;

static void run_cell(const og_offsets *o, const og_offset *at, const og_pack *pack, int32_t base, const run *u,
                     uint32_t bit, int32_t *code, uint32_t *present) {
    const og_segment *s = u->segment;
    int64_t row = u->r + at->dy, level = u->l + at->dl, low = u->begin, high = u->begin;
    if (row >= 0 && level >= 0 && level < s->levels) {
        low = -(int64_t)at->dx > u->begin ? -(int64_t)at->dx : u->begin;
        high = s->columns - (int64_t)at->dx < u->end ? s->columns - (int64_t)at->dx : u->end;
        if (low > u->end) low = u->end;
        if (high < low) high = low;
    }
    const int32_t *tokens = pack->tokens + s->start + row * u->stride + level; /* used where low < high */
    int64_t i = u->i0 + (low - u->begin) * u->step;
    if (u->step == 1) {
        for (int64_t c = low; c < high; c++, i++) {
            code[i] = tokens[c + at->dx] - base;
            present[i] |= bit;
        }
    } else {
        for (int64_t c = low; c < high; c++, i += u->step) {
            code[i] = tokens[(c + at->dx) * s->levels] - base;
            present[i] |= bit;
        }
    }
    if (o->outside == OG_OUTSIDE_ABSENT && !o->leak) return;
    for (int64_t c = u->begin; c < u->end; c++) {
        if (c == low) c = high;
        if (c >= u->end) break;
        int64_t t = outside(o, at, pack, s, u->stride, u->r, c, u->l);
        if (t == -1) continue;
        i = u->i0 + (c - u->begin) * u->step;
        code[i] = t == -2 ? o->sentinel : pack->tokens[t] - base;
        present[i] |= bit;
    }
}

/* Codes of one level in rows no longer than a block, and cells outside the grid absent: a cell is then a fixed number
 * of tokens back, so that all windows of the segment are one loop a cell, and which cells are present is a mask of the
 * column and one of the row. What is copied for absent cells means nothing. Windows i .. i + (stop - t) are of tokens t
 * .. stop. */
static void flat_cells(const og_offsets *o, const og_pack *pack, int32_t base, const og_segment *s, int64_t t,
                       int64_t stop, int64_t i, int32_t *const *code, uint32_t *present) {
    const int64_t columns = s->columns, stride = columns + s->row_end, n = stop - t;
    const int32_t self = o->anchor == OG_ANCHOR_CURRENT;
    uint32_t in_column[OG_BLOCK];
    for (int64_t c = 0; c < columns; c++) in_column[c] = self ? 1 : 0;
    for (int32_t k = 0; k < o->n; k++) {
        const og_offset *at = &o->cell[k];
        uint32_t bit = 1u << (k + self);
        int64_t low = at->dx < 0 ? -(int64_t)at->dx : 0, high = at->dx > 0 ? columns - at->dx : columns;
        for (int64_t c = low; c < high && !at->dl; c++) in_column[c] |= bit;
        int64_t back = -(at->dy * stride + at->dx), skip = back > t ? back - t : 0; /* not before the pack */
        int32_t *restrict to = code[k + self] + i;
        memset(to, 0, (size_t)(skip < n ? skip : n) * sizeof *to);
        if (skip >= n) continue;
        const int32_t *restrict from = pack->tokens + (t + skip - back);
        for (int64_t j = skip; j < n; j++) to[j] = from[j - skip] - base;
    }
    if (self) {
        const int32_t *restrict from = pack->tokens + t;
        int32_t *restrict to = code[0] + i;
        for (int64_t j = 0; j < n; j++) to[j] = from[j] - base;
    }
    for (int64_t row = (t - s->start) / stride; t < stop; row++) {
        uint32_t in_row = self ? 1 : 0;
        for (int32_t k = 0; k < o->n; k++) in_row |= (uint32_t)(row + o->cell[k].dy >= 0) << (k + self);
        int64_t begin = t - s->start - row * stride, end = stop - s->start - row * stride;
        if (end > columns) end = columns; /* the row end is no column */
        uint32_t *restrict out = present + i;
        for (int64_t c = begin; c < end; c++) out[c - begin] = in_column[c] & in_row;
        int64_t next = s->start + (row + 1) * stride;
        i += next - t;
        t = next;
    }
}

void og_offsets_cells(const og_stencil_impl *impl, const og_pack *pack, const og_id_map *ids, int64_t first,
                      og_cells *cells, int32_t *const *code, int8_t *const *tag, uint32_t *present) {
    (void)tag; /* all cells are of one modality: a constant says it */
    const og_offsets *o = &impl->offsets;
    const int32_t base = ids->base[o->modality], next = o->anchor == OG_ANCHOR_NEXT;
    static const og_offset self = {0, 0, 0};
    memset(present, 0, (size_t)cells->n * sizeof *present);
    for (int32_t k = 0; k < cells->order; k++) cells->constant_tag[k] = (int8_t)o->modality;
    /* Targets: the codes from whose place the cells are seen. Of the same document, or there is
     * none. */
    int64_t t = first + next, end = first + cells->n + next,
            doc_end = first < pack->n_valid ? pack->cu_seqlens[pack->doc_id[first] + 1] : 0;
    if (end > doc_end) end = doc_end;
    while (t < end) {
        int32_t number = pack->segment_id[t];
        if (number < 0) {
            t++;
            continue;
        }
        const og_segment *s = &pack->segments[number];
        int64_t stop = s->start + s->length < end ? s->start + s->length : end;
        if (s->modality != o->modality) {
            t = stop;
            continue;
        }
        if (s->levels == 1 && s->columns <= OG_BLOCK && o->outside == OG_OUTSIDE_ABSENT && !o->leak &&
            (o->levels & 1)) {
            flat_cells(o, pack, base, s, t, stop, t - first - next, code, present);
            t = stop;
            continue;
        }
        run u = {.segment = s, .stride = (int64_t)s->columns * s->levels + s->row_end, .step = s->levels};
        while (t < stop) { /* a row, or what of it lies in [t, stop) */
            int64_t from = t - s->start, row_start = s->start + from / u.stride * u.stride;
            int64_t row_stop = row_start + u.stride < stop ? row_start + u.stride : stop;
            u.r = from / u.stride;
            for (u.l = 0; u.l < s->levels; u.l++) {
                if (!(o->levels >> u.l & 1)) continue;
                /* columns whose token row_start + c * levels + l lies in [t, row_stop) */
                u.begin = (t - row_start - u.l + s->levels - 1) / s->levels;
                if (t - row_start - u.l < 0) u.begin = 0;
                u.end = (row_stop - row_start - u.l + s->levels - 1) / s->levels;
                if (row_stop - row_start - u.l < 0) u.end = 0;
                if (u.end > s->columns) u.end = s->columns; /* the row end is no column */
                if (u.begin >= u.end) continue;
                u.i0 = row_start + u.begin * s->levels + u.l - first - next;
                if (!next) run_cell(o, &self, pack, base, &u, 1, code[0], present);
                for (int32_t k = 0; k < o->n; k++)
                    run_cell(o, &o->cell[k], pack, base, &u, 1u << (k + !next), code[k + !next], present);
            }
            t = row_stop;
        }
    }
}
