/* test_codebook.c: the codebook file: round trip, fingerprint, and every kind of damage. */
#include "test.h"

#include <omnigram/codebook.h>
#include <omnigram/file.h>
#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/safetensors.h>

#include <unistd.h>

static og_error err;
static const float codes[2 * 3 * 2] = {0, 1, 2, 3, 4, 5, -0.0f, 1e-41f, 1e30f, 0.1f, 0.2f, 0.3f};

static og_config *tree(const char *json) {
    og_config *config;
    CHECK_OK(og_config_from_json(json, (int64_t)strlen(json), "test", &config, &err));
    return config;
}

static og_codebook *make(const char *preprocess) {
    og_codebook *codebook;
    CHECK_OK(
        og_codebook_new("rvq", OG_IMAGE, 2, 3, 2, codes, preprocess ? tree(preprocess) : NULL, NULL, &codebook, &err));
    return codebook;
}

static void refuse(int32_t modality, const char *quantizer, int32_t levels, int64_t size, int64_t dim,
                   const float *values, const char *word) {
    og_codebook *codebook = NULL;
    err.message[0] = 0;
    CHECK(og_codebook_new(quantizer, modality, levels, size, dim, values, NULL, NULL, &codebook, &err) == OG_EINVAL);
    if (!strstr(err.message, word)) og_test_fail(__FILE__, __LINE__, err.message);
    CHECK(!codebook);
}

static void in_memory(void) {
    og_codebook *a = make("{\"patch\":8}"), *b = make("{ \"patch\" : 8 }"), *c = make("{\"patch\":4}"), *d = make(NULL);
    CHECK(!strcmp(a->fingerprint, b->fingerprint)); /* spacing says nothing */
    CHECK(strcmp(a->fingerprint, c->fingerprint) && strcmp(a->fingerprint, d->fingerprint));
    /* The fingerprint is what omnigram/codebook.h says it is. */
    static const char json[] = "{\"dim\":2,\"levels\":2,\"modality\":\"image\",\"preprocess\":{"
                               "\"patch\":8},\"quantizer\":\"rvq\",\"size\":3}";
    char bytes[sizeof json - 1 + sizeof codes], want[OG_DIGEST_TEXT];
    memcpy(bytes, json, sizeof json - 1);
    memcpy(bytes + sizeof json - 1, codes, sizeof codes);
    CHECK_OK(og_digest_of(bytes, sizeof bytes, want, &err));
    CHECK(!strcmp(want, a->fingerprint));
    og_codebook_free(a);
    og_codebook_free(b);
    og_codebook_free(c);
    og_codebook_free(d);
    og_codebook_free(NULL);
    float bad[12];
    memcpy(bad, codes, sizeof bad);
    bad[9] = NAN;
    refuse(OG_IMAGE, "rvq", 2, 3, 2, bad, "value 1 of code 1, level 1");
    refuse(4, "rvq", 2, 3, 2, codes, "modality 4");
    refuse(OG_IMAGE, "", 2, 3, 2, codes, "a-z");
    refuse(OG_IMAGE, "a/b", 2, 3, 2, codes, "'a/b'");
    refuse(OG_IMAGE, "rvq", 0, 3, 2, codes, "0 levels");
    refuse(OG_IMAGE, "rvq", 1, INT64_C(1) << 31, 1, codes, "2147483648 codes");
    refuse(OG_IMAGE, "rvq", 2, 1 << 30, INT64_MAX / 4, codes, "codebook of 2 levels");
}

static void round_trip(const char *path) {
    og_codebook *made, *read;
    CHECK_OK(og_codebook_new("rvq", OG_AUDIO, 2, 3, 2, codes, tree("{\"mel\":{\"bands\":64},\"rate_hz\":16000}"),
                             tree("{\"val\":{\"mse\":0.25}}"), &made, &err));
    CHECK_OK(og_codebook_save(made, path, &err));
    CHECK_OK(og_codebook_load(path, &read, &err));
    CHECK(!strcmp(read->fingerprint, made->fingerprint) && !strcmp(read->quantizer, "rvq"));
    CHECK(read->modality == OG_AUDIO && read->levels == 2 && read->size == 3 && read->dim == 2);
    CHECK(!memcmp(read->codes, codes, sizeof codes));
    int64_t bands;
    double mse;
    CHECK_OK(og_config_i64(og_config_get(read->preprocess, "mel.bands"), &bands, &err));
    CHECK_OK(og_config_f64(og_config_get(read->health, "val.mse"), &mse, &err));
    CHECK(bands == 64 && mse == 0.25);
    char first[OG_DIGEST_TEXT], second[OG_DIGEST_TEXT]; /* same codebook, same bytes */
    CHECK_OK(og_digest_of_file(path, first, &err));
    CHECK_OK(og_codebook_save(read, path, &err));
    CHECK_OK(og_digest_of_file(path, second, &err));
    CHECK(!strcmp(first, second));
    og_codebook_free(made);
    og_codebook_free(read);
}

/* Every single byte that changes the codes, and every cut, is found. */
static void damage(const char *path, const char *damaged) {
    char *bytes;
    int64_t n;
    CHECK_OK(og_file_read(path, 1 << 20, &bytes, &n, &err));
    og_codebook *codebook = NULL;
    for (int64_t at = n - (int64_t)sizeof codes; at < n; at++) {
        bytes[at] ^= 1;
        CHECK_OK(og_file_write(damaged, bytes, n, &err));
        CHECK_FAILS(og_codebook_load(damaged, &codebook, &err), OG_EFORMAT, "damaged");
        bytes[at] ^= 1;
    }
    bytes[n - 1] ^= 1;
    CHECK_OK(og_file_write(damaged, bytes, n, &err));
    CHECK_FAILS(og_codebook_load(damaged, &codebook, &err), OG_EFORMAT, "is stored as");
    bytes[n - 1] ^= 1;
    for (int64_t cut = 0; cut < n; cut += 1 + n / 97) {
        CHECK_OK(og_file_write(damaged, bytes, cut, &err));
        og_status status = og_codebook_load(damaged, &codebook, &err);
        CHECK(status == OG_EFORMAT && strstr(err.message, damaged));
    }
    CHECK(!codebook);
    og_release(bytes);
    CHECK_FAILS(og_codebook_load("no/such/codebook", &codebook, &err), OG_EIO, "no/such/codebook");
    codebook = make(NULL);
    CHECK_FAILS(og_codebook_save(codebook, "no/such/folder/x", &err), OG_EIO, "no/such/folder");
    og_codebook_free(codebook);
}

/* A well-formed file with one metadata value replaced. */
static void write_with(const char *path, const char *key, const char *value) {
    static const char *const keys[] = {"kind", "version", "quantizer", "modality", "fingerprint"};
    const char *values[] = {"codebook", "1", "rvq", "image", "00"};
    const int64_t shape[] = {2, 3, 2};
    og_arrays_writer *writer;
    CHECK_OK(og_arrays_writer_new(path, &writer, &err));
    for (int i = 0; i < 5; i++)
        if (strcmp(keys[i], key)) CHECK_OK(og_arrays_writer_metadata(writer, keys[i], values[i], &err));
    if (value) CHECK_OK(og_arrays_writer_metadata(writer, key, value, &err));
    CHECK_OK(og_arrays_writer_declare(writer, strcmp(key, "codes") ? "codes" : "other", OG_F32, 3, shape, &err));
    CHECK_OK(og_arrays_writer_append(writer, codes, sizeof codes, &err));
    CHECK_OK(og_arrays_writer_commit(writer, &err));
}

static void other_files(const char *path) {
    og_codebook *codebook;
    write_with(path, "kind", "table");
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "'table'");
    write_with(path, "kind", NULL);
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "'kind'");
    write_with(path, "version", "2");
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "version 2");
    write_with(path, "modality", "smell");
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "'smell'");
    write_with(path, "fingerprint", NULL);
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "'fingerprint'");
    write_with(path, "preprocess", "{broken");
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "damaged.safetensors");
    write_with(path, "codes", NULL);
    CHECK_FAILS(og_codebook_load(path, &codebook, &err), OG_EFORMAT, "codes");
}

int main(void) {
    char folder[] = "/tmp/og-codebook-XXXXXX", path[64], damaged[64];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
    snprintf(damaged, sizeof damaged, "%s/damaged.safetensors", folder);
    in_memory();
    round_trip(path);
    damage(path, damaged);
    other_files(damaged);
    unlink(path);
    unlink(damaged);
    CHECK(!rmdir(folder)); /* nothing else was left there */
    CHECK(og_alloc_count() == 0);
    return 0;
}
