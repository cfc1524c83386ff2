/* plan.h: shared by the packers; not a public header. */
#ifndef OMNIGRAM_PACK_PLAN_H
#define OMNIGRAM_PACK_PLAN_H

#include <omnigram/pack.h>

#define OG_PACK_CAPACITY_MAX (INT64_C(1) << 24)

/* count[w], w = 0 .. capacity: documents of that length. */
int64_t og_pack_bound_of_counts(const int64_t *count, int64_t capacity);

/* Each writes bin_of[i] for every document and returns the number of bins, or -1 when memory is
 * short. Lengths are checked. */
int64_t og_pack_best_fit(const int64_t *lengths, int64_t n, int64_t capacity, const int64_t *count, int64_t *bin_of);
int64_t og_pack_first_fit(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *bin_of);
int64_t og_pack_next_fit(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *bin_of);

#endif
