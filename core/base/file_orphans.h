/* file_orphans.h: temporary files that a dead writer left behind. */
#ifndef OMNIGRAM_BASE_FILE_ORPHANS_H
#define OMNIGRAM_BASE_FILE_ORPHANS_H

#include <omnigram/status.h>

#include <stddef.h>

/* The PID in "leaf.tmp-PID" or "leaf.tmp-PID-n", or 0 where name is no temporary of the leaf, which has
 * `bytes` bytes. */
long og_temporary_pid(const char *name, const char *leaf, size_t bytes);
/* Removes path.tmp-PID[-n] of processes that live no more. Best effort: what cannot be removed stays. */
void og_orphans_remove(const char *path);

#endif
