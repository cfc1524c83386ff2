/* sources.c: lists the files behind a prepared folder, and says which of them changed. */
#include "prepare/sources.h"

#include "data/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static og_status no_memory(og_error *err) {
    return og_fail(err, OG_ENOMEM, "prepare: no memory for the list of files");
}

static void look(const char *path, og_source *out) {
    struct stat info;
    *out = (og_source){.path = path, .size = -1};
    if (stat(path, &info)) return;
    out->size = (int64_t)info.st_size;
    out->time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

static og_status add(og_sources *s, const char *path, og_error *err) {
    void *list = s->list;
    OG_TRY(og_grow(&list, &s->capacity, s->n + 1, sizeof *s->list, err));
    s->list = list;
    look(path, &s->list[s->n++]);
    return OG_OK;
}

/* The key `path` as the data set itself reads it, its default included. */
static og_status root_of(const og_dataset_type *type, const og_config *dataset, og_sources *s, og_error *err) {
    const char *path = NULL;
    for (const og_key *key = type->keys; key->name; key++)
        if (!strcmp(key->name, "path") && key->type == OG_KEY_STRING) path = key->fallback;
    const og_config *node = og_config_get(dataset, "path");
    if (node) OG_TRY(og_config_string(node, &path, err));
    if (!path || !*path) return OG_OK;
    s->root = og_strings_add(&s->strings, path, (int64_t)strlen(path));
    if (!s->root) return no_memory(err);
    for (size_t n = strlen(s->root); n > 1 && s->root[n - 1] == '/'; n--) s->root[n - 1] = 0;
    return OG_OK;
}

og_status og_sources_walk(const og_dataset_type *type, const og_config *dataset, og_sources *s, og_error *err) {
    struct stat info;
    og_file_list files = {0};
    OG_TRY(root_of(type, dataset, s, err));
    if (!s->root) return OG_OK;
    s->folder = stat(s->root, &info) == 0 && S_ISDIR(info.st_mode);
    if (!s->folder) return add(s, s->root, err);
    og_status status = og_files_list(s->root, &s->strings, &files, err);
    for (int64_t i = 0; i < files.n && status == OG_OK; i++) {
        const char *path = og_strings_format(&s->strings, "%s/%s", s->root, files.paths[i]);
        status = path ? add(s, path, err) : no_memory(err);
    }
    og_files_free(&files);
    return status;
}

og_status og_sources_apart(const og_sources *s, const char *folder, og_error *err) {
    char *root = s->folder ? realpath(s->root, NULL) : NULL, *parent = NULL;
    char *path = root ? og_copy_string(folder) : NULL;
    while (path && !(parent = realpath(path, NULL)) && *path) { /* its nearest folder that exists */
        char *slash = strrchr(path, '/');
        if (slash)
            slash[slash == path && slash[1]] = 0;
        else
            snprintf(path, 2, "%s", strcmp(path, ".") ? "." : "");
    }
    size_t n = root && root[1] ? strlen(root) : 0; /* 0: everything is below / */
    int within = parent && !strncmp(parent, root, n) && (parent[n] == '/' || !parent[n]);
    free(parent);
    free(root);
    og_release(path);
    return within ? og_fail(err, OG_EINVAL, "%s lies in %s, which is read: name a folder beside it", folder, s->root)
                  : OG_OK;
}

static int below(const og_sources *s, const char *path) {
    size_t n = s->root ? strlen(s->root) : 0;
    return s->folder && !strncmp(path, s->root, n) && path[n] == '/';
}

og_status og_sources_add(og_sources *s, const char *path, og_error *err) {
    if (below(s, path)) return OG_OK;
    const char *copy = og_strings_add(&s->strings, path, (int64_t)strlen(path));
    return copy ? add(s, copy, err) : no_memory(err);
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const og_source *)a)->path, ((const og_source *)b)->path);
}

static void sort(og_sources *s) {
    int64_t n = 0;
    if (s->n) qsort(s->list, (size_t)s->n, sizeof *s->list, by_path);
    for (int64_t i = 0; i < s->n; i++) /* a file that several documents name */
        if (!n || strcmp(s->list[n - 1].path, s->list[i].path)) s->list[n++] = s->list[i];
    s->n = n;
}

typedef struct columns {
    int64_t *start, *size, *time, n, bytes;
    char *paths;
} columns;

static og_status digest_of(const columns *c, char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = og_digest_add(digest, c->paths, c->bytes, err);
    if (status == OG_OK) status = og_digest_add(digest, c->start, 8 * c->n, err);
    if (status == OG_OK) status = og_digest_add(digest, c->size, 8 * c->n, err);
    if (status == OG_OK) status = og_digest_add(digest, c->time, 8 * c->n, err);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}

static og_status write_columns(const columns *c, og_arrays_writer *w, og_error *err) {
    char digest[OG_DIGEST_TEXT];
    OG_TRY(digest_of(c, digest, err));
    OG_TRY(og_arrays_writer_metadata(w, "kind", "omnigram-sources", err));
    OG_TRY(og_arrays_writer_metadata(w, "digest", digest, err));
    OG_TRY(og_arrays_writer_declare(w, OG_SOURCES_START, OG_I64, 1, &c->n, err));
    OG_TRY(og_arrays_writer_declare(w, OG_SOURCES_SIZE, OG_I64, 1, &c->n, err));
    OG_TRY(og_arrays_writer_declare(w, OG_SOURCES_TIME, OG_I64, 1, &c->n, err));
    OG_TRY(og_arrays_writer_declare(w, OG_SOURCES_PATHS, OG_U8, 1, &c->bytes, err));
    OG_TRY(og_arrays_writer_append(w, c->start, 8 * c->n, err));
    OG_TRY(og_arrays_writer_append(w, c->size, 8 * c->n, err));
    OG_TRY(og_arrays_writer_append(w, c->time, 8 * c->n, err));
    return og_arrays_writer_append(w, c->paths, c->bytes, err);
}

og_status og_sources_write(og_sources *s, const char *folder, og_error *err) {
    char path[4200];
    columns c = {0};
    sort(s);
    c.n = s->n;
    for (int64_t i = 0; i < s->n; i++) c.bytes += (int64_t)strlen(s->list[i].path) + 1;
    int64_t *numbers = og_alloc(c.n, 24);
    c.paths = og_alloc(c.bytes, 1);
    og_arrays_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/" OG_SOURCES_FILE, folder);
    og_status status = numbers && c.paths ? og_arrays_writer_new(path, &writer, err) : no_memory(err);
    if (status == OG_OK) {
        c.start = numbers;
        c.size = numbers + c.n;
        c.time = numbers + 2 * c.n;
        for (int64_t i = 0, at = 0; i < c.n; i++) {
            size_t bytes = strlen(s->list[i].path) + 1;
            memcpy(c.paths + at, s->list[i].path, bytes);
            c.start[i] = at;
            c.size[i] = s->list[i].size;
            c.time[i] = s->list[i].time;
            at += (int64_t)bytes;
        }
        status = write_columns(&c, writer, err);
        if (status == OG_OK)
            status = og_arrays_writer_commit(writer, err);
        else
            og_arrays_writer_abort(writer);
    }
    og_release(numbers);
    og_release(c.paths);
    return status;
}

static og_status read_columns(const og_arrays *file, columns *c, og_error *err) {
    int64_t lengths[4];
    void *data[4];
    char is[OG_DIGEST_TEXT];
    static const char *const names[4] = {OG_SOURCES_START, OG_SOURCES_SIZE, OG_SOURCES_TIME, OG_SOURCES_PATHS};
    for (int i = 0; i < 4; i++)
        OG_TRY(og_arrays_expect(file, names[i], i < 3 ? OG_I64 : OG_U8, 1, &lengths[i], &data[i], err));
    *c = (columns){data[0], data[1], data[2], lengths[0], lengths[3], data[3]};
    const char *wanted = og_arrays_metadata(file, "digest");
    if (lengths[1] != c->n || lengths[2] != c->n || (c->n && (!c->bytes || c->paths[c->bytes - 1])))
        return og_fail(err, OG_EFORMAT, "its arrays do not fit together");
    for (int64_t i = 0; i < c->n; i++)
        if (c->start[i] < 0 || c->start[i] >= c->bytes)
            return og_fail(err, OG_EFORMAT, "path %lld begins at %lld of %lld bytes", (long long)i,
                           (long long)c->start[i], (long long)c->bytes);
    OG_TRY(digest_of(c, is, err));
    if (!wanted || strcmp(wanted, is))
        return og_fail(err, OG_EFORMAT, "damaged: SHA-256 %s, must be %.64s", is, wanted ? wanted : "(none)");
    return OG_OK;
}

enum { CHANGED, NEW, REMOVED, N_KINDS, NAMED = 3 };
typedef struct changes {
    int64_t count[N_KINDS];
    char named[N_KINDS][600]; /* the first few */
} changes;

static void note(changes *c, int kind, const char *path) {
    size_t used = strlen(c->named[kind]);
    if (c->count[kind]++ < NAMED)
        snprintf(c->named[kind] + used, sizeof c->named[kind] - used, "%s%.180s", used ? ", " : "", path);
}

static void compare(const columns *was, const og_sources *now, changes *out) {
    int64_t i = 0, k = 0;
    while (i < was->n || k < now->n) {
        int order = i == was->n ? 1 : k == now->n ? -1 : strcmp(was->paths + was->start[i], now->list[k].path);
        const og_source *n = order >= 0 ? &now->list[k] : NULL;
        int64_t before = order <= 0 ? was->size[i] : -1, after = n ? n->size : -1;
        const char *path = n ? n->path : was->paths + was->start[i];
        if (before < 0 && after >= 0)
            note(out, NEW, path);
        else if (before >= 0 && after < 0)
            note(out, REMOVED, path);
        else if (before != after || (before >= 0 && was->time[i] != n->time))
            note(out, CHANGED, path);
        i += order <= 0;
        k += order >= 0;
    }
}

og_status og_sources_changes(const char *folder, og_sources *now, char *out, size_t room, og_error *err) {
    static const char *const words[N_KINDS] = {"changed", "new", "removed"};
    char path[4200];
    og_arrays *file = NULL;
    columns was = {0};
    snprintf(path, sizeof path, "%s/" OG_SOURCES_FILE, folder);
    OG_TRY(og_arrays_open(path, 0, &file, err));
    og_status status = read_columns(file, &was, err);
    if (status != OG_OK) status = og_fail_at(err, status, "%s", path);
    for (int64_t i = 0; i < was.n && status == OG_OK; i++) status = og_sources_add(now, was.paths + was.start[i], err);
    changes *c = status == OG_OK ? og_alloc_zero(1, sizeof *c) : NULL;
    if (status == OG_OK && !c) status = no_memory(err);
    if (status == OG_OK) {
        size_t used = 0;
        sort(now);
        compare(&was, now, c);
        out[0] = 0;
        for (int k = 0; k < N_KINDS; k++)
            if (c->count[k] && used < room)
                used +=
                    (size_t)snprintf(out + used, room - used, "%s%lld %s: %s%s", used ? "; " : "",
                                     (long long)c->count[k], words[k], c->named[k], c->count[k] > NAMED ? ", ..." : "");
    }
    og_release(c);
    og_arrays_close(file);
    return status;
}

void og_sources_free(og_sources *s) {
    og_release(s->list);
    og_strings_free(&s->strings);
    *s = (og_sources){0};
}
