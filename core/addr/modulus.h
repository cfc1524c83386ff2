/* modulus.h: x mod m for a fixed m without a division (Barrett): one high product, one product, one
 * correction. */
#ifndef OMNIGRAM_ADDR_MODULUS_H
#define OMNIGRAM_ADDR_MODULUS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 og_u128;

typedef struct og_modulus {
    uint64_t m;       /* 1 .. 2^63 */
    uint64_t inverse; /* floor((2^64 - 1) / m) */
    uint64_t wrap;    /* 2^64 mod m: what a negative number's two's complement is too large by */
} og_modulus;

static inline uint64_t og_high64(uint64_t a, uint64_t b) { return (uint64_t)((og_u128)a * b >> 64); }

static inline og_modulus og_modulus_of(uint64_t m) {
    og_modulus mod = {m, UINT64_MAX / m, (UINT64_MAX % m + 1) % m};
    return mod;
}

/* The quotient's estimate is short by at most one: x / m - x * inverse / 2^64 < 1. */
static inline uint64_t og_mod(uint64_t x, const og_modulus *mod) {
    uint64_t r = x - og_high64(x, mod->inverse) * mod->m;
    return r >= mod->m ? r - mod->m : r;
}

/* x as two's complement, floor-mod: never negative. */
static inline uint64_t og_floor_mod(uint64_t x, const og_modulus *mod) {
    uint64_t r = og_mod(x, mod);
    if ((int64_t)x < 0) r = r >= mod->wrap ? r - mod->wrap : r + mod->m - mod->wrap;
    return r;
}

#endif
