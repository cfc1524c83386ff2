/* quantize_setup.c: from a config to readers, quantizers and counts of items. */
#include "quantize.h"

#include <omnigram/memory.h>

#include <string.h>
#include <unistd.h>

typedef struct settings {
    const og_config *text, *image, *audio;
    int64_t threads, row_end, previews;
} settings;

static const og_key keys[] = {
    {"text", OG_KEY_NODE, offsetof(settings, text), "", 0, 0, NULL, "the tokenizer"},
    {"image", OG_KEY_NODE, offsetof(settings, image), "", 0, 0, NULL, "the image quantizer"},
    {"audio", OG_KEY_NODE, offsetof(settings, audio), "", 0, 0, NULL, "the audio quantizer"},
    {"threads", OG_KEY_I64, offsetof(settings, threads), "0", 0, 1024, NULL,
     "0: one for each processor; results do not depend on it"},
    {"row_end", OG_KEY_I64, offsetof(settings, row_end), "1", 0, 1, NULL, "1: a marker ends each row of an image"},
    {"previews", OG_KEY_I64, offsetof(settings, previews), "8", 0, 1000, NULL,
     "pictures (and a quarter as many clips) in preview.safetensors"},
    {0},
};

typedef struct text_settings {
    int64_t vocab;
} text_settings;

static const og_key text_keys[] = {
    {"vocab", OG_KEY_I64, offsetof(text_settings, vocab), "2000", 300, 1000000, NULL,
     "pieces of the SentencePiece BPE; 256 are bytes"},
    {0},
};

static og_status open_part(const og_config *index, const og_config *map, const char *name, int encode_only,
                           og_quantize_part *part, og_error *err) {
    char key[32];
    part->type = og_modality_find(name);
    if (!part->type) return og_fail(err, OG_EINTERNAL, "this build has no modality '%s'", name);
    snprintf(key, sizeof key, "config.%s", name); /* the policies that prepared the items decide their vectors too */
    OG_TRY(part->type->create(og_config_get(index, key), &part->impl, err));
    OG_TRY(part->type->describe(part->impl, &part->preprocess, err));
    return og_quantize_read_keys(map, encode_only, part, err);
}

static og_status count_items(og_quantize *q, og_error *err) {
    int64_t n = og_prepared_items(q->prepared);
    q->items = og_alloc(n, sizeof *q->items);
    if (!q->items) return og_fail(err, OG_ENOMEM, "no memory for %lld stored items", (long long)n);
    for (int64_t i = 0; i < n; i++) q->items[i] = (og_quantize_item){.first = -1};
    for (int32_t split = 0; split < OG_N_SPLITS; split++)
        for (int64_t d = 0; d < og_prepared_count(q->prepared, split); d++) {
            og_prepared_document document;
            OG_TRY(og_prepared_get(q->prepared, split, d, &document, err));
            for (int64_t i = 0; i < document.n_items; i++) {
                og_media media;
                int64_t unique;
                OG_TRY(og_prepared_item(q->prepared, split, d, i, &media, &unique, err));
                if (q->items[unique].first != -1) continue;
                q->items[unique].first = -2;
                q->parts[media.modality].items++;
            }
        }
    for (int64_t i = 0; i < n; i++) q->items[i].first = -1;
    return OG_OK;
}

og_status og_quantize_open(const og_config *config, og_quantize *q, og_error *err) {
    settings s;
    text_settings text;
    OG_TRY(og_config_read(config, keys, &s, err));
    OG_TRY(og_config_read(s.text, text_keys, &text, err));
    q->vocab = text.vocab;
    q->text_given = s.text;
    q->row_end = s.row_end;
    q->n_previews = s.previews;
    q->threads = s.threads ? s.threads : sysconf(_SC_NPROCESSORS_ONLN);
    OG_TRY(og_prepared_open(q->prepared_path, &q->prepared, err));
    const og_config *index = og_prepared_index(q->prepared);
    int encode_only = q->codebooks_path != NULL;
    OG_TRY(open_part(index, s.image, "image", encode_only, &q->parts[OG_IMAGE], err));
    OG_TRY(open_part(index, s.audio, "audio", encode_only, &q->parts[OG_AUDIO], err));
    OG_TRY(og_pool_new((int32_t)q->threads, &q->pool, err));
    return count_items(q, err);
}

void og_quantize_close(og_quantize *q) {
    for (int32_t m = 0; m < OG_N_MODALITIES; m++) {
        og_quantize_part *part = &q->parts[m];
        if (part->impl) part->type->destroy(part->impl);
        og_config_free(part->preprocess);
        og_config_free(part->fit);
        og_codebook_free(part->codebook);
        og_release(q->codes[m].values);
    }
    og_release(q->items);
    og_tokenizer_free(q->tokenizer);
    og_prepared_close(q->prepared);
    og_pool_free(q->pool);
}
