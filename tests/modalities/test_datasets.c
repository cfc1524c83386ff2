/* test_datasets.c: folder, jsonl and synthetic: what they give, count and refuse. */
#include "fixtures.h"

#include "data/jsonl_line.h"
#include "data/synthetic.h"

static og_error err;

static og_dataset_impl *open_set(const og_dataset_type *type, const char *text) {
    og_config *config = yaml(text);
    og_dataset_impl *impl = NULL;
    CHECK_OK(type->open(config, NULL, &impl, &err));
    og_config_free(config);
    return impl;
}

static void refuse(const og_dataset_type *type, const char *text, og_status status, const char *word) {
    og_config *config = yaml(text);
    og_dataset_impl *impl = NULL;
    err.message[0] = 0;
    og_status got = type->open(config, NULL, &impl, &err);
    if (got != status || !strstr(err.message, word)) {
        fprintf(stderr, "%s: %s; wanted %s naming '%s'\n", og_status_name(got), err.message, og_status_name(status),
                word);
        exit(1);
    }
    og_config_free(config);
}

static int64_t counter(const og_dataset_type *type, og_dataset_impl *impl, const char *name) {
    og_config *tree = NULL;
    int64_t value = -1;
    CHECK_OK(type->counters(impl, &tree, &err));
    CHECK_OK(og_config_i64(og_config_get(tree, name), &value, &err));
    og_config_free(tree);
    return value;
}

static void test_folder(void) {
    const og_dataset_type *type = og_dataset_find("folder");
    char *folder = temporary_folder(), text[300];
    static const char *const names[] = {"cat.txt", "cat.PNG", "cat.ogg",        "dog.jpg",  "a.txt",  "a.b.txt",
                                        "a-b.txt", "a.wav",   "deep/er/x.flac", "cat.json", "README", ".hidden.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) write_file(folder, names[i], "x", 1);
    snprintf(text, sizeof text, "path: %s\norder: name", folder);
    og_dataset_impl *impl = open_set(type, text);
    static const struct {
        const char *id;
        int64_t n;
    } want[] = {{"a", 2}, {"a-b", 1}, {"a.b", 1}, {"cat", 3}, {"deep/er/x", 1}, {"dog", 1}};
    for (size_t i = 0; i <= 6; i++) {
        og_record record = {0};
        int32_t done = 0;
        CHECK_OK(type->next(impl, &record, &done, &err));
        CHECK(done == (i == 6));
        if (done) break;
        if (strcmp(record.id, want[i].id) || record.n_items != want[i].n) {
            fprintf(stderr, "document %zu is %s of %lld items\n", i, record.id, (long long)record.n_items);
            exit(1);
        }
        CHECK(!strcmp(record.group, record.id));
        if (i == 3)
            CHECK(record.items[0].modality == OG_IMAGE && record.items[1].modality == OG_AUDIO &&
                  record.items[2].modality == OG_TEXT);
    }
    CHECK(counter(type, impl, "files") == 12 && counter(type, impl, "documents") == 6);
    CHECK(counter(type, impl, "passed_over_unknown_extension") == 2 && counter(type, impl, "passed_over_hidden") == 1);
    type->close(impl);
    snprintf(text, sizeof text, "path: %s\ndocuments: 2", folder);
    impl = open_set(type, text);
    int64_t n = 0;
    for (int32_t done = 0; !done;) {
        og_record record = {0};
        CHECK_OK(type->next(impl, &record, &done, &err));
        n += !done;
    }
    CHECK(n == 2 && counter(type, impl, "passed_over_documents_limit") == 6);
    type->close(impl);
    refuse(type, "path: /nowhere/at/all", OG_EIO, "/nowhere/at/all");
    refuse(type, "pth: x", OG_EINVAL, "path");
    snprintf(text, sizeof text, "path: %s/deep", folder);
    write_file(folder, "empty/none.bin", "x", 1);
    snprintf(text, sizeof text, "path: %s/empty", folder);
    refuse(type, text, OG_EINVAL, "no text, image or audio");
    remove_tree(folder);
}

static void test_jsonl(void) {
    const og_dataset_type *type = og_dataset_find("jsonl");
    char *folder = temporary_folder(), text[300];
    static const char good[] =
        "[{\"text\":\"a \\u00e9\"},{\"image\":\"pic/x.png\",\"crop\":[0,0.25,1,0.5],\"flip\":true}]\n"
        "\n"
        "{\"id\":\"two\",\"group\":\"g\",\"items\":[{\"audio\":\"/abs/y.wav\",\"language\":\"es\"}]}";
    write_file(folder, "d.jsonl", good, sizeof good - 1);
    snprintf(text, sizeof text, "path: %s/d.jsonl", folder);
    og_dataset_impl *impl = open_set(type, text);
    og_record record = {0};
    int32_t done = 0;
    char want[300];
    CHECK_OK(type->next(impl, &record, &done, &err));
    snprintf(want, sizeof want, "%s/pic/x.png", folder);
    CHECK(!done && !strcmp(record.id, "line-1") && !strcmp(record.group, "line-1") && record.n_items == 2);
    CHECK(!strcmp(record.items[0].text, "a \xC3\xA9") && !strcmp(record.items[1].path, want));
    CHECK(record.items[1].crop[1] == 0.25 && record.items[1].crop[3] == 0.5 && record.items[1].flip == 1);
    CHECK_OK(type->next(impl, &record, &done, &err));
    CHECK(!done && !strcmp(record.id, "two") && !strcmp(record.group, "g") &&
          !strcmp(record.items[0].path, "/abs/y.wav"));
    CHECK(record.items[0].modality == OG_AUDIO && !strcmp(record.items[0].language, "es"));
    CHECK_OK(type->next(impl, &record, &done, &err));
    CHECK(done && counter(type, impl, "lines") == 3 && counter(type, impl, "passed_over_blank_line") == 1);
    type->close(impl);

    static const struct {
        const char *line, *word;
    } bad[] = {{"[", "not JSON"},
               {"{}", "list of items"},
               {"[]", "0 items"},
               {"[1]", "item 0 must be an object"},
               {"[{}]", "none of text, image, audio"},
               {"[{\"text\":\"a\",\"image\":\"b\"}]", "both"},
               {"[{\"txt\":\"a\"}]", "nearest: text"},
               {"[{\"text\":5}]", "must be a string"},
               {"[{\"image\":\"\"}]", "empty path"},
               {"[{\"image\":\"x\",\"crop\":[0,0,2,1]}]", "crop[2]"},
               {"[{\"image\":\"x\",\"crop\":[0.5,0,0.6,1]}]", "leaves the picture"},
               {"[{\"image\":\"x\",\"crop\":[0,0,1]}]", "[x, y, width, height]"},
               {"[{\"text\":\"x\",\"flip\":true}]", "for images"},
               {"[{\"text\":\"a\\u0000b\"}]", "U+0000"},
               {"{\"items\":[{\"text\":\"a\"}],\"ids\":\"x\"}", "unknown key 'ids'"},
               {"[{\"text\":\"a\",\"text\":\"b\"}]", "not JSON"},
               {"[{\"text\":\"\xFF\"}]", "not UTF-8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char lines[300];
        int n = snprintf(lines, sizeof lines, "[{\"text\":\"fine\"}]\n%s\n[{\"text\":\"fine\"}]\n", bad[i].line);
        write_file(folder, "bad.jsonl", lines, n);
        snprintf(text, sizeof text, "path: %s/bad.jsonl", folder);
        impl = open_set(type, text);
        CHECK_OK(type->next(impl, &record, &done, &err));
        err.message[0] = 0;
        og_status got = type->next(impl, &record, &done, &err);
        if (got != OG_EFORMAT || !strstr(err.message, bad[i].word) || !strstr(err.message, "bad.jsonl:2")) {
            fprintf(stderr, "%s: %s: %s\n", bad[i].line, og_status_name(got), err.message);
            exit(1);
        }
        type->close(impl);
        snprintf(text, sizeof text, "path: %s/bad.jsonl\nbad_line: skip", folder);
        impl = open_set(type, text);
        CHECK_OK(type->next(impl, &record, &done, &err));
        CHECK_OK(type->next(impl, &record, &done, &err));
        CHECK(!done && !strcmp(record.id, "line-3") && counter(type, impl, "passed_over_bad_line") == 1);
        type->close(impl);
    }
    write_file(folder, "none.jsonl", "", 0);
    snprintf(text, sizeof text, "path: %s/none.jsonl", folder);
    refuse(type, text, OG_EFORMAT, "none.jsonl");
    refuse(type, "path: /nowhere.jsonl", OG_EIO, "/nowhere.jsonl");
    remove_tree(folder);
}

static void test_synthetic(void) {
    const og_dataset_type *type = og_dataset_find("synthetic");
    char first[2][OG_DIGEST_TEXT], ids[2][64];
    for (int turn = 0; turn < 2; turn++) { /* equal seeds, equal documents */
        og_dataset_impl *impl = open_set(type, "documents: 40\nseed: 3");
        og_digest *digest = NULL;
        CHECK_OK(og_digest_new(&digest, &err));
        int64_t n = 0, kinds[3] = {0};
        for (int32_t done = 0;;) {
            og_record record = {0};
            CHECK_OK(type->next(impl, &record, &done, &err));
            if (done) break;
            n++;
            snprintf(ids[turn], 64, "%s", record.id);
            CHECK(record.n_items == 4);
            for (int64_t i = 0; i < record.n_items; i++) {
                const og_item *item = &record.items[i];
                kinds[item->modality]++;
                if (item->text) {
                    CHECK_OK(og_digest_add(digest, item->text, (int64_t)strlen(item->text), &err));
                } else if (item->modality == OG_IMAGE) {
                    CHECK(item->media->shape[0] == 96 && item->media->shape[2] == 3);
                    CHECK_OK(og_digest_add(digest, item->media->data, 3 * 96 * 96, &err));
                } else {
                    CHECK(item->media->rate_hz == 16000 && item->media->shape[0] > 1000);
                    CHECK_OK(og_digest_add(digest, item->media->data, 2 * item->media->shape[0], &err));
                }
            }
        }
        CHECK(n == 40 && kinds[OG_TEXT] == 80 && kinds[OG_IMAGE] == 40 && kinds[OG_AUDIO] == 40);
        CHECK_OK(og_digest_end(digest, first[turn], &err));
        type->close(impl);
    }
    CHECK(!strcmp(first[0], first[1]) && !strcmp(ids[0], "scene-39"));
    refuse(type, "documents: 0", OG_EINVAL, "documents");
}

/* The cell above tells about a cell in every ground; in stripes it nearly decides it. And what is seen tells about what
 * is heard. */
static void test_structure(void) {
    static uint8_t pixels[3 * 96 * 96];
    static int8_t cells[144];
    int64_t same[OG_SCENE_GROUNDS] = {0}, total[OG_SCENE_GROUNDS] = {0}, tied = 0, rises = 0, woven = 0;
    for (int64_t i = 0; i < 400; i++) {
        og_scene scene = og_scene_draw(9, i);
        og_scene_paint(&scene, 96, pixels, cells);
        for (int y = 1; y < 12; y++)
            for (int x = 1; x < 12; x++) {
                int c = cells[12 * y + x], above = cells[12 * (y - 1) + x], left = cells[12 * y + x - 1];
                same[scene.ground] += c == above;
                rises += scene.ground == 2 && c == (above + 1) % 4;
                woven += scene.ground == 1 && c == (above + left) % 4;
                total[scene.ground]++;
            }
        tied += scene.sound == scene.shape % OG_SCENE_SOUNDS;
        char text[512];
        for (int32_t language = 0; language < OG_SCENE_LANGUAGES; language++) {
            int64_t n = og_scene_describe(&scene, language, text, sizeof text);
            CHECK(n > 20 && n < 300 && !strchr(text, '%') && !strchr(text, '$'));
        }
    }
    CHECK(same[0] > total[0] * 85 / 100 && same[3] > total[3] / 2);
    CHECK(rises > total[2] / 2 && woven > total[1] * 85 / 100);
    CHECK(tied > 320); /* 7 of 8 by rule, and a quarter of the rest by chance */
}

int main(void) {
    test_folder();
    test_jsonl();
    test_synthetic();
    test_structure();
    CHECK(og_alloc_count() == 0);
    return 0;
}
