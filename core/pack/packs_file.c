/* packs_file.c: packs to a file and back, read in place. */
#include "pack/pack_file.h"
#include "pack/packs.h"

#include <omnigram/memory.h>

#include <limits.h>
#include <stdlib.h>

#define KIND "omnigram.packs"

/* clang-format off */
enum {
    DOC_OFFSETS, SEGMENT_OFFSETS, DIGESTS,  /* the digest of the file covers these, DIGESTS the others */
    N_DIGESTED, CU_SEQLENS = N_DIGESTED, ORIGIN, SEGMENT_PLACE,
    TOKENS, DOC_ID, POS, POS3, LOSS_WEIGHT, SEGMENT_ID, ROW, COLUMN, LEVEL, SEGMENT_GRID,
    MODALITY, CONTINUES,
    N_ARRAYS
};
/* clang-format on */

static void arrays_of(const og_packs *p, int64_t *place, int32_t *grid, og_file_array a[N_ARRAYS]) {
    int64_t n = p->n_packs, c = p->capacity;
    a[TOKENS] = (og_file_array){"tokens", OG_I32, 2, {n, c}, p->tokens};
    a[DOC_ID] = (og_file_array){"doc_id", OG_I32, 2, {n, c}, p->doc_id};
    a[POS] = (og_file_array){"pos", OG_I32, 2, {n, c}, p->pos};
    a[POS3] = (og_file_array){"pos3", OG_I32, 3, {n, c, 3}, p->pos3};
    a[LOSS_WEIGHT] = (og_file_array){"loss_weight", OG_F32, 2, {n, c}, p->loss_weight};
    a[MODALITY] = (og_file_array){"modality", OG_INT8, 2, {n, c}, p->modality};
    a[SEGMENT_ID] = (og_file_array){"segment_id", OG_I32, 2, {n, c}, p->segment_id};
    a[ROW] = (og_file_array){"row", OG_I32, 2, {n, c}, p->row};
    a[COLUMN] = (og_file_array){"column", OG_I32, 2, {n, c}, p->column};
    a[LEVEL] = (og_file_array){"level", OG_I32, 2, {n, c}, p->level};
    a[DOC_OFFSETS] = (og_file_array){"doc_offsets", OG_I64, 1, {n + 1}, p->doc_offsets};
    a[CU_SEQLENS] = (og_file_array){"cu_seqlens", OG_I64, 1, {p->n_docs + n}, p->cu_seqlens};
    a[SEGMENT_OFFSETS] = (og_file_array){"segment_offsets", OG_I64, 1, {n + 1}, p->segment_offsets};
    a[ORIGIN] = (og_file_array){"origin", OG_I64, 2, {p->n_docs, 4}, p->origin};
    a[SEGMENT_PLACE] = (og_file_array){"segment_place", OG_I64, 2, {p->n_segments, 3}, place};
    a[SEGMENT_GRID] = (og_file_array){"segment_grid", OG_I32, 2, {p->n_segments, 6}, grid};
    a[DIGESTS] = (og_file_array){"digests", OG_U8, 2, {n, 32}, (void *)(uintptr_t)p->digests};
    a[CONTINUES] = (og_file_array){"continues", OG_U8, 1, {p->n_docs}, p->continues};
}

static og_status digest_all(const og_packs *p, uint8_t *digests, og_error *err) {
    for (int64_t i = 0; i < p->n_packs; i++) {
        og_pack pack;
        OG_TRY(og_packs_get(p, i, &pack, err));
        OG_TRY(og_packs_digest(&pack, digests + 32 * i, err));
    }
    return OG_OK;
}

og_status og_packs_save(const og_packs *p, const char *path, og_error *err) {
    int64_t *place = NULL;
    int32_t *grid = NULL;
    uint8_t *digests = og_alloc(p->n_packs, 32);
    og_status status =
        digests ? digest_all(p, digests, err)
                : og_fail(err, OG_ENOMEM, "%s: no memory for the digests of %lld packs", path, (long long)p->n_packs);
    if (status == OG_OK) status = og_pack_segments_split(p->segments, p->n_segments, &place, &grid, err);
    if (status == OG_OK) {
        const og_pack_about about = {p->ids, p->codebooks, p->n_codebooks, p->counters};
        og_file_array arrays[N_ARRAYS];
        arrays_of(p, place, grid, arrays);
        arrays[DIGESTS].data = digests;
        status = og_pack_file_write(path, KIND, &about, arrays, N_ARRAYS, N_DIGESTED, err);
    }
    og_release(digests);
    og_release(place);
    og_release(grid);
    return status;
}

/* The three tables of offsets: everything og_packs_get relies on before it checks a pack. */
static og_status check_offsets(const og_packs *p, og_error *err) {
    if (p->doc_offsets[0] != 0 || p->doc_offsets[p->n_packs] != p->n_docs || p->segment_offsets[0] != 0 ||
        p->segment_offsets[p->n_packs] != p->n_segments)
        return og_fail(err, OG_EFORMAT, "documents run %lld .. %lld of %lld, segments %lld .. %lld of %lld",
                       (long long)p->doc_offsets[0], (long long)p->doc_offsets[p->n_packs], (long long)p->n_docs,
                       (long long)p->segment_offsets[0], (long long)p->segment_offsets[p->n_packs],
                       (long long)p->n_segments);
    for (int64_t i = 0; i < p->n_packs; i++)
        if (p->doc_offsets[i] > p->doc_offsets[i + 1] || p->doc_offsets[i + 1] > p->n_docs ||
            p->segment_offsets[i] > p->segment_offsets[i + 1] || p->segment_offsets[i + 1] > p->n_segments)
            return og_fail(err, OG_EFORMAT,
                           "pack %lld: documents [%lld, %lld), segments [%lld, %lld); offsets must not fall",
                           (long long)i, (long long)p->doc_offsets[i], (long long)p->doc_offsets[i + 1],
                           (long long)p->segment_offsets[i], (long long)p->segment_offsets[i + 1]);
    return OG_OK;
}

static og_status read_into(og_packs *p, const og_arrays *file, og_error *err) {
    og_pack_about about;
    OG_TRY(og_pack_file_about(file, &about, err));
    p->ids = about.ids;
    p->codebooks = about.codebooks;
    p->n_codebooks = about.n_codebooks;
    p->counters = about.counters;
    og_file_array tokens = {"tokens", OG_I32, 2, {-1, -1}, NULL}, origin = {"origin", OG_I64, 2, {-1, 4}, NULL};
    OG_TRY(og_pack_file_array(file, &tokens, err));
    OG_TRY(og_pack_file_array(file, &origin, err));
    p->n_packs = tokens.shape[0];
    p->capacity = tokens.shape[1];
    p->n_docs = origin.shape[0];
    if (p->n_packs > INT64_MAX / 2) return og_fail(err, OG_EFORMAT, "%lld packs", (long long)p->n_packs);
    OG_TRY(og_pack_segments_join(file, &p->segments, &p->n_segments, err));
    og_file_array a[N_ARRAYS];
    arrays_of(p, NULL, NULL, a);
    for (int i = 0; i < N_ARRAYS; i++) OG_TRY(og_pack_file_array(file, &a[i], err));
    p->tokens = a[TOKENS].data;
    p->doc_id = a[DOC_ID].data;
    p->pos = a[POS].data;
    p->pos3 = a[POS3].data;
    p->loss_weight = a[LOSS_WEIGHT].data;
    p->modality = a[MODALITY].data;
    p->segment_id = a[SEGMENT_ID].data;
    p->row = a[ROW].data;
    p->column = a[COLUMN].data;
    p->level = a[LEVEL].data;
    p->doc_offsets = a[DOC_OFFSETS].data;
    p->cu_seqlens = a[CU_SEQLENS].data;
    p->segment_offsets = a[SEGMENT_OFFSETS].data;
    p->origin = a[ORIGIN].data;
    p->continues = a[CONTINUES].data;
    p->digests = a[DIGESTS].data;
    OG_TRY(check_offsets(p, err));
    OG_TRY(og_pack_file_verify(file, a, N_DIGESTED, err));
    p->checked = og_alloc_zero(p->n_packs, sizeof *p->checked);
    if (!p->checked) return og_fail(err, OG_ENOMEM, "no memory for %lld packs", (long long)p->n_packs);
    return OG_OK;
}

og_status og_packs_load(const char *path, og_packs **out, og_error *err) {
    og_arrays *file;
    OG_TRY(og_pack_file_open(path, KIND, &file, err));
    og_packs *p = og_alloc_zero(1, sizeof *p);
    if (!p) {
        og_arrays_close(file);
        return og_fail(err, OG_ENOMEM, "no memory for packs");
    }
    p->file = file;
    char absolute[PATH_MAX];
    p->path = og_copy_string(realpath(path, absolute) ? absolute : path);
    og_status status = p->path ? read_into(p, file, err) : og_fail(err, OG_ENOMEM, "no memory for packs");
    if (status != OG_OK) {
        og_packs_free(p);
        return og_fail_at(err, status, "%s", path);
    }
    *out = p;
    return OG_OK;
}
