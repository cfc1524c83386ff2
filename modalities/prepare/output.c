/* output.c: a folder that appears whole or not at all. */
#include "prepare/output.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only files lie in such a folder. */
static void remove_folder(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char file[4096];
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < (int)sizeof file)
            unlink(file);
    }
    closedir(dir);
    rmdir(path);
}

static void remove_orphans(const char *target) {
    char parent[4096], path[4096];
    const char *slash = strrchr(target, '/'), *leaf = slash ? slash + 1 : target;
    if (snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".") >=
        (int)sizeof parent)
        return;
    DIR *dir = opendir(parent);
    if (!dir) return;
    size_t n = strlen(leaf);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strncmp(entry->d_name, leaf, n) || strncmp(entry->d_name + n, ".tmp-", 5)) continue;
        char *end;
        long pid = strtol(entry->d_name + n + 5, &end, 10);
        if (*end || pid <= 0 || pid > 0x7FFFFFFF || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        if (snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) < (int)sizeof path) remove_folder(path);
    }
    closedir(dir);
}

og_status og_output_open(const char *target, og_output *out, og_error *err) {
    char clean[4000], temporary[4096];
    size_t n = strlen(target);
    while (n > 1 && target[n - 1] == '/') n--;
    if (n == 0 || n >= sizeof clean)
        return og_fail(err, OG_EINVAL, "output folder '%.100s': empty or longer than 3999 bytes", target);
    memcpy(clean, target, n);
    clean[n] = 0;
    if (og_file_exists(clean))
        return og_fail(err, OG_EINVAL, "%s exists already; remove it or name another folder", clean);
    snprintf(temporary, sizeof temporary, "%s.tmp-%ld", clean, (long)getpid());
    remove_orphans(clean);
    remove_folder(temporary);
    og_output made = {og_copy_string(clean), og_copy_string(temporary)};
    og_status status =
        made.target && made.temporary ? og_folder_make(temporary, err) : og_fail(err, OG_ENOMEM, "prepare: no memory");
    if (status != OG_OK) {
        og_release(made.target);
        og_release(made.temporary);
        return status;
    }
    *out = made;
    return OG_OK;
}

og_status og_output_commit(og_output *output, og_error *err) {
    og_status status = og_folder_commit(output->temporary, output->target, err);
    if (status != OG_OK) {
        /* Renamed, but the parent folder could not be made durable: the target is ours to remove.
         */
        if (!og_file_exists(output->temporary)) remove_folder(output->target);
        og_output_abort(output);
        return status;
    }
    og_release(output->temporary);
    og_release(output->target);
    *output = (og_output){0};
    return OG_OK;
}

void og_output_abort(og_output *output) {
    if (output->temporary) remove_folder(output->temporary);
    og_release(output->temporary);
    og_release(output->target);
    *output = (og_output){0};
}
