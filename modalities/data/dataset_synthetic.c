/* dataset_synthetic.c: the data set that needs no files: pictures, sounds and captions of scenes
 * drawn from a seed. */
#include "data/counters.h"
#include "data/files.h"
#include "data/synthetic.h"

#include <stdio.h>
#include <string.h>

typedef struct settings {
    const char *name;
    int64_t documents, seed, size, rate, captions;
} settings;

struct og_dataset_impl {
    settings settings;
    int64_t at;
    uint8_t *pixels;
    int8_t *cells;
    int16_t *pcm;
    int64_t cap_pcm;
    char id[40], texts[OG_SCENE_LANGUAGES][512];
    og_media picture, sound;
    og_item items[2 + OG_SCENE_LANGUAGES];
};

static const og_key keys[] = {
    {"name", OG_KEY_STRING, offsetof(settings, name), "synthetic", 0, 0, NULL, "the data set's name"},
    {"documents", OG_KEY_I64, offsetof(settings, documents), "2500", 1, 1e9, NULL,
     "documents; each is a picture, a sound and captions"},
    {"seed", OG_KEY_I64, offsetof(settings, seed), "1", 0, 0, NULL, "of everything that is drawn"},
    {"size", OG_KEY_I64, offsetof(settings, size), "96", 8, 4096, NULL, "side of a picture, pixels"},
    {"rate", OG_KEY_I64, offsetof(settings, rate), "16000", 4000, 192000, NULL, "of a sound, Hz"},
    {"captions", OG_KEY_I64, offsetof(settings, captions), "2", 1, OG_SCENE_LANGUAGES, NULL,
     "languages (of en, es, de) that describe a document"},
    {0},
};

static void close_synthetic(og_dataset_impl *self) {
    if (!self) return;
    og_release(self->pixels);
    og_release(self->cells);
    og_release(self->pcm);
    og_release(self);
}

static og_status open_synthetic(const og_config *config, const og_split_policy *split, og_dataset_impl **impl,
                                og_error *err) {
    (void)split;
    settings read = {0};
    OG_TRY(og_config_read(config, keys, &read, err));
    og_dataset_impl *self = og_alloc_zero(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "synthetic: no memory");
    self->settings = read;
    self->settings.name = NULL;
    int64_t side = (read.size + 7) / 8;
    self->pixels = og_alloc(3 * read.size * read.size, 1);
    self->cells = og_alloc(side * side, 1);
    if (!self->pixels || !self->cells) {
        close_synthetic(self);
        return og_fail(err, OG_ENOMEM, "synthetic: no memory for a picture of %lld x %lld", (long long)read.size,
                       (long long)read.size);
    }
    *impl = self;
    return OG_OK;
}

static og_status next(og_dataset_impl *self, og_record *out, int32_t *done, og_error *err) {
    const settings *s = &self->settings;
    if (self->at >= s->documents) {
        *done = 1;
        return OG_OK;
    }
    og_scene scene = og_scene_draw((uint64_t)s->seed, self->at);
    og_scene_paint(&scene, s->size, self->pixels, self->cells);
    int64_t samples = og_scene_sound(&scene, s->rate, NULL);
    OG_TRY(og_grow((void **)&self->pcm, &self->cap_pcm, samples, sizeof *self->pcm, err));
    og_scene_sound(&scene, s->rate, self->pcm);
    self->picture = (og_media){
        .modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {s->size, s->size, 3}, .data = self->pixels};
    self->sound = (og_media){.modality = OG_AUDIO,
                             .dtype = OG_I16,
                             .rank = 1,
                             .shape = {samples},
                             .data = self->pcm,
                             .rate_hz = (int32_t)s->rate};
    og_item items[2 + OG_SCENE_LANGUAGES];
    int64_t n = 0, order[2 + OG_SCENE_LANGUAGES];
    items[n++] = (og_item){.modality = OG_IMAGE, .media = &self->picture};
    items[n++] = (og_item){.modality = OG_AUDIO, .media = &self->sound};
    og_shuffle(scene.key, OG_SCENE_LANGUAGES, order);
    for (int64_t i = 0; i < s->captions; i++) {
        int32_t language = (int32_t)order[i];
        og_scene_describe(&scene, language, self->texts[i], sizeof self->texts[i]);
        items[n++] = (og_item){.modality = OG_TEXT, .text = self->texts[i], .language = og_scene_language(language)};
    }
    og_shuffle(scene.key + 1, n, order);
    for (int64_t i = 0; i < n; i++) self->items[i] = items[order[i]];
    snprintf(self->id, sizeof self->id, "scene-%lld", (long long)self->at);
    self->at++;
    *out = (og_record){.id = self->id, .group = self->id, .items = self->items, .n_items = n};
    *done = 0;
    return OG_OK;
}

static og_status counters(const og_dataset_impl *self, og_config **out, og_error *err) {
    const og_counter values[] = {{"documents", self->at}};
    return og_counters_config(values, sizeof values / sizeof *values, out, err);
}

const og_dataset_type og_dataset_synthetic = {
    .abi = OG_ABI,
    .name = "synthetic",
    .summary = "scenes drawn from a seed: painted, sounded and described by the program itself",
    .source = "",
    .keys = keys,
    .open = open_synthetic,
    .close = close_synthetic,
    .next = next,
    .counters = counters,
};
