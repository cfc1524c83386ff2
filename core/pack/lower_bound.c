/* lower_bound.c: Martello and Toth's L2 bound of bin packing (Knapsack Problems, 1990,
 * section 8.3), exact. */
#include "pack/plan.h"

#include <omnigram/memory.h>

/* For each threshold a in 0 .. C/2: items above C-a need a bin of their own; so do those in (C/2,
 * C-a], whose bins have some room left; items in [a, C/2] fill that room first. The best
 * threshold's count is L2. */
int64_t og_pack_bound_of_counts(const int64_t *count, int64_t capacity) {
    int64_t half = capacity / 2, big = 0, sum_big = 0, small_sum = 0, best = 0;
    for (int64_t w = half + 1; w <= capacity; w++) {
        big += count[w];
        sum_big += count[w] * w;
    }
    for (int64_t w = 1; w <= half; w++) small_sum += count[w] * w;
    int64_t alone = 0;
    for (int64_t a = 0; a <= half; a++) {
        if (a > 0) { /* w = C-a+1 goes from "shares" to "alone"; w = a-1 is too small to matter now */
            int64_t w = capacity - a + 1;
            alone += count[w];
            if (a > 1) small_sum -= count[a - 1] * (a - 1);
            big -= count[w];
            sum_big -= count[w] * w;
        }
        int64_t over = small_sum - (big * capacity - sum_big);
        int64_t bins = alone + big + (over > 0 ? (over + capacity - 1) / capacity : 0);
        if (bins > best) best = bins;
    }
    return best;
}

int64_t og_pack_lower_bound(const int64_t *lengths, int64_t n, int64_t capacity) {
    if (n < 0 || capacity < 1 || capacity > OG_PACK_CAPACITY_MAX) return -1;
    int64_t *count = og_alloc_zero(capacity + 1, sizeof *count);
    if (!count) return -1;
    int64_t bound = -1;
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] < 1 || lengths[i] > capacity) goto done;
        count[lengths[i]]++;
    }
    bound = og_pack_bound_of_counts(count, capacity);
done:
    og_release(count);
    return bound;
}
