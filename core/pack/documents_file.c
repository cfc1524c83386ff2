/* documents_file.c: documents to a file and back. */
#include "pack/documents.h"
#include "pack/pack_file.h"

#include <omnigram/memory.h>

#define KIND "omnigram.documents"

/* clang-format off */
/* wider elements first */
enum {
    OFFSETS, SEGMENT_OFFSETS, ORIGINS, SEGMENT_PLACE,  /* 8 bytes */
    TOKENS, SEGMENT, ROW, COLUMN, LEVEL, SEGMENT_GRID,  /* 4 */
    MODALITY,  /* 1 */
    N_ARRAYS
};
/* clang-format on */

static void arrays_of(const og_documents *d, int64_t *place, int32_t *grid, og_file_array arrays[N_ARRAYS]) {
    int64_t n_docs = d->n_docs, n_tokens = d->n_tokens;
    arrays[OFFSETS] = (og_file_array){"offsets", OG_I64, 1, {n_docs + 1}, d->offsets};
    arrays[TOKENS] = (og_file_array){"tokens", OG_I32, 1, {n_tokens}, d->tokens};
    arrays[MODALITY] = (og_file_array){"modality", OG_INT8, 1, {n_tokens}, d->modality};
    arrays[SEGMENT] = (og_file_array){"segment", OG_I32, 1, {n_tokens}, d->segment};
    arrays[ROW] = (og_file_array){"row", OG_I32, 1, {n_tokens}, d->row};
    arrays[COLUMN] = (og_file_array){"column", OG_I32, 1, {n_tokens}, d->column};
    arrays[LEVEL] = (og_file_array){"level", OG_I32, 1, {n_tokens}, d->level};
    arrays[SEGMENT_OFFSETS] = (og_file_array){"segment_offsets", OG_I64, 1, {n_docs + 1}, d->segment_offsets};
    arrays[ORIGINS] = (og_file_array){"origin", OG_I64, 2, {n_docs, 4}, d->origins};
    arrays[SEGMENT_PLACE] = (og_file_array){"segment_place", OG_I64, 2, {d->n_segments, 3}, place};
    arrays[SEGMENT_GRID] = (og_file_array){"segment_grid", OG_I32, 2, {d->n_segments, 6}, grid};
}

og_status og_documents_save(const og_documents *d, const char *path, og_error *err) {
    int64_t *place = NULL;
    int32_t *grid = NULL;
    og_status status = og_pack_segments_split(d->segments, d->n_segments, &place, &grid, err);
    if (status == OG_OK) {
        const og_pack_about about = {d->ids, d->codebooks, d->n_codebooks, d->counters};
        og_file_array arrays[N_ARRAYS];
        arrays_of(d, place, grid, arrays);
        status = og_pack_file_write(path, KIND, &about, arrays, N_ARRAYS, N_ARRAYS, err);
    }
    og_release(place);
    og_release(grid);
    return status;
}

static og_status read_into(og_documents *d, const og_arrays *file, og_error *err) {
    og_pack_about about;
    OG_TRY(og_pack_file_about(file, &about, err));
    d->ids = about.ids;
    d->codebooks = about.codebooks;
    d->n_codebooks = about.n_codebooks;
    d->counters = about.counters;
    og_file_array tokens = {"tokens", OG_I32, 1, {-1}, NULL}, origins = {"origin", OG_I64, 2, {-1, 4}, NULL};
    OG_TRY(og_pack_file_array(file, &tokens, err));
    OG_TRY(og_pack_file_array(file, &origins, err));
    d->n_tokens = tokens.shape[0];
    d->n_docs = origins.shape[0];
    OG_TRY(og_pack_segments_join(file, &d->segments, &d->n_segments, err));
    og_file_array arrays[N_ARRAYS];
    arrays_of(d, NULL, NULL, arrays);
    for (int32_t i = 0; i < N_ARRAYS; i++) OG_TRY(og_pack_file_array(file, &arrays[i], err));
    d->offsets = arrays[OFFSETS].data;
    d->tokens = arrays[TOKENS].data;
    d->modality = arrays[MODALITY].data;
    d->segment = arrays[SEGMENT].data;
    d->row = arrays[ROW].data;
    d->column = arrays[COLUMN].data;
    d->level = arrays[LEVEL].data;
    d->segment_offsets = arrays[SEGMENT_OFFSETS].data;
    d->origins = arrays[ORIGINS].data;
    OG_TRY(og_documents_check(d, err));
    return og_pack_file_verify(file, arrays, N_ARRAYS, err);
}

og_status og_documents_load(const char *path, og_documents **out, og_error *err) {
    og_arrays *file;
    OG_TRY(og_pack_file_open(path, KIND, &file, err));
    og_documents_owner *made = og_alloc_zero(1, sizeof *made);
    if (!made) {
        og_arrays_close(file);
        return og_fail(err, OG_ENOMEM, "no memory for documents");
    }
    made->file = file;
    og_status status = read_into(&made->documents, file, err);
    if (status != OG_OK) {
        og_documents_free(&made->documents);
        return og_fail_at(err, status, "%s", path);
    }
    *out = &made->documents;
    return OG_OK;
}
