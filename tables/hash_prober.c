/* hash_prober.c: a scheme asked for the rows of n-grams that stand in no document. */
#include "hash_audit.h"

#include <omnigram/memory.h>

#include <string.h>

/* The block size at which the same n-gram has the same row at every place (random_row: 1). */
static og_status settle_block(og_prober *p, og_error *err) {
    for (int32_t k = 0; k < p->cells; k++)
        for (int64_t i = 0; i < OG_BLOCK * p->width; i++) p->code[k][i] = (int32_t)(k % p->vocab);
    og_status status = og_prober_run(p, OG_BLOCK, err);
    for (int64_t i = 1; status == OG_OK && i < OG_BLOCK; i++)
        if (memcmp(p->rows, p->rows + i * p->columns, (size_t)p->columns * sizeof *p->rows)) p->block = 1;
    return status;
}

og_status og_prober_new(const og_addr *addr, const og_hash_options *options, og_prober **out, og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(addr);
    if (options->vocab < 2 || options->vocab > INT32_MAX || l->least_code > 0 || options->vocab > l->code_limit)
        return og_fail(err, OG_EINVAL, "audit over %lld codes; scheme %s takes [%lld, %lld), and it takes at least 2",
                       (long long)options->vocab, og_addr_type_of(addr)->name, (long long)l->least_code,
                       (long long)l->code_limit);
    og_prober *p = og_alloc_zero(1, sizeof *p);
    if (!p) return og_fail(err, OG_ENOMEM, "no memory for an audit");
    p->addr = addr;
    p->cells = l->window.max_order;
    p->columns = l->n_columns;
    p->width = l->width;
    p->place = 4096; /* far from the start of a document, where some schemes treat the first positions apart */
    p->vocab = options->vocab;
    p->block = OG_BLOCK;
    p->code[0] = og_alloc((int64_t)p->cells * OG_BLOCK, (size_t)p->width * sizeof *p->code[0]);
    p->rows = og_alloc((int64_t)p->columns * OG_BLOCK, sizeof *p->rows);
    if (!p->code[0] || !p->rows) {
        og_prober_free(p);
        return og_fail(err, OG_ENOMEM, "no memory for an audit");
    }
    for (int32_t k = 0; k < p->cells; k++) {
        p->code[k] = p->code[0] + (int64_t)k * OG_BLOCK * p->width;
        p->tags[k] = options->tags ? options->tags[k] : OG_TEXT;
    }
    og_status status = settle_block(p, err);
    if (status != OG_OK) {
        og_prober_free(p);
        return status;
    }
    *out = p;
    return OG_OK;
}

void og_prober_free(og_prober *p) {
    if (!p) return;
    og_release(p->code[0]);
    og_release(p->rows);
    og_release(p);
}

og_status og_prober_run(og_prober *p, int64_t n, og_error *err) {
    og_cells cells = {.n = n, .order = p->cells, .width = p->width, .position = p->place, .index = p->place};
    for (int32_t k = 0; k < p->cells; k++) {
        cells.code[k] = p->code[k];
        cells.constant_tag[k] = p->tags[k];
    }
    return og_addr_map_cells(p->addr, &cells, p->rows, err);
}
