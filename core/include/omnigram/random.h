/* Counter-based randomness: a value is a pure function of (key, counter), so results do not depend on
 * threads or on the order of calls. */
#ifndef OMNIGRAM_RANDOM_H
#define OMNIGRAM_RANDOM_H

#include <omnigram/status.h>

OG_BEGIN

/* splitmix64's output function of (v + golden ratio); Steele, Lea, Flood 2014. mix64(0) = 0xe220a8397b1dcdaf. */
OG_API uint64_t og_splitmix64(uint64_t value);
/* 64 random bits: output number `counter` of SplitMix64 seeded with og_splitmix64(key), that is
 * og_splitmix64(og_splitmix64(key) + counter * 0x9e3779b97f4a7c15). */
OG_API uint64_t og_random_bits(uint64_t key, uint64_t counter);
/* Uniform in [0, n), without modulo bias worth naming (128-bit multiply). n >= 1. */
OG_API uint64_t og_random_below(uint64_t key, uint64_t counter, uint64_t n);
OG_API double og_random_unit(uint64_t key, uint64_t counter); /* [0, 1), 53 bits */
/* Mean 0, variance 1: the quantile (Wichura 1988, AS 241) of (bits >> 12) + 1/2 over 2^52. Only IEEE sums, products,
 * quotients and square roots, so it has the same bits on every platform. At most 8.2 in size. */
OG_API double og_random_normal(uint64_t key, uint64_t counter);

OG_END
#endif
