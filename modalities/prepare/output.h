/* output.h: the folder that prepare fills: beside its final place, renamed at the end, removed when anything fails. */
#ifndef OMNIGRAM_MODALITIES_OUTPUT_H
#define OMNIGRAM_MODALITIES_OUTPUT_H

#include <omnigram/core.h>

typedef struct og_output {
    char *target, *temporary;
} og_output;
/* EINVAL when the target exists. Removes temporaries that dead processes left. */
og_status og_output_open(const char *target, og_output *out, og_error *err);
og_status og_output_commit(og_output *output, og_error *err); /* frees */
void og_output_abort(og_output *output);                      /* frees; removes what was written */

#endif
