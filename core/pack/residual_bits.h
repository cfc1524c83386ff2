/* residual_bits.h: a set of small integers with "smallest member >= x" in a few instructions:
 * 64-ary levels of bit words, each bit of a level saying that a word below is not empty. */
#ifndef OMNIGRAM_RESIDUAL_BITS_H
#define OMNIGRAM_RESIDUAL_BITS_H

#include <omnigram/memory.h>

#include <stdint.h>

enum { OG_BITS_LEVELS = 5 }; /* 64^5 > 2^24 values */
typedef struct og_bits {
    uint64_t *level[OG_BITS_LEVELS];
    int32_t n_levels;
} og_bits;

/* Of the values 0 .. limit, empty. The words are one block: release level[0]. */
static inline int og_bits_new(og_bits *bits, int64_t limit) {
    int64_t words[OG_BITS_LEVELS], total = 0, n = limit + 1;
    bits->n_levels = 0;
    do {
        n = (n + 63) / 64;
        words[bits->n_levels++] = n;
        total += n;
    } while (n > 1);
    uint64_t *block = og_alloc_zero(total, sizeof *block);
    if (!block) return 0;
    for (int32_t l = 0; l < bits->n_levels; l++) {
        bits->level[l] = block;
        block += words[l];
    }
    return 1;
}

static inline void og_bits_add(og_bits *bits, int64_t value) {
    for (int32_t l = 0; l < bits->n_levels; l++) {
        uint64_t *word = &bits->level[l][value >> 6];
        uint64_t old = *word;
        *word = old | UINT64_C(1) << (value & 63);
        if (old) return;
        value >>= 6;
    }
}

static inline void og_bits_remove(og_bits *bits, int64_t value) {
    for (int32_t l = 0; l < bits->n_levels; l++) {
        uint64_t *word = &bits->level[l][value >> 6];
        *word &= ~(UINT64_C(1) << (value & 63));
        if (*word) return;
        value >>= 6;
    }
}

/* The smallest member >= value, or -1. value must be within the limit. */
static inline int64_t og_bits_next(const og_bits *bits, int64_t value) {
    uint64_t rest = bits->level[0][value >> 6] >> (value & 63);
    if (rest) return value + __builtin_ctzll(rest);
    for (int32_t l = 1; l < bits->n_levels; l++) {
        value >>= 6; /* looks for a word after this one */
        uint64_t word = bits->level[l][value >> 6] & ~((UINT64_C(2) << (value & 63)) - 1);
        if (!word) continue;
        value = (value & ~INT64_C(63)) + __builtin_ctzll(word);
        while (l-- > 0) value = value * 64 + __builtin_ctzll(bits->level[l][value]);
        return value;
    }
    return -1;
}

#endif
