/* Files: whole reads, maps, and one atomic writer for everything the project writes. */
#ifndef OMNIGRAM_FILE_H
#define OMNIGRAM_FILE_H

#include <omnigram/status.h>

OG_BEGIN

/* Reads a whole file; *out is zero-terminated behind *bytes and is released with og_release.
 * limit_bytes refuses larger files. */
OG_API og_status og_file_read(const char *path, int64_t limit_bytes, char **out, int64_t *bytes,
                              og_error *err) OG_MUST_USE;

typedef struct og_map og_map; /* a file mapped for reading, or for reading and writing in place */
OG_API og_status og_map_open(const char *path, int32_t writable, og_map **out, og_error *err) OG_MUST_USE;
OG_API void og_map_close(og_map *map);
OG_API void *og_map_data(const og_map *map);
OG_API int64_t og_map_bytes(const og_map *map);

/* Writes path.tmp-PID beside path; commit = flush, fsync, rename, fsync of the folder. Until commit
 * the old file is untouched; abort (or a crash) leaves it so. The temporary is locked while its writer lives; orphans
 * of dead processes are removed by the next open. The new file has the mode of the old one. After a failed write only
 * abort is left. */
typedef struct og_writer og_writer;
OG_API og_status og_writer_open(const char *path, og_writer **out, og_error *err) OG_MUST_USE;
OG_API og_status og_writer_write(og_writer *writer, const void *data, int64_t bytes, og_error *err) OG_MUST_USE;
OG_API int64_t og_writer_bytes(const og_writer *writer); /* written so far */
/* Writes bytes at an earlier offset (a header that is known last). */
OG_API og_status og_writer_patch(og_writer *writer, int64_t offset, const void *data, int64_t bytes,
                                 og_error *err) OG_MUST_USE;
/* Either one frees the writer. */
OG_API og_status og_writer_commit(og_writer *writer, og_error *err) OG_MUST_USE;
OG_API void og_writer_abort(og_writer *writer); /* NULL is fine */

/* One call: the file holds these bytes or stays as it was. */
OG_API og_status og_file_write(const char *path, const void *data, int64_t bytes, og_error *err) OG_MUST_USE;
OG_API og_status og_folder_make(const char *path, og_error *err) OG_MUST_USE; /* and its parents */
OG_API int32_t og_file_exists(const char *path);

/* One process at a time may work on an output: the file PATH.lock is held (flock) until og_lock_drop, which removes it;
 * the kernel frees it when the process dies. While another process holds it, wait(context, its PID) is called ten times
 * a second; a result other than 0 gives OG_ECANCELED. Without wait it fails at once and names the PID. */
typedef struct og_lock og_lock;
typedef int32_t og_lock_wait_fn(void *context, int64_t pid);
OG_API og_status og_lock_take(const char *path, og_lock_wait_fn *wait, void *context, og_lock **out,
                              og_error *err) OG_MUST_USE;
OG_API void og_lock_drop(og_lock *lock); /* NULL is fine */

/* Renames a finished folder into place and fsyncs the parent; an existing target is an error. */
OG_API og_status og_folder_commit(const char *from, const char *to, og_error *err) OG_MUST_USE;

OG_END
#endif
