/* file_folder.c: folders: making them with their parents, and renaming a finished one into place. */
#include "file_calls.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static og_status make_one(const char *path, og_error *err) {
    struct stat info;
    if (og_call_mkdir(path) == 0) return OG_OK;
    int fault = errno;
    if (fault == EEXIST && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return OG_OK;
        return og_fail(err, OG_EIO, "%s: is a file, not a folder", path);
    }
    return og_fail(err, OG_EIO, "%s: cannot make the folder: %s", path, strerror(fault));
}

og_status og_folder_make(const char *path, og_error *err) {
    if (!*path) return og_fail(err, OG_EINVAL, "a folder without a name");
    char *copy = og_copy_string(path);
    if (!copy) return og_fail(err, OG_ENOMEM, "%s: no memory", path);
    og_status status = OG_OK;
    for (char *slash = strchr(copy + 1, '/'); slash && status == OG_OK; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        status = make_one(copy, err);
        *slash = '/';
    }
    if (status == OG_OK) status = make_one(copy, err);
    og_release(copy);
    return status;
}

og_status og_sync_parent(const char *path, og_error *err) {
    char folder[4096] = "."; /* no allocation: it must not fail once the file is in place */
    const char *slash = strrchr(path, '/');
    if (slash) snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    og_status status = OG_OK;
    if (fd < 0 || (og_call_fsync(fd, folder) != 0 && errno != EINVAL)) /* EINVAL: a file system that cannot */
        status = og_fail(err, OG_EIO, "%s: cannot make the folder durable: %s", folder, strerror(errno));
    if (fd >= 0) close(fd);
    return status;
}

og_status og_folder_commit(const char *from, const char *to, og_error *err) {
    int fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return og_fail(err, OG_EIO, "%s: %s", from, strerror(errno));
    int failed = og_call_fsync(fd, from) != 0 && errno != EINVAL;
    int fault = errno;
    close(fd);
    if (failed) return og_fail(err, OG_EIO, "%s: cannot make the folder durable: %s", from, strerror(fault));
    if (og_call_rename_new(from, to) != 0) {
        if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
            return og_fail(err, OG_EINVAL, "%s: exists already; %s was not renamed", to, from);
        return og_fail(err, OG_EIO, "%s: cannot rename it to %s: %s", from, to, strerror(errno));
    }
    return og_sync_parent(to, err);
}
