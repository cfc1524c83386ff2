/* flush.h: this thread flushes subnormals while it computes for a trainer, and as before afterwards. */
#ifndef OMNIGRAM_INTERNAL_FLUSH_H
#define OMNIGRAM_INTERNAL_FLUSH_H

#include <omnigram/status.h>

OG_BEGIN
uint64_t og_flush_enter(void); /* the mode as it was */
void og_flush_leave(uint64_t before);
OG_END
#endif
