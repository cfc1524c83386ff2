/* test_tuxpaint.c: captions, names, groups and documents on a small tree that the test writes. */
#include "fixtures.h"

#include "data/tuxpaint.h"

static og_error err;
static char *root;

static void caption(const char *stem, const char *text) {
    char name[200];
    snprintf(name, sizeof name, "usr/share/tuxpaint/stamps/%s.txt", stem);
    write_file(root, name, text, (int64_t)strlen(text));
}

/* A 4 x 4 picture of one colour with a mark in a corner; mirrored: the mark is in the other one. */
static void picture(const char *stem, int colour, int mirrored) {
    static bytes file;
    unsigned char samples[48];
    char name[200];
    memset(samples, colour, sizeof samples);
    memset(samples + (mirrored ? 9 : 0), 255 - colour, 3);
    png(&file, 4, 4, 8, 2, samples);
    snprintf(name, sizeof name, "usr/share/tuxpaint/stamps/%s.png", stem);
    write_file(root, name, file.data, file.n);
}

static void clip(const char *name, int value) {
    static bytes file;
    int16_t samples[1600];
    char path[200];
    for (int i = 0; i < 1600; i++) samples[i] = (int16_t)(value * (i % 50));
    wav(&file, 1, 1, 16000, 16, samples, sizeof samples);
    snprintf(path, sizeof path, "usr/share/tuxpaint/stamps/%s.wav", name);
    write_file(root, path, file.data, file.n);
}

static void test_captions(void) {
    og_strings strings = {0};
    og_captions c = {0};
    static const char text[] = "\xEF\xBB\xBF"
                               "A cat. \nes.utf8=Un gato.\r\npt_BR.utf8 =x\nca@valencia.utf8= Un gat "
                               "\n\nde.utf8=\nfr=Un chat\nes.utf8=Otro\nru.utf8=\xFF\n";
    CHECK_OK(og_captions_parse(text, (int64_t)sizeof text - 1, &strings, &c, &err));
    CHECK(c.n == 3 && !strcmp(c.list[0].language, "en") && !strcmp(c.list[0].text, "A cat."));
    CHECK(!strcmp(og_captions_find(&c, "es"), "Un gato.") && !strcmp(og_captions_find(&c, "ca@valencia"), "Un gat"));
    CHECK(!og_captions_find(&c, "pt_BR") &&
          c.bad_lines == 5); /* "pt_BR.utf8 =", empty de, "fr=", second es, ru not UTF-8 */
    og_release(c.list);
    CHECK_OK(og_captions_parse("", 0, &strings, &c, &err));
    CHECK(c.n == 0);
    og_release(c.list);
    og_strings_free(&strings);
}

static void test_families(void) {
    static const struct {
        const char *stem, *family;
    } cases[] = {{"flower1", "flower"},
                 {"flower10", "flower"},
                 {"stoplight_red", "stoplight"},
                 {"dreydl-nun", "dreydl"},
                 {"A_filled", "a"},
                 {"b_3_bishop", "bishop"},
                 {"w_3_bishop", "bishop"},
                 {"025quarter", "quarter"},
                 {"200", ""},
                 {"tux", "tux"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char family[64];
        og_stamp_family(cases[i].stem, family);
        CHECK(!strcmp(family, cases[i].family));
    }
}

static void make_tree(void) {
    root = temporary_folder();
    picture("animals/cat", 10, 0);
    caption("animals/cat", "A cat.\nes.utf8=Un gato.\nfr.utf8=Un chat.\nru.utf8=Кот.\nde.utf8=Un gato.\n");
    clip("animals/cat_desc_es", 11);
    clip("animals/cat_desc_fr", 12);
    clip("animals/cat_desc_el", 13); /* not read word for word */
    clip("animals/cat", 14);         /* the sound of the thing */
    clip("animals/cat_it", 15);      /* the same for Italy */
    picture("animals/dog", 20, 0);
    caption("animals/dog", "A dog.\nes.utf8=Un perro.\n");
    clip("animals/dog_desc_es", 21);
    picture("animals/wolf", 30, 0);
    caption("animals/wolf", "A wolf.\nes.utf8=Un lobo.\n");
    clip("animals/wolf_desc_es", 21); /* the same recording as dog's */
    picture("town/lamp1", 40, 0);
    caption("town/lamp1", "First lamp.");
    picture("town/lamp2", 50, 0); /* family */
    caption("town/lamp2", "Second lamp.");
    picture("town/bus", 60, 0);
    caption("town/bus", "A bus.\nru.utf8=Автобус.\n");
    clip("town/bus_desc_ru", 61);
    picture("ships/coach", 60, 1); /* bus seen in a mirror */
    caption("ships/coach", "A coach");
    picture("ships/boat", 70, 0);
    caption("ships/boat", "a cat"); /* the same English as cat, but for case and full stop */
    picture("ships/sail", 80, 0);
    picture("ships/sail_mirror", 81, 0);
    write_file(root, "usr/share/tuxpaint/stamps/ships/only.svg", "<svg/>", 6);
    caption("ships/only", "Only a drawing.");
    clip("ships/orphan_desc_es", 90);
    write_file(root, "usr/share/tuxpaint/stamps/animals/dog.dat", "nomirror\n", 9);
}

static const og_stamp *stamp(const og_stamps *stamps, const char *stem) {
    for (int64_t i = 0; i < stamps->n; i++)
        if (!strcmp(stamps->list[i].stem, stem)) return &stamps->list[i];
    og_test_fail(__FILE__, __LINE__, stem);
    return NULL;
}

static void test_scan_and_groups(void) {
    og_stamps s = {0};
    int64_t groups = 0;
    CHECK_OK(og_stamps_scan(root, &s, &err));
    CHECK(s.n == 11 && s.orphans == 1);
    CHECK(stamp(&s, "cat")->n_clips == 4 && stamp(&s, "cat")->captions.n == 5 && stamp(&s, "dog")->keep_sides &&
          !stamp(&s, "cat")->keep_sides);
    CHECK(stamp(&s, "only")->svg && !stamp(&s, "only")->picture);
    CHECK_OK(og_stamps_group(&s, &groups, &err));
    CHECK(stamp(&s, "dog")->group == stamp(&s, "wolf")->group);         /* recording */
    CHECK(stamp(&s, "lamp1")->group == stamp(&s, "lamp2")->group);      /* family */
    CHECK(stamp(&s, "boat")->group == stamp(&s, "cat")->group);         /* English caption */
    CHECK(stamp(&s, "sail")->group == stamp(&s, "sail_mirror")->group); /* name */
    CHECK(stamp(&s, "cat")->group != stamp(&s, "dog")->group && stamp(&s, "bus")->group != stamp(&s, "cat")->group);
#ifdef OG_HAVE_OPENCV
    CHECK(stamp(&s, "bus")->group == stamp(&s, "coach")->group); /* mirrored pixels */
    CHECK(groups == 6);
#endif
    og_stamps_free(&s);
}

static int64_t value(const og_dataset_type *type, og_dataset_impl *impl, const char *name) {
    og_config *tree = NULL;
    int64_t v = -1;
    CHECK_OK(type->counters(impl, &tree, &err));
    CHECK_OK(og_config_i64(og_config_get(tree, name), &v, &err));
    og_config_free(tree);
    return v;
}

static void test_documents(double page_share) {
    const og_dataset_type *type = og_dataset_find("tuxpaint");
    char text[400];
    snprintf(text, sizeof text,
             "path: %s\npage_share: %g\naugment: 2\nlanguages: [en, es, fr, ru, de]\nspeech: [es, fr, ru]", root,
             page_share);
    og_config *config = yaml(text);
    og_dataset_impl *impl = NULL;
    CHECK_OK(type->open(config, NULL, &impl, &err));
    og_config_free(config);
    CHECK(value(type, impl, "stamps") == 11 && value(type, impl, "stamps_svg_only") == 1);
    CHECK(value(type, impl, "captions_read") == 5 + 2 + 2 + 1 + 1 + 2 + 1 + 1 + 1 &&
          value(type, impl, "captions_same_text") == 1);
    CHECK(value(type, impl, "captions_used") == 14 &&
          value(type, impl, "clips_used") == 5); /* cat es fr, dog es, wolf es, bus ru */
    CHECK(value(type, impl, "clips_other_language") == 1 && value(type, impl, "sounds_used") == 1);
    /* Each caption and each spoken clip stands in exactly one document, each picture with its crop in one; pages hold
     * one language. */
    int64_t texts = 0, clips = 0, cards = 0, pages = 0, seen = 0;
    char keys[128][400];
    for (int32_t done = 0;;) {
        og_record record = {0};
        CHECK_OK(type->next(impl, &record, &done, &err));
        if (done) break;
        int page = !strncmp(record.id, "page/", 5), images = 0;
        cards += !page;
        pages += page;
        int32_t side;
        CHECK_OK(og_split_of(NULL, record.group, &side, &err));
        if (page) CHECK(!strncmp(record.id + 5, og_split_name(side), strlen(og_split_name(side))));
        for (int64_t i = 0; i < record.n_items; i++) {
            const og_item *item = &record.items[i];
            texts += item->modality == OG_TEXT;
            clips += item->modality == OG_AUDIO && item->language;
            images += item->modality == OG_IMAGE;
            if (page && item->language) CHECK(strstr(record.id, item->language));
            if (item->modality != OG_IMAGE && item->modality != OG_AUDIO) continue;
            char key[400];
            snprintf(key, sizeof key, "%s %g %g %g %d %s", item->path, item->crop[0], item->crop[1], item->crop[2],
                     item->flip, item->modality == OG_AUDIO && strstr(item->path, "wolf") ? "wolf" : "");
            for (int64_t k = 0; k < seen; k++) CHECK(strcmp(keys[k], key));
            snprintf(keys[seen++], 400, "%s", key);
            if (strstr(item->path, "dog.png")) CHECK(!item->flip);
        }
        CHECK(page ? images >= 2 : images == 1);
    }
    CHECK(texts == 14 && clips == 5);
    CHECK(cards == value(type, impl, "cards") && pages == value(type, impl, "pages"));
    CHECK(page_share > 0
              ? pages == 1
              : pages == 0); /* dog and wolf in Spanish: one side, one folder (cat has a side of its own or joins) */
    type->close(impl);
}

static void test_keys(void) {
    const og_dataset_type *type = og_dataset_find("tuxpaint");
    static const struct {
        const char *text, *word;
        og_status status;
    } bad[] = {{"speech: [el]\nlanguages: [el]", "word for word", OG_EINVAL},
               {"speech: [es]\nlanguages: [en]", "not among", OG_EINVAL},
               {"languages: 5", "list", OG_EINVAL},
               {"path: /nowhere", "fetch-data.sh", OG_EIO},
               {"augmnt: 2", "augment", OG_EINVAL}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        og_config *config = yaml(bad[i].text);
        og_dataset_impl *impl = NULL;
        err.message[0] = 0;
        og_status got = type->open(config, NULL, &impl, &err);
        if (got != bad[i].status || !strstr(err.message, bad[i].word)) og_test_fail(__FILE__, __LINE__, err.message);
        og_config_free(config);
    }
}

int main(void) {
    test_captions();
    test_families();
    make_tree();
    test_scan_and_groups();
    test_documents(0);
    test_documents(1);
    test_keys();
    remove_tree(root);
    CHECK(og_alloc_count() == 0);
    return 0;
}
