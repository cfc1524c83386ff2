/* file_read.c: whole files into memory, and whether they exist. */
#include "file_calls.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EMPTY_READS = 100 }; /* in a row, before the end that the file's size promises */

static og_status read_all(int fd, const char *path, int64_t limit, char **out, int64_t *bytes, og_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) return og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) return og_fail(err, OG_EIO, "%s: is a folder, not a file", path);
    if (info.st_size > limit)
        return og_fail(err, OG_EINVAL, "%s: has %lld bytes; at most %lld are read", path, (long long)info.st_size,
                       (long long)limit);
    void *text = NULL;
    int64_t room = 0, have = 0;
    og_status status = og_grow(&text, &room, (int64_t)info.st_size + 1, 1, err);
    int empty = 0;
    while (status == OG_OK) { /* a pipe or /proc file tells no size, so read until the end */
        int64_t part = room - have - 1 < (1 << 30) ? room - have - 1 : 1 << 30;
        ssize_t got = og_call_read(fd, path, (char *)text + have, (size_t)part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = og_fail(err, OG_EIO, "%s: reading at %lld: %s", path, (long long)have, strerror(errno));
        if (got == 0 && have < (int64_t)info.st_size) { /* some file systems give 0 before the end */
            if (++empty < EMPTY_READS) continue;
            status = og_fail(err, OG_EIO, "%s: has %lld bytes, but reading ends after %lld", path,
                             (long long)info.st_size, (long long)have);
        }
        if (got <= 0) break;
        empty = 0;
        have += got;
        if (have > limit)
            status = og_fail(err, OG_EINVAL, "%s: has more than the %lld bytes that are read", path, (long long)limit);
        else if (room - have < 2)
            status = og_grow(&text, &room, room + 1, 1, err);
    }
    if (status != OG_OK) {
        og_release(text);
        return status;
    }
    ((char *)text)[have] = 0;
    *out = text;
    *bytes = have;
    return OG_OK;
}

og_status og_file_read(const char *path, int64_t limit_bytes, char **out, int64_t *bytes, og_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
    og_status status = read_all(fd, path, limit_bytes, out, bytes, err);
    close(fd);
    return status;
}

int32_t og_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}
