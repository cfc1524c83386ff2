/* checkpoint.c: the life of a checkpoint folder. What is in it is the trainer's (state.cpp). */
#include "checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <omnigram/digest.h>
#include <omnigram/file.h>

#define PATH_BYTES 4096

static og_status join(char path[PATH_BYTES], const char *a, const char *b, og_error *err) {
    int n = snprintf(path, PATH_BYTES, "%s/%s", a, b);
    if (n < 0 || n >= PATH_BYTES) return og_fail(err, OG_EINVAL, "%s: the path is longer than %d bytes", a, PATH_BYTES);
    return OG_OK;
}

/* Removes a folder of plain files. */
static void remove_folder(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[PATH_BYTES];
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            join(path, folder, entry->d_name, NULL) == OG_OK)
            unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

og_status og_checkpoint_begin(const char *run, int64_t step, char **folder, og_error *err) {
    char path[PATH_BYTES], leaf[96];
    OG_TRY(join(path, run, "ckpt", err));
    OG_TRY(og_folder_make(path, err));
    snprintf(leaf, sizeof leaf, "ckpt/.step-%lld.%d", (long long)step, (int)getpid());
    OG_TRY(join(path, run, leaf, err));
    remove_folder(path);
    OG_TRY(og_folder_make(path, err));
    char *copy = og_copy_string(path);
    if (!copy) return og_fail(err, OG_ENOMEM, "checkpoint: no memory");
    *folder = copy;
    return OG_OK;
}

void og_checkpoint_abort(const char *folder) {
    if (folder) remove_folder(folder);
}

/* {"format": 1, "files": {name: {"bytes", "sha256"}}} of every file in the folder. */
static og_status write_manifest(const char *folder, og_error *err) {
    json_t *files = json_object();
    DIR *dir = opendir(folder);
    og_status status =
        dir && files ? OG_OK : og_fail(err, OG_EIO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (struct dirent *entry; status == OG_OK && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        char path[PATH_BYTES], digest[OG_DIGEST_TEXT];
        struct stat info;
        status = join(path, folder, entry->d_name, err);
        if (status == OG_OK && stat(path, &info)) status = og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
        if (status == OG_OK) status = og_digest_of_file(path, digest, err);
        if (status == OG_OK &&
            json_object_set_new(files, entry->d_name,
                                json_pack("{s:I,s:s}", "bytes", (json_int_t)info.st_size, "sha256", digest)))
            status = og_fail(err, OG_ENOMEM, "checkpoint: no memory");
    }
    if (dir) closedir(dir);
    json_t *manifest = json_pack("{s:i,s:O}", "format", 1, "files", files);
    char *text = manifest ? json_dumps(manifest, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    char path[PATH_BYTES];
    if (status == OG_OK && !text) status = og_fail(err, OG_ENOMEM, "checkpoint: no memory");
    if (status == OG_OK) status = join(path, folder, "manifest.json", err);
    if (status == OG_OK) status = og_file_write(path, text, (int64_t)strlen(text), err);
    free(text);
    json_decref(manifest);
    json_decref(files);
    return status;
}

og_status og_checkpoint_check(const char *folder, og_error *err) {
    char path[PATH_BYTES];
    OG_TRY(join(path, folder, "manifest.json", err));
    json_error_t where;
    json_t *manifest = json_load_file(path, 0, &where);
    if (!manifest) return og_fail(err, OG_EFORMAT, "%s: %s", path, where.text);
    json_t *files = json_object_get(manifest, "files"), *entry;
    og_status status =
        json_is_object(files) && json_object_size(files) ? OG_OK : og_fail(err, OG_EFORMAT, "%s: has no files", path);
    const char *name;
    json_object_foreach(files, name, entry) {
        if (status != OG_OK) break;
        struct stat info;
        char digest[OG_DIGEST_TEXT];
        const char *wanted = json_string_value(json_object_get(entry, "sha256"));
        long long bytes = json_integer_value(json_object_get(entry, "bytes"));
        if (strchr(name, '/') || !wanted)
            status = og_fail(err, OG_EFORMAT, "%s/manifest.json: bad entry '%s'", folder, name);
        if (status == OG_OK) status = join(path, folder, name, err);
        if (status == OG_OK && stat(path, &info))
            status = og_fail(err, OG_EFORMAT, "%s: is missing", path);
        else if (status == OG_OK && info.st_size != bytes)
            status = og_fail(err, OG_EFORMAT, "%s: has %lld bytes, its manifest says %lld", path,
                             (long long)info.st_size, bytes);
        if (status == OG_OK) status = og_digest_of_file(path, digest, err);
        if (status == OG_OK && strcmp(digest, wanted))
            status = og_fail(err, OG_EFORMAT, "%s: its SHA-256 is not that of its manifest", path);
    }
    json_decref(manifest);
    return status;
}

static int newest_first(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Steps of run/ckpt/step-*, newest first; leftovers ".step-*" of processes that are gone are removed and named. */
static og_status list(const char *run, og_log_fn *log, void *context, int64_t **steps, int64_t *n, og_error *err) {
    char ckpt[PATH_BYTES];
    *steps = NULL;
    *n = 0;
    OG_TRY(join(ckpt, run, "ckpt", err));
    DIR *dir = opendir(ckpt);
    if (!dir) return OG_OK;
    int64_t capacity = 0;
    og_status status = OG_OK;
    for (struct dirent *entry; status == OG_OK && (entry = readdir(dir));) {
        long long step;
        int pid, used = 0;
        if (sscanf(entry->d_name, ".step-%lld.%d%n", &step, &pid, &used) == 2 && !entry->d_name[used]) {
            char path[PATH_BYTES], line[PATH_BYTES + 64];
            struct stat info;
            snprintf(path, sizeof path, "/proc/%d", pid);
            if (pid != getpid() && !stat(path, &info)) continue; /* its maker still runs */
            if (join(path, ckpt, entry->d_name, NULL) != OG_OK) continue;
            remove_folder(path);
            snprintf(line, sizeof line, "removed the unfinished checkpoint %s", path);
            if (log) log(context, OG_LOG_WARNING, line);
        } else if (sscanf(entry->d_name, "step-%lld%n", &step, &used) == 1 && !entry->d_name[used] && step > 0) {
            status = og_grow((void **)steps, &capacity, *n + 1, sizeof **steps, err);
            if (status == OG_OK) (*steps)[(*n)++] = step;
        }
    }
    closedir(dir);
    if (status == OG_OK && *n) qsort(*steps, (size_t)*n, sizeof **steps, newest_first);
    return status;
}

og_status og_checkpoint_commit(const char *run, int64_t step, const char *folder, int64_t keep, og_error *err) {
    char path[PATH_BYTES], leaf[64], name[PATH_BYTES];
    OG_TRY(write_manifest(folder, err));
    snprintf(leaf, sizeof leaf, "step-%lld", (long long)step);
    snprintf(name, sizeof name, "ckpt/%s", leaf);
    OG_TRY(join(path, run, name, err));
    remove_folder(path); /* only a torn one of the same step can lie here */
    OG_TRY(og_folder_commit(folder, path, err));
    OG_TRY(join(path, run, "ckpt/latest", err));
    OG_TRY(og_file_write(path, leaf, (int64_t)strlen(leaf), err));
    int64_t *steps, n;
    og_status status = list(run, NULL, NULL, &steps, &n, err);
    for (int64_t i = keep; status == OG_OK && i < n; i++) {
        snprintf(name, sizeof name, "ckpt/step-%lld", (long long)steps[i]);
        if (join(path, run, name, NULL) == OG_OK) remove_folder(path);
    }
    og_release(steps);
    return status;
}

og_status og_checkpoint_find(const char *run, og_log_fn *log, void *context, int64_t *step, char **folder,
                             og_error *err) {
    int64_t *steps, n;
    og_status status = list(run, log, context, &steps, &n, err);
    char *found = NULL;
    int64_t found_step = 0;
    for (int64_t i = 0; status == OG_OK && i < n && !found; i++) {
        char path[PATH_BYTES], name[64], line[1024];
        og_error torn = {{0}};
        snprintf(name, sizeof name, "ckpt/step-%lld", (long long)steps[i]);
        status = join(path, run, name, err);
        if (status == OG_OK && og_checkpoint_check(path, &torn) != OG_OK) {
            snprintf(line, sizeof line, "checkpoint step-%lld is torn and is not used: %s", (long long)steps[i],
                     torn.message);
            if (log) log(context, OG_LOG_WARNING, line);
        } else if (status == OG_OK) {
            found = og_copy_string(path);
            found_step = steps[i];
            if (!found) status = og_fail(err, OG_ENOMEM, "checkpoint: no memory");
        }
    }
    og_release(steps);
    if (status != OG_OK) return status;
    *step = found_step;
    *folder = found;
    return OG_OK;
}
