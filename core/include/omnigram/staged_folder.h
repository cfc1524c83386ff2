/* staged_folder.h: a folder that appears whole or not at all. */
#ifndef OMNIGRAM_STAGED_FOLDER_H
#define OMNIGRAM_STAGED_FOLDER_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_staged_folder {
    char *target;
    char *path; /* where to write: TARGET.tmp-PID, beside the target */
} og_staged_folder;

/* Makes the empty folder beside target; removes those that dead processes left. An existing target must be an empty
 * folder or hold the file `ours`, by which its maker knows its own output. */
OG_API og_status og_staged_begin(const char *target, const char *ours, og_staged_folder *out,
                                 og_error *err) OG_MUST_USE;
/* Puts it in the target's place (one rename, or one exchange where a target was) and removes what was there. Frees. */
OG_API og_status og_staged_commit(og_staged_folder *folder, og_error *err) OG_MUST_USE;
/* Removes what was written. Frees; fine twice and on a zeroed struct. */
OG_API void og_staged_abort(og_staged_folder *folder);

OG_END

#endif
