/* engram_constants.h: the multipliers and primes that Engram derives from its config. */
#ifndef OMNIGRAM_ADDR_ENGRAM_CONSTANTS_H
#define OMNIGRAM_ADDR_ENGRAM_CONSTANTS_H

#include <omnigram/config.h>

/* out[cells]: 2 r + 1 with r from default_rng(seed + 10007 layer), so that a code below vocab times
 * one stays below 2^63. */
void og_engram_multipliers(uint64_t seed, uint64_t layer, int64_t vocab, int32_t cells, uint64_t *out);
/* Primes of one layer, order-major: for each layer of the model in turn and each order, the search
 * begins at starts[order] - 1 and takes per head the next larger prime that no layer has yet.
 * primes [n_orders * heads]. */
og_status og_engram_primes(og_i64_list layers, int64_t layer, og_i64_list starts, int64_t heads, int64_t *primes,
                           og_error *err);

#endif
