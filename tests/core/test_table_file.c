/* test_table_file.c: tables on disk: both layouts, shards, resharding, refusals, in-place reading, peak memory. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>
#include <omnigram/safetensors.h>
#include <omnigram/table_file.h>
#include <omnigram/update.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static og_error err;
static char folder[] = "/tmp/og-table-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const og_table_identity identity = {"text", "aaaa", "{\"scheme\":\"mix64\",\"vocab\":{\"size\":10}}",
                                           "{\"multipliers\":[3,5]}"};

static og_store *store_of(int64_t rows, int64_t dim, int32_t dtype, int32_t state, uint64_t seed) {
    og_store_options o = og_store_defaults(rows, dim, dtype);
    o.state = state;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    if (seed) CHECK_OK(og_store_fill(store, seed, 1.0, NULL, &err));
    return store;
}

static int same_rows(const og_store *a, int64_t i, const og_store *b, int64_t k, int64_t n) {
    for (int64_t r = 0; r < n; r++)
        if (memcmp(og_store_row(a, i + r), og_store_row(b, k + r), (size_t)og_store_row_bytes(a)) != 0) return 0;
    return 1;
}

/* Optimiser state that is not zero. */
static void train(og_store *store, int32_t kind) {
    og_update_options o = og_update_defaults(kind);
    int64_t n = og_store_rows(store), dim = og_store_dim(store);
    float *grads = og_alloc(n * dim, 4);
    int64_t *rows = og_alloc(n, 8);
    for (int64_t i = 0; i < n; i++) rows[i] = i;
    for (int64_t i = 0; i < n * dim; i++) grads[i] = (float)og_random_normal(77, (uint64_t)i);
    CHECK_OK(og_update_apply(store, &o, rows, n, grads, dim, 1, 1, NULL, &err));
    og_release(grads);
    og_release(rows);
}

static void comes_back_bit_for_bit(int32_t dtype, int32_t kind, int32_t layout, int32_t shards) {
    const char *path = in_folder(shards == 1 ? "one.safetensors" : "many.json");
    og_store *store = store_of(13, 40, dtype, og_update_state(kind, 40), 5),
             *back = store_of(13, 40, dtype, og_update_state(kind, 40), 0);
    train(store, kind);
    CHECK_OK(og_table_save(path, store, &identity, layout, shards, &err));
    og_table_file *file;
    CHECK_OK(og_table_file_open(path, &identity, &file, &err));
    const og_table_header *h = og_table_file_header(file);
    CHECK(h->rows == 13 && h->dim == 40 && h->dtype == dtype && h->layout == layout && h->shards == shards &&
          !strcmp(h->identity.constants, identity.constants));
    CHECK_OK(og_table_file_load(file, 0, back, &err));
    CHECK(same_rows(store, 0, back, 0, 13));
    og_table_file_close(file);
    if (shards == 1) { /* in place, values only through the public reader */
        og_store_options o = og_store_defaults(0, 0, 0);
        o.backing = OG_BACK_FILE;
        o.name = path;
        o.writable = 0;
        og_store *mapped;
        CHECK_OK(og_store_new(&o, &mapped, &err));
        float a[40], b[40];
        for (int64_t r = 0; r < 13; r++) {
            CHECK_OK(og_store_read(store, &r, 1, a, &err));
            CHECK_OK(og_store_read(mapped, &r, 1, b, &err));
            CHECK(memcmp(a, b, sizeof a) == 0);
        }
        CHECK_FAILS(og_store_write(mapped, (int64_t[]){0}, 1, a, &err), OG_EINVAL, "read-only");
        og_store_free(mapped);
    }
    og_store_free(store);
    og_store_free(back);
}

/* 13 rows saved by 3 ranks, loaded by 1, 2, 3, 5 and 14 (the last one has none). */
static void resharding_keeps_values_and_state(void) {
    const char *path = in_folder("ranks.json");
    og_store *all = store_of(13, 24, OG_BF16, 1, 9);
    train(all, OG_ADAGRAD_ROW);
    int64_t at = 0;
    for (int32_t rank = 0; rank < 3; rank++) {
        int64_t n = rank == 0 ? 5 : 4;
        og_store *part = store_of(n, 24, OG_BF16, 1, 0);
        for (int64_t r = 0; r < n; r++)
            memcpy(og_store_row(part, r), og_store_row(all, at + r), (size_t)og_store_row_bytes(all));
        CHECK_OK(og_table_save_part(path, part, 0, n, &identity, OG_LAYOUT_PACKED, rank, 3, at, 13, &err));
        og_store_free(part);
        at += n;
        if (rank < 2) CHECK(og_table_publish(path, 3, &err) != OG_OK); /* not all are there */
    }
    CHECK_OK(og_table_publish(path, 3, &err));
    og_table_file *file;
    CHECK_OK(og_table_file_open(path, &identity, &file, &err));
    const int32_t worlds[] = {1, 2, 3, 5, 14};
    for (int w = 0; w < 5; w++) {
        int64_t first = 0;
        for (int32_t rank = 0; rank < worlds[w]; rank++) {
            int64_t n = 13 / worlds[w] + (rank < 13 % worlds[w]);
            if (n == 0) continue;
            og_store *part = store_of(n, 24, OG_BF16, 1, 0);
            CHECK_OK(og_table_file_load(file, first, part, &err));
            CHECK(same_rows(all, first, part, 0, n));
            og_store_free(part);
            first += n;
        }
        CHECK(first == 13);
    }
    og_table_file_close(file);
    for (int32_t shards = 1; shards <= 13; shards += 3) { /* and rewritten in any number of files and either layout */
        CHECK_OK(og_table_convert(path, in_folder("again.json"), shards % 2, shards, &err));
        CHECK_OK(og_table_file_open(in_folder("again.json"), &identity, &file, &err));
        og_store *back = store_of(13, 24, OG_BF16, 1, 0);
        CHECK_OK(og_table_file_load(file, 0, back, &err));
        CHECK(same_rows(all, 0, back, 0, 13));
        og_store_free(back);
        og_table_file_close(file);
    }
    og_store_free(all);
}

/* -0.0, a subnormal and a NaN with payload through two shards. */
static void shards_keep_minus_zero_subnormals_and_nan_payloads(void) {
    og_store *store = store_of(2, 4, OG_F32, 0, 0), *back = store_of(2, 4, OG_F32, 0, 0);
    const uint32_t bits[8] = {0x80000000u, 0x000116c2u, 0x7fc12345u, 0xff812345u,
                              0x00000001u, 0x80000001u, 0x7f800000u, 0x3f800000u};
    memcpy(og_store_row(store, 0), bits, 16);
    memcpy(og_store_row(store, 1), bits + 4, 16);
    for (int32_t layout = 0; layout < 2; layout++) {
        CHECK_OK(og_table_save(in_folder("bits.json"), store, &identity, layout, 2, &err));
        og_table_file *file;
        CHECK_OK(og_table_file_open(in_folder("bits.json"), NULL, &file, &err));
        CHECK_OK(og_table_file_load(file, 0, back, &err));
        CHECK(memcmp(og_store_row(back, 0), bits, 16) == 0 && memcmp(og_store_row(back, 1), bits + 4, 16) == 0);
        og_table_file_close(file);
    }
    og_store_free(store);
    og_store_free(back);
}

/* One more token in the vocabulary; another scheme; a codebook. */
static void another_vocabulary_is_refused_with_both_fingerprints(void) {
    og_store *store = store_of(4, 4, OG_F32, 0, 1);
    CHECK_OK(og_table_save(in_folder("id.safetensors"), store, &identity, 0, 1, &err));
    og_table_identity other = {"text", "bbbb", "{\"scheme\":\"mix64\",\"vocab\":{\"size\":11}}", NULL};
    og_table_file *file;
    CHECK_FAILS(og_table_file_open(in_folder("id.safetensors"), &other, &file, &err), OG_EINVAL, "aaaa");
    CHECK(strstr(err.message, "bbbb") && strstr(err.message, "vocab.size is 10 in the file and 11 here"));
    other.description = "{\"scheme\":\"mix64\",\"vocab\":{\"size\":10},\"codebook\":\"x\"}";
    CHECK_FAILS(og_table_file_open(in_folder("id.safetensors"), &other, &file, &err), OG_EINVAL,
                "codebook is absent in the file");
    CHECK_FAILS(
        og_table_save(in_folder("no.safetensors"), store, &(og_table_identity){"a", "", "{}", NULL}, 0, 1, &err),
        OG_EINVAL, "fingerprint");
    og_store_free(store);
}

/* Each key of the metadata, when it is not there, is named. */
static void a_missing_metadata_key_is_named(void) {
    const char *keys[][2] = {
        {"omnigram.format", "table/1"}, {"omnigram.name", "t"},       {"omnigram.fingerprint", "f"},
        {"omnigram.description", "{}"}, {"omnigram.constants", "{}"}, {"omnigram.dtype", "F32"},
        {"omnigram.total_rows", "2"},   {"omnigram.first_row", "0"},  {"omnigram.rows", "2"},
        {"omnigram.dim", "3"},          {"omnigram.group", "0"},      {"omnigram.state", "0"},
        {"omnigram.layout", "plain"}};
    const float values[6] = {1, 2, 3, 4, 5, 6};
    for (int missing = -1; missing < 13; missing++) {
        og_arrays_writer *w;
        CHECK_OK(og_arrays_writer_new(in_folder("keys.safetensors"), &w, &err));
        for (int k = 0; k < 13; k++)
            if (k != missing) CHECK_OK(og_arrays_writer_metadata(w, keys[k][0], keys[k][1], &err));
        CHECK_OK(og_arrays_writer_declare(w, "weight", OG_F32, 2, (int64_t[]){2, 3}, &err));
        CHECK_OK(og_arrays_writer_append(w, values, 24, &err));
        CHECK_OK(og_arrays_writer_commit(w, &err));
        og_table_file *file = NULL;
        og_status status = og_table_file_open(in_folder("keys.safetensors"), NULL, &file, &err);
        if (missing < 0)
            CHECK(status == OG_OK);
        else
            CHECK(status == OG_EFORMAT && strstr(err.message, keys[missing][0]));
        if (missing >= 0) file = NULL;
        og_table_file_close(file);
    }
}

/* A tensor of somebody else's file, read in place: bf16, and fp8 with ue8m0 scales. */
static void foreign_tensors_are_read_in_place(void) {
    og_arrays_writer *w;
    uint16_t bf16[6];
    for (int i = 0; i < 6; i++) bf16[i] = og_bf16_from_f32((float)i - 2);
    uint8_t e4m3[2 * 64], scales[4] = {127, 128, 126, 127};
    for (int i = 0; i < 128; i++) e4m3[i] = (uint8_t)(i % 0x7f);
    CHECK_OK(og_arrays_writer_new(in_folder("foreign.safetensors"), &w, &err));
    CHECK_OK(og_arrays_writer_declare(w, "embed.weight", OG_BF16, 2, (int64_t[]){2, 3}, &err));
    CHECK_OK(og_arrays_writer_declare(w, "engram.weight", OG_FP8_E4M3, 2, (int64_t[]){2, 64}, &err));
    CHECK_OK(og_arrays_writer_declare(w, "engram.weight_scale_inv", OG_U8, 2, (int64_t[]){2, 2}, &err));
    CHECK_OK(og_arrays_writer_append(w, bf16, sizeof bf16, &err));
    CHECK_OK(og_arrays_writer_append(w, e4m3, sizeof e4m3, &err));
    CHECK_OK(og_arrays_writer_append(w, scales, sizeof scales, &err));
    CHECK_OK(og_arrays_writer_commit(w, &err));
    og_store_options o = og_store_defaults(0, 0, 0);
    o.backing = OG_BACK_FILE;
    o.writable = 0;
    char name[400];
    snprintf(name, sizeof name, "%s#embed.weight", in_folder("foreign.safetensors"));
    o.name = name;
    og_store *store;
    float values[64];
    int64_t one = 1;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK(og_store_rows(store) == 2 && og_store_dim(store) == 3 && og_store_dtype(store) == OG_BF16);
    CHECK_OK(og_store_read(store, &one, 1, values, &err));
    CHECK(values[0] == 1 && values[1] == 2 && values[2] == 3);
    og_store_free(store);
    snprintf(name, sizeof name, "%s#engram.weight", in_folder("foreign.safetensors"));
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_read(store, &one, 1, values, &err));
    for (int i = 0; i < 64; i++) CHECK(values[i] == og_f32_from_e4m3(e4m3[64 + i]) * (i < 32 ? 0.5f : 1.0f));
    og_store_free(store);
    snprintf(name, sizeof name, "%s#nothing", in_folder("foreign.safetensors"));
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EFORMAT, "nothing");
    o.name = in_folder("foreign.safetensors"); /* not one of our tables: the first key is missed */
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EFORMAT, "omnigram.format");
}

/* Folders and files may have a '#' in their names; what is behind the file's own name is the tensor. */
static void a_path_may_have_a_number_sign(void) {
    char path[400], tensor[420];
    CHECK(mkdir(in_folder("run"), 0700) == 0 && mkdir(in_folder("run#1"), 0700) == 0);
    snprintf(path, sizeof path, "%s/run#1/a#b.safetensors", folder);
    snprintf(tensor, sizeof tensor, "%s#weight", path);
    og_store *store = store_of(3, 4, OG_F32, 0, 7), *back;
    CHECK_OK(og_table_save(path, store, &identity, OG_LAYOUT_PLAIN, 1, &err));
    og_store_options o = og_store_defaults(0, 0, 0);
    o.backing = OG_BACK_FILE;
    o.writable = 0;
    const char *names[] = {path, tensor};
    for (int i = 0; i < 2; i++) {
        o.name = names[i];
        CHECK_OK(og_store_new(&o, &back, &err));
        CHECK(memcmp(og_store_row(back, 2), og_store_row(store, 2), 16) == 0);
        og_store_free(back);
    }
    snprintf(tensor, sizeof tensor, "%s/run#1/none.safetensors#weight", folder);
    CHECK_FAILS(og_store_new(&o, &back, &err), OG_EIO, "run#1/none.safetensors: ");
    og_store_free(store);
}

/* A file whose header is not padded: its rows are read from a copy, unless that is more than the machine has. */
static void a_misaligned_tensor_is_copied_only_where_it_fits(void) {
#if defined(__SANITIZE_THREAD__)
    return; /* it leaves no such range of addresses */
#endif
    for (int small = 1; small >= 0; small--) {
        const char *path = in_folder("odd.safetensors");
        int64_t rows = small ? 4 : INT64_C(1) << 30, bytes = rows * 4096;
        char header[200];
        int n = snprintf(header + 8, sizeof header - 8,
                         "{\"w\":{\"dtype\":\"F32\",\"shape\":[%lld,1024],\"data_offsets\":[0,%lld]}}", (long long)rows,
                         (long long)bytes);
        if (n % 4 == 0) header[8 + n++] = ' ';
        memcpy(header, &(uint64_t){(uint64_t)n}, 8);
        FILE *file = fopen(path, "w");
        CHECK(file && fwrite(header, (size_t)n + 8, 1, file) == 1);
        CHECK(fseek(file, n + 8 + 4096, SEEK_SET) == 0 && fwrite(&(float){2.5f}, 4, 1, file) == 1);
        CHECK(fflush(file) == 0);
        if (ftruncate(fileno(file), (off_t)(n + 8 + bytes)) != 0) {
            printf("left out: the file system of %s makes no file of 4 TiB\n", path);
            fclose(file);
            return;
        }
        fclose(file);
        char name[400];
        snprintf(name, sizeof name, "%s#w", path);
        og_store_options o = og_store_defaults(0, 0, 0);
        o.backing = OG_BACK_FILE;
        o.writable = 0;
        o.name = name;
        og_store *store;
        float values[1024];
        if (small) {
            CHECK_OK(og_store_new(&o, &store, &err));
            CHECK_OK(og_store_read(store, &(int64_t){1}, 1, values, &err));
            CHECK(values[0] == 2.5f);
            og_store_free(store);
        } else {
            CHECK_FAILS(og_store_new(&o, &store, &err), OG_ENOMEM, "'w' is not aligned");
            CHECK(strstr(err.message, "4398046511104"));
        }
    }
}

/* Peak memory of save and load: the table itself and at most 64 MiB. Measured in a process of its own. */
static void streams_with_little_memory(void) {
#if defined(__SANITIZE_THREAD__)
    return; /* its shadow of the table is several times the table */
#endif
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rusage usage;
        og_store *store = store_of(INT64_C(1) << 17, 256, OG_F32, 1, 0); /* 136 MiB */
        memset(og_store_row(store, 0), 1, (size_t)(og_store_row_bytes(store) << 17));
        getrusage(RUSAGE_SELF, &usage);
        long before = usage.ru_maxrss;
        CHECK_OK(og_table_save(in_folder("big.json"), store, &identity, OG_LAYOUT_PLAIN, 3, &err));
        og_table_file *file;
        CHECK_OK(og_table_file_open(in_folder("big.json"), &identity, &file, &err));
        CHECK_OK(og_table_file_load(file, 0, store, &err));
        og_table_file_close(file);
        getrusage(RUSAGE_SELF, &usage);
        if (usage.ru_maxrss - before > 64 * 1024) fprintf(stderr, "peak grew by %ld KiB\n", usage.ru_maxrss - before);
        CHECK(usage.ru_maxrss - before <= 64 * 1024);
        og_store_free(store);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    CHECK(mkdtemp(folder));
    int64_t before = og_alloc_count();
    const int32_t types[] = {OG_F32, OG_BF16, OG_F16, OG_FP8_E4M3, OG_INT8, OG_NF4};
    for (int t = 0; t < 6; t++)
        for (int32_t kind = OG_SGD; kind <= OG_ADAM; kind++)
            for (int32_t layout = 0; layout < 2; layout++)
                for (int32_t shards = 1; shards <= 13; shards += 6)
                    comes_back_bit_for_bit(types[t], kind, layout, shards);
    resharding_keeps_values_and_state();
    shards_keep_minus_zero_subnormals_and_nan_payloads();
    another_vocabulary_is_refused_with_both_fingerprints();
    a_missing_metadata_key_is_named();
    foreign_tensors_are_read_in_place();
    a_path_may_have_a_number_sign();
    a_misaligned_tensor_is_copied_only_where_it_fits();
    streams_with_little_memory();
    CHECK(og_alloc_count() == before);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return 0;
}
