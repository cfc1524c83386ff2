/* rank_body.h: sort-unique with inverse of ids from a short range: a bit for each id of the range, and how many ids
 * that occur come before each word of 64. Included by row_ops_body.h, for population counts want the CPU's instruction.
 */

/* Set bits under bit i. A mask of i bits goes through mask registers in GCC 12's AVX-512 code, which a shift does not.
 */
static inline int64_t ones_below(uint64_t set, uint64_t i) { return __builtin_popcountll(set << 1 << (63 - i)); }

/* ids in [least, least + 64 * words); words: scratch. Returns how many are distinct. */
static int64_t rank(const int64_t *restrict ids, int64_t n, int64_t least, og_rank_word *restrict word, int64_t words,
                    int64_t *restrict distinct, int64_t *restrict inverse) {
    memset(word, 0, (size_t)words * sizeof *word);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)ids[i] - (uint64_t)least;
        word[at >> 6].set |= UINT64_C(1) << (at & 63);
    }
    int64_t d = 0;
    for (int64_t w = 0; w < words; w++) {
        word[w].before = d;
        d += __builtin_popcountll(word[w].set);
    }
    for (int64_t i = 0; i < n; i++) { /* equal ids write the same value: no branch */
        uint64_t at = (uint64_t)ids[i] - (uint64_t)least;
        og_rank_word here = word[at >> 6];
        int64_t r = here.before + ones_below(here.set, at & 63);
        inverse[i] = r;
        distinct[r] = ids[i];
    }
    return d;
}

/* The same for a longer range, in parts of 2^low ids: bits and counts of a part lie in the first-level cache, and an id
 * with its position fits 32 bits once its part is known. p->start: [parts + 1] scratch; p->entry: [n] scratch. */
static int64_t rank_parts(const int64_t *restrict ids, int64_t n, const og_rank_parts *p, int64_t *restrict distinct,
                          int64_t *restrict inverse) {
    enum { AHEAD = 48 };
    uint32_t *restrict entry = p->entry, *restrict start = p->start;
    const uint64_t least = (uint64_t)p->least;
    const int low = p->low, position = p->position_bits;
    const uint32_t low_mask = (UINT32_C(1) << low) - 1, position_mask = (UINT32_C(1) << position) - 1;
    memset(start, 0, (size_t)p->parts * sizeof *start);
    for (int64_t i = 0; i < n; i++) start[((uint64_t)ids[i] - least) >> low]++;
    uint32_t sum = 0;
    for (int64_t k = 0; k < p->parts; k++) {
        uint32_t here = start[k];
        start[k] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)ids[i] - least;
        entry[start[at >> low]++] = ((uint32_t)at & low_mask) << position | (uint32_t)i;
    }
    uint64_t set[OG_RANK_PART / 64] = {0};
    uint32_t before[OG_RANK_PART / 64];
    int64_t d = 0;
    uint32_t begin = 0;
    for (int64_t k = 0; k < p->parts; k++) { /* start[k] has moved to the end of part k */
        uint32_t end = start[k];
        if (begin == end) continue;
        uint64_t some[OG_RANK_PART / 4096] = {0}; /* words of set that are not zero */
        for (uint32_t e = begin; e < end; e++) {
            uint32_t at = entry[e] >> position;
            set[at >> 6] |= UINT64_C(1) << (at & 63);
            some[at >> 12] |= UINT64_C(1) << (at >> 6 & 63);
        }
        for (int s = 0; s < OG_RANK_PART / 4096; s++)
            for (uint64_t bits = some[s]; bits; bits &= bits - 1) {
                int w = s * 64 + __builtin_ctzll(bits);
                before[w] = (uint32_t)d;
                d += __builtin_popcountll(set[w]);
            }
        const uint64_t first = least + ((uint64_t)k << low);
        for (uint32_t e = begin; e < end; e++) {
            if (e + AHEAD < n) __builtin_prefetch(&inverse[entry[e + AHEAD] & position_mask], 1, 3);
            uint32_t at = entry[e] >> position;
            int64_t r = before[at >> 6] + ones_below(set[at >> 6], at & 63);
            inverse[entry[e] & position_mask] = r;
            distinct[r] = (int64_t)(first + at);
        }
        for (uint32_t e = begin; e < end; e++) set[entry[e] >> position >> 6] = 0;
        begin = end;
    }
    return d;
}
