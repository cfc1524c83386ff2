/* test_dedupe.c: sort-unique with inverse against a definition, on ids of every width. */
#include "test.h"

#include "lookup/dedupe.h"
#include "lookup/row_ops.h"

#include <omnigram/lookup.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

static void holds(const int64_t *ids, int64_t n) {
    int64_t *distinct = og_alloc(n + 16, 8), *inverse = og_alloc(n + 16, 8);
    void *scratch = og_alloc(og_dedupe_bytes(n) + 64, 1);
    memset(distinct, 0xab, (size_t)(n + 16) * 8);
    memset(inverse, 0xab, (size_t)(n + 16) * 8);
    memset((uint8_t *)scratch + og_dedupe_bytes(n), 0xab, 64);
    int64_t d = og_dedupe(ids, n, distinct, inverse, scratch);
    CHECK(d <= n && (d > 0 || n == 0));
    for (int64_t i = 1; i < d; i++) CHECK(distinct[i - 1] < distinct[i]);
    uint8_t *used = og_alloc_zero(d, 1);
    for (int64_t i = 0; i < n; i++) {
        CHECK(inverse[i] >= 0 && inverse[i] < d && distinct[inverse[i]] == ids[i]);
        used[inverse[i]] = 1;
    }
    for (int64_t i = 0; i < d; i++) CHECK(used[i]);
    uint8_t guard[64];
    memset(guard, 0xab, 64);
    CHECK(memcmp((uint8_t *)scratch + og_dedupe_bytes(n), guard, 64) == 0);
    CHECK(memcmp(distinct + n, guard, 64) == 0 && memcmp(inverse + n, guard, 64) == 0);
    og_sorted s = og_sort_ids(ids, n, scratch); /* equal ids in order of position */
    for (int64_t i = 1; i < n; i++) {
        uint64_t a = og_sorted_id(&s, i - 1), b = og_sorted_id(&s, i);
        CHECK(a < b || (a == b && og_sorted_position(&s, i - 1) < og_sorted_position(&s, i)));
    }
    og_release(distinct);
    og_release(inverse);
    og_release(scratch);
    og_release(used);
}

/* Every level ranks as plain C does. */
static void levels_agree(void) {
    enum { N = 5000, WORDS = 300 };
    int64_t *ids = og_alloc(N, 8), *out = og_alloc(4 * N, 8);
    og_rank_word *words = og_alloc(WORDS, sizeof *words);
    for (int64_t i = 0; i < N; i++) ids[i] = 1000 + (int64_t)og_random_below(5, (uint64_t)i, WORDS * 64);
    int64_t want = og_row_ops_of(OG_LEVEL_C)->rank(ids, N, 1000, words, WORDS, out, out + N);
    for (int32_t level = OG_LEVEL_AVX2; level <= OG_LEVEL_AVX512; level++) {
        const og_row_ops *ops = og_row_ops_of(level);
        if (!ops) continue;
        CHECK(ops->rank(ids, N, 1000, words, WORDS, out + 2 * N, out + 3 * N) == want);
        CHECK(memcmp(out, out + 2 * N, (size_t)want * 8) == 0 && memcmp(out + N, out + 3 * N, N * 8) == 0);
    }
    og_release(ids);
    og_release(out);
    og_release(words);
}

/* Ranges ranked in parts: even ids, all in the first and last part, the longest range that is, and the first that is
 * not. */
static void parts_hold(void) {
    enum { N = 6000, PARTS = 4000 };
    int64_t *ids = og_alloc(N, 8), *out = og_alloc(4 * N, 8);
    uint32_t *scratch = og_alloc(2 * N + PARTS, 4);
    const int64_t longest = INT64_C(8192) << 16;
    const int64_t ranges[] = {INT64_C(1) << 20, INT64_C(1) << 22, INT64_C(1) << 26, longest - 1, longest + 1};
    for (int r = 0; r < 5; r++)
        for (int skew = 0; skew < 3; skew++) {
            for (int64_t i = 0; i < N; i++) {
                uint64_t at = og_random_below(6, (uint64_t)i, skew ? 3000 : (uint64_t)ranges[r]);
                ids[i] = -77 + (skew == 2 && i % 2 ? ranges[r] - 1 - (int64_t)at : (int64_t)at);
            }
            ids[17] = -77;
            ids[N - 1] = ranges[r] - 78;
            holds(ids, N);
        }
    /* Parts of about 1 to 70 ids, all different, some equal, or nearly all equal: one kernel or the other. */
    for (int low = 6; low <= 16; low++)
        for (int64_t each = 1; each < 300; each = each * 3 / 2 + 1)
            for (int equal = 0; equal < 3; equal++) {
                const int64_t used = N / each < PARTS ? N / each : PARTS, part = INT64_C(1) << low;
                for (int64_t i = 0; i < N; i++) {
                    int64_t in = equal < 2 ? (i / used * 37 + i) & (part - 1)
                                           : part - 1 - (int64_t)og_random_below(8, (uint64_t)i, 3);
                    ids[i] = -77 + i % used * part + (equal == 1 && i % 100 == 99 ? 0 : in);
                }
                const og_rank_parts parts = {.least = -77,
                                             .parts = PARTS,
                                             .low = low,
                                             .start = scratch,
                                             .rank = scratch + PARTS,
                                             .entry = (uint16_t *)(scratch + PARTS + N)};
                int64_t want = og_row_ops_of(OG_LEVEL_C)->rank_parts(ids, N, &parts, out, out + N);
                for (int64_t i = 0; i < N; i++) CHECK(out[out[N + i]] == ids[i]);
                for (int32_t level = OG_LEVEL_AVX2; level <= OG_LEVEL_AVX512; level++) {
                    const og_row_ops *ops = og_row_ops_of(level);
                    if (!ops) continue;
                    CHECK(ops->rank_parts(ids, N, &parts, out + 2 * N, out + 3 * N) == want);
                    CHECK(memcmp(out, out + 2 * N, (size_t)want * 8) == 0);
                    CHECK(memcmp(out + N, out + 3 * N, N * 8) == 0);
                }
            }
    og_release(ids);
    og_release(out);
    og_release(scratch);
}

int main(void) {
    parts_hold();
    levels_agree();
    const int64_t sizes[] = {0, 1, 2, 3, 100, 4097, 100000};
    enum { MOST = 100000 };
    int64_t *ids = og_alloc(MOST, 8);
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        int64_t n = sizes[z];
        for (int bits = 0; bits <= 63; bits += 7) { /* 0: all equal; 63: does not fit one word with its position */
            for (int64_t i = 0; i < n; i++) ids[i] = (int64_t)(og_random_bits(1, (uint64_t)i) >> 1 >> (63 - bits)) - 5;
            holds(ids, n);
        }
        for (int64_t each = 31; n && each <= 129; each++) { /* round the ranges where ranking ends and sorting begins */
            if (each == 34) each = 127;
            for (int64_t i = 0; i < n; i++)
                ids[i] = -7 + (int64_t)og_random_below(4, (uint64_t)i, (uint64_t)(each * n));
            ids[0] = -7;
            ids[n - 1] = -7 + each * n - 1;
            holds(ids, n);
        }
        for (int64_t i = 0; i < n; i++) ids[i] = (int64_t)og_random_bits(2, (uint64_t)i);
        holds(ids, n);
        for (int64_t i = 0; i < n; i++) ids[i] = i % 2 ? INT64_MAX : INT64_MIN;
        holds(ids, n);
        for (int64_t i = 0; i < n; i++) ids[i] = n - i;
        holds(ids, n);
    }
    /* The estimate that decides whether sorting pays. */
    for (int64_t share = 1; share <= 16; share *= 2) {
        for (int64_t i = 0; i < MOST; i++)
            ids[i] = (int64_t)og_random_below(3, (uint64_t)(i / share), UINT64_C(1) << 40);
        double got = og_distinct_share(ids, 1, MOST);
        CHECK(got > 0.8 / (double)share && got < 1.25 / (double)share);
    }
    for (int64_t i = 0; i < MOST; i++) ids[i] = 12345;
    CHECK(og_distinct_share(ids, 1, MOST) < 0.1);
    og_release(ids);
    return 0;
}
