/* file_orphans.h: temporary files that a dead writer left behind. */
#ifndef OMNIGRAM_BASE_FILE_ORPHANS_H
#define OMNIGRAM_BASE_FILE_ORPHANS_H

#include <omnigram/status.h>

/* Removes path.tmp-PID[-n] of processes that live no more. Best effort: what cannot be removed stays. */
void og_orphans_remove(const char *path);

#endif
