/* staged_folder.c: a folder that appears whole or not at all. */
#include "file_calls.h"
#include "file_orphans.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>
#include <omnigram/staged_folder.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk) {
    (void)about, (void)type, (void)walk;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* Leftovers TARGET.tmp-PID of processes that are gone. */
static void remove_orphans(const char *target) {
    const char *slash = strrchr(target, '/');
    const char *base = slash ? slash + 1 : target;
    char parent[PATH_MAX];
    if (snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".") >=
        (int)sizeof parent)
        return;
    DIR *folder = opendir(parent);
    if (!folder) return;
    size_t length = strlen(base);
    for (struct dirent *entry; (entry = readdir(folder));) {
        long pid = og_temporary_pid(entry->d_name, base, length);
        if (!pid || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) < (int)sizeof path) remove_tree(path);
    }
    closedir(folder);
}

static og_status check_target(const char *target, const char *ours, og_error *err) {
    DIR *folder = opendir(target);
    if (!folder) {
        if (errno == ENOENT) return OG_OK;
        return og_fail(err, OG_EIO, "%s: %s", target, strerror(errno));
    }
    int empty = 1, known = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        empty = 0;
        known |= !strcmp(entry->d_name, ours);
    }
    closedir(folder);
    if (empty || known) return OG_OK;
    return og_fail(err, OG_EINVAL,
                   "%s: the folder holds files and no %s, so it is not replaced; remove it or name another", target,
                   ours);
}

og_status og_staged_begin(const char *target, const char *ours, og_staged_folder *out, og_error *err) {
    size_t length = strlen(target);
    while (length > 1 && target[length - 1] == '/') length--;
    if (length == 0 || length > PATH_MAX - 64)
        return og_fail(err, OG_EINVAL, "a folder's path has 1..%d bytes, not %zu", PATH_MAX - 64, length);
    char path[PATH_MAX];
    og_staged_folder made = {0};
    snprintf(path, sizeof path, "%.*s", (int)length, target);
    made.target = og_copy_string(path);
    snprintf(path, sizeof path, "%.*s.tmp-%ld", (int)length, target, (long)getpid());
    made.path = og_copy_string(path);
    og_status status = made.target && made.path ? check_target(made.target, ours, err)
                                                : og_fail(err, OG_ENOMEM, "no memory for the name %.100s", target);
    if (status == OG_OK) {
        remove_orphans(made.target);
        remove_tree(made.path);
        status = og_folder_make(made.path, err);
    }
    if (status != OG_OK) {
        og_release(made.target);
        og_release(made.path);
        return status;
    }
    *out = made;
    return OG_OK;
}

og_status og_staged_commit(og_staged_folder *folder, og_error *err) {
    og_status status;
    if (!og_file_exists(folder->target)) {
        status = og_folder_commit(folder->path, folder->target, err);
        /* Renamed, but the parent folder could not be made durable: the target is ours to remove. */
        if (status != OG_OK && !og_file_exists(folder->path)) remove_tree(folder->target);
    } else if (og_call_rename_exchange(folder->path, folder->target)) {
        status =
            og_fail(err, OG_EIO, "%s cannot take the place of %s: %s", folder->path, folder->target, strerror(errno));
    } else {
        status = og_sync_parent(folder->target, err);
        if (status != OG_OK && og_call_rename_exchange(folder->path, folder->target))
            status = og_fail_at(err, status, "%s was replaced all the same", folder->target);
    }
    og_staged_abort(folder); /* what is left at path: the old folder, or nothing, or what failed */
    return status;
}

void og_staged_abort(og_staged_folder *folder) {
    if (folder->path && og_file_exists(folder->path)) remove_tree(folder->path);
    og_release(folder->target);
    og_release(folder->path);
    *folder = (og_staged_folder){0};
}
