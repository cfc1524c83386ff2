/* test_prepare.c: prepared folders: whole or absent, the same for any pool, and what bad input does to them. */
#include "fixtures.h"

#include <omnigram/internal/faults.h>

#include <dirent.h>
#include <errno.h>

static og_error err;
static char *root;

static const char *in(const char *leaf) {
    static char paths[6][400];
    static int turn;
    char *path = paths[turn++ % 6];
    snprintf(path, 400, "%s/%s", root, leaf);
    return path;
}

static og_status prepare(const char *text, const char *out, og_pool *pool) {
    og_config *config = yaml(text);
    err.message[0] = 0;
    og_status status = og_prepare(config, in(out), pool, NULL, NULL, &err);
    og_config_free(config);
    return status;
}

/* Nothing but these may lie in the root: no temporary folder, no half-written output. */
static void only_these_remain(const char *const *allowed) {
    DIR *dir = opendir(root);
    for (struct dirent *e; (e = readdir(dir));) {
        int ok = e->d_name[0] == '.';
        for (int i = 0; allowed[i]; i++) ok |= !strcmp(e->d_name, allowed[i]);
        if (!ok) {
            fprintf(stderr, "%s remains after: %s\n", e->d_name, err.message);
            exit(1);
        }
    }
    closedir(dir);
}

static void refuse(const char *text, og_status status, const char *word) {
    static const char *const allowed[] = {"docs.jsonl", "f", NULL};
    og_status got = prepare(text, "out", NULL);
    if (got != status || !strstr(err.message, word)) {
        fprintf(stderr, "%s: %s; wanted %s naming '%s'\n", og_status_name(got), err.message, og_status_name(status),
                word);
        exit(1);
    }
    only_these_remain(allowed);
}

static void same_file(const char *a, const char *b) {
    char x[OG_DIGEST_TEXT], y[OG_DIGEST_TEXT];
    CHECK_OK(og_digest_of_file(a, x, &err));
    CHECK_OK(og_digest_of_file(b, y, &err));
    CHECK(!strcmp(x, y));
}

static int64_t number(const og_config *tree, const char *key) {
    int64_t value = -1;
    CHECK_OK(og_config_i64(og_config_get(tree, key), &value, &err));
    return value;
}

static void test_synthetic(void) {
    static const char text[] = "dataset: {name: synthetic, documents: 30, seed: 5}\nshard_bytes: 600000";
    og_pool *pool = NULL;
    CHECK_OK(og_pool_new(3, &pool, &err));
    if (prepare(text, "one", NULL) != OG_OK || prepare(text, "three", pool) != OG_OK)
        og_test_fail(__FILE__, __LINE__, err.message);
    og_pool_free(pool);
    og_prepared *p = NULL;
    CHECK_OK(og_prepared_open(in("one"), &p, &err));
    const og_config *index = og_prepared_index(p);
    int64_t shards = og_config_size(og_config_get(index, "shards"));
    CHECK(shards > 2);
    same_file(in("one/index.json"), in("three/index.json"));
    for (int64_t i = 0; i < shards; i++) {
        char a[80], b[80];
        snprintf(a, sizeof a, "one/shard-%05lld.safetensors", (long long)i);
        snprintf(b, sizeof b, "three/shard-%05lld.safetensors", (long long)i);
        same_file(in(a), in(b));
    }
    CHECK(og_prepared_items(p) == 120 && number(index, "items") == 120);
    int64_t documents = 0;
    for (int32_t s = 0; s < OG_N_SPLITS; s++) {
        documents += og_prepared_count(p, s);
        for (int64_t i = 0; i < og_prepared_count(p, s); i++) {
            og_prepared_document d;
            int32_t side;
            int64_t kinds[3] = {0}, last = -1;
            CHECK_OK(og_prepared_get(p, s, i, &d, &err));
            CHECK_OK(og_split_of(NULL, d.group, &side, &err));
            CHECK(side == s && d.n_items == 4 && !strncmp(d.id, "scene-", 6));
            /* what is stored is what the data set made, whatever shard it lies in */
            og_config *config = yaml("{name: synthetic, documents: 30, seed: 5}");
            og_dataset_impl *impl = NULL;
            const og_dataset_type *type = og_dataset_find("synthetic");
            CHECK_OK(type->open(config, NULL, &impl, &err));
            og_record record = {0};
            for (int32_t done = 0; !record.id || strcmp(record.id, d.id);) {
                CHECK_OK(type->next(impl, &record, &done, &err));
                CHECK(!done);
            }
            for (int64_t k = 0; k < d.n_items; k++) {
                og_media media;
                int64_t unique;
                CHECK_OK(og_prepared_item(p, s, i, k, &media, &unique, &err));
                kinds[media.modality]++;
                CHECK(unique > last);
                last = unique;
                const og_item *item = &record.items[k];
                CHECK(media.modality == item->modality);
                if (item->text)
                    CHECK(media.shape[0] == (int64_t)strlen(item->text) &&
                          !memcmp(media.data, item->text, (size_t)media.shape[0]));
                else if (media.modality == OG_IMAGE)
                    CHECK(media.shape[0] == 96 && media.shape[1] == 96 &&
                          !memcmp(media.data, item->media->data, 3 * 96 * 96));
                else
                    CHECK(media.rate_hz == 16000 && media.shape[0] == item->media->shape[0] &&
                          !memcmp(media.data, item->media->data, (size_t)(2 * media.shape[0])));
            }
            CHECK(kinds[0] == 2 && kinds[1] == 1 && kinds[2] == 1);
            type->close(impl);
            og_config_free(config);
        }
    }
    CHECK(documents == 30);
    og_media media;
    og_prepared_document d;
    CHECK_FAILS(og_prepared_get(p, OG_TRAIN, 1000, &d, &err), OG_EINVAL, "document 1000 of");
    CHECK_FAILS(og_prepared_get(p, 7, 0, &d, &err), OG_EINVAL, "split 7");
    CHECK_FAILS(og_prepared_item(p, OG_TRAIN, 0, 4, &media, NULL, &err), OG_EINVAL, "item 4 of 4");
    og_prepared_close(p);
    CHECK_OK(prepare(text, "one", NULL)); /* as it is */
    CHECK(prepare("dataset: {name: synthetic, documents: 30, seed: 6}\nshard_bytes: 600000", "one", NULL) ==
              OG_EINVAL &&
          strstr(err.message, "another config"));
    write_file(root, "mine/notes.txt", "keep", 4);
    CHECK(prepare(text, "mine", NULL) != OG_OK && strstr(err.message, "no prepared folder"));
    remove_tree(in("mine"));
    remove_tree(in("one"));
    remove_tree(in("three"));
}

/* Files that break each rule, and documents over them. */
/* Fewer documents than workers, and a number that they do not divide: each is there once. */
static void test_every_document_once_for_any_workers(void) {
    static const int counts[] = {1, 2, 3, 7};
    for (int c = 0; c < 4; c++)
        for (int32_t threads = 1; threads <= 4; threads++) {
            char text[80], out[40];
            og_pool *pool = NULL;
            og_prepared *p = NULL;
            snprintf(text, sizeof text, "dataset: {name: synthetic, documents: %d}", counts[c]);
            snprintf(out, sizeof out, "few-%d-%d", counts[c], (int)threads);
            CHECK_OK(og_pool_new(threads, &pool, &err));
            CHECK_OK(prepare(text, out, pool));
            og_pool_free(pool);
            CHECK_OK(og_prepared_open(in(out), &p, &err));
            int seen[7] = {0}, documents = 0;
            for (int32_t s = 0; s < OG_N_SPLITS; s++)
                for (int64_t i = 0; i < og_prepared_count(p, s); i++, documents++) {
                    og_prepared_document d;
                    int index = -1;
                    CHECK_OK(og_prepared_get(p, s, i, &d, &err));
                    CHECK(sscanf(d.id, "scene-%d", &index) == 1 && index >= 0 && index < counts[c]);
                    seen[index]++;
                }
            CHECK(documents == counts[c]);
            for (int i = 0; i < counts[c]; i++) CHECK(seen[i] == 1);
            og_prepared_close(p);
            remove_tree(in(out));
        }
}

static void make_bad_files(void) {
    static bytes file;
    const float nan_samples[4] = {0, NAN, 0, 0};
    int16_t good[1600];
    for (int i = 0; i < 1600; i++) good[i] = (int16_t)(100 * (i % 20));
    wav(&file, 1, 1, 16000, 16, good, sizeof good);
    write_file(root, "f/good.wav", file.data, file.n);
    wav(&file, 3, 1, 16000, 32, nan_samples, 16);
    write_file(root, "f/nan.wav", file.data, file.n);
    wav(&file, 1, 1, 16000, 16, good, 0);
    write_file(root, "f/none.wav", file.data, file.n);
    png(&file, 1, 1, 8, 2, "\1\2\3");
    write_file(root, "f/good.png", file.data, file.n);
    write_file(root, "f/cut.png", file.data, file.n - 5);
    png_begin(&file, 0, 1, 8, 2);
    png_end(&file, "\0", 1);
    write_file(root, "f/zero.png", file.data, file.n);
    write_file(root, "f/latin.txt", "caf\xE9", 4);
    write_file(root, "f/empty.txt", "", 0);
}

static void documents(const char *text) { write_file(root, "docs.jsonl", text, (int64_t)strlen(text)); }

static void test_bad_items(void) {
    static const struct {
        const char *item, *words[2];
        og_status status;
    } bad[] = {
        {"{\"audio\":\"f/missing.wav\"}", {"missing.wav", "No such file"}, OG_EIO},
        {"{\"audio\":\"f/nan.wav\"}", {"nan.wav", "sample 1 of 4 is NaN"}, OG_EFORMAT},
        {"{\"audio\":\"f/none.wav\"}", {"none.wav", "0 frames"}, OG_EFORMAT},
        {"{\"image\":\"f/cut.png\"}", {"cut.png", "truncated"}, OG_EFORMAT},
        {"{\"image\":\"f/zero.png\"}", {"zero.png", "0 x 1 pixels"}, OG_EFORMAT},
        {"{\"image\":\"f/latin.txt\"}", {"latin.txt", "not a picture"}, OG_EFORMAT},
    };
    char text[400], all[2000] = "", config[300];
    snprintf(config, sizeof config, "dataset: {name: jsonl, path: %s}", in("docs.jsonl"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "[{\"text\":\"first\"},%s,{\"text\":\"last\"}]\n", bad[i].item);
        documents(text);
        refuse(config, bad[i].status, bad[i].words[0]);
        CHECK(strstr(err.message, bad[i].words[1]));
        strcat(all, text);
    }
    strcat(all, "[{\"audio\":\"f/missing.wav\"}]\n[{\"audio\":\"f/good.wav\"},{\"text\":\"first\"}]\n");
    documents(all);
    snprintf(config, sizeof config, "dataset: {name: jsonl, path: %s}\nbad_item: skip", in("docs.jsonl"));
    if (prepare(config, "out", NULL) != OG_OK) og_test_fail(__FILE__, __LINE__, err.message);
    og_prepared *p = NULL;
    CHECK_OK(og_prepared_open(in("out"), &p, &err));
    const og_config *c = og_config_get(og_prepared_index(p), "counters");
    CHECK(number(c, "documents.read") == 8 && number(c, "documents.kept") == 7 &&
          number(c, "documents.dropped.no_item_left") == 1);
    CHECK(number(c, "items.text.read") == 13 && number(c, "items.text.kept") == 13 &&
          number(c, "items.text.distinct") == 2);
    CHECK(number(c, "items.audio.read") == 5 && number(c, "items.audio.kept") == 1 &&
          number(c, "items.audio.dropped.missing") == 2 && number(c, "items.audio.dropped.damaged") == 2);
    CHECK(number(c, "items.image.read") == 3 && number(c, "items.image.kept") == 0 &&
          number(c, "items.image.dropped.damaged") == 3);
    CHECK(og_config_size(og_config_get(og_prepared_index(p), "log")) == 6); /* each bad file once */
    CHECK(og_prepared_items(p) == 3);
    int64_t first = -1; /* the same words are one item wherever they stand */
    for (int32_t s = 0; s < OG_N_SPLITS; s++)
        for (int64_t i = 0; i < og_prepared_count(p, s); i++) {
            og_prepared_document d;
            CHECK_OK(og_prepared_get(p, s, i, &d, &err));
            for (int64_t k = 0; k < d.n_items; k++) {
                og_media media;
                int64_t unique;
                CHECK_OK(og_prepared_item(p, s, i, k, &media, &unique, &err));
                if (media.modality != OG_TEXT || memcmp(media.data, "first", 5)) continue;
                CHECK(first < 0 || unique == first);
                first = unique;
            }
        }
    CHECK(first >= 0);
    og_prepared_close(p);
    remove_tree(in("out"));
    documents("[{\"audio\":\"f/missing.wav\"}]\n");
    refuse(config, OG_EINVAL, "1 documents read, none kept");
    documents("{\"id\":\"x\",\"items\":[{\"text\":\"a\"}]}\n{\"id\":\"x\",\"items\":[{\"text\":\"b\"}]}\n");
    refuse(config, OG_EFORMAT, "'x' occurs twice");
    /* text of a file that is not UTF-8, by the folder data set */
    snprintf(config, sizeof config, "dataset: {name: folder, path: %s}", in("f"));
    refuse(config, OG_EFORMAT, "");
}

static void test_config(void) {
    refuse("bad_item: skip", OG_EINVAL, "dataset");
    refuse("dataset: {documents: 3}", OG_EINVAL, "dataset.name: missing");
    refuse("dataset: {name: tuxpant}", OG_EINVAL, "nearest: tuxpaint");
    refuse("dataset: {name: synthetic, documents: 2}\nimage: {pach: 3}", OG_EINVAL, "patch");
    refuse("dataset: {name: synthetic, documents: 2}\nimages: {patch: 3}", OG_EINVAL, "image");
}

static int32_t stop(void *context, const char *stage, int64_t done, int64_t total) {
    (void)context, (void)stage, (void)total;
    return done >= 3;
}

static void test_cancel(void) {
    static const char *const allowed[] = {"docs.jsonl", "f", NULL};
    og_config *config = yaml("dataset: {name: synthetic, documents: 9}");
    CHECK_FAILS(og_prepare(config, in("out"), NULL, stop, NULL, &err), OG_ECANCELED, "after 3 documents");
    og_config_free(config);
    only_these_remain(allowed);
}

static og_status read_folder(void) {
    og_prepared *p = NULL;
    OG_TRY(og_prepared_open(in("out"), &p, &err));
    og_status status = OG_OK;
    uint64_t sum = 0;
    for (int32_t s = 0; s < OG_N_SPLITS; s++)
        for (int64_t d = 0; d < og_prepared_count(p, s) && status == OG_OK; d++) {
            og_prepared_document document;
            status = og_prepared_get(p, s, d, &document, &err);
            if (status == OG_OK) sum += strlen(document.id) + strlen(document.group);
            for (int64_t k = 0; status == OG_OK && k < document.n_items; k++) {
                og_media media;
                status = og_prepared_item(p, s, d, k, &media, NULL, &err);
                if (status != OG_OK) break;
                int64_t length = media.shape[0] * (media.dtype == OG_I16 ? 2 : 1) *
                                 (media.rank == 3 ? media.shape[1] * media.shape[2] : 1);
                for (int64_t b = 0; b < length; b++) sum += ((unsigned char *)media.data)[b];
            }
        }
    CHECK(sum < UINT64_MAX);
    og_prepared_close(p);
    return status;
}

/* The folder is what it was; memory that is short does not make it stale. */
static og_status state_of(const char *config) {
    char reason[512];
    int32_t state = -1;
    og_config *tree = NULL;
    og_status status = og_config_from_yaml(config, (int64_t)strlen(config), "test", &tree, &err);
    if (status == OG_OK) status = og_prepared_state(in("out"), tree, &state, reason, &err);
    CHECK(state == (status == OG_OK ? OG_PREPARED_CURRENT : -1));
    og_config_free(tree);
    return status;
}

static int64_t io_at, io_seen;
static int32_t full_disk(const char *call, const char *path) {
    (void)path;
    if (strcmp(call, "unlink") == 0 || strcmp(call, "close") == 0) return 0;
    return ++io_seen == io_at ? ENOSPC : 0;
}

/* A full disk at any call, and no memory at any allocation, leave nothing behind. */
static void test_faults(void) {
    static const char *const allowed[] = {"docs.jsonl", "f", NULL};
    char config[300];
    documents("[{\"text\":\"first\"},{\"audio\":\"f/good.wav\"}]\n{\"id\":\"b\",\"items\":[{\"text\":\"x\"}]}\n");
    snprintf(config, sizeof config, "dataset: {name: jsonl, path: %s}", in("docs.jsonl"));
    for (io_at = 1;; io_at++) {
        io_seen = 0;
        og_fault_io(full_disk);
        og_status status = prepare(config, "out", NULL);
        og_fault_io(NULL);
        if (status == OG_OK) break;
        CHECK(status == OG_EIO && strstr(err.message, "No space left"));
        only_these_remain(allowed);
    }
    CHECK(io_at > 5);
    remove_tree(in("out"));
    int64_t live = og_alloc_count(), failures = 0;
    for (int64_t k = 1;; k++) {
        og_config *tree = yaml(config);
        err.message[0] = 0;
        og_fault_alloc(k);
        og_status status = og_prepare(tree, in("out"), NULL, NULL, NULL, &err);
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        og_config_free(tree);
        CHECK(og_alloc_count() == live);
        if (!hit) {
            CHECK(status == OG_OK);
            break;
        }
        failures++;
        if (status == OG_OK) { /* where there is a fallback, as for an orientation that cannot be read */
            remove_tree(in("out"));
            continue;
        }
        if (status != OG_ENOMEM) og_test_fail(__FILE__, __LINE__, err.message);
        only_these_remain(allowed);
    }
    CHECK(failures > 50);
    /* and the reader */
    for (int64_t k = 1;; k++) {
        og_prepared *p = NULL;
        og_fault_alloc(k);
        og_status status = og_prepared_open(in("out"), &p, &err);
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        og_prepared_close(p);
        CHECK(og_alloc_count() == live);
        if (!hit) break;
        CHECK(status == OG_ENOMEM || status == OG_OK);
    }
    CHECK_ALLOC_FAILS(read_folder(), 5);
    CHECK_ALLOC_FAILS(state_of(config), 5);
}
/* Any changed bit of a shard or of the index is refused before it is used, and the file is named. */
static void flip(const char *leaf) {
    char *data = NULL, part[80];
    int64_t n = 0, by_digest = 0;
    snprintf(part, sizeof part, "out/%s", leaf);
    CHECK_OK(og_file_read(in(part), 1 << 24, &data, &n, &err));
    for (int64_t at = 0; at < n; at += n < 6000 ? 1 : 7) {
        char old = data[at];
        data[at] = (char)(old ^ 1 << (at * 3 + at / 8) % 8);
        FILE *file = fopen(in(part), "wb");
        CHECK(file && fwrite(data, 1, (size_t)n, file) == (size_t)n && !fclose(file));
        err.message[0] = 0;
        og_status status = read_folder();
        if (status == OG_OK || !strstr(err.message, leaf)) {
            fprintf(stderr, "byte %lld of %s (%c to %c): %s\n", (long long)at, leaf, old, data[at],
                    status == OG_OK ? "passed" : err.message);
            exit(1);
        }
        by_digest += strstr(err.message, "SHA-256") && strstr(err.message, "must be");
        data[at] = old;
    }
    CHECK(by_digest > 50);
    CHECK_OK(og_file_write(in(part), data, n, &err));
    CHECK_OK(read_folder());
    og_release(data);
}

static void test_damage(void) {
    og_prepared *p = NULL;
    char *shard = NULL, *index = NULL;
    int64_t n = 0, m = 0;
    flip("shard-00000.safetensors");
    flip("index.json");
    CHECK_OK(og_file_read(in("out/shard-00000.safetensors"), 1 << 24, &shard, &n, &err));
    CHECK_OK(og_file_read(in("out/index.json"), 1 << 24, &index, &m, &err));
    CHECK_OK(og_file_write(in("out/shard-00000.safetensors"), shard, n - 1, &err));
    CHECK_FAILS(og_prepared_open(in("out"), &p, &err), OG_EFORMAT, "shard-00000");
    CHECK_OK(og_file_write(in("out/shard-00000.safetensors"), shard, n, &err));
    CHECK_OK(og_file_write(in("out/index.json"), "{\"format\":\"other\",\"version\":1}", 30, &err));
    CHECK_FAILS(og_prepared_open(in("out"), &p, &err), OG_EFORMAT, "format 'other'");
    CHECK_OK(og_file_write(in("out/index.json"), index, m / 2, &err));
    CHECK(og_prepared_open(in("out"), &p, &err) == OG_EFORMAT);
    CHECK_FAILS(og_prepared_open(in("nothing"), &p, &err), OG_EIO, "nothing/index.json");
    og_release(shard);
    og_release(index);
    remove_tree(in("out"));
}

int main(void) {
#ifndef OG_HAVE_SNDFILE
    SKIP("built without libsndfile, libsoxr and KissFFT");
#endif
    root = temporary_folder();
    test_synthetic();
    test_every_document_once_for_any_workers();
    make_bad_files();
    documents("[{\"text\":\"x\"}]\n");
    test_config();
    test_cancel();
    test_bad_items();
    test_faults();
    test_damage();
    remove_tree(root);
    CHECK(og_alloc_count() == 0);
    return 0;
}
