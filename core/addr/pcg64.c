/* pcg64.c: numpy's SeedSequence, PCG64 (XSL-RR 128/64, O'Neill 2014) and Lemire's bounded integers
 * (2019), as NumPy >= 1.17 joins them in default_rng. */
#include "addr/pcg64.h"

/* ---- SeedSequence: an integer's 32-bit words stirred into a pool of four ---- */

static uint32_t stir(uint32_t value, uint32_t *constant) {
    value ^= *constant;
    *constant *= UINT32_C(0x931e8875);
    value *= *constant;
    return value ^ value >> 16;
}

static uint32_t mingle(uint32_t x, uint32_t y) {
    uint32_t out = UINT32_C(0xca01f9dd) * x - UINT32_C(0x4973f715) * y;
    return out ^ out >> 16;
}

static void seed_words(uint64_t seed, uint64_t out[4]) {
    uint32_t entropy[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, pool[4], constant = UINT32_C(0x43b0d7e5);
    for (int i = 0; i < 4; i++) pool[i] = stir(i < 2 ? entropy[i] : 0, &constant);
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++)
            if (from != to) pool[to] = mingle(pool[to], stir(pool[from], &constant));
    uint32_t words[8];
    constant = UINT32_C(0x8b51f9dd);
    for (int i = 0; i < 8; i++) {
        uint32_t value = pool[i % 4] ^ constant;
        constant *= UINT32_C(0x58f38ded);
        value *= constant;
        words[i] = value ^ value >> 16;
    }
    for (int i = 0; i < 4; i++) out[i] = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
}

/* ---- the generator ---- */

static void step(og_pcg64 *rng) {
    const og_u128 multiplier = (og_u128)UINT64_C(2549297995355413924) << 64 | UINT64_C(4865540595714422341);
    rng->state = rng->state * multiplier + rng->increment;
}

void og_pcg64_seed(og_pcg64 *rng, uint64_t seed) {
    uint64_t words[4];
    seed_words(seed, words);
    og_u128 start = (og_u128)words[0] << 64 | words[1], stream = (og_u128)words[2] << 64 | words[3];
    rng->state = 0;
    rng->increment = stream << 1 | 1;
    step(rng);
    rng->state += start;
    step(rng);
    rng->kept = 0;
    rng->has_kept = 0;
}

static uint64_t next_word(og_pcg64 *rng) {
    step(rng);
    uint64_t folded = (uint64_t)(rng->state >> 64) ^ (uint64_t)rng->state;
    unsigned turn = (unsigned)(rng->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t next32(og_pcg64 *rng) {
    if (rng->has_kept) {
        rng->has_kept = 0;
        return rng->kept;
    }
    uint64_t word = next_word(rng);
    rng->kept = (uint32_t)(word >> 32);
    rng->has_kept = 1;
    return (uint32_t)word;
}

/* Lemire's method with the rejection that makes it exact; spans of at most 32 bits draw 32-bit
 * words. */
uint64_t og_pcg64_below(og_pcg64 *rng, uint64_t high) {
    uint64_t most = high - 1;
    if (most == 0) return 0;
    if (most == UINT32_MAX) return next32(rng);
    if (most < UINT32_MAX) {
        uint32_t n = (uint32_t)high;
        uint64_t product = (uint64_t)next32(rng) * n;
        if ((uint32_t)product < n) {
            uint32_t threshold = (UINT32_MAX - (uint32_t)most) % n;
            while ((uint32_t)product < threshold) product = (uint64_t)next32(rng) * n;
        }
        return product >> 32;
    }
    og_u128 product = (og_u128)next_word(rng) * high;
    if ((uint64_t)product < high) {
        uint64_t threshold = (UINT64_MAX - most) % high;
        while ((uint64_t)product < threshold) product = (og_u128)next_word(rng) * high;
    }
    return (uint64_t)(product >> 64);
}
