/* pack_lengths.h: the part of the verb pack that packs bare lengths. */
#ifndef OMNIGRAM_PACK_LENGTHS_H
#define OMNIGRAM_PACK_LENGTHS_H

#include <omnigram/pack.h>

/* path: one integer a line. 0, or 1 after a message. */
int og_pack_lengths_file(const char *path, const og_pack_policy *policy, const char *json);

#endif
