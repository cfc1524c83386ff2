/* rank_body.h: sort-unique with inverse of ids from a short range: a bit for each id of the range, and how many ids
 * that occur come before each word of 64. Included by row_ops_body.h, for population counts want the
 * CPU's instruction. */

/* Set bits under bit i. A mask of i bits goes through mask registers in GCC 12's AVX-512 code, which a
 * shift does not. */
static inline int64_t ones_below(uint64_t set, uint64_t i) { return __builtin_popcountll(set << 1 << (63 - i)); }

/* Asks for the line that will be written OG_STREAM_AHEAD bytes later. */
static inline void write_ahead(const void *at) {
    OG_KEEP_PREFETCH();
    __builtin_prefetch((const void *)((uintptr_t)at + OG_STREAM_AHEAD), 1, 3);
}

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

/* Ids of one part, less its first id: entry[0 .. n). The distinct ones go to distinct[d] and on, what each is among all
 * of them to rank[0 .. n). set: zeros, and so again at the end. Returns d after the part. */
static inline int64_t rank_part(const uint16_t *restrict entry, uint32_t n, int low, uint64_t first,
                                uint64_t *restrict set, int64_t d, int64_t *restrict distinct,
                                uint32_t *restrict rank) {
    uint32_t before[OG_RANK_PART / 64];
    uint64_t some[OG_RANK_PART / 4096] = {0}; /* words of set that are not zero */
    for (uint32_t e = 0; e < n; e++) {
        uint32_t at = entry[e];
        set[at >> 6] |= UINT64_C(1) << (at & 63);
        some[at >> 12] |= UINT64_C(1) << (at >> 6 & 63);
    }
    for (int s = 0; s <= ((1 << low) - 1) >> 12; s++)
        for (uint64_t bits = some[s]; bits; bits &= bits - 1) {
            int w = s * 64 + __builtin_ctzll(bits);
            before[w] = (uint32_t)d;
            d += __builtin_popcountll(set[w]);
        }
    for (uint32_t e = 0; e < n; e++) {
        uint32_t at = entry[e];
        rank[e] = before[at >> 6] + (uint32_t)ones_below(set[at >> 6], at & 63);
        distinct[rank[e]] = (int64_t)(first + at);
    }
    for (uint32_t e = 0; e < n; e++) set[entry[e] >> 6] = 0;
    return d;
}

/* The same for a longer range, in parts of 2^low ids, whose bits and counts lie in the first-level cache. Meanwhile
 * inverse holds where each id went among the parts: to read ranks from there at the end is cheaper than to write them
 * out of order. */
static int64_t rank_parts(const int64_t *restrict ids, int64_t n, const og_rank_parts *p, int64_t *restrict distinct,
                          int64_t *restrict inverse) {
    uint32_t *restrict start = p->start, *restrict ranks = p->rank;
    uint16_t *restrict entry = p->entry;
    const uint64_t least = (uint64_t)p->least;
    const int low = p->low;
    memset(start, 0, (size_t)p->parts * sizeof *start);
    for (int64_t i = 0; i < n; i++) start[((uint64_t)ids[i] - least) >> low]++;
    uint32_t sum = 0;
    for (int64_t k = 0; k < p->parts; k++) {
        uint32_t here = start[k];
        start[k] = sum;
        sum += here;
    }
    for (int64_t begin = 0; begin < n; begin += 8) {
        write_ahead(inverse + begin);
        int64_t end = n - begin < 8 ? n : begin + 8;
        for (int64_t i = begin; i < end; i++) {
            uint64_t at = (uint64_t)ids[i] - least;
            uint32_t slot = start[at >> low]++;
            entry[slot] = (uint16_t)(at & ((UINT64_C(1) << low) - 1));
            inverse[i] = slot;
        }
    }
    uint64_t set[OG_RANK_PART / 64] = {0};
    int64_t d = 0;
    uint32_t begin = 0;
    for (int64_t k = 0; k < p->parts; k++) { /* start[k] has moved to the end of part k */
        const uint32_t here = start[k] - begin;
        const uint64_t first = least + ((uint64_t)k << low);
        for (uint32_t e = 0; e < here; e += 8) write_ahead(distinct + d + e);
        for (uint32_t e = 0; e < here; e += 16) write_ahead(ranks + begin + e);
        if (rank_few(entry + begin, here, first, d, distinct + d, ranks + begin))
            d += here;
        else
            d = rank_part(entry + begin, here, low, first, set, d, distinct, ranks + begin);
        begin = start[k];
    }
    for (int64_t i = 0; i < n; i++) inverse[i] = ranks[inverse[i]];
    return d;
}
