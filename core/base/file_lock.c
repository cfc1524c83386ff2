/* file_lock.c: one process at a time works on an output; the others wait, or hear who it is. */
#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct og_lock {
    char *path;
    int fd;
};

/* Whether the path still leads to the open file: its last owner may have removed it. */
static int is_current(const og_lock *lock) {
    struct stat ours, there;
    return fstat(lock->fd, &ours) == 0 && stat(lock->path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static int64_t owner(int fd) {
    char text[24] = "";
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtoll(text, NULL, 10) : 0;
}

/* OG_OK with *busy 1: somebody holds it. */
static og_status attempt(og_lock *lock, int *busy, int64_t *pid, og_error *err) {
    for (;;) {
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0) return og_fail(err, OG_EIO, "%s: %s", lock->path, strerror(errno));
        *busy = flock(lock->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; /* where a disk has no locks, go on */
        if (*busy) *pid = owner(lock->fd);
        if (!*busy && is_current(lock)) return OG_OK;
        close(lock->fd);
        lock->fd = -1;
        if (*busy) return OG_OK;
    }
}

static og_status take(og_lock *lock, og_lock_wait_fn *wait, void *context, og_error *err) {
    for (;;) {
        int busy = 0;
        int64_t pid = 0;
        OG_TRY(attempt(lock, &busy, &pid, err));
        if (!busy) break;
        if (!wait) return og_fail(err, OG_EINVAL, "%s: process %lld works on it", lock->path, (long long)pid);
        if (wait(context, pid))
            return og_fail(err, OG_ECANCELED, "%s: cancelled while process %lld works on it", lock->path,
                           (long long)pid);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    char text[24];
    int n = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    int written = ftruncate(lock->fd, 0) == 0 && pwrite(lock->fd, text, (size_t)n, 0) == n;
    (void)written; /* the number is for messages only: a full disk is met where it matters */
    return OG_OK;
}

og_status og_lock_take(const char *path, og_lock_wait_fn *wait, void *context, og_lock **out, og_error *err) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    og_lock *lock = og_alloc_zero(1, sizeof *lock);
    char *name = og_alloc((int64_t)n + 6, 1);
    if (!lock || !name) {
        og_release(lock);
        og_release(name);
        return og_fail(err, OG_ENOMEM, "%s: no memory to lock it", path);
    }
    memcpy(name, path, n);
    memcpy(name + n, ".lock", 6);
    *lock = (og_lock){.path = name, .fd = -1};
    char *slash = strrchr(name, '/');
    og_status status = OG_OK;
    if (slash && slash != name) { /* the folder that it will lie in */
        *slash = 0;
        status = og_folder_make(name, err);
        *slash = '/';
    }
    if (status == OG_OK) status = take(lock, wait, context, err);
    if (status != OG_OK) {
        og_release(lock->path);
        og_release(lock);
        return status;
    }
    *out = lock;
    return OG_OK;
}

void og_lock_drop(og_lock *lock) {
    if (!lock) return;
    if (is_current(lock)) unlink(lock->path); /* held: nobody can have taken it in between */
    close(lock->fd);
    og_release(lock->path);
    og_release(lock);
}
