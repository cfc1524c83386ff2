/* file_calls.h: the system calls that change files, and read, each behind the fault hook of tests. They set errno and
 * return as the calls do. */
#ifndef OMNIGRAM_BASE_FILE_CALLS_H
#define OMNIGRAM_BASE_FILE_CALLS_H

#include <omnigram/status.h>

#include <sys/types.h>

int og_call_create(const char *path, mode_t mode); /* O_EXCL, for writing */
ssize_t og_call_read(int fd, const char *path, void *data, size_t bytes);
ssize_t og_call_pwrite(int fd, const char *path, const void *data, size_t bytes, int64_t offset);
int og_call_allocate(int fd, const char *path, int64_t bytes);
int og_call_fsync(int fd, const char *path);
int og_call_rename(const char *from, const char *to);
int og_call_rename_new(const char *from, const char *to); /* EEXIST when `to` exists */
int og_call_rename_exchange(const char *a, const char *b);
int og_call_mkdir(const char *path);

/* Makes the entry of path in its folder durable. */
og_status og_sync_parent(const char *path, og_error *err) OG_MUST_USE;

#endif
