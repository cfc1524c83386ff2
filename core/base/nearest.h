/* nearest.h: how near a mistyped word is to a known one. */
#ifndef OMNIGRAM_BASE_NEAREST_H
#define OMNIGRAM_BASE_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* Edit distance when it is near enough to guess a slip, else -1. */
int32_t og_nearest_distance(const char *word, const char *candidate, size_t candidate_bytes);

#endif
