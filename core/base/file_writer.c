/* file_writer.c: the one atomic writer: a file is replaced whole, or stays as it was. */
#include "file_writer.h"
#include "file_calls.h"
#include "file_orphans.h"

#include <omnigram/memory.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (256 << 10)
#define TRIES  100

struct og_writer {
    char *path; /* links resolved, so that the file behind a link is replaced and not the link */
    char *temporary;
    char *buffer;
    int fd;
    int32_t failed; /* a failed write makes commit fail too */
    int64_t used;   /* of buffer */
    int64_t offset; /* of buffer[0] in the file */
    int64_t end;    /* bytes of the file so far */
};

static void free_writer(og_writer *writer) {
    if (writer->fd >= 0) close(writer->fd);
    og_release(writer->path);
    og_release(writer->temporary);
    og_release(writer->buffer);
    og_release(writer);
}

static og_status fail_write(og_writer *writer, const char *what, int64_t bytes, int64_t offset, og_error *err) {
    int fault = errno;
    writer->failed = 1;
    return og_fail(err, OG_EIO, "%s: %s %lld bytes at %lld: %s", writer->path, what, (long long)bytes,
                   (long long)offset, strerror(fault));
}

/* Opens and locks a temporary of this process. 1: someone else has that name, try the next. */
static int try_temporary(og_writer *writer, mode_t mode, int attempt) {
    size_t room = strlen(writer->path) + 48;
    if (attempt == 0)
        snprintf(writer->temporary, room, "%s.tmp-%ld", writer->path, (long)getpid());
    else
        snprintf(writer->temporary, room, "%s.tmp-%ld-%d", writer->path, (long)getpid(), attempt);
    writer->fd = og_call_create(writer->temporary, mode);
    if (writer->fd < 0) return errno == EEXIST;
    /* Between create and lock a cleaner may have taken it for an orphan: then it has no name left. A file system
     * without locks answers otherwise than EWOULDBLOCK, and the PID alone protects the file. */
    struct stat info;
    int lost = flock(writer->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!lost && fstat(writer->fd, &info) == 0 && info.st_nlink > 0) return 0;
    close(writer->fd);
    writer->fd = -1;
    return 1;
}

static og_status open_temporary(og_writer *writer, og_error *err) {
    struct stat old;
    int exists = stat(writer->path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return og_fail(err, OG_EIO, "%s: is a folder, not a file", writer->path);
    if (exists && !S_ISREG(old.st_mode)) /* a rename would put a file in its place */
        return og_fail(err, OG_EIO, "%s: is a device, pipe or socket, not a file that can be replaced whole",
                       writer->path);
    og_orphans_remove(writer->path);
    int attempt = 0;
    while (try_temporary(writer, exists ? old.st_mode & 07777 : 0666, attempt))
        if (++attempt == TRIES)
            return og_fail(err, OG_EIO, "%s: %d temporary files of this process stand beside it", writer->path, TRIES);
    if (writer->fd < 0) return og_fail(err, OG_EIO, "%s: cannot be written: %s", writer->path, strerror(errno));
    return OG_OK;
}

/* The path itself, or what it links to, as memory of the library. */
static char *resolve(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return og_copy_string(path);
    char *target = realpath(path, NULL);
    char *copy = og_copy_string(target ? target : path);
    free(target);
    return copy;
}

og_status og_writer_open(const char *path, og_writer **out, og_error *err) {
    og_writer *writer = og_alloc_zero(1, sizeof *writer);
    if (!writer) return og_fail(err, OG_ENOMEM, "%s: no memory to write it", path);
    writer->fd = -1;
    writer->path = resolve(path);
    writer->temporary = og_alloc((int64_t)(writer->path ? strlen(writer->path) : 0) + 48, 1);
    writer->buffer = og_alloc(BUFFER, 1);
    og_status status = writer->path && writer->temporary && writer->buffer
                           ? open_temporary(writer, err)
                           : og_fail(err, OG_ENOMEM, "%s: no memory to write it", path);
    if (status != OG_OK) {
        free_writer(writer);
        return status;
    }
    *out = writer;
    return OG_OK;
}

static og_status write_out(og_writer *writer, const char *data, int64_t bytes, int64_t offset, og_error *err) {
    int64_t done = 0;
    while (done < bytes) {
        int64_t part = bytes - done < (1 << 30) ? bytes - done : 1 << 30;
        ssize_t got = og_call_pwrite(writer->fd, writer->path, data + done, (size_t)part, offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = ENOSPC;
        if (got <= 0) return fail_write(writer, "writing", bytes - done, offset + done, err);
        done += got;
    }
    return OG_OK;
}

static og_status flush(og_writer *writer, og_error *err) {
    OG_TRY(write_out(writer, writer->buffer, writer->used, writer->offset, err));
    writer->offset += writer->used;
    writer->used = 0;
    return OG_OK;
}

static og_status check_usable(const og_writer *writer, int64_t offset, int64_t bytes, og_error *err) {
    if (writer->failed) return og_fail(err, OG_EIO, "%s: an earlier write of it failed", writer->path);
    if (bytes < 0 || offset > INT64_MAX - bytes)
        return og_fail(err, OG_EINVAL, "%s: cannot write %lld bytes at %lld", writer->path, (long long)bytes,
                       (long long)offset);
    return OG_OK;
}

og_status og_writer_write(og_writer *writer, const void *data, int64_t bytes, og_error *err) {
    OG_TRY(check_usable(writer, writer->offset + writer->used, bytes, err));
    if (bytes == 0) return OG_OK;
    if (writer->used + bytes > BUFFER) OG_TRY(flush(writer, err));
    if (bytes >= BUFFER) {
        OG_TRY(write_out(writer, data, bytes, writer->offset, err));
        writer->offset += bytes;
    } else {
        memcpy(writer->buffer + writer->used, data, (size_t)bytes);
        writer->used += bytes;
    }
    if (writer->offset + writer->used > writer->end) writer->end = writer->offset + writer->used;
    return OG_OK;
}

int64_t og_writer_bytes(const og_writer *writer) { return writer->end; }

og_status og_writer_patch(og_writer *writer, int64_t offset, const void *data, int64_t bytes, og_error *err) {
    OG_TRY(check_usable(writer, offset, bytes, err));
    if (offset < 0 || bytes > writer->end - offset)
        return og_fail(err, OG_EINVAL, "%s: cannot patch %lld bytes at %lld of the %lld written", writer->path,
                       (long long)bytes, (long long)offset, (long long)writer->end);
    OG_TRY(flush(writer, err));
    return write_out(writer, data, bytes, offset, err);
}

og_status og_writer_seek(og_writer *writer, int64_t offset, og_error *err) {
    OG_TRY(check_usable(writer, offset, 0, err));
    if (offset == writer->offset + writer->used) return OG_OK;
    OG_TRY(flush(writer, err));
    writer->offset = offset;
    return OG_OK;
}

og_status og_writer_reserve(og_writer *writer, int64_t bytes, og_error *err) {
    OG_TRY(check_usable(writer, 0, bytes, err));
    if (bytes == 0 || og_call_allocate(writer->fd, writer->path, bytes) == 0) return OG_OK;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR) return OG_OK; /* then each write finds out */
    return fail_write(writer, "claiming", bytes, 0, err);
}

static og_status commit(og_writer *writer, og_error *err) {
    OG_TRY(check_usable(writer, 0, 0, err));
    OG_TRY(flush(writer, err));
    if (og_call_fsync(writer->fd, writer->path) != 0) return fail_write(writer, "making durable", writer->end, 0, err);
    if (og_call_rename(writer->temporary, writer->path) != 0)
        return og_fail(err, OG_EIO, "%s: cannot replace it: %s", writer->path, strerror(errno));
    return OG_OK;
}

og_status og_writer_commit(og_writer *writer, og_error *err) {
    og_status status = commit(writer, err);
    if (status != OG_OK) {
        og_writer_abort(writer);
        return status;
    }
    status = og_sync_parent(writer->path, err);
    free_writer(writer);
    return status;
}

void og_writer_abort(og_writer *writer) {
    if (!writer) return;
    unlink(writer->temporary); /* a fault here leaves an orphan, which the next open removes */
    free_writer(writer);
}

og_status og_file_write(const char *path, const void *data, int64_t bytes, og_error *err) {
    og_writer *writer;
    OG_TRY(og_writer_open(path, &writer, err));
    og_status status = og_writer_write(writer, data, bytes, err);
    if (status == OG_OK) return og_writer_commit(writer, err);
    og_writer_abort(writer);
    return status;
}
