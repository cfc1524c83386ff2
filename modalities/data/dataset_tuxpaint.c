/* dataset_tuxpaint.c: cards and pages from the stamps of Tux Paint (Debian's tuxpaint-stamps-default, unpacked). */
#include "data/counters.h"
#include "data/tuxpaint_plan.h"

#include <string.h>

typedef struct settings {
    const char *name, *path;
    const og_config *languages, *speech;
    og_tuxpaint_choice choice;
    int32_t loose_speech;
} settings;

struct og_dataset_impl {
    og_stamps stamps;
    og_tuxpaint_plan plan;
    int64_t at;
};

#define CHOICE(name) offsetof(settings, choice.name)
static const og_key keys[] = {
    {"name", OG_KEY_STRING, offsetof(settings, name), "tuxpaint", 0, 0, NULL, "the data set's name"},
    {"path", OG_KEY_STRING, offsetof(settings, path), "data/tuxpaint", 1, 4000, NULL,
     "the unpacked package (tools/fetch-data.sh)"},
    {"languages", OG_KEY_NODE, offsetof(settings, languages), "", 0, 0, NULL,
     "list of caption languages, or all; default 20 of the fullest"},
    {"speech", OG_KEY_NODE, offsetof(settings, speech), "", 0, 0, NULL,
     "list of spoken languages; default bg, es, fr, ro, ru, whose clips read the caption word for word"},
    {"loose_speech", OG_KEY_BOOL, offsetof(settings, loose_speech), "false", 0, 0, NULL,
     "allow languages whose clips say less than the caption"},
    {"augment", OG_KEY_I64, CHOICE(augment), "2", 1, 64, NULL,
     "cards a stamp: the first with the whole picture, others cropped and mirrored"},
    {"sounds", OG_KEY_BOOL, CHOICE(sounds), "true", 0, 0, NULL, "the sound of the thing, on its first card"},
    {"page_stamps", OG_KEY_I64, CHOICE(page_stamps), "4", 2, 64, NULL, "most stamps on a page"},
    {"page_share", OG_KEY_F64, CHOICE(page_share), "0.25", 0, 1, NULL,
     "share of the spoken captions that go on pages, the rest on cards"},
    {"documents", OG_KEY_I64, CHOICE(documents), "0", 0, 0, NULL, "most documents, in hash order; 0: all"},
    {"seed", OG_KEY_I64, CHOICE(seed), "0", 0, 0, NULL, "of orders, crops and which card a caption is on"},
    {0},
};

static const char *const default_languages[] = {"en", "es", "fr", "ru", "bg", "ro", "de", "it", "pt", "nl",
                                                "sv", "pl", "cs", "da", "uk", "el", "fi", "hu", "ca", "sk"};
static const char *const verbatim[] = {"bg", "es", "fr", "ro", "ru"};

static og_status read_list(const og_config *node, const char *const *fallback, int64_t n_fallback, const char **out,
                           int64_t *n, og_error *err) {
    const char *word = NULL;
    if (!node) {
        for (int64_t i = 0; i < n_fallback; i++) out[i] = fallback[i];
        *n = n_fallback;
        return OG_OK;
    }
    if (og_config_kind(node) == OG_CONFIG_STRING) {
        OG_TRY(og_config_string(node, &word, err));
        if (!strcmp(word, "all")) {
            *n = -1;
            return OG_OK;
        }
    }
    if (og_config_kind(node) != OG_CONFIG_LIST || og_config_size(node) > OG_TUXPAINT_LANGUAGES)
        return og_fail(err, OG_EINVAL, "%s: must be a list of at most %d languages", OG_WHERE(node),
                       OG_TUXPAINT_LANGUAGES);
    for (int64_t i = 0; i < og_config_size(node); i++) OG_TRY(og_config_string(og_config_at(node, i), &out[i], err));
    *n = og_config_size(node);
    return OG_OK;
}

static og_status read_choice(const og_config *config, settings *s, og_error *err) {
    og_tuxpaint_choice *c = &s->choice;
    OG_TRY(og_config_read(config, keys, s, err));
    OG_TRY(read_list(s->languages, default_languages, sizeof default_languages / sizeof *default_languages,
                     c->languages, &c->n_languages, err));
    OG_TRY(read_list(s->speech, verbatim, sizeof verbatim / sizeof *verbatim, c->speech, &c->n_speech, err));
    if (c->n_speech < 0) return og_fail(err, OG_EINVAL, "%s: must be a list of languages", OG_WHERE(s->speech));
    for (int64_t i = 0; i < c->n_speech; i++) {
        int32_t known = 0, caption = c->n_languages < 0;
        for (size_t k = 0; k < sizeof verbatim / sizeof *verbatim; k++) known |= !strcmp(c->speech[i], verbatim[k]);
        for (int64_t k = 0; k < c->n_languages; k++) caption |= !strcmp(c->speech[i], c->languages[k]);
        if (!known && !s->loose_speech)
            return og_fail(err, OG_EINVAL,
                           "%s: '%s': its clips do not read the caption word for word (bg, es, fr, ro, ru do); "
                           "loose_speech: true takes it all the same",
                           OG_WHERE(s->speech), c->speech[i]);
        if (!caption)
            return og_fail(err, OG_EINVAL, "%s: speech '%s' is not among languages",
                           OG_WHERE(s->speech ? s->speech : s->languages), c->speech[i]);
    }
    return OG_OK;
}

static void close_tuxpaint(og_dataset_impl *self) {
    if (!self) return;
    og_tuxpaint_plan_free(&self->plan);
    og_stamps_free(&self->stamps);
    og_release(self);
}

static og_status open_tuxpaint(const og_config *config, const og_split_policy *split, og_dataset_impl **impl,
                               og_error *err) {
    settings s = {0};
    OG_TRY(read_choice(config, &s, err));
    og_dataset_impl *self = og_alloc_zero(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "tuxpaint: no memory");
    og_status status = og_stamps_scan(s.path, &self->stamps, err);
    if (status == OG_OK) status = og_tuxpaint_plan_make(&self->stamps, &s.choice, split, &self->plan, err);
    if (status != OG_OK) {
        close_tuxpaint(self);
        return status;
    }
    *impl = self;
    return OG_OK;
}

static og_status next(og_dataset_impl *self, og_record *out, int32_t *done, og_error *err) {
    (void)err;
    *done = self->at >= self->plan.n_documents;
    if (*done) return OG_OK;
    const og_planned *d = &self->plan.documents[self->at++];
    *out = (og_record){.id = d->id, .group = d->group, .items = self->plan.items + d->first, .n_items = d->n};
    return OG_OK;
}

static og_status counters(const og_dataset_impl *self, og_config **out, og_error *err) {
    const og_tuxpaint_plan *p = &self->plan;
    const og_counter values[] = {{"files", self->stamps.files},
                                 {"files_of_no_stamp", self->stamps.orphans},
                                 {"files_unknown", self->stamps.unknown},
                                 {"stamps", self->stamps.n},
                                 {"stamps_svg_only", p->svg_only},
                                 {"groups", p->groups},
                                 {"captions_read", p->captions_read},
                                 {"captions_used", p->captions_used},
                                 {"captions_of_no_picture", p->no_picture_captions},
                                 {"captions_other_language", p->captions_other_language},
                                 {"captions_same_text", p->captions_same_text},
                                 {"caption_lines_bad", p->captions_bad_lines},
                                 {"clips_read", p->clips_read},
                                 {"clips_used", p->clips_used},
                                 {"clips_of_no_picture", p->clips_no_picture},
                                 {"clips_other_language", p->clips_other_language},
                                 {"clips_no_caption", p->clips_no_caption},
                                 {"clips_second_take", p->clips_second_take},
                                 {"sounds_used", p->sounds_used},
                                 {"sounds_left_out", p->sounds_left_out},
                                 {"cards", p->cards},
                                 {"pages", p->pages},
                                 {"documents_beyond_limit", p->beyond_limit}};
    return og_counters_config(values, sizeof values / sizeof *values, out, err);
}

const og_dataset_type og_dataset_tuxpaint = {
    .abi = OG_ABI,
    .name = "tuxpaint",
    .summary = "pictures, captions and speech of Tux Paint's stamps: cards and pages",
    .source = "Debian tuxpaint-stamps-default (GPL-2)",
    .keys = keys,
    .sided = 1,
    .open = open_tuxpaint,
    .close = close_tuxpaint,
    .next = next,
    .counters = counters,
};
