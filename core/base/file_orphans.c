/* file_orphans.c: temporary files that a dead writer left behind. */
#include "file_orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

long og_temporary_pid(const char *name, const char *leaf, size_t bytes) {
    if (strncmp(name, leaf, bytes) != 0 || strncmp(name + bytes, ".tmp-", 5) != 0) return 0;
    char *end;
    const char *digits = name + bytes + 5;
    if (*digits < '1' || *digits > '9') return 0;
    long pid = strtol(digits, &end, 10);
    if (*end == '-') strtol(end + 1, &end, 10);
    return *end || pid > INT32_MAX ? 0 : pid;
}

/* A live writer holds a lock on its file. Both must hold: the process is gone (or its PID is ours, reused), since a
 * file system may keep locks to one machine; and the lock is free, since PIDs mean nothing across containers. */
static void remove_orphan(int folder, const char *name, long pid) {
    if (pid != (long)getpid() && (kill((pid_t)pid, 0) == 0 || errno != ESRCH)) return;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name, 0);
    close(fd);
}

void og_orphans_remove(const char *path) {
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
    char folder[4096] = ".";
    size_t bytes = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (bytes >= sizeof folder) return;
    if (bytes) {
        memcpy(folder, path, bytes);
        folder[bytes] = 0;
    }
    DIR *dir = opendir(folder);
    if (!dir) return; /* the open that follows says why */
    for (struct dirent *entry; (entry = readdir(dir));) {
        long pid = og_temporary_pid(entry->d_name, leaf, strlen(leaf));
        if (pid) remove_orphan(dirfd(dir), entry->d_name, pid);
    }
    closedir(dir);
}
