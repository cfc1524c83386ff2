/* quantize_documents.c: documents of codes, split by split. */
#include "quantize.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>

#include <string.h>

static og_status make_ids(const og_quantize *q, og_id_map *ids, og_error *err) {
    const og_codebook *image = q->parts[OG_IMAGE].codebook, *audio = q->parts[OG_AUDIO].codebook;
    return og_id_map_make(og_tokenizer_vocab(q->tokenizer), image ? image->size : 0, image ? image->levels : 1,
                          audio ? audio->size : 0, audio ? audio->levels : 1, ids, err);
}

static og_status add_text(const og_quantize *q, og_documents_builder *builder, const og_media *media, og_error *err) {
    int32_t *ids;
    int64_t n;
    OG_TRY(og_tokenizer_encode(q->tokenizer, media->data, media->shape[0], &ids, &n, err));
    og_status status = n > INT32_MAX
                           ? og_fail(err, OG_EINVAL, "%lld tokens; a text has at most %d", (long long)n, INT32_MAX)
                           : og_documents_item(builder, OG_TEXT, ids, 1, (int32_t)n, 1, -1, err);
    og_release(ids);
    return status;
}

static og_status add_item(const og_quantize *q, og_documents_builder *builder, const int32_t codebooks[OG_N_MODALITIES],
                          const og_media *media, int64_t unique, og_error *err) {
    int32_t m = media->modality;
    if (m == OG_TEXT) return add_text(q, builder, media, err);
    const og_quantize_item *item = &q->items[unique];
    if (m < 0 || m >= OG_N_MODALITIES || !q->parts[m].codebook || item->first < 0)
        return og_fail(err, OG_EINTERNAL, "a stored item of modality %d has no codes", m);
    return og_documents_item(builder, m, q->codes[m].values + item->first, item->rows, item->columns,
                             q->parts[m].codebook->levels, codebooks[m], err);
}

static og_status add_documents(const og_quantize *q, int32_t split, og_documents_builder *builder, og_error *err) {
    int32_t codebooks[OG_N_MODALITIES] = {-1, -1, -1, -1};
    for (int32_t m = OG_IMAGE; m <= OG_AUDIO; m++)
        if (q->parts[m].codebook)
            OG_TRY(og_documents_codebook(builder, q->parts[m].codebook->fingerprint, &codebooks[m], err));
    char stage[64];
    snprintf(stage, sizeof stage, "documents of %s", og_split_name(split));
    int64_t n = og_prepared_count(q->prepared, split);
    for (int64_t d = 0; d < n; d++) {
        og_prepared_document document;
        OG_TRY(og_prepared_get(q->prepared, split, d, &document, err));
        OG_TRY(og_documents_begin(builder, document.shard, document.index, err));
        for (int64_t i = 0; i < document.n_items; i++) {
            og_media media;
            int64_t unique;
            OG_TRY(og_prepared_item(q->prepared, split, d, i, &media, &unique, err));
            og_status status = add_item(q, builder, codebooks, &media, unique, err);
            if (status != OG_OK) return og_fail_at(err, status, "document '%s', item %lld", document.id, (long long)i);
        }
        OG_TRY(og_documents_end(builder, err));
        if (q->progress && q->progress(q->progress_context, stage, d + 1, n))
            return og_fail(err, OG_ECANCELED, "%s: cancelled at %lld of %lld", stage, (long long)d, (long long)n);
    }
    return OG_OK;
}

/* {dataset: its name, prepare: what the shards counted, shards, tokenizer: fingerprints}; the builder adds its own. */
static og_status counters_so_far(const og_quantize *q, og_config **out, og_error *err) {
    const og_config *index = og_prepared_index(q->prepared);
    const og_config *counted = og_config_get(index, "counters"), *dataset = og_config_get(index, "dataset");
    char tokenizer[OG_DIGEST_TEXT + 2], digest[OG_DIGEST_TEXT], shards[OG_DIGEST_TEXT + 2];
    og_config *outer = NULL;
    OG_TRY(og_prepared_fingerprint(q->prepared, digest, err));
    OG_TRY(og_config_new_at(NULL, NULL, &outer, err));
    snprintf(tokenizer, sizeof tokenizer, "'%s'", og_tokenizer_fingerprint(q->tokenizer));
    snprintf(shards, sizeof shards, "'%s'", digest);
    og_status status = og_config_set(outer, "tokenizer", tokenizer, err);
    if (status == OG_OK) status = og_config_set(outer, "shards", shards, err);
    if (status == OG_OK && counted) status = og_config_put(outer, "prepare", counted, err);
    if (status == OG_OK && dataset) status = og_config_put(outer, "dataset", dataset, err);
    if (status != OG_OK)
        og_config_free(outer);
    else
        *out = outer;
    return status;
}

static void report(og_quantize *q, int32_t split, const og_documents *documents) {
    json_int_t tokens[OG_N_MODALITIES] = {0};
    for (int64_t t = 0; t < documents->n_tokens; t++) tokens[documents->modality[t]]++;
    json_t *of_split = json_pack("{s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "documents", (json_int_t)documents->n_docs,
                                 "tokens", (json_int_t)documents->n_tokens, "by_modality", "text", tokens[OG_TEXT],
                                 "image", tokens[OG_IMAGE], "audio", tokens[OG_AUDIO], "marker", tokens[OG_MARKER]);
    json_t *all = json_object_get(q->result, "splits");
    if (!all) json_object_set_new(q->result, "splits", all = json_object());
    json_object_set_new(all, og_split_name(split), of_split);
}

static og_status make_split(og_quantize *q, const og_id_map *ids, int32_t split, og_error *err) {
    char leaf[64], path[4096];
    snprintf(leaf, sizeof leaf, "%s.documents.safetensors", og_split_name(split));
    OG_TRY(og_quantize_path(q->out, leaf, path, err));
    og_documents_builder *builder;
    OG_TRY(og_documents_builder_new(ids, (int32_t)q->row_end, &builder, err));
    og_config *counters = NULL;
    og_status status = add_documents(q, split, builder, err);
    if (status == OG_OK) status = counters_so_far(q, &counters, err);
    if (status != OG_OK) {
        og_documents_builder_free(builder);
        return status;
    }
    og_documents *documents;
    OG_TRY(og_documents_finish(builder, counters, &documents, err));
    status = og_documents_save(documents, path, err);
    if (status == OG_OK) report(q, split, documents);
    og_documents_free(documents);
    return status;
}

og_status og_quantize_documents(og_quantize *q, og_error *err) {
    og_id_map ids;
    OG_TRY(make_ids(q, &ids, err));
    json_object_set_new(q->result, "ids", json_integer(ids.size));
    for (int32_t split = 0; split < OG_N_SPLITS; split++) OG_TRY(make_split(q, &ids, split, err));
    return OG_OK;
}
