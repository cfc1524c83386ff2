/* strings.h: strings that live until all are freed together; data sets hand them out as borrowed pointers. */
#ifndef OMNIGRAM_MODALITIES_STRINGS_H
#define OMNIGRAM_MODALITIES_STRINGS_H

#include <omnigram/core.h>

typedef struct og_strings {
    struct og_strings_block *blocks;
} og_strings;
/* A copy of n bytes with a zero behind them, or NULL when memory is short. */
char *og_strings_add(og_strings *strings, const char *text, int64_t n);
char *og_strings_format(og_strings *strings, const char *format, ...) OG_PRINTF(2, 3);
void og_strings_free(og_strings *strings);

#endif
