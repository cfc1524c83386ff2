/* table_rows.c: a pack to the row ids of every table. */
#include "table_set.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <pthread.h>
#include <string.h>

enum { GRAIN = 4 * OG_BLOCK };

int64_t og_table_scratch_bytes(const og_table_set *set) {
    int64_t each = OG_BLOCK * (8 * (int64_t)set->part_columns_max +
                               (4 * (int64_t)set->width_max + 1) * (int64_t)set->order_max + 4);
    return (each + 63) / 64 * 64;
}
void og_table_scratch_of(const og_table_set *set, char *memory, og_table_scratch *s) {
    s->rows = (int64_t *)memory;
    s->present = (uint32_t *)(s->rows + (int64_t)OG_BLOCK * set->part_columns_max);
    int32_t *codes = (int32_t *)(s->present + OG_BLOCK);
    int64_t cell = (int64_t)OG_BLOCK * set->width_max;
    int8_t *tags = (int8_t *)(codes + cell * set->order_max);
    for (int32_t k = 0; k < set->order_max; k++) {
        s->code[k] = codes + cell * k;
        s->tag[k] = tags + (int64_t)OG_BLOCK * k;
    }
}

/* Codes that the scheme's window marks (eos, special, image) make cells absent. */
static void break_at_ids(const og_window *w, int32_t order, int64_t n, int32_t *const *code, uint32_t *present) {
    const int64_t *lists[3] = {w->eos, w->special, w->image};
    const int32_t counts[3] = {w->n_eos, w->n_special, w->n_image};
    for (int b = 0; b < 3; b++)
        for (int32_t j = 0; j < counts[b]; j++)
            for (int32_t k = 0; k < order; k++) {
                uint32_t gone = 0;
                if (k == 0 && w->self[b]) gone = ~0u;
                if (k > 0 && w->mode[b] == OG_BREAK_LATCH) gone = ~((1u << k) - 1);
                if (k > 0 && w->mode[b] == OG_BREAK_HOLE) gone = 1u << k;
                if (!gone) continue;
                for (int64_t i = 0; i < n; i++)
                    if (present[i] >> k & 1 && code[k][i] == lists[b][j]) present[i] &= ~gone;
            }
}

static void fill(const og_part *part, int32_t order, int64_t n, int32_t *const *code, const uint32_t *present) {
    int32_t width = part->layout.width, with = part->fill;
    int backoff = og_addr_layout_of(part->addr)->window.fill == OG_FILL_BACKOFF;
    uint32_t whole = (uint32_t)((UINT64_C(1) << order) - 1), all = whole;
    for (int64_t i = 0; i < n; i++) all &= present[i];
    for (int32_t k = 0; k < order; k++) {
        /* Cell k is read where it is present; to back off, where all cells before it are as well. */
        uint32_t need = backoff ? (uint32_t)((UINT64_C(2) << k) - 1) : 1u << k;
        int32_t *at = code[k];
        if ((all & need) == need) continue;
        if (width == 1) {
            for (int64_t i = 0; i < n; i++) { /* no branch: pictures have an edge at each row */
                int32_t keep = -((present[i] & need) == need);
                at[i] = (at[i] & keep) | (with & ~keep);
            }
        } else {
            for (int64_t i = 0; i < n; i++)
                for (int32_t w = 0; w < width && (present[i] & need) != need; w++) at[i * width + w] = with;
        }
    }
}

/* A number for random_row that a document keeps wherever it is packed. */
static int64_t document_index(const og_origin *o) {
    return (int64_t)(og_splitmix64(og_splitmix64((uint64_t)o->shard) ^ (uint64_t)o->index) >> 2) + o->offset;
}

int og_part_windows(const og_part *part, const og_pack *pack, const og_id_map *ids, int64_t doc, int64_t first,
                    int64_t n, const og_table_scratch *s, og_cells *cells) {
    int64_t position = first - pack->cu_seqlens[doc];
    *cells = (og_cells){.n = n,
                        .order = part->layout.order,
                        .width = part->layout.width,
                        .position = position,
                        .index = document_index(&pack->origin[doc]) + position,
                        .present = s->present};
    for (int32_t k = 0; k < cells->order; k++) cells->code[k] = s->code[k];
    part->stencil->cells(part->impl, pack, ids, first, cells, s->code, s->tag, s->present);
    uint32_t any = 0;
    for (int64_t i = 0; i < n; i++) any |= s->present[i];
    if (!any) return 0;
    break_at_ids(&og_addr_layout_of(part->addr)->window, cells->order, n, s->code, s->present);
    fill(part, cells->order, n, s->code, s->present);
    return 1;
}

/* A column of rows to its place in the table's store; none where no cell is present. In a function of its own, for
 * among the rest of block() its few variables do not stay in registers. */
static __attribute__((noinline)) void place(const int64_t *restrict row, int64_t step, int64_t n, int64_t shift,
                                            const uint32_t *restrict present, int64_t *restrict out, int64_t out_step) {
    for (int64_t i = 0; i < n; i++) {
        int64_t none = row[i * step] >> 63 | -(int64_t)(present[i] == 0);
        out[i * out_step] = (row[i * step] + shift) | none;
    }
}

static og_status block(const og_table_set *set, const og_pack *pack, int64_t doc, int64_t first, int64_t n,
                       const og_table_scratch *s, int64_t *rows, og_error *err) {
    for (int32_t t = 0; t < set->n_tables; t++)
        for (int32_t p = 0; p < set->tables[t].n_parts; p++) {
            const og_part *part = &set->tables[t].parts[p];
            const og_addr_layout *l = og_addr_layout_of(part->addr);
            og_cells cells;
            int64_t *out = rows + first * set->n_columns + part->column;
            if (!og_part_windows(part, pack, &set->ids, doc, first, n, s, &cells)) {
                for (int64_t i = 0; i < n; i++)
                    for (int32_t c = 0; c < l->n_columns; c++) out[i * set->n_columns + c] = OG_ROW_NONE;
                continue;
            }
            og_status status = og_addr_map_cells(part->addr, &cells, s->rows, err);
            if (status != OG_OK)
                return og_fail_at(err, status, "table %.60s, tokens %lld .. %lld", set->tables[t].name,
                                  (long long)first, (long long)(first + n - 1));
            for (int32_t c = 0; c < l->n_columns; c++)
                place(s->rows + c, l->n_columns, n, part->shift[c], s->present, out + c, set->n_columns);
        }
    return OG_OK;
}

typedef struct job {
    const og_table_set *set;
    const og_pack *pack;
    int64_t *rows;
    char *memory;
    int64_t each;
    pthread_mutex_t lock;
    int64_t failed_at; /* the first part that failed decides, whoever finds its fault first */
    og_status status;
    og_error error;
} job;

static void part_of_pack(void *context, int64_t begin, int64_t end, int32_t worker) {
    job *j = context;
    const og_pack *pack = j->pack;
    og_table_scratch s;
    og_table_scratch_of(j->set, j->memory + worker * j->each, &s);
    og_error err;
    err.message[0] = 0;
    og_status status = OG_OK;
    for (int64_t t = begin; t < end && status == OG_OK;) {
        if (t >= pack->n_valid) { /* pads */
            for (int64_t i = t * j->set->n_columns; i < end * j->set->n_columns; i++) j->rows[i] = OG_ROW_NONE;
            break;
        }
        int64_t doc = pack->doc_id[t], stop = pack->cu_seqlens[doc + 1] < end ? pack->cu_seqlens[doc + 1] : end;
        int64_t n = stop - t < OG_BLOCK ? stop - t : OG_BLOCK;
        status = block(j->set, pack, doc, t, n, &s, j->rows, &err);
        t += n;
    }
    if (status == OG_OK) return;
    pthread_mutex_lock(&j->lock);
    if (j->status == OG_OK || begin < j->failed_at) {
        j->failed_at = begin;
        j->status = status;
        j->error = err;
    }
    pthread_mutex_unlock(&j->lock);
}

og_status og_table_set_rows(const og_table_set *set, const og_pack *pack, og_pool *pool, int64_t *rows, og_error *err) {
    if (!set->n_columns || !pack->n_tokens) return OG_OK;
    job j = {.set = set, .pack = pack, .rows = rows, .each = og_table_scratch_bytes(set)};
    int64_t workers = pack->n_tokens > GRAIN ? og_pool_threads(pool) : 1;
    j.memory = og_alloc(workers, (size_t)j.each);
    if (!j.memory) return og_fail(err, OG_ENOMEM, "no memory for %lld bytes of windows", (long long)(workers * j.each));
    pthread_mutex_init(&j.lock, NULL);
    if (workers == 1) {
        for (int64_t t = 0; t < pack->n_tokens; t += GRAIN)
            part_of_pack(&j, t, t + GRAIN < pack->n_tokens ? t + GRAIN : pack->n_tokens, 0);
    } else {
        og_pool_for(pool, pack->n_tokens, GRAIN, part_of_pack, &j);
    }
    pthread_mutex_destroy(&j.lock);
    og_release(j.memory);
    if (j.status == OG_OK) return OG_OK;
    if (err) *err = j.error;
    return j.status;
}
