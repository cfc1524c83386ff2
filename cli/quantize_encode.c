/* quantize_encode.c: codes of every stored picture and clip, each encoded once. */
#include "quantize.h"

#include <omnigram/memory.h>

#include <string.h>

enum { BATCH = 16384, MOST_PENDING = 4096 }; /* vectors, and items, of one call to the quantizer */

typedef struct pending_item {
    char *document; /* for messages, owned */
    int64_t item, unique, vectors;
} pending_item;

typedef struct batch {
    og_quantize *q;
    og_quantize_part *part;
    og_quantize_codes *codes;
    float *vectors;
    int64_t dim, n, capacity;
    pending_item pending[MOST_PENDING];
    int64_t n_pending;
} batch;

/* Codes out of a quantizer are -1 only for a vector that is not finite. */
static og_status check_codes(const batch *b, const int32_t *codes, og_error *err) {
    int64_t levels = b->part->codebook->levels, at = 0;
    for (int64_t p = 0; p < b->n_pending; at += b->pending[p++].vectors)
        for (int64_t i = 0; i < b->pending[p].vectors; i++)
            if (codes[(at + i) * levels] < 0)
                return og_fail(
                    err, OG_EFORMAT, "document '%s', item %lld: vector %lld of this %s is not finite and has no code",
                    b->pending[p].document, (long long)b->pending[p].item, (long long)i, b->part->type->name);
    return OG_OK;
}

static void drop_pending(batch *b) {
    for (int64_t p = 0; p < b->n_pending; p++) og_release(b->pending[p].document);
    b->n_pending = b->n = 0;
}

static og_status flush(batch *b, og_error *err) {
    og_quantize_codes *codes = b->codes;
    const og_codebook *codebook = b->part->codebook;
    void *values = codes->values;
    OG_TRY(og_grow(&values, &codes->capacity, codes->n + b->n * codebook->levels, sizeof *codes->values, err));
    codes->values = values;
    int32_t *out = codes->values + codes->n;
    OG_TRY(b->part->quantizer->encode(codebook, b->vectors, b->n, out, NULL, b->q->pool, err));
    OG_TRY(check_codes(b, out, err));
    for (int64_t p = 0; p < b->n_pending; p++) {
        b->q->items[b->pending[p].unique].first = codes->n;
        codes->n += b->pending[p].vectors * codebook->levels;
    }
    drop_pending(b);
    return OG_OK;
}

static og_status add_item(void *context, const og_media *media, int64_t unique, const char *document, int64_t item,
                          og_error *err) {
    batch *b = context;
    float *vectors;
    int32_t rows, columns;
    og_status status = b->part->type->vectors(b->part->impl, media, &vectors, &rows, &columns, err);
    if (status != OG_OK) return og_fail_at(err, status, "document '%s', item %lld", document, (long long)item);
    int64_t n = (int64_t)rows * columns;
    void *grown = b->vectors;
    status = og_grow(&grown, &b->capacity, (b->n + n) * b->dim, sizeof *b->vectors, err);
    char *name = status == OG_OK ? og_copy_string(document) : NULL;
    if (status == OG_OK && !name) status = og_fail(err, OG_ENOMEM, "no memory for the name of a document");
    if (status == OG_OK) {
        b->vectors = grown;
        memcpy(b->vectors + b->n * b->dim, vectors, (size_t)(n * b->dim) * sizeof *vectors);
        b->q->items[unique].rows = rows;
        b->q->items[unique].columns = columns;
        b->pending[b->n_pending++] = (pending_item){name, item, unique, n};
        b->n += n;
    }
    og_release(vectors);
    if (status == OG_OK && (b->n >= BATCH || b->n_pending == MOST_PENDING)) status = flush(b, err);
    return status;
}

og_status og_quantize_encode(og_quantize *q, og_error *err) {
    for (int32_t m = OG_IMAGE; m <= OG_AUDIO; m++) {
        og_quantize_part *part = &q->parts[m];
        if (!part->items) continue;
        batch *b = og_alloc_zero(1, sizeof *b);
        if (!b) return og_fail(err, OG_ENOMEM, "no memory to encode %s", part->type->name);
        b->q = q;
        b->part = part;
        b->codes = &q->codes[m];
        b->dim = part->codebook->dim;
        char stage[64];
        snprintf(stage, sizeof stage, "encode %s", part->type->name);
        og_status status = og_quantize_each(q, m, OG_TRAIN, OG_TEST, stage, add_item, b, err);
        if (status == OG_OK && b->n_pending) status = flush(b, err);
        drop_pending(b);
        og_release(b->vectors);
        og_release(b);
        OG_TRY(status);
    }
    return OG_OK;
}
