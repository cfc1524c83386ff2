/* test_safetensors.c: a file by hand, round trips, alignment, and each rule of the format broken once. */
#include "test.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>
#include <omnigram/safetensors.h>

#include <unistd.h>

static og_error err;
static char path[512];

static void put(const char *header, int64_t length, const void *data, int64_t bytes) {
    char *file = calloc(1, (size_t)(8 + strlen(header) + (size_t)bytes));
    for (int i = 0; i < 8; i++) file[i] = (char)((uint64_t)(length < 0 ? (int64_t)strlen(header) : length) >> (8 * i));
    memcpy(file + 8, header, strlen(header));
    if (data) memcpy(file + 8 + strlen(header), data, (size_t)bytes);
    CHECK_OK(og_file_write(path, file, 8 + (int64_t)strlen(header) + bytes, &err));
    free(file);
}

static void refuse(const char *header, int64_t bytes, og_status status, const char *word) {
    put(header, -1, NULL, bytes);
    og_arrays *a = (og_arrays *)1;
    og_status got = og_arrays_open(path, 0, &a, &err);
    if (got != status || !strstr(err.message, word) || !strstr(err.message, path) || a != (og_arrays *)1) {
        fprintf(stderr, "%s should fail naming '%s', got %s: %s\n", header, word, og_status_name(got), err.message);
        exit(1);
    }
}

static void test_by_hand(void) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    put("{\"__metadata__\":{\"scheme\":\"x\\u00e9\",\"b\":\"2\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_"
        "offsets\":[0,24]},"
        "\"e\":{\"dtype\":\"I64\",\"shape\":[0,4],\"data_offsets\":[24,24],\"more\":1}}   ",
        -1, data, 24);
    og_arrays *a;
    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK(og_arrays_count(a) == 2 && og_arrays_metadata_count(a) == 2);
    CHECK(strcmp(og_arrays_metadata(a, "scheme"), "x\xc3\xa9") == 0 && !og_arrays_metadata(a, "none"));
    CHECK(strcmp(og_arrays_metadata_key(a, 1), "b") == 0 && !og_arrays_metadata_key(a, 2) &&
          !og_arrays_metadata_key(a, -1));
    int64_t shape[2];
    void *got;
    CHECK_OK(og_arrays_expect(a, "w", OG_F32, 2, shape, &got, &err));
    CHECK(shape[0] == 2 && shape[1] == 3 && memcmp(got, data, 24) == 0);
    CHECK_OK(og_arrays_expect(a, "e", OG_I64, 2, NULL, &got, &err));
    CHECK_FAILS(og_arrays_expect(a, "w", OG_F32, 1, shape, &got, &err), OG_EFORMAT,
                "has F32 and 2 dimensions; wanted are F32 and 1");
    CHECK_FAILS(og_arrays_expect(a, "w", OG_BF16, 2, shape, &got, &err), OG_EFORMAT, "wanted are BF16 and 2");
    CHECK_FAILS(og_arrays_get(a, "table", NULL, &got, &err), OG_EFORMAT, "has no array 'table'; it has: e, w");
    CHECK(og_arrays_info(a, 2) == NULL && og_arrays_info(a, 0)->bytes == 24);
    og_arrays_close(a);
}

static void test_misaligned(void) {
    char data[13] = {9};
    float f = 1.5f;
    memcpy(data + 1, &f, 4);
    char header[256];
    snprintf(header, sizeof header, "%-136s",
             "{\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
             "\"f\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[1,13]}}"); /* so f lies at byte 145 */
    put(header, -1, data, 13);
    og_arrays *a;
    void *once, *twice;
    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK_OK(og_arrays_get(a, "f", NULL, &once, &err));
    CHECK_OK(og_arrays_get(a, "f", NULL, &twice, &err));
    CHECK((uintptr_t)once % 4 == 0 && once == twice && ((float *)once)[0] == 1.5f);
    og_arrays_close(a);
    CHECK_OK(og_arrays_open(path, 1, &a, &err));
    CHECK_FAILS(og_arrays_get(a, "f", NULL, &once, &err), OG_ENOTSUP, "array 'f' is not aligned to its elements");
    CHECK_OK(og_arrays_get(a, "u", NULL, &once, &err));
    og_arrays_close(a);
}

static void test_broken(void) {
    refuse("", 0, OG_EFORMAT, "does not begin with '{'");
    refuse("[]", 0, OG_EFORMAT, "does not begin with '{'");
    refuse("{\"a\":", 0, OG_EFORMAT, "its header, byte");
    refuse("{} x", 0, OG_EFORMAT, "end of file expected");
    refuse("{\"a\":1}", 0, OG_EFORMAT, "'a': is no map");
    refuse("{\"a\":{}}", 0, OG_EFORMAT, "has no 'dtype'");
    refuse("{\"a\":{\"dtype\":\"F31\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, OG_ENOTSUP,
           "unknown element type 'F31'");
    refuse("{\"a\":{\"dtype\":\"f32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, OG_ENOTSUP,
           "unknown element type 'f32'");
    refuse("{\"a\":{\"dtype\":\"NF4\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, OG_ENOTSUP,
           "unknown element type 'NF4'");
    refuse("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, OG_EFORMAT, "has no list 'shape'");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, OG_EFORMAT, "not of integers");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, OG_EFORMAT,
           "dimension 0 is -1: negative");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, OG_ENOTSUP,
           "has 9 dimensions; at most 8");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[2147483648,268435456,16],\"data_offsets\":[0,0]}}", 0, OG_EFORMAT,
           "dimension 2 is 16: its bytes do not fit in 64 bits");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, OG_EFORMAT,
           "do not fit");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, OG_EFORMAT, "no two integers 'data_offsets'");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, OG_EFORMAT,
           "0 .. 4 are not the 8 bytes");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, OG_EFORMAT,
           "8 .. 0 are not the 8 bytes");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 0, OG_EFORMAT, "-4 .. 0");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, OG_EFORMAT,
           "begins at byte 4, but the header ends at 0: a hole");
    refuse("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],"
           "\"data_offsets\":[3,7]}}",
           7, OG_EFORMAT, "'b' begins at byte 3, but the one before it ends at 4: they overlap");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, OG_EFORMAT,
           "have 4 bytes, but 3 follow the header (the file is cut off)");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, OG_EFORMAT, "extra bytes at its end");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":[],"
           "\"data_offsets\":[0,4]}}",
           4, OG_EFORMAT, "duplicate");
    refuse("{\"__metadata__\":[]}", 0, OG_EFORMAT, "__metadata__ is no map");
    refuse("{\"__metadata__\":{\"a\":1}}", 0, OG_EFORMAT, "__metadata__ 'a' is no string");
    og_arrays *a;
    put("{}", 100000001, NULL, 0);
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "100000001 bytes; at most 100000000");
    put("{}", 3, NULL, 0);
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "should have 3 bytes, but the file ends after 2");
    put("{}", INT64_MAX, NULL, 0);
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "at most");
    CHECK_OK(og_file_write(path, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, &err));
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "over 2^63");
    CHECK_OK(og_file_write(path, "1234567", 7, &err));
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "has 7 bytes; a safetensors file has at least 8");
    CHECK_OK(og_file_write(path, "", 0, &err));
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EFORMAT, "has 0 bytes");
    remove(path);
    CHECK_FAILS(og_arrays_open(path, 0, &a, &err), OG_EIO, "No such file");
}

static void test_round_trip(void) {
    og_arrays_writer *w;
    og_arrays *a;
    unsigned char bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    double wide[3] = {1.5, -2.5, 3.5};
    uint16_t table[64 * 32];
    for (int i = 0; i < 64 * 32; i++) table[i] = (uint16_t)(i * 3);
    int64_t s7 = 7, s3 = 3, s_table[2] = {64, 32}, zero[3] = {3, 0, 2};
    CHECK_OK(og_arrays_writer_new(path, &w, &err));
    CHECK_OK(og_arrays_writer_metadata(w, "scheme", "\"q\"\n\xc3\xa9", &err));
    CHECK_FAILS(og_arrays_writer_metadata(w, "scheme", "x", &err), OG_EINVAL, "'scheme' is given twice");
    CHECK_FAILS(og_arrays_writer_metadata(w, "bad", "\xff", &err), OG_EINVAL, "'bad' is no UTF-8");
    CHECK_OK(og_arrays_writer_declare(w, "bytes", OG_U8, 1, &s7, &err));
    CHECK_OK(og_arrays_writer_declare(w, "none", OG_I32, 3, zero, &err));
    CHECK_OK(og_arrays_writer_declare(w, "wide", OG_F64, 1, &s3, &err));
    CHECK_OK(og_arrays_writer_declare(w, "table", OG_BF16, 2, s_table, &err));
    CHECK_FAILS(og_arrays_writer_declare(w, "nf4", OG_NF4, 1, &s7, &err), OG_EINVAL, "no element type NF4");
    CHECK_FAILS(og_arrays_writer_declare(w, "__metadata__", OG_U8, 1, &s7, &err), OG_EINVAL, "may not be named");
    CHECK_FAILS(og_arrays_writer_declare(w, "x", 99, 1, &s7, &err), OG_EINVAL, "(99)");
    CHECK_OK(og_arrays_writer_append(w, bytes, 7, &err));
    CHECK_FAILS(og_arrays_writer_declare(w, "late", OG_U8, 1, &s7, &err), OG_EINVAL,
                "'late' comes after the first bytes");
    char rest[24 + sizeof table];
    memcpy(rest, wide, 24);
    memcpy(rest + 24, table, sizeof table);
    CHECK_OK(og_arrays_writer_append(w, rest, 30, &err)); /* across two arrays */
    CHECK_OK(og_arrays_writer_append(w, rest + 30, (int64_t)sizeof rest - 30, &err));
    CHECK_OK(og_arrays_writer_commit(w, &err));

    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK(og_arrays_count(a) == 4 && strcmp(og_arrays_metadata(a, "scheme"), "\"q\"\n\xc3\xa9") == 0);
    void *got;
    int64_t shape[3];
    CHECK_OK(og_arrays_expect(a, "table", OG_BF16, 2, shape, &got, &err));
    CHECK(shape[0] == 64 && shape[1] == 32 && (uintptr_t)got % 64 == 0 && memcmp(got, table, sizeof table) == 0);
    CHECK_OK(og_arrays_expect(a, "wide", OG_F64, 1, shape, &got, &err));
    CHECK((uintptr_t)got % 8 == 0 && memcmp(got, wide, 24) == 0);
    CHECK_OK(og_arrays_expect(a, "bytes", OG_U8, 1, shape, &got, &err));
    CHECK(memcmp(got, bytes, 7) == 0);
    CHECK_OK(og_arrays_expect(a, "none", OG_I32, 3, shape, &got, &err));
    CHECK(shape[1] == 0);
    og_arrays_close(a);

    CHECK_OK(og_arrays_open(path, 1, &a, &err)); /* in place */
    CHECK_OK(og_arrays_expect(a, "table", OG_BF16, 2, NULL, &got, &err));
    ((uint16_t *)got)[5] = 4242;
    og_arrays_close(a);
    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK_OK(og_arrays_expect(a, "table", OG_BF16, 2, NULL, &got, &err));
    CHECK(((uint16_t *)got)[5] == 4242);
    og_arrays_close(a);
}

static void test_writer_faults(void) {
    og_arrays_writer *w;
    og_arrays *a;
    int64_t four = 4;
    CHECK_OK(og_arrays_writer_new(path, &w, &err)); /* the file of the test before stays */
    CHECK_OK(og_arrays_writer_declare(w, "a", OG_U8, 1, &four, &err));
    CHECK_OK(og_arrays_writer_append(w, "abc", 3, &err));
    CHECK_FAILS(og_arrays_writer_commit(w, &err), OG_EINVAL, "array 'a' got 3 of its 4 bytes");
    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK(og_arrays_count(a) == 4);
    og_arrays_close(a);
    CHECK_OK(og_arrays_writer_new(path, &w, &err));
    CHECK_OK(og_arrays_writer_declare(w, "a", OG_U8, 1, &four, &err));
    CHECK_FAILS(og_arrays_writer_append(w, "abcde", 5, &err), OG_EINVAL, "1 bytes more than its arrays have");
    CHECK_FAILS(og_arrays_writer_append(w, "a", 1, &err), OG_EIO, "an earlier write of it failed");
    og_arrays_writer_abort(w);
    CHECK_OK(og_arrays_writer_new(path, &w, &err));
    CHECK_OK(og_arrays_writer_declare(w, "a", OG_U8, 1, &four, &err));
    CHECK_OK(og_arrays_writer_declare(w, "a", OG_U8, 1, &four, &err));
    CHECK_FAILS(og_arrays_writer_append(w, "abcd", 4, &err), OG_EINVAL, "array 'a' is declared twice");
    og_arrays_writer_abort(w);
    CHECK_OK(og_arrays_writer_new(path, &w, &err));
    CHECK_OK(og_arrays_writer_commit(w, &err)); /* no arrays at all */
    CHECK_OK(og_arrays_open(path, 0, &a, &err));
    CHECK(og_arrays_count(a) == 0);
    CHECK_FAILS(og_arrays_get(a, "x", NULL, NULL, &err), OG_EFORMAT, "it has: none");
    og_arrays_close(a);
    int64_t huge[2] = {INT64_C(1) << 40, INT64_C(1) << 20};
    CHECK_OK(og_arrays_writer_new(path, &w, &err));
    CHECK_OK(og_arrays_writer_declare(w, "big", OG_U8, 2, huge, &err));
    CHECK_FAILS(og_arrays_writer_append(w, "x", 1, &err), OG_EIO,
                "claiming 1152921504606847"); /* said before any work */
    og_arrays_writer_abort(w);
    og_arrays_writer_abort(NULL);
}

int main(void) {
    snprintf(path, sizeof path, "%s/safetensors-%ld", OG_TEST_BINARY_DIR, (long)getpid());
    test_by_hand();
    test_misaligned();
    test_broken();
    test_round_trip();
    test_writer_faults();
    remove(path);
    CHECK(og_alloc_count() == 0);
    return 0;
}
