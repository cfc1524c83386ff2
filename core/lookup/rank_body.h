/* rank_body.h: sort-unique with inverse of ids from a short range: a bit for each id of the range, and how many ids
 * that occur come before each word of 64. Included by row_ops_body.h, for population counts want the CPU's instruction.
 */

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
        int64_t r = here.before + __builtin_popcountll(here.set & ((UINT64_C(1) << (at & 63)) - 1));
        inverse[i] = r;
        distinct[r] = ids[i];
    }
    return d;
}
