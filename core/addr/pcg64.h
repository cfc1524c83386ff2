/* pcg64.h: numpy's default_rng(seed).integers(0, high, dtype=int64), bit for bit: what Engram's
 * multipliers are drawn from. */
#ifndef OMNIGRAM_ADDR_PCG64_H
#define OMNIGRAM_ADDR_PCG64_H

#include "addr/modulus.h"

typedef struct og_pcg64 {
    og_u128 state, increment;
    uint32_t kept; /* high half of a word whose low half was given out */
    int32_t has_kept;
} og_pcg64;

void og_pcg64_seed(og_pcg64 *rng, uint64_t seed);      /* SeedSequence(seed) */
uint64_t og_pcg64_below(og_pcg64 *rng, uint64_t high); /* high >= 1 */

#endif
