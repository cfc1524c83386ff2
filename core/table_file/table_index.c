/* table_index.c: the index over a table's shards: names, reading, publishing. */
#include "table_file/table_index.h"

#include "table_file/table_view.h"

#include <omnigram/config.h>
#include <omnigram/memory.h>

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t og_table_is_index(const char *path) {
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

static const char *leaf_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static og_status shard_path(const char *path, int64_t generation, int32_t part, int32_t parts, char *out, size_t size,
                            og_error *err) {
    int n = snprintf(out, size, "%.*s.g%lld-%05d-of-%05d.safetensors", (int)strlen(path) - 5, path,
                     (long long)generation, part + 1, parts);
    if (n < 0 || (size_t)n >= size) return og_fail(err, OG_EINVAL, "%.80s...: the path is too long", path);
    return OG_OK;
}

void og_table_index_free(og_table_index *index) {
    for (int32_t i = 0; i < index->n; i++) og_release(index->shards[i].path);
    og_release(index->shards);
    *index = (og_table_index){0};
}

static og_status read_shard(const char *path, const og_config *node, int64_t at, og_table_shard *out, og_error *err) {
    const char *file;
    OG_TRY(og_config_string(og_config_get(node, "file"), &file, err));
    OG_TRY(og_config_i64(og_config_get(node, "first_row"), &out->first, err));
    OG_TRY(og_config_i64(og_config_get(node, "rows"), &out->n, err));
    OG_TRY(og_config_i64(og_config_get(node, "bytes"), &out->bytes, err));
    if (strchr(file, '/') || !*file)
        return og_fail(err, OG_EFORMAT, "%s: shard file '%.80s' is not a plain file name", OG_WHERE(node), file);
    if (out->first != at || out->n < 1 || out->n > (INT64_C(1) << 47) - at)
        return og_fail(err, OG_EFORMAT,
                       "%s: shard '%.80s' has rows %lld + %lld where row %lld should begin, of at most 2^47",
                       OG_WHERE(node), file, (long long)out->first, (long long)out->n, (long long)at);
    size_t folder = (size_t)(leaf_of(path) - path), size = folder + strlen(file) + 1;
    out->path = og_alloc((int64_t)size, 1);
    if (!out->path) return og_fail(err, OG_ENOMEM, "%s: no memory for its shards", path);
    memcpy(out->path, path, folder);
    memcpy(out->path + folder, file, size - folder);
    return OG_OK;
}

static og_status read_tree(const char *path, const og_config *root, og_table_index *index, og_error *err) {
    const char *format;
    OG_TRY(og_config_string(og_config_get(root, "format"), &format, err));
    if (strcmp(format, "omnigram.table-index/1") != 0)
        return og_fail(err, OG_EFORMAT, "%s: format '%.40s', this build reads 'omnigram.table-index/1'", path, format);
    OG_TRY(og_config_i64(og_config_get(root, "generation"), &index->generation, err));
    if (index->generation < 0 || index->generation > INT64_C(1) << 62)
        return og_fail(err, OG_EFORMAT, "%s: generation %lld: must be in 0..2^62", path, (long long)index->generation);
    const og_config *shards = og_config_get(root, "shards");
    int64_t n = og_config_kind(shards) == OG_CONFIG_LIST ? og_config_size(shards) : 0;
    if (n < 1 || n > 99999) return og_fail(err, OG_EFORMAT, "%s: %lld shards: must be in 1..99999", path, (long long)n);
    index->shards = og_alloc_zero(n, sizeof *index->shards);
    if (!index->shards) return og_fail(err, OG_ENOMEM, "%s: no memory for %lld shards", path, (long long)n);
    int64_t at = 0;
    for (; index->n < n; index->n++) {
        og_table_shard *shard = &index->shards[index->n];
        OG_TRY(read_shard(path, og_config_at(shards, index->n), at, shard, err));
        at += shard->n;
    }
    return OG_OK;
}

og_status og_table_index_read(const char *path, og_table_index *out, og_error *err) {
    og_config *root;
    og_table_index index = {0};
    OG_TRY(og_config_from_json_file(path, &root, err));
    og_status status = read_tree(path, root, &index, err);
    og_config_free(root);
    if (status != OG_OK) {
        og_table_index_free(&index);
        return status == OG_EINVAL ? OG_EFORMAT : status;
    }
    *out = index;
    return OG_OK;
}

/* The generation in force, 0 when there is no index. */
static og_status generation_of(const char *path, int64_t *out, og_error *err) {
    *out = 0;
    if (!og_file_exists(path)) return OG_OK;
    og_table_index index;
    OG_TRY(og_table_index_read(path, &index, err));
    *out = index.generation;
    og_table_index_free(&index);
    return OG_OK;
}

og_status og_table_part_path(const char *path, int32_t part, int32_t parts, char *out, size_t size, og_error *err) {
    if (!og_table_is_index(path))
        return og_fail(err, OG_EINVAL, "%s: the index of a sharded table ends in .json", path);
    if (parts < 1 || parts > 99999 || part < 0 || part >= parts)
        return og_fail(err, OG_EINVAL, "%s: part %d of %d: parts are 1..99999", path, part, parts);
    int64_t generation;
    OG_TRY(generation_of(path, &generation, err));
    return shard_path(path, generation + 1, part, parts, out, size, err);
}

/* Removes shards of this index that are not of this generation of so many parts: the old table, and what
 * a crash left. */
static void remove_others(const char *path, int64_t generation, int32_t n) {
    char folder[4096], prefix[600], target[5000];
    const char *leaf = leaf_of(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(leaf - path), path);
    snprintf(prefix, sizeof prefix, "%.*s.g", (int)strlen(leaf) - 5, leaf);
    DIR *dir = opendir(folder[0] ? folder : ".");
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        long long number;
        int part, parts, end = 0;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        if (sscanf(entry->d_name + strlen(prefix), "%lld-%5d-of-%5d.safetensors%n", &number, &part, &parts, &end) !=
                3 ||
            !end)
            continue;
        if (entry->d_name[strlen(prefix) + (size_t)end] || (number == generation && parts == n)) continue;
        snprintf(target, sizeof target, "%s%s", folder, entry->d_name);
        (void)unlink(target);
    }
    closedir(dir);
}

/* Opens part i, checks that it continues the ones before, and describes it. */
static og_status add_part(const char *file, int32_t i, og_table_view *whole, int64_t *at, char **fingerprint,
                          json_t *shards, og_error *err) {
    og_arrays *arrays;
    og_table_view v;
    struct stat info;
    OG_TRY(og_arrays_open(file, 0, &arrays, err));
    og_status status = og_table_view_of(arrays, file, NULL, &v, err);
    if (status == OG_OK && i == 0) {
        *whole = v;
        *fingerprint = og_copy_string(v.identity.fingerprint);
        if (!*fingerprint) status = og_fail(err, OG_ENOMEM, "%s: no memory to publish a table", file);
    }
    if (status == OG_OK &&
        (strcmp(*fingerprint, v.identity.fingerprint) != 0 || v.total != whole->total || v.dim != whole->dim ||
         v.dtype != whole->dtype || v.group != whole->group || v.state != whole->state))
        status = og_fail(err, OG_EINVAL,
                         "%s: fingerprint %s, %lld x %lld: not the table of the first part (%s, %lld x %lld)", file,
                         v.identity.fingerprint, (long long)v.total, (long long)v.dim, *fingerprint,
                         (long long)whole->total, (long long)whole->dim);
    if (status == OG_OK && v.first != *at)
        status = og_fail(err, OG_EINVAL, "%s begins at row %lld, the parts before it end at row %lld", file,
                         (long long)v.first, (long long)*at);
    if (status == OG_OK && stat(file, &info) != 0) status = og_fail(err, OG_EIO, "%s: cannot be examined", file);
    if (status == OG_OK) {
        *at += v.n;
        json_array_append_new(shards,
                              json_pack("{s:s, s:I, s:I, s:I}", "file", leaf_of(file), "first_row", (json_int_t)v.first,
                                        "rows", (json_int_t)v.n, "bytes", (json_int_t)info.st_size));
    }
    og_arrays_close(arrays);
    return status;
}

og_status og_table_publish(const char *path, int32_t parts, og_error *err) {
    char file[4096];
    int64_t generation, at = 0;
    og_table_view whole = {0};
    char *fingerprint = NULL;
    OG_TRY(og_table_part_path(path, 0, parts, file, sizeof file, err));
    OG_TRY(generation_of(path, &generation, err));
    generation++;
    json_t *shards = json_array();
    og_status status = shards ? OG_OK : og_fail(err, OG_ENOMEM, "%s: no memory to publish a table", path);
    for (int32_t i = 0; status == OG_OK && i < parts; i++) {
        status = shard_path(path, generation, i, parts, file, sizeof file, err);
        if (status == OG_OK) status = add_part(file, i, &whole, &at, &fingerprint, shards, err);
    }
    if (status == OG_OK && at != whole.total)
        status = og_fail(err, OG_EINVAL, "%s: the parts hold %lld of %lld rows", path, (long long)at,
                         (long long)whole.total);
    json_t *root = status == OG_OK ? json_pack("{s:s, s:I, s:s, s:O}", "format", "omnigram.table-index/1", "generation",
                                               (json_int_t)generation, "fingerprint", fingerprint, "shards", shards)
                                   : NULL;
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    if (status == OG_OK && (!text || (int64_t)json_array_size(shards) != parts))
        status = og_fail(err, OG_ENOMEM, "%s: no memory to publish a table", path);
    if (status == OG_OK) status = og_file_write(path, text, (int64_t)strlen(text), err);
    if (status == OG_OK) remove_others(path, generation, parts);
    free(text);
    json_decref(root);
    json_decref(shards);
    og_release(fingerprint);
    return status;
}
