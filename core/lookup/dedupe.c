/* dedupe.c: sorted distinct ids with the inverse, by a radix sort of (id, position) pairs. */
#include "lookup/dedupe.h"
#include "lookup/row_ops.h"

#include <omnigram/lookup.h>

#include <string.h>

/* Bytes: two arrays of pairs; ids of more than 2^64 / n values need two words a pair, fewer one. */
int64_t og_dedupe_bytes(int64_t n) { return n <= 0 ? 64 : n * 32 + 64; }

static int bits_of(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }

enum { DIGIT = 11, SMALL_DIGIT = 9, SMALL = 8192, MOST_PASSES = (64 + SMALL_DIGIT - 1) / SMALL_DIGIT, AHEAD = 24 };

/* Ids of a short range are ranked, not sorted. 4 ids of the range take a byte: up to 32 for each id given they are no
 * larger than the ids, and up to 128 (scratch holds no more) they may still fit the second-level cache. */
static int ranks(uint64_t range, int64_t n) {
    uint64_t each = range / (uint64_t)n;
    return each < 32 || (each < 128 && range < UINT64_C(1) << 22);
}

enum { PARTS_MOST = 8192, PARTS_LEAST_IDS = 4096 };

/* Parts of a range that is too long for one bitmap. 0: so long that most parts would be empty, or too few ids. */
static int in_parts(int64_t n, int64_t least, uint64_t range, int32_t part_ids, void *scratch, og_rank_parts *out) {
    int low = bits_of(OG_RANK_PART - 1);
    if (n < PARTS_LEAST_IDS || n > UINT32_MAX || range >> low >= PARTS_MOST) return 0;
    const uint64_t most = n / part_ids < PARTS_MOST ? (uint64_t)(n / part_ids) : PARTS_MOST;
    while (low && range >> (low - 1) < most) low--;
    uint32_t *words = scratch;
    *out = (og_rank_parts){.least = least,
                           .parts = (int64_t)(range >> low) + 1,
                           .low = low,
                           .start = words,
                           .rank = words + PARTS_MOST,
                           .entry = (uint16_t *)(words + PARTS_MOST + n)};
    return 1;
}

/* Digits of equal width. More bits mean fewer passes, but a short batch does not pay for clearing 2,048 counters. */
static int digit_bits(int64_t n, int bits, int *passes) {
    int most = n < SMALL ? SMALL_DIGIT : DIGIT;
    *passes = (bits + most - 1) / most;
    return *passes ? (bits + *passes - 1) / *passes : 0;
}

/* Counts to the places where each digit's first key goes. */
static void to_places(uint32_t *count, uint64_t digits) {
    uint32_t sum = 0;
    for (uint64_t d = 0; d < digits; d++) {
        uint32_t here = count[d];
        count[d] = sum;
        sum += here;
    }
}

/* (id - least) << low | position, sorted by the id; stable. The first pass packs, so that the ids are written once
 * less. Returns the array that holds the result. */
static uint64_t *sort_packed(const int64_t *ids, uint64_t least, uint64_t *to, uint64_t *other, int64_t n, int low,
                             int bits) {
    int passes, width = digit_bits(n, bits, &passes);
    uint32_t count[MOST_PASSES][1 << DIGIT];
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    if (!passes) { /* all ids are equal */
        for (int64_t i = 0; i < n; i++) to[i] = (uint64_t)i;
        return to;
    }
    for (int p = 0; p < passes; p++) memset(count[p], 0, (size_t)(mask + 1) * sizeof count[p][0]);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = (uint64_t)ids[i] - least;
        for (int p = 0; p < passes; p++, key >>= width) count[p][key & mask]++;
    }
    to_places(count[0], mask + 1);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = (uint64_t)ids[i] - least;
        to[count[0][key & mask]++] = key << low | (uint64_t)i;
    }
    for (int p = 1; p < passes; p++) {
        int shift = low + p * width;
        to_places(count[p], mask + 1);
        for (int64_t i = 0; i < n; i++) {
            uint64_t key = to[i];
            other[count[p][key >> shift & mask]++] = key;
        }
        uint64_t *swap = to;
        to = other;
        other = swap;
    }
    return to;
}

typedef struct wide_pair {
    uint64_t id, position;
} wide_pair;

static wide_pair *sort_wide(wide_pair *from, wide_pair *to, int64_t n, int bits) {
    int passes, width = digit_bits(n, bits, &passes);
    const uint64_t mask = passes ? (UINT64_C(1) << width) - 1 : 0;
    for (int p = 0; p < passes; p++) {
        uint64_t count[1 << DIGIT] = {0}, sum = 0;
        int shift = p * width;
        for (int64_t i = 0; i < n; i++) count[from[i].id >> shift & mask]++;
        for (uint64_t d = 0; d <= mask; d++) {
            uint64_t c = count[d];
            count[d] = sum;
            sum += c;
        }
        for (int64_t i = 0; i < n; i++) to[count[from[i].id >> shift & mask]++] = from[i];
        wide_pair *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* most - least of n >= 1 ids */
static uint64_t range_of(const int64_t *ids, int64_t n, int64_t *lowest) {
    int64_t least = ids[0], most = ids[0];
    for (int64_t begin = 0; begin < n; begin += 8) {
        __builtin_prefetch((const void *)((uintptr_t)(ids + begin) + OG_STREAM_AHEAD), 0, 3);
        int64_t end = n - begin < 8 ? n : begin + 8;
        for (int64_t i = begin; i < end; i++) {
            least = ids[i] < least ? ids[i] : least;
            most = ids[i] > most ? ids[i] : most;
        }
    }
    *lowest = least;
    return (uint64_t)most - (uint64_t)least;
}

static og_sorted sort_range(const int64_t *ids, int64_t n, int64_t least, uint64_t range, void *scratch) {
    og_sorted sorted = {0};
    int id_bits = bits_of(range), position_bits = bits_of((uint64_t)n - 1);
    sorted.least = least;
    sorted.n = n;
    if (id_bits + position_bits <= 64 && position_bits <= 32) {
        uint64_t *a = scratch, *b = a + n;
        sorted.shift = position_bits;
        sorted.packed = sort_packed(ids, (uint64_t)least, a, b, n, position_bits, id_bits);
        return sorted;
    }
    wide_pair *a = scratch, *b = a + n;
    for (int64_t i = 0; i < n; i++) a[i] = (wide_pair){(uint64_t)ids[i] - (uint64_t)least, (uint64_t)i};
    sorted.wide = (const uint64_t *)(void *)sort_wide(a, b, n, id_bits);
    return sorted;
}

og_sorted og_sort_ids(const int64_t *ids, int64_t n, void *scratch) {
    if (n <= 0) return (og_sorted){0};
    int64_t least;
    uint64_t range = range_of(ids, n, &least);
    return sort_range(ids, n, least, range, scratch);
}

int64_t og_dedupe(const int64_t *ids, int64_t n, int64_t *distinct, int64_t *inverse, void *scratch) {
    if (n <= 0) return 0;
    int64_t least;
    uint64_t range = range_of(ids, n, &least);
    const og_row_ops *ops = og_row_ops_of(og_cpu_level());
    if (ranks(range, n)) return ops->rank(ids, n, least, scratch, (int64_t)(range / 64) + 1, distinct, inverse);
    og_rank_parts parts;
    if (in_parts(n, least, range, ops->part_ids, scratch, &parts))
        return ops->rank_parts(ids, n, &parts, distinct, inverse);
    og_sorted sorted = sort_range(ids, n, least, range, scratch);
    int64_t d = 0;
    uint64_t last = og_sorted_id(&sorted, 0);
    if (sorted.packed) { /* branch-free: a new id moves on, an old one is written over itself */
        const uint64_t mask = sorted.shift ? (UINT64_C(1) << sorted.shift) - 1 : 0;
        for (int64_t i = 0; i < n; i++) {
            if (i + AHEAD < n)
                __builtin_prefetch(&inverse[sorted.packed[i + AHEAD] & mask], 1, 3); /* the writes are scattered */
            uint64_t id = sorted.packed[i] >> sorted.shift;
            d += id != last;
            last = id;
            distinct[d] = (int64_t)(id + (uint64_t)sorted.least);
            inverse[sorted.packed[i] & mask] = d;
        }
        return d + 1;
    }
    for (int64_t i = 0; i < n; i++) {
        uint64_t id = og_sorted_id(&sorted, i);
        d += id != last;
        last = id;
        distinct[d] = (int64_t)(id + (uint64_t)sorted.least);
        inverse[og_sorted_position(&sorted, i)] = d;
    }
    return d + 1;
}

double og_distinct_share(const int64_t *ids, int64_t step, int64_t n) {
    /* Ids whose hash falls in one part of `parts` are looked at, all copies of each: an unbiased sample of groups. */
    enum { SLOTS = 4096 };
    const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t seen[SLOTS];
    if (n < 2) return 1;
    int shift = 0;
    while (n >> shift > 1024) shift++;
    memset(seen, 0xff, sizeof seen);
    /* Few are picked and none can be foreseen: they are picked without a branch first. */
    enum { BLOCK = 256 };
    uint64_t picked[SLOTS / 2 + BLOCK];
    int64_t total = 0, distinct = 0;
    for (int64_t at = 0; at < n && total < SLOTS / 2; at += BLOCK)
        for (int64_t i = at; i < n && i < at + BLOCK; i++) {
            uint64_t id = (uint64_t)ids[i * step];
            picked[total] = id;
            total += !(id * mix >> 1 >> (63 - shift)) & ((int64_t)id >= 0); /* negative: absent */
        }
    if (total > SLOTS / 2) total = SLOTS / 2;
    for (int64_t i = 0; i < total; i++) {
        uint64_t id = picked[i];
        uint64_t slot = (id * mix >> 20) % SLOTS;
        while (seen[slot] != UINT64_MAX && seen[slot] != id) slot = (slot + 1) % SLOTS;
        distinct += seen[slot] == UINT64_MAX;
        seen[slot] = id;
    }
    if (!total) return shift ? 0 : 1; /* thousands of ids and none in the sample: a few ids make up the batch */
    return (double)distinct / (double)total;
}
