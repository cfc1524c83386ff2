/* checkpoint.h: a checkpoint is a folder ckpt/step-N with a manifest of sizes and SHA-256; it appears whole or not at
 * all. */
#ifndef OMNIGRAM_TRAIN_CHECKPOINT_H
#define OMNIGRAM_TRAIN_CHECKPOINT_H

#include <omnigram/train.h>

OG_BEGIN

/* Makes run/ckpt/.step-N.PID for the caller to write files into; *folder is to be released. */
og_status og_checkpoint_begin(const char *run, int64_t step, char **folder, og_error *err) OG_MUST_USE;
/* Writes manifest.json over the files of folder, renames it to run/ckpt/step-N (an older one of that step is replaced),
 * records it in run/ckpt/latest and removes all but the newest `keep`. */
og_status og_checkpoint_commit(const char *run, int64_t step, const char *folder, int64_t keep,
                               og_error *err) OG_MUST_USE;
void og_checkpoint_abort(const char *folder); /* removes it; NULL is fine */

/* The newest whole checkpoint; *step 0 and *folder NULL when there is none. Torn ones and leftovers of killed processes
 * are named through log; leftovers are removed. */
og_status og_checkpoint_find(const char *run, og_log_fn *log, void *log_context, int64_t *step, char **folder,
                             og_error *err) OG_MUST_USE;
/* Checks the manifest of one checkpoint folder; the error names the file that is torn. */
og_status og_checkpoint_check(const char *folder, og_error *err) OG_MUST_USE;

OG_END
#endif
