/* quantize_vectors.c: walking the distinct items of a split, and a bounded sample of their vectors. */
#include "quantize.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <string.h>

og_status og_quantize_each(const og_quantize *q, int32_t modality, int32_t first, int32_t last, const char *stage,
                           og_quantize_item_fn *fn, void *context, og_error *err) {
    int64_t n_items = og_prepared_items(q->prepared), total = 0, done = 0;
    for (int32_t split = first; split <= last; split++) total += og_prepared_count(q->prepared, split);
    uint8_t *seen = og_alloc_zero(n_items, 1);
    if (!seen) return og_fail(err, OG_ENOMEM, "no memory for %lld stored items", (long long)n_items);
    og_status status = OG_OK;
    for (int32_t split = first; split <= last && status == OG_OK; split++)
        for (int64_t d = 0; d < og_prepared_count(q->prepared, split) && status == OG_OK; d++, done++) {
            og_prepared_document document;
            status = og_prepared_get(q->prepared, split, d, &document, err);
            for (int64_t i = 0; status == OG_OK && i < document.n_items; i++) {
                og_media media;
                int64_t unique;
                status = og_prepared_item(q->prepared, split, d, i, &media, &unique, err);
                if (status != OG_OK || media.modality != modality || seen[unique]) continue;
                seen[unique] = 1;
                status = fn(context, &media, unique, document.id, i, err);
            }
            if (status == OG_OK && q->progress && q->progress(q->progress_context, stage, done + 1, total))
                status = og_fail(err, OG_ECANCELED, "%s: cancelled at document %lld of %lld", stage, (long long)done,
                                 (long long)total);
        }
    og_release(seen);
    return status;
}

typedef struct slot {
    uint64_t key;
    int64_t row;
} slot;

typedef struct sample { /* the `most` vectors of the smallest keys; heap[0] has the largest of them */
    const og_quantize_part *part;
    int64_t dim, most, n, seen, capacity, heap_capacity;
    float *vectors;
    slot *heap;
} sample;

static void sift_down(slot *heap, int64_t n, int64_t i) {
    for (;;) {
        int64_t top = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (heap[child].key > heap[top].key) top = child;
        if (top == i) return;
        slot other = heap[i];
        heap[i] = heap[top];
        heap[top] = other;
        i = top;
    }
}

static og_status add_vector(sample *s, const float *vector, uint64_t key, og_error *err) {
    s->seen++;
    if (s->n < s->most) {
        void *vectors = s->vectors, *heap = s->heap;
        OG_TRY(og_grow(&vectors, &s->capacity, (s->n + 1) * s->dim, sizeof *s->vectors, err));
        s->vectors = vectors;
        OG_TRY(og_grow(&heap, &s->heap_capacity, s->n + 1, sizeof *s->heap, err));
        s->heap = heap;
        memcpy(s->vectors + s->n * s->dim, vector, (size_t)s->dim * sizeof *vector);
        s->heap[s->n] = (slot){key, s->n};
        s->n++;
        if (s->n == s->most)
            for (int64_t i = s->n / 2; i-- > 0;) sift_down(s->heap, s->n, i);
    } else if (key < s->heap[0].key) {
        s->heap[0].key = key;
        memcpy(s->vectors + s->heap[0].row * s->dim, vector, (size_t)s->dim * sizeof *vector);
        sift_down(s->heap, s->n, 0);
    }
    return OG_OK;
}

static og_status add_item(void *context, const og_media *media, int64_t unique, const char *document, int64_t item,
                          og_error *err) {
    sample *s = context;
    float *vectors;
    int32_t rows, columns;
    og_status status = s->part->type->vectors(s->part->impl, media, &vectors, &rows, &columns, err);
    if (status != OG_OK) return og_fail_at(err, status, "document '%s', item %lld", document, (long long)item);
    for (int64_t i = 0; i < (int64_t)rows * columns && status == OG_OK; i++)
        status = add_vector(s, vectors + i * s->dim, og_random_bits((uint64_t)unique, (uint64_t)i), err);
    og_release(vectors);
    return status;
}

og_status og_quantize_vectors(const og_quantize *q, int32_t modality, int32_t split, int64_t most, float **vectors,
                              int64_t *n, int64_t *seen, og_error *err) {
    const og_quantize_part *part = &q->parts[modality];
    sample s = {.part = part, .dim = part->type->dim(part->impl), .most = most};
    char stage[64];
    snprintf(stage, sizeof stage, "read %s %s", og_split_name(split), part->type->name);
    og_status status = og_quantize_each(q, modality, split, split, stage, add_item, &s, err);
    og_release(s.heap);
    if (status != OG_OK) {
        og_release(s.vectors);
        return status;
    }
    *vectors = s.vectors;
    *n = s.n;
    *seen = s.seen;
    return OG_OK;
}
