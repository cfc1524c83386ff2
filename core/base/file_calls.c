/* file_calls.c: the system calls that change files, and read, each behind the fault hook of tests. */
#include "file_calls.h"

#include <omnigram/internal/faults.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int fault(const char *call, const char *path) {
    int32_t number = og_fault_io_now(call, path);
    if (number) errno = number;
    return number != 0;
}

int og_call_create(const char *path, mode_t mode) {
    return fault("open", path) ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

ssize_t og_call_read(int fd, const char *path, void *data, size_t bytes) {
    int32_t number = og_fault_io_now("read", path);
    if (number == OG_FAULT_NO_BYTES) return 0;
    if (number) errno = number;
    return number ? -1 : read(fd, data, bytes);
}

ssize_t og_call_pwrite(int fd, const char *path, const void *data, size_t bytes, int64_t offset) {
    return fault("write", path) ? -1 : pwrite(fd, data, bytes, offset);
}

int og_call_allocate(int fd, const char *path, int64_t bytes) {
    return fault("fallocate", path) ? -1 : fallocate(fd, 0, 0, bytes);
}

int og_call_fsync(int fd, const char *path) { return fault("fsync", path) ? -1 : fsync(fd); }

int og_call_rename(const char *from, const char *to) { return fault("rename", to) ? -1 : rename(from, to); }

int og_call_rename_new(const char *from, const char *to) {
    if (fault("rename", to)) return -1;
    int got = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (got == 0 || (errno != EINVAL && errno != ENOSYS)) return got;
    struct stat info; /* a file system that knows no flags: rename itself refuses all but an empty folder */
    if (lstat(to, &info) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

int og_call_rename_exchange(const char *a, const char *b) {
    return fault("rename", b) ? -1 : renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

int og_call_mkdir(const char *path) { return fault("mkdir", path) ? -1 : mkdir(path, 0777); }
