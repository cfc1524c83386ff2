/* pack_file.c: safetensors with the metadata of documents and packs. */
#include "pack/pack_file.h"

#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

const char *const og_pack_file_texts[OG_PACK_FILE_TEXTS] = {"kind", "version", "ids", "codebooks", "counters"};

og_status og_pack_file_open(const char *path, const char *kind, og_arrays **out, og_error *err) {
    og_arrays *file;
    OG_TRY(og_arrays_open(path, 0, &file, err));
    const char *is = og_arrays_metadata(file, "kind"), *version = og_arrays_metadata(file, "version");
    og_status status = OG_OK;
    if (!is || strcmp(is, kind))
        status = og_fail(err, OG_EFORMAT, "%s: a file of kind '%.60s'; '%s' is wanted", path, is ? is : "(none)", kind);
    else if (!version || strcmp(version, OG_PACK_FILE_VERSION))
        status = og_fail(err, OG_EFORMAT, "%s: %s version '%.20s'; this omnigram reads version " OG_PACK_FILE_VERSION,
                         path, kind, version ? version : "(none)");
    if (status != OG_OK) {
        og_arrays_close(file);
        return status;
    }
    *out = file;
    return OG_OK;
}

og_status og_pack_file_array(const og_arrays *file, og_file_array *array, og_error *err) {
    int64_t shape[OG_MAX_RANK];
    OG_TRY(og_arrays_expect(file, array->name, array->dtype, array->rank, shape, &array->data, err));
    if ((uintptr_t)array->data % (uintptr_t)(og_dtype_bits(array->dtype) / 8))
        return og_fail(err, OG_EFORMAT, "array '%s' does not begin at a multiple of %lld bytes", array->name,
                       (long long)og_dtype_bits(array->dtype) / 8);
    for (int32_t r = 0; r < array->rank; r++) {
        if (array->shape[r] >= 0 && shape[r] != array->shape[r])
            return og_fail(err, OG_EFORMAT, "array '%s': axis %d has %lld; it must be %lld", array->name, r,
                           (long long)shape[r], (long long)array->shape[r]);
        array->shape[r] = shape[r];
    }
    return OG_OK;
}

static og_status ids_to_json(const og_id_map *ids, char **out, og_error *err) {
    char json[512];
    const int32_t *b = ids->base, *c = ids->codes, *l = ids->levels;
    snprintf(json, sizeof json, "{\"base\":[%d,%d,%d,%d],\"codes\":[%d,%d,%d,%d],\"levels\":[%d,%d,%d,%d],\"size\":%d}",
             b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3], l[0], l[1], l[2], l[3], ids->size);
    char *copy = og_copy_string(json);
    if (!copy) return og_fail(err, OG_ENOMEM, "no memory for the id map");
    *out = copy;
    return OG_OK;
}

typedef struct id_map_keys {
    og_i64_list base, codes, levels;
    int64_t size;
} id_map_keys;
static const og_key id_map_table[] = {
    {"base", OG_KEY_I64_LIST, offsetof(id_map_keys, base), NULL, 0, INT32_MAX, NULL,
     "first id of text, image, audio, marker"},
    {"codes", OG_KEY_I64_LIST, offsetof(id_map_keys, codes), NULL, 0, INT32_MAX, NULL, "codes of one level"},
    {"levels", OG_KEY_I64_LIST, offsetof(id_map_keys, levels), NULL, 1, INT32_MAX, NULL, "levels"},
    {"size", OG_KEY_I64, offsetof(id_map_keys, size), NULL, 1, INT32_MAX, NULL, "ids in all"},
    {0},
};

static og_status ids_from(const og_config *tree, og_id_map *out, og_error *err) {
    id_map_keys keys;
    OG_TRY(og_config_read(tree, id_map_table, &keys, err));
    if (keys.base.n != OG_N_MODALITIES || keys.codes.n != OG_N_MODALITIES || keys.levels.n != OG_N_MODALITIES)
        return og_fail(err, OG_EFORMAT, "id map: %lld bases, %lld codes, %lld levels; there are %d modalities",
                       (long long)keys.base.n, (long long)keys.codes.n, (long long)keys.levels.n, OG_N_MODALITIES);
    og_id_map map = {.size = (int32_t)keys.size};
    for (int32_t m = 0; m < OG_N_MODALITIES; m++) {
        map.base[m] = (int32_t)keys.base.values[m];
        map.codes[m] = (int32_t)keys.codes.values[m];
        map.levels[m] = (int32_t)keys.levels.values[m];
    }
    OG_TRY(og_id_map_check(&map, err));
    *out = map;
    return OG_OK;
}

static og_status codebooks_to_json(char (*codebooks)[OG_DIGEST_TEXT], int32_t n, char **out, og_error *err) {
    char *json = og_alloc((int64_t)n * (OG_DIGEST_TEXT + 3) + 3, 1), *at = json;
    if (!json) return og_fail(err, OG_ENOMEM, "no memory for %d fingerprints", n);
    *at++ = '[';
    for (int32_t i = 0; i < n; i++) at += sprintf(at, "%s\"%s\"", i ? "," : "", codebooks[i]);
    *at++ = ']';
    *at = 0;
    *out = json;
    return OG_OK;
}

static og_status codebooks_from(const og_config *tree, char (**out)[OG_DIGEST_TEXT], int32_t *n, og_error *err) {
    int64_t size = og_config_size(tree);
    if (og_config_kind(tree) != OG_CONFIG_LIST || size > INT32_MAX)
        return og_fail(err, OG_EFORMAT, "metadata 'codebooks' is not a list of fingerprints");
    char(*list)[OG_DIGEST_TEXT] = og_alloc_zero(size, sizeof *list);
    if (!list) return og_fail(err, OG_ENOMEM, "no memory for %lld fingerprints", (long long)size);
    for (int64_t i = 0; i < size; i++) {
        const char *text;
        og_status status = og_config_string(og_config_at(tree, i), &text, err);
        if (status == OG_OK &&
            (!*text || strlen(text) >= OG_DIGEST_TEXT || strspn(text, "0123456789abcdef") != strlen(text)))
            status = og_fail(err, OG_EFORMAT, "codebook fingerprint '%.80s' is not hexadecimal", text);
        if (status != OG_OK) {
            og_release(list);
            return status;
        }
        memcpy(list[i], text, strlen(text));
    }
    *out = list;
    *n = (int32_t)size;
    return OG_OK;
}

static og_status write_all(og_arrays_writer *writer, const char *const (*texts)[2], int32_t n_texts,
                           const og_file_array *arrays, int32_t n_arrays, og_error *err) {
    for (int32_t i = 0; i < n_texts; i++) OG_TRY(og_arrays_writer_metadata(writer, texts[i][0], texts[i][1], err));
    for (int32_t i = 0; i < n_arrays; i++)
        OG_TRY(og_arrays_writer_declare(writer, arrays[i].name, arrays[i].dtype, arrays[i].rank, arrays[i].shape, err));
    for (int32_t i = 0; i < n_arrays; i++) {
        int64_t bytes = og_dtype_bits(arrays[i].dtype) / 8;
        for (int32_t r = 0; r < arrays[i].rank; r++) bytes *= arrays[i].shape[r];
        if (bytes) OG_TRY(og_arrays_writer_append(writer, arrays[i].data, bytes, err));
    }
    return OG_OK;
}

og_status og_pack_file_write(const char *path, const char *kind, const og_pack_about *about,
                             const og_file_array *arrays, int32_t n_arrays, int32_t n_digested, og_error *err) {
    char *ids = NULL, *codebooks = NULL, *counters = NULL;
    og_arrays_writer *writer = NULL;
    og_status status = ids_to_json(&about->ids, &ids, err);
    if (status == OG_OK) status = codebooks_to_json(about->codebooks, about->n_codebooks, &codebooks, err);
    if (status == OG_OK) status = og_config_to_json(about->counters, &counters, err);
    if (status == OG_OK) status = og_arrays_writer_new(path, &writer, err);
    if (status == OG_OK) {
        const char *const values[OG_PACK_FILE_TEXTS] = {kind, OG_PACK_FILE_VERSION, ids, codebooks, counters};
        const char *texts[OG_PACK_FILE_TEXTS + 1][2];
        char digest[OG_DIGEST_TEXT];
        for (int32_t i = 0; i < OG_PACK_FILE_TEXTS; i++) {
            texts[i][0] = og_pack_file_texts[i];
            texts[i][1] = values[i];
        }
        texts[OG_PACK_FILE_TEXTS][0] = "digest";
        texts[OG_PACK_FILE_TEXTS][1] = digest;
        const char *const(*fixed)[2] = (const char *const(*)[2])texts;
        status = og_pack_file_digest(fixed, OG_PACK_FILE_TEXTS, arrays, n_digested, digest, err);
        if (status == OG_OK) status = write_all(writer, fixed, OG_PACK_FILE_TEXTS + 1, arrays, n_arrays, err);
        if (status == OG_OK)
            status = og_arrays_writer_commit(writer, err);
        else
            og_arrays_writer_abort(writer);
    }
    og_release(ids);
    og_release(codebooks);
    og_release(counters);
    return status;
}

static og_status metadata_tree(const og_arrays *file, const char *key, og_config **out, og_error *err) {
    char place[64];
    const char *json = og_arrays_metadata(file, key);
    if (!json) return og_fail(err, OG_EFORMAT, "the metadata lacks '%s'", key);
    snprintf(place, sizeof place, "metadata '%s'", key);
    return og_config_from_json(json, (int64_t)strlen(json), place, out, err);
}

og_status og_pack_file_about(const og_arrays *file, og_pack_about *out, og_error *err) {
    og_pack_about about = {.codebooks = NULL};
    og_config *ids = NULL, *codebooks = NULL;
    og_status status = metadata_tree(file, "ids", &ids, err);
    if (status == OG_OK) status = ids_from(ids, &about.ids, err);
    if (status == OG_OK) status = metadata_tree(file, "codebooks", &codebooks, err);
    if (status == OG_OK) status = codebooks_from(codebooks, &about.codebooks, &about.n_codebooks, err);
    if (status == OG_OK) status = metadata_tree(file, "counters", &about.counters, err);
    og_config_free(ids);
    og_config_free(codebooks);
    if (status == OG_OK)
        *out = about;
    else
        og_release(about.codebooks);
    return status;
}

og_status og_pack_segments_split(const og_segment *segments, int64_t n, int64_t **place, int32_t **grid,
                                 og_error *err) {
    int64_t *p = og_alloc(n, 3 * sizeof *p);
    int32_t *g = og_alloc(n, 6 * sizeof *g);
    if (!p || !g) {
        og_release(p);
        og_release(g);
        return og_fail(err, OG_ENOMEM, "no memory for %lld segments", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        const og_segment *s = &segments[i];
        memcpy(p + 3 * i, (const int64_t[]){s->doc, s->start, s->length}, 3 * sizeof *p);
        memcpy(g + 6 * i, (const int32_t[]){s->modality, s->rows, s->columns, s->levels, s->row_end, s->codebook},
               6 * sizeof *g);
    }
    *place = p;
    *grid = g;
    return OG_OK;
}

og_status og_pack_segments_join(const og_arrays *file, og_segment **out, int64_t *n, og_error *err) {
    og_file_array place = {"segment_place", OG_I64, 2, {-1, 3}, NULL},
                  grid = {"segment_grid", OG_I32, 2, {-1, 6}, NULL};
    OG_TRY(og_pack_file_array(file, &place, err));
    grid.shape[0] = place.shape[0];
    OG_TRY(og_pack_file_array(file, &grid, err));
    og_segment *segments = og_alloc(place.shape[0], sizeof *segments);
    if (!segments) return og_fail(err, OG_ENOMEM, "no memory for %lld segments", (long long)place.shape[0]);
    for (int64_t i = 0; i < place.shape[0]; i++) {
        const int64_t *p = (const int64_t *)place.data + 3 * i;
        const int32_t *g = (const int32_t *)grid.data + 6 * i;
        segments[i] = (og_segment){p[0], p[1], p[2], g[0], g[1], g[2], g[3], g[4], g[5]};
    }
    *out = segments;
    *n = place.shape[0];
    return OG_OK;
}
