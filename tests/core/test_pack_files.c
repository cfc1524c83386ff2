/* Documents and packs on disk: what is read is what was written; every damage is named; no byte of
 * a bad file can hurt. */
#include "core/pack_maker.h"

#include <omnigram/file.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/safetensors.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static og_error err;
static const char line[] = "t3 i2x3 t2 | a4x3 t5 | i1x1 i1x4 | t9";
static char path[256];

static void same_pack(const og_pack *a, const og_pack *b) {
    size_t n = (size_t)a->n_tokens;
    CHECK(a->n_tokens == b->n_tokens && a->n_valid == b->n_valid && a->n_docs == b->n_docs &&
          a->n_segments == b->n_segments);
    CHECK(!memcmp(a->tokens, b->tokens, n * 4) && !memcmp(a->doc_id, b->doc_id, n * 4) &&
          !memcmp(a->pos, b->pos, n * 4) && !memcmp(a->pos3, b->pos3, n * 12) &&
          !memcmp(a->loss_weight, b->loss_weight, n * 4) && !memcmp(a->modality, b->modality, n) &&
          !memcmp(a->segment_id, b->segment_id, n * 4) && !memcmp(a->row, b->row, n * 4) &&
          !memcmp(a->column, b->column, n * 4) && !memcmp(a->level, b->level, n * 4) &&
          !memcmp(a->cu_seqlens, b->cu_seqlens, ((size_t)a->n_docs + 1) * 8) &&
          !memcmp(a->origin, b->origin, (size_t)a->n_docs * sizeof *a->origin) &&
          !memcmp(a->continues, b->continues, (size_t)a->n_docs) &&
          !memcmp(a->segments, b->segments, (size_t)a->n_segments * sizeof *a->segments));
}

static og_packs *build(int64_t capacity) {
    og_documents *d = make_documents(line, 1);
    og_packs *packs;
    og_pack_policy policy = {
        .capacity = capacity, .long_doc = OG_LONG_FRAGMENT, .fragment_context = OG_FRAGMENT_CARRY, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    og_documents_free(d);
    return packs;
}

static void test_documents(void) {
    og_documents *a = make_documents(line, 1), *b;
    CHECK_OK(og_documents_save(a, path, &err));
    CHECK_OK(og_documents_load(path, &b, &err));
    CHECK(a->n_docs == b->n_docs && a->n_tokens == b->n_tokens && a->n_segments == b->n_segments &&
          b->n_codebooks == 2);
    CHECK(!memcmp(a->tokens, b->tokens, (size_t)a->n_tokens * 4) &&
          !memcmp(a->segments, b->segments, (size_t)a->n_segments * sizeof *a->segments));
    CHECK(!memcmp(&a->ids, &b->ids, sizeof a->ids) && !strcmp(b->codebooks[1], "bb22"));
    og_pack_policy policy = {.capacity = 40, .seed = -1};
    og_packs *pa, *pb;
    CHECK_OK(og_packs_build(a, &policy, &pa, &err));
    CHECK_OK(og_packs_build(b, &policy, &pb, &err));
    for (int64_t i = 0; i < og_packs_count(pa); i++) {
        og_pack x, y;
        CHECK_OK(og_packs_get(pa, i, &x, &err));
        CHECK_OK(og_packs_get(pb, i, &y, &err));
        same_pack(&x, &y);
    }
    og_packs *none;
    CHECK_FAILS(og_packs_load(path, &none, &err), OG_EFORMAT, "omnigram.documents");
    og_packs_free(pa);
    og_packs_free(pb);
    og_documents_free(a);
    og_documents_free(b);
}

static void test_packs(void) {
    for (int64_t capacity = 13; capacity <= 32; capacity += 19) {
        og_packs *a = build(capacity), *b;
        CHECK_OK(og_packs_save(a, path, &err));
        CHECK_OK(og_packs_load(path, &b, &err));
        CHECK(og_packs_count(a) == og_packs_count(b) && og_packs_capacity(b) == capacity);
        char absolute[PATH_MAX];
        CHECK(!og_packs_path(a) && !strcmp(og_packs_path(b), realpath(path, absolute)));
        CHECK(!memcmp(og_packs_ids(a), og_packs_ids(b), sizeof(og_id_map)));
        CHECK(og_packs_codebook_count(b) == 2 && !strcmp(og_packs_codebook(b, 0), "aa11") &&
              og_packs_codebook(b, 2) == NULL);
        CHECK(counter(b, "packing.bins") == og_packs_count(b) && balanced(b, "tokens") == balanced(a, "tokens"));
        for (int64_t i = 0; i < og_packs_count(a); i++) {
            og_pack x, y;
            CHECK_OK(og_packs_get(a, i, &x, &err));
            CHECK_OK(og_packs_get(b, i, &y, &err));
            same_pack(&x, &y);
        }
        og_pack x;
        CHECK_FAILS(og_packs_get(b, og_packs_count(b), &x, &err), OG_EINVAL, "there are");
        CHECK_FAILS(og_packs_get(b, -1, &x, &err), OG_EINVAL, "pack -1");
        og_packs_free(a);
        og_packs_free(b);
    }
    og_packs *none = NULL;
    CHECK_FAILS(og_packs_load("/nowhere/packs.safetensors", &none, &err), OG_EIO, "/nowhere/packs.safetensors");
    CHECK(none == NULL);
}

static void test_no_packs(void) {
    og_documents *d = make_documents("t0 | ", 0);
    og_pack_policy policy = {.capacity = 8, .seed = -1};
    og_packs *a, *b;
    CHECK_OK(og_packs_build(d, &policy, &a, &err));
    CHECK_OK(og_packs_save(a, path, &err));
    CHECK_OK(og_packs_load(path, &b, &err));
    CHECK(og_packs_count(b) == 0);
    og_packs_free(a);
    og_packs_free(b);
    CHECK_OK(og_documents_save(d, path, &err));
    og_documents_free(d);
    CHECK_OK(og_documents_load(path, &d, &err));
    CHECK(d->n_docs == 0);
    og_documents_free(d);
}

static og_status read_all(int what) {
    og_documents *d;
    og_packs *p;
    if (!what) {
        OG_TRY(og_documents_load(path, &d, &err));
        og_documents_free(d);
        return OG_OK;
    }
    OG_TRY(og_packs_load(path, &p, &err));
    og_status status = OG_OK;
    for (int64_t i = 0; i < og_packs_count(p) && status == OG_OK; i++) {
        og_pack pack;
        status = og_packs_get(p, i, &pack, &err);
    }
    og_packs_free(p);
    return status;
}

/* Any changed bit of any byte of either file is an error that names the file; what only the digest can tell (a code, an
 * origin, a counter) says which it is and which it must be. The sanitizer watches. */
static void test_damage(void) {
    int64_t refused = 0, by_digest = 0;
    for (int what = 0; what < 2; what++) {
        if (what) {
            og_packs *a = build(24);
            CHECK_OK(og_packs_save(a, path, &err));
            og_packs_free(a);
        } else {
            og_documents *d = make_documents(line, 1);
            CHECK_OK(og_documents_save(d, path, &err));
            og_documents_free(d);
        }
        char *bytes;
        int64_t n;
        CHECK_OK(og_file_read(path, 1 << 24, &bytes, &n, &err));
        CHECK_OK(read_all(what));
        for (int64_t at = 0; at < n; at += 3) {
            char old = bytes[at];
            bytes[at] = (char)(old ^ 1 << (at * 5 + at / 8) % 8);
            FILE *file = fopen(path, "wb"); /* a damaged file is not written as ours are */
            CHECK(file && fwrite(bytes, 1, (size_t)n, file) == (size_t)n && !fclose(file));
            bytes[at] = old;
            err.message[0] = 0;
            og_status status = read_all(what);
            if (status == OG_OK || !strstr(err.message, path)) {
                fprintf(stderr, "byte %lld of %lld of %s: %s\n", (long long)at, (long long)n,
                        what ? "packs" : "documents", status == OG_OK ? "passed" : err.message);
                exit(1);
            }
            refused++;
            if (strstr(err.message, "SHA-256") && strstr(err.message, "must be")) by_digest++;
        }
        og_release(bytes);
    }
    printf("damaged files: %lld refused, %lld of them by their digest alone\n", (long long)refused,
           (long long)by_digest);
    CHECK(by_digest > 200);
}

/* The pack at the end of more than 2^31 tokens: a file of 90 GiB in which only that pack was written. */
static void test_a_pack_behind_2_31_tokens(void) {
    enum { T = 65536 };
    const int64_t packs = (INT64_C(1) << 31) / T + 1; /* 2^31 + 65,536 tokens */
    og_packs *small = build(T), *large;
    CHECK_OK(og_packs_save(small, path, &err));
    og_packs_free(small);
    CHECK_OK(og_packs_load(path, &small, &err)); /* the mapping outlives the name */
    og_arrays *arrays;
    CHECK_OK(og_arrays_open(path, 0, &arrays, &err));
    unlink(path);
    int64_t n = og_arrays_count(arrays), end = 0;
    char *header = calloc(1, 1 << 16), *at = header + 8;
    struct place {
        const og_array_info *info;
        int64_t begin, bytes;
    } places[64];
    CHECK(n < 64 && og_packs_count(small) == 1);
    at += sprintf(at, "{\"__metadata__\":{");
    for (int64_t i = 0; i < og_arrays_metadata_count(arrays); i++) {
        const char *key = og_arrays_metadata_key(arrays, i);
        at += sprintf(at, "%s\"%s\":\"", i ? "," : "", key);
        for (const char *c = og_arrays_metadata(arrays, key); *c; c++)
            at += sprintf(at, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        at += sprintf(at, "\"");
    }
    at += sprintf(at, "}");
    for (int64_t i = 0; i < n; i++) { /* the axis of packs grows, and of offsets; what belongs to documents stays */
        const og_array_info *info = og_arrays_info(arrays, i);
        int per_pack = (info->rank > 1 && info->shape[1] == T) || !strcmp(info->name, "digests"),
            offsets = !!strstr(info->name, "_offsets"), lengths = !strcmp(info->name, "cu_seqlens");
        int64_t first = per_pack ? packs : info->shape[0] + (offsets || lengths ? packs - 1 : 0);
        int64_t bytes = info->shape[0] ? info->bytes / info->shape[0] * first : 0;
        at += sprintf(at, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%lld", info->name,
                      info->dtype == OG_INT8 ? "I8" : og_dtype_name(info->dtype), (long long)first);
        for (int r = 1; r < info->rank; r++) at += sprintf(at, ",%lld", (long long)info->shape[r]);
        at += sprintf(at, "],\"data_offsets\":[%lld,%lld]}", (long long)end, (long long)(end + bytes));
        places[i] = (struct place){info, end, bytes};
        end += bytes;
    }
    at += sprintf(at, "}");
    while ((at - header) % 8) *at++ = ' ';
    int64_t base = at - header, length = base - 8;
    memcpy(header, &length, 8);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(file >= 0 && write(file, header, (size_t)base) == base);
    if (ftruncate(file, (off_t)(base + end)) != 0) {
        printf("left out: the file system of %s makes no file of %lld bytes\n", path, (long long)(base + end));
    } else {
        for (int64_t i = 0; i < n; i++) { /* all that the small file has comes last */
            void *data;
            CHECK_OK(og_arrays_get(arrays, places[i].info->name, NULL, &data, &err));
            off_t to = (off_t)(base + places[i].begin + places[i].bytes - places[i].info->bytes);
            CHECK(pwrite(file, data, (size_t)places[i].info->bytes, to) == places[i].info->bytes);
        }
        og_pack a, b;
        og_fault_digest(1); /* that of the file is the small one's */
        CHECK_OK(og_packs_load(path, &large, &err));
        og_fault_digest(0);
        CHECK(og_packs_count(large) == packs);
        CHECK_OK(og_packs_get(small, 0, &a, &err));
        CHECK_OK(og_packs_get(large, packs - 1, &b, &err));
        CHECK(a.n_docs == 4);
        same_pack(&a, &b);
        og_packs_free(large);
    }
    close(file);
    free(header);
    og_arrays_close(arrays);
    og_packs_free(small);
}

int main(void) {
    snprintf(path, sizeof path, "%s/test_pack_files.%d.safetensors", OG_TEST_BINARY_DIR, (int)getpid());
    test_documents();
    test_packs();
    test_no_packs();
    test_damage();
    unlink(path);
    test_a_pack_behind_2_31_tokens();
    unlink(path);
    CHECK(og_alloc_count() == 0);
    return 0;
}
