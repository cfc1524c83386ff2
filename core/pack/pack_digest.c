/* pack_digest.c: SHA-256 over what a file of documents or packs says and holds. */
#include "base/faults.h"
#include "pack/pack_file.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    return strcmp((*(const og_file_array *const *)a)->name, (*(const og_file_array *const *)b)->name);
}

static og_status add_all(og_digest *digest, const char *const (*texts)[2], int32_t n_texts, const og_file_array *arrays,
                         int32_t n_arrays, og_error *err) {
    const og_file_array *sorted[OG_PACK_FILE_ARRAYS];
    if (n_arrays > OG_PACK_FILE_ARRAYS)
        return og_fail(err, OG_EINTERNAL, "%d arrays to digest; at most %d", n_arrays, OG_PACK_FILE_ARRAYS);
    for (int32_t i = 0; i < n_arrays; i++) sorted[i] = &arrays[i];
    qsort(sorted, (size_t)n_arrays, sizeof *sorted, by_name);
    for (int32_t i = 0; i < n_texts; i++)
        for (int32_t k = 0; k < 2; k++)
            OG_TRY(og_digest_add(digest, texts[i][k], (int64_t)strlen(texts[i][k]) + 1, err));
    for (int32_t i = 0; i < n_arrays; i++) {
        int64_t bytes = og_dtype_bits(sorted[i]->dtype) / 8;
        for (int32_t r = 0; r < sorted[i]->rank; r++) bytes *= sorted[i]->shape[r];
        OG_TRY(og_digest_add(digest, sorted[i]->name, (int64_t)strlen(sorted[i]->name) + 1, err));
        OG_TRY(og_digest_add(digest, sorted[i]->data, bytes, err));
    }
    return OG_OK;
}

og_status og_pack_file_digest(const char *const (*texts)[2], int32_t n_texts, const og_file_array *arrays,
                              int32_t n_arrays, char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = add_all(digest, texts, n_texts, arrays, n_arrays, err);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}

og_status og_pack_file_verify(const og_arrays *file, const og_file_array *arrays, int32_t n_arrays, og_error *err) {
    char is[OG_DIGEST_TEXT];
    const char *texts[OG_PACK_FILE_TEXTS][2];
    for (int32_t i = 0; i < OG_PACK_FILE_TEXTS; i++) {
        texts[i][0] = og_pack_file_texts[i];
        texts[i][1] = og_arrays_metadata(file, og_pack_file_texts[i]);
        if (!texts[i][1]) return og_fail(err, OG_EFORMAT, "the metadata lacks '%s'", texts[i][0]);
    }
    const char *wanted = og_arrays_metadata(file, "digest");
    if (!wanted) return og_fail(err, OG_EFORMAT, "the metadata lacks 'digest'");
    OG_TRY(og_pack_file_digest((const char *const(*)[2])texts, OG_PACK_FILE_TEXTS, arrays, n_arrays, is, err));
    return og_pack_digest_compare(wanted, is, err);
}

og_status og_pack_digest_compare(const char *wanted, const char *is, og_error *err) {
    if (!strcmp(wanted, is) || og_fault_digest_now()) return OG_OK;
    return og_fail(err, OG_EFORMAT, "damaged or changed after it was written: SHA-256 %s, must be %.64s", is, wanted);
}
