/* limits.c: reads memory limits from /proc, the control groups (v1 and v2) and the resource limits. */
#include "store/limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static _Atomic int64_t anonymous; /* promised to anonymous stores that live */
static og_promise *shared;        /* and to shared ones */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

void og_limits_promise(og_promise *promise, int64_t bytes, int32_t segment) {
    promise->bytes = bytes;
    promise->segment = segment;
    if (segment < 0) {
        atomic_fetch_add(&anonymous, bytes);
        return;
    }
    pthread_mutex_lock(&shared_lock);
    promise->next = shared;
    shared = promise;
    pthread_mutex_unlock(&shared_lock);
}

void og_limits_release(const og_promise *promise) {
    if (!promise->bytes) return;
    if (promise->segment < 0) {
        atomic_fetch_sub(&anonymous, promise->bytes);
        return;
    }
    pthread_mutex_lock(&shared_lock);
    og_promise **at = &shared;
    while (*at != promise) at = &(*at)->next;
    *at = promise->next;
    pthread_mutex_unlock(&shared_lock);
}

/* Of shared stores, by what their segments hold: other processes touch them too, and a forked child has none of the
 * pages resident that its parent has touched. */
static int64_t untouched_shared(void) {
    int64_t bytes = 0;
    struct stat is;
    pthread_mutex_lock(&shared_lock);
    for (const og_promise *p = shared; p; p = p->next) {
        int64_t left = fstat(p->segment, &is) ? 0 : p->bytes - (int64_t)is.st_blocks * 512;
        if (left > 0) bytes += left;
    }
    pthread_mutex_unlock(&shared_lock);
    return bytes;
}

/* The first bytes of a small kernel file, zero-terminated; 0 when it cannot be read. */
static int64_t read_text(const char *path, char *text, size_t size) {
    text[0] = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n + 1 < size; n += (size_t)(got > 0 ? got : 0))
        got = read(file, text + n, size - 1 - n);
    close(file);
    text[n] = 0;
    return (int64_t)n;
}

/* "key: 123 kB" in bytes, or -1. */
static int64_t field_bytes(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) * 1024 : -1;
}

/* A number of one control file; "max" and absent files give INT64_MAX. */
static int64_t read_number(const char *folder, const char *file) {
    char path[1200], text[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (read_text(path, text, sizeof text) == 0 || text[0] < '0' || text[0] > '9') return INT64_MAX;
    return strtoll(text, NULL, 10);
}

/* Pages of files that a group is charged for and that the kernel drops when memory is asked for: whoever has read a
 * corpus has filled its group with them. Shared memory is not among them. prefix: v1 counts children
 * only in "total_". */
static int64_t droppable(const char *folder, const char *prefix) {
    char path[1200], text[8192];
    int64_t bytes = 0;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    (void)read_text(path, text, sizeof text);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, prefix, strlen(prefix)) != 0) continue;
        line += strlen(prefix);
        if (!strncmp(line, "active_file ", 12) || !strncmp(line, "inactive_file ", 14))
            bytes += strtoll(strchr(line, ' '), NULL, 10);
    }
    return bytes;
}

/* The least room under the groups from `group` up to the mount; limits of parents bind too. */
static int64_t group_room(const char *mount, const char *group, const char *max, const char *used, const char *prefix) {
    char folder[1100];
    int64_t room = INT64_MAX;
    size_t base = strlen(mount);
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        int64_t limit = read_number(folder, max);
        int64_t now = read_number(folder, used);
        if (limit < (INT64_C(1) << 60) && now != INT64_MAX) {
            now -= droppable(folder, prefix);
            if (now < 0) now = 0; /* the two files are not read at once */
            int64_t left = limit > now ? limit - now : 0;
            if (left < room) room = left;
        }
        char *cut = strrchr(folder, '/');
        if (strlen(folder) <= base || !cut || (size_t)(cut - folder) < base) return room;
        *cut = 0;
    }
}

void og_limits_read(const char *root, og_limits *out) {
    char path[600], text[8192];
    *out = (og_limits){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0};
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_text(path, text, sizeof text) > 0) {
        int64_t available = field_bytes(text, "MemAvailable:");
        if (available >= 0) out->available_bytes = available;
    }
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (read_text(path, text, sizeof text) > 0) {
        char *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            char *names = strchr(line, ':');
            char *group = names ? strchr(names + 1, ':') : NULL;
            if (!group) continue;
            *group++ = 0;
            if (!strcmp(group, "/")) group = "";
            int64_t room = INT64_MAX;
            if (names[1] == 0) {
                snprintf(path, sizeof path, "%s/sys/fs/cgroup", root);
                room = group_room(path, group, "memory.max", "memory.current", "");
            } else if (!strcmp(names + 1, "memory")) {
                snprintf(path, sizeof path, "%s/sys/fs/cgroup/memory", root);
                room = group_room(path, group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_");
            }
            if (room < out->group_bytes) out->group_bytes = room;
        }
    }
    int64_t locked = 0, mapped = 0, resident = 0;
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    if (read_text(path, text, sizeof text) > 0) {
        locked = field_bytes(text, "VmLck:");
        mapped = field_bytes(text, "VmSize:");
        resident = field_bytes(text, "RssAnon:");
    }
    /* resident memory that is not of stores hides as much that is promised: never too strict */
    int64_t left = atomic_load(&anonymous) - resident;
    out->promised_shared = untouched_shared();
    out->promised_bytes = out->promised_shared + (left > 0 ? left : 0);
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && geteuid() != 0) {
        int64_t most = (int64_t)limit.rlim_cur;
        out->lock_bytes = locked > 0 ? (most > locked ? most - locked : 0) : most;
    }
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        int64_t most = (int64_t)limit.rlim_cur;
        out->address_bytes = mapped > 0 ? (most > mapped ? most - mapped : 0) : most;
    }
}

int64_t og_limits_free(const char *path) {
    struct statvfs fs;
    if (statvfs(path, &fs) != 0) return INT64_MAX;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

og_status og_limits_check(const og_limits *limits, int64_t bytes, int32_t lock, const char *what, og_error *err) {
    int64_t group = limits->group_bytes, available = limits->available_bytes;
    char promise[100] = "";
    if (limits->promised_bytes) {
        if (group != INT64_MAX) group = group > limits->promised_bytes ? group - limits->promised_bytes : 0;
        if (available != INT64_MAX)
            available = available > limits->promised_bytes ? available - limits->promised_bytes : 0;
        snprintf(promise, sizeof promise, ", less %lld promised to its other tables",
                 (long long)limits->promised_bytes);
    }
    const struct {
        int64_t room;
        const char *name, *less;
    } all[] = {
        {group, "left in the memory limit of its control group", promise},
        {available, "available on the machine (MemAvailable)", promise},
        {limits->address_bytes, "left of its address space (RLIMIT_AS)", ""},
        {lock == 1 ? limits->lock_bytes : INT64_MAX, "left to lock (RLIMIT_MEMLOCK; raise it with ulimit -l)", ""}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (bytes > all[i].room)
            return og_fail(err, OG_ENOMEM, "%s needs %lld bytes, this process has %lld bytes %s%s", what,
                           (long long)bytes, (long long)all[i].room, all[i].name, all[i].less);
    return OG_OK;
}
