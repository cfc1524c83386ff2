/* quantize_preview.c: held-out pictures and clips beside what their codes restore, for the report. */
#include "quantize.h"

#include <omnigram/memory.h>
#include <omnigram/safetensors.h>

typedef struct preview {
    og_media original, restored; /* owned where data is not NULL */
} preview;

typedef struct gallery {
    const og_quantize *q;
    const og_quantize_part *part;
    int32_t modality;
    int64_t most, n;
    preview *items;
} gallery;

/* Both pictures go through restore, so that they differ by the codes alone. */
static og_status add_item(void *context, const og_media *media, int64_t unique, const char *document, int64_t item,
                          og_error *err) {
    (void)document, (void)item;
    gallery *g = context;
    if (g->n == g->most) return OG_OK;
    const og_quantize_part *part = g->part;
    float *vectors, *decoded;
    int32_t rows, columns;
    OG_TRY(part->type->vectors(part->impl, media, &vectors, &rows, &columns, err));
    int64_t n = (int64_t)rows * columns;
    preview *p = &g->items[g->n];
    decoded = og_alloc(n * part->codebook->dim, sizeof *decoded);
    og_status status =
        decoded ? OG_OK : og_fail(err, OG_ENOMEM, "no memory for a preview of %lld vectors", (long long)n);
    if (status == OG_OK) status = part->type->restore(part->impl, vectors, rows, columns, &p->original, err);
    if (status == OG_OK) g->n++; /* from here on the gallery frees it */
    if (status == OG_OK)
        status = part->quantizer->decode(part->codebook, g->q->codes[g->modality].values + g->q->items[unique].first, n,
                                         decoded, err);
    if (status == OG_OK) status = part->type->restore(part->impl, decoded, rows, columns, &p->restored, err);
    og_release(vectors);
    og_release(decoded);
    return status;
}

/* From val, else (a data set too small to have one) from train. */
static og_status collect(gallery *g, og_error *err) {
    if (!g->most || !g->part->items) return OG_OK;
    char stage[64];
    snprintf(stage, sizeof stage, "preview %s", g->part->type->name);
    OG_TRY(og_quantize_each(g->q, g->modality, OG_VAL, OG_VAL, stage, add_item, g, err));
    if (!g->n) OG_TRY(og_quantize_each(g->q, g->modality, OG_TRAIN, OG_TRAIN, stage, add_item, g, err));
    return OG_OK;
}

static int64_t media_bytes(const og_media *media) {
    int64_t bytes = og_dtype_bits(media->dtype) / 8;
    for (int32_t r = 0; r < media->rank; r++) bytes *= media->shape[r];
    return bytes;
}

/* Declares (append 0) or writes (append 1) NAME.I.original and NAME.I.restored. */
static og_status put(og_arrays_writer *writer, const gallery *g, int append, og_error *err) {
    for (int64_t i = 0; i < g->n; i++)
        for (int side = 0; side < 2; side++) {
            const og_media *media = side ? &g->items[i].restored : &g->items[i].original;
            char name[64];
            snprintf(name, sizeof name, "%s.%lld.%s", g->part->type->name, (long long)i,
                     side ? "restored" : "original");
            if (append)
                OG_TRY(og_arrays_writer_append(writer, media->data, media_bytes(media), err));
            else
                OG_TRY(og_arrays_writer_declare(writer, name, media->dtype, media->rank, media->shape, err));
        }
    return OG_OK;
}

static og_status save(const gallery galleries[2], const char *path, og_error *err) {
    og_arrays_writer *writer;
    OG_TRY(og_arrays_writer_new(path, &writer, err));
    og_status status = og_arrays_writer_metadata(writer, "kind", "preview", err);
    for (int append = 0; append < 2; append++)
        for (int i = 0; i < 2 && status == OG_OK; i++) status = put(writer, &galleries[i], append, err);
    if (status == OG_OK) return og_arrays_writer_commit(writer, err);
    og_arrays_writer_abort(writer);
    return status;
}

og_status og_quantize_preview(const og_quantize *q, og_error *err) {
    gallery galleries[2];
    char path[4096];
    OG_TRY(og_quantize_path(q->out, "preview.safetensors", path, err));
    og_status status = OG_OK;
    for (int i = 0; i < 2; i++) {
        int32_t modality = i ? OG_AUDIO : OG_IMAGE;
        gallery *g = &galleries[i];
        *g = (gallery){.q = q,
                       .part = &q->parts[modality],
                       .modality = modality,
                       .most = i ? (q->n_previews + 3) / 4 : q->n_previews};
        g->items = og_alloc_zero(g->most, sizeof *g->items);
        if (status != OG_OK) continue;
        status =
            g->items ? collect(g, err) : og_fail(err, OG_ENOMEM, "no memory for %lld previews", (long long)g->most);
    }
    if (status == OG_OK) status = save(galleries, path, err);
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; galleries[i].items && k < galleries[i].n; k++) {
            og_media_free(&galleries[i].items[k].original);
            og_media_free(&galleries[i].items[k].restored);
        }
        og_release(galleries[i].items);
    }
    return status;
}
