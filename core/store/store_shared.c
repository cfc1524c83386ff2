/* store_shared.c: rows in POSIX shared memory: one copy a machine, joined by name.
 *
 * A segment lives while some process holds its shared flock; the kernel drops the lock when the process dies, however
 * it dies. So a segment whose exclusive lock can be had is stale and is reclaimed, and one that is in use never is. The
 * pid and start time in the header are for people and messages. */
#include "store/limits.h"
#include "store/store_internal.h"

#include <omnigram/safetensors.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES (INT64_C(2) << 20)           /* rows begin at a huge page */
#define MAGIC        UINT64_C(0x3153726f7453474f) /* "OGStorS1" */

typedef struct og_shared_header {
    uint64_t magic;
    uint32_t version;
    _Atomic uint32_t ready; /* 1 after all else is written */
    int64_t bytes;          /* of the rows */
    int64_t rows, dim, row_bytes;
    int32_t dtype, group, state, owner_pid;
    int64_t owner_start; /* clock ticks after boot, field 22 of /proc/PID/stat */
} og_shared_header;

static int64_t start_time(int32_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    char *at = strrchr(text, ')'); /* the name may hold blanks */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoll(at + 1, NULL, 10) : -1;
}

static og_status check_name(const char *name, char *path, size_t size, og_error *err) {
    if (!name || !*name || strlen(name) > 200 || strchr(name, '/'))
        return og_fail(err, OG_EINVAL, "shared store name '%s': 1..200 characters without '/'", name ? name : "");
    snprintf(path, size, "/omnigram.%s", name);
    return OG_OK;
}

/* 1 when the path still names the file that is open. */
static int names_it(const char *path, int file) {
    struct stat opened, named;
    int again = shm_open(path, O_RDONLY, 0);
    if (again < 0) return 0;
    int same = fstat(file, &opened) == 0 && fstat(again, &named) == 0 && opened.st_ino == named.st_ino &&
               opened.st_dev == named.st_dev;
    close(again);
    return same;
}

/* Removes the segment when nobody lives in it. OG_EINVAL when somebody does. */
static og_status reclaim(const char *path, og_error *err) {
    int file = shm_open(path, O_RDWR, 0);
    if (file < 0) return errno == ENOENT ? OG_OK : og_fail(err, OG_EIO, "shared store %s: %s", path, strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        og_shared_header header = {0};
        ssize_t got = pread(file, &header, sizeof header, 0);
        close(file);
        if (got != (ssize_t)sizeof header) header.owner_pid = 0;
        return og_fail(err, OG_EINVAL, "shared store %s is in use (made by process %d, which %s)", path,
                       header.owner_pid,
                       start_time(header.owner_pid) == header.owner_start ? "runs" : "has ended, but others hold it");
    }
    if (names_it(path, file)) (void)shm_unlink(path);
    close(file);
    return OG_OK;
}

/* A new, empty, locked segment under the name. */
static og_status create(const char *path, int *out, og_error *err) {
    for (int attempt = 0; attempt < 100; attempt++) {
        int file = shm_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0) {
            if (errno != EEXIST) return og_fail(err, OG_EIO, "shared store %s: %s", path, strerror(errno));
            OG_TRY(reclaim(path, err));
            continue;
        }
        /* between creation and lock another process may take it for stale: then the name is gone and we begin again */
        if (flock(file, LOCK_SH) == 0 && names_it(path, file)) {
            *out = file;
            return OG_OK;
        }
        close(file);
    }
    return og_fail(err, OG_EIO, "shared store %s: lost the race for the name 100 times", path);
}

static og_status map_segment(og_store *store, int64_t bytes, int32_t writable, og_error *err) {
    void *memory;
    OG_TRY(og_reserve(HEADER_BYTES + bytes, store->descriptor, writable, &store->reserved, &store->reserved_bytes,
                      &memory, err));
    store->memory = (uint8_t *)memory + HEADER_BYTES;
    store->memory_bytes = bytes;
    return OG_OK;
}

og_status og_store_map_shared(og_store *store, const og_store_options *options, int64_t bytes, og_error *err) {
    char path[256], what[400];
    OG_TRY(check_name(options->name, path, sizeof path, err));
    OG_TRY(reclaim(path, err)); /* first, so that the space of a stale one counts as free */
    og_limits limits;
    og_limits_read("", &limits);
    snprintf(what, sizeof what, "shared store %s of %lld rows x %lld bytes", path, (long long)store->rows,
             (long long)store->record.bytes);
    OG_TRY(og_limits_check(&limits, bytes, options->lock, what, err));
    int64_t room = og_limits_free("/dev/shm") - limits.promised_shared;
    if (bytes + HEADER_BYTES > room)
        return og_fail(err, OG_ENOMEM, "%s needs %lld bytes, /dev/shm has %lld free and not promised", what,
                       (long long)(bytes + HEADER_BYTES), (long long)(room > 0 ? room : 0));
    store->name = og_copy_string(path);
    if (!store->name) return og_fail(err, OG_ENOMEM, "no memory for the name of a store");
    OG_TRY(create(path, &store->descriptor, err));
    store->owner = (int32_t)getpid();
    if (ftruncate(store->descriptor, (off_t)(HEADER_BYTES + bytes)) != 0)
        return og_fail(err, OG_ENOMEM, "%s: %s", what, strerror(errno));
    OG_TRY(map_segment(store, bytes, 1, err));
    OG_TRY(og_store_place(store, options, err));
    og_shared_header *header = (og_shared_header *)(void *)(store->memory - HEADER_BYTES);
    header->magic = MAGIC;
    header->version = 1;
    header->bytes = bytes;
    header->rows = store->rows;
    header->dim = store->dim;
    header->row_bytes = store->record.bytes;
    header->dtype = store->dtype;
    header->group = store->group;
    header->state = store->state;
    header->owner_pid = (int32_t)getpid();
    header->owner_start = start_time(header->owner_pid);
    atomic_store_explicit(&header->ready, 1, memory_order_release);
    return OG_OK;
}

og_status og_store_join_shared(og_store *store, const char *name, og_error *err) {
    char path[256];
    OG_TRY(check_name(name, path, sizeof path, err));
    store->descriptor = shm_open(path, store->writable ? O_RDWR : O_RDONLY, 0);
    if (store->descriptor < 0) return og_fail(err, OG_EIO, "shared store %s: %s", path, strerror(errno));
    if (flock(store->descriptor, LOCK_EX | LOCK_NB) ==
        0) { /* nobody lives in it: left by a dead process, or being made */
        (void)flock(store->descriptor, LOCK_UN);
        return og_fail(err, OG_EINVAL, "shared store %s is stale: the process that made it has ended", path);
    }
    if (flock(store->descriptor, LOCK_SH | LOCK_NB) != 0 || !names_it(path, store->descriptor))
        return og_fail(err, OG_EIO, "shared store %s is being removed", path);
    og_shared_header h;
    struct stat info;
    if (pread(store->descriptor, &h, sizeof h, 0) != (ssize_t)sizeof h || fstat(store->descriptor, &info) != 0 ||
        h.magic != MAGIC || h.version != 1 || !atomic_load_explicit(&h.ready, memory_order_acquire))
        return og_fail(err, OG_EFORMAT, "shared store %s: not a finished omnigram segment of version 1", path);
    og_store_options o = og_store_defaults(h.rows, h.dim, h.dtype);
    o.group = h.group;
    o.state = h.state;
    OG_TRY(og_record_of(&o, &store->record, err));
    if (store->record.bytes != h.row_bytes || h.bytes != h.rows * h.row_bytes || info.st_size != HEADER_BYTES + h.bytes)
        return og_fail(err, OG_EFORMAT, "shared store %s: its size %lld does not fit %lld rows x %lld bytes", path,
                       (long long)info.st_size, (long long)h.rows, (long long)h.row_bytes);
    store->rows = h.rows;
    store->dim = h.dim;
    store->dtype = h.dtype;
    store->group = h.group;
    store->state = h.state;
    store->name = og_copy_string(path);
    if (!store->name) return og_fail(err, OG_ENOMEM, "no memory for the name of a store");
    OG_TRY(map_segment(store, h.bytes, store->writable, err));
    (void)madvise(store->memory, (size_t)h.bytes, MADV_HUGEPAGE);
    return OG_OK;
}

void og_store_unmap(og_store *store) {
    og_limits_release(&store->promise);
    if (store->reserved) munmap(store->reserved, (size_t)store->reserved_bytes);
    if (store->descriptor >= 0) {
        if (store->owner == (int32_t)getpid() && names_it(store->name, store->descriptor))
            (void)shm_unlink(store->name);
        close(store->descriptor); /* drops the lock */
    }
    if (store->file) og_arrays_close(store->file);
}
