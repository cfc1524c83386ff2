/* Packers: placement rules, exactness of the bound, bad lengths. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/pack.h>
#include <omnigram/random.h>

#include <time.h>

static og_error err;
static uint64_t next_random;
static int64_t below(int64_t n) { /* xorshift: the test must not need what it tests */
    next_random ^= next_random << 13;
    next_random ^= next_random >> 7;
    next_random ^= next_random << 17;
    return (int64_t)(next_random % (uint64_t)n);
}

/* Best-fit decreasing by its definition, quadratic. Returns the number of bins. */
static int64_t best_fit_slow(const int64_t *lengths, int64_t n, int64_t capacity) {
    int64_t sorted[64], room[64], bins = 0;
    memcpy(sorted, lengths, (size_t)n * sizeof *sorted);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            if (sorted[j] > sorted[i]) {
                int64_t t = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = t;
            }
    for (int64_t i = 0; i < n; i++) {
        int64_t best = -1;
        for (int64_t b = 0; b < bins; b++)
            if (room[b] >= sorted[i] && (best < 0 || room[b] < room[best])) best = b;
        if (best < 0) room[best = bins++] = capacity;
        room[best] -= sorted[i];
    }
    return bins;
}
static int64_t first_fit_slow(const int64_t *lengths, int64_t n, int64_t capacity) {
    int64_t room[64], bins = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t b = 0;
        while (b < bins && room[b] < lengths[i]) b++;
        if (b == bins) room[bins++] = capacity;
        room[b] -= lengths[i];
    }
    return bins;
}
/* L2 by its definition, over every threshold. */
static int64_t bound_slow(const int64_t *lengths, int64_t n, int64_t capacity) {
    int64_t best = 0;
    for (int64_t a = 0; 2 * a <= capacity; a++) {
        int64_t alone = 0, shared = 0, shared_sum = 0, small = 0;
        for (int64_t i = 0; i < n; i++) {
            if (lengths[i] > capacity - a)
                alone++;
            else if (2 * lengths[i] > capacity) {
                shared++;
                shared_sum += lengths[i];
            } else if (lengths[i] >= a)
                small += lengths[i];
        }
        int64_t over = small - (shared * capacity - shared_sum);
        int64_t bins = alone + shared + (over > 0 ? (over + capacity - 1) / capacity : 0);
        if (bins > best) best = bins;
    }
    return best;
}
/* The fewest bins of any packing, by search; n is small. */
static int64_t optimum(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *room, int64_t used, int64_t best) {
    if (used >= best) return best;
    if (n == 0) return used;
    for (int64_t b = 0; b <= used; b++) {
        if (b == used) room[b] = capacity;
        if (room[b] < lengths[0]) continue;
        room[b] -= lengths[0];
        best = optimum(lengths + 1, n - 1, capacity, room, b == used ? used + 1 : used, best);
        room[b] += lengths[0];
    }
    return best;
}

static void check_plan(const og_pack_plan *plan, const int64_t *lengths, int64_t n, int64_t capacity) {
    char seen[64] = {0};
    int64_t total = 0;
    CHECK(plan->bin_offsets[0] == 0 && plan->bin_offsets[plan->n_bins] == n);
    for (int64_t b = 0; b < plan->n_bins; b++) {
        int64_t sum = 0;
        CHECK(plan->bin_offsets[b] < plan->bin_offsets[b + 1]);
        for (int64_t k = plan->bin_offsets[b]; k < plan->bin_offsets[b + 1]; k++) {
            CHECK(plan->docs[k] >= 0 && plan->docs[k] < n && !seen[plan->docs[k]]);
            seen[plan->docs[k]] = 1;
            sum += lengths[plan->docs[k]];
        }
        CHECK(sum <= capacity);
        total += sum;
    }
    CHECK(plan->n_bins == 0 || fabs(plan->fill - (double)total / (double)(plan->n_bins * capacity)) < 1e-12);
}

static void test_against_definitions(void) {
    next_random = 88172645463325252u;
    for (int round = 0; round < 3000; round++) {
        int64_t capacity = 1 + below(round % 2 ? 20 : 300), n = below(round % 3 ? 9 : 60), lengths[64], room[64];
        for (int64_t i = 0; i < n; i++) lengths[i] = 1 + below(capacity);
        og_pack_plan *plan;
        CHECK_OK(og_pack_lengths(lengths, n, capacity, OG_PACK_BEST_FIT, &plan, &err));
        check_plan(plan, lengths, n, capacity);
        CHECK(plan->n_bins == best_fit_slow(lengths, n, capacity));
        CHECK(plan->lower_bound == bound_slow(lengths, n, capacity));
        CHECK(plan->lower_bound == og_pack_lower_bound(lengths, n, capacity));
        if (n <= 8) {
            int64_t fewest = optimum(lengths, n, capacity, room, 0, n + 1);
            CHECK(plan->lower_bound <= fewest && fewest <= plan->n_bins);
        }
        og_pack_plan_free(plan);
        CHECK_OK(og_pack_lengths(lengths, n, capacity, OG_PACK_FIRST_FIT, &plan, &err));
        check_plan(plan, lengths, n, capacity);
        CHECK(plan->n_bins == first_fit_slow(lengths, n, capacity));
        og_pack_plan_free(plan);
        CHECK_OK(og_pack_lengths(lengths, n, capacity, OG_PACK_CONCAT, &plan, &err));
        check_plan(plan, lengths, n, capacity);
        for (int64_t k = 0; k < n; k++) CHECK(plan->docs[k] == k); /* order is kept */
        og_pack_plan_free(plan);
        CHECK_OK(og_pack_lengths(lengths, n, capacity, OG_PACK_NONE, &plan, &err));
        CHECK(plan->n_bins == n);
        check_plan(plan, lengths, n, capacity);
        og_pack_plan_free(plan);
    }
}

static void test_bad_lengths(void) {
    og_pack_plan *plan = NULL;
    const int64_t zero[] = {3, 0, 2}, lengthy[] = {3, 9};
    CHECK_FAILS(og_pack_lengths(zero, 3, 8, OG_PACK_BEST_FIT, &plan, &err), OG_EINVAL, "length 0 at index 1");
    CHECK_FAILS(og_pack_lengths(lengthy, 2, 8, OG_PACK_BEST_FIT, &plan, &err), OG_EINVAL, "length 9 at index 1");
    CHECK_FAILS(og_pack_lengths(lengthy, 2, 0, OG_PACK_BEST_FIT, &plan, &err), OG_EINVAL, "capacity 0");
    CHECK_FAILS(og_pack_lengths(lengthy, 2, INT64_C(1) << 40, OG_PACK_BEST_FIT, &plan, &err), OG_EINVAL,
                "1099511627776");
    CHECK_FAILS(og_pack_lengths(lengthy, 2, 16, 7, &plan, &err), OG_EINVAL, "method 7");
    CHECK(plan == NULL && og_pack_lower_bound(zero, 3, 8) == -1);
}

/* Totals past 2^31 tokens. */
static void test_64_bit_totals(void) {
    int64_t n = 300, *lengths = malloc((size_t)n * sizeof *lengths);
    for (int64_t i = 0; i < n; i++) lengths[i] = (INT64_C(1) << 24) - i;
    og_pack_plan *plan;
    CHECK_OK(og_pack_lengths(lengths, n, INT64_C(1) << 24, OG_PACK_BEST_FIT, &plan, &err));
    CHECK(plan->n_bins == n && plan->lower_bound == n && plan->fill > 0.99 && plan->fill < 1);
    og_pack_plan_free(plan);
    free(lengths);
}

/* Log-normal lengths (Alpaca-like): near the bound; the speed is printed, not checked: machines
 * differ. */
static void test_large(void) {
    for (int64_t n = 10000; n <= 1000000; n *= 100) {
        int64_t *lengths = malloc((size_t)n * sizeof *lengths);
        next_random = 1;
        for (int64_t i = 0; i < n; i++) {
            double u = 0;
            for (int k = 0; k < 12; k++) u += (double)below(1 << 20) / (1 << 20);
            double w = exp(4.6 + 0.9 * (u - 6));
            lengths[i] = w < 1 ? 1 : w > 2048 ? 2048 : (int64_t)w;
        }
        double least = 1e9;
        og_pack_plan *plan = NULL;
        for (int r = 0; r < (n > 100000 ? 3 : 20); r++) {
            og_pack_plan_free(plan);
            struct timespec a, b;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
            CHECK_OK(og_pack_lengths(lengths, n, 2048, OG_PACK_BEST_FIT, &plan, &err));
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
            double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
            if (s < least) least = s;
        }
        printf("%lld documents: %lld bins, bound %lld, fill %.5f, %.1f M documents/s\n", (long long)n,
               (long long)plan->n_bins, (long long)plan->lower_bound, plan->fill, (double)n / least / 1e6);
        CHECK((double)plan->n_bins <= 1.005 * (double)plan->lower_bound + 1);
        og_pack_plan_free(plan);
        free(lengths);
    }
}

static void test_id_map(void) {
    og_id_map map;
    CHECK_OK(og_id_map_make(2000, 256, 1, 64, 4, &map, &err));
    CHECK(map.base[OG_TEXT] == 0 && map.base[OG_IMAGE] == 2000 && map.base[OG_AUDIO] == 2256 &&
          map.base[OG_MARKER] == 2512 && map.size == 2520);
    CHECK_OK(og_id_map_check(&map, &err));
    CHECK(og_id_modality(&map, 1999) == OG_TEXT && og_id_modality(&map, 2000) == OG_IMAGE &&
          og_id_modality(&map, 2511) == OG_AUDIO && og_id_modality(&map, 2519) == OG_MARKER &&
          og_id_modality(&map, 2520) == -1 && og_id_modality(&map, -1) == -1);
    og_id_map broken = map;
    broken.base[OG_IMAGE] = 1999;
    CHECK_FAILS(og_id_map_check(&broken, &err), OG_EINVAL, "overlap");
    CHECK_FAILS(og_id_map_make(2147483640, 0, 1, 0, 1, &map, &err), OG_EINVAL, "2147483648 ids");
    CHECK_FAILS(og_id_map_make(-1, 0, 1, 0, 1, &map, &err), OG_EINVAL, "-1 text codes");
    CHECK_FAILS(og_id_map_make(1, 2147483647, 2147483647, 0, 1, &map, &err), OG_EINVAL, "image");
}

int main(void) {
    test_id_map();
    test_against_definitions();
    test_bad_lengths();
    test_64_bit_totals();
    test_large();
    CHECK(og_alloc_count() == 0);
    return 0;
}
