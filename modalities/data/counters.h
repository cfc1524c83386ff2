/* counters.h: named counts that a data set reports. */
#ifndef OMNIGRAM_MODALITIES_COUNTERS_H
#define OMNIGRAM_MODALITIES_COUNTERS_H

#include <omnigram/config.h>

typedef struct og_counter {
    const char *name;
    int64_t value;
} og_counter;
/* {"name": value ...} as a config tree that the caller owns. */
og_status og_counters_config(const og_counter *counters, int64_t n, og_config **out, og_error *err);

#endif
