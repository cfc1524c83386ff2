/* plan.c: lengths to a plan: which document lies in which pack. */
#include "pack/plan.h"

#include <omnigram/memory.h>

static og_status counts_of(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *count, int64_t *sum,
                           og_error *err) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t w = lengths[i];
        if (w < 1 || w > capacity)
            return og_fail(err, OG_EINVAL, "length %lld at index %lld; it must be 1 .. %lld (the capacity)",
                           (long long)w, (long long)i, (long long)capacity);
        count[w]++;
        total += w; /* < 2^24 * 2^39: n is bounded by memory */
    }
    *sum = total;
    return OG_OK;
}

/* Bins in opening order, documents of a bin in input order. */
static void group(og_pack_plan *plan, const int64_t *bin_of, int64_t n) {
    int64_t *end = plan->bin_offsets + 1;
    for (int64_t i = 0; i < n; i++) end[bin_of[i]]++;
    int64_t at = 0;
    for (int64_t b = 0; b < plan->n_bins; b++) {
        int64_t size = end[b];
        end[b] = at; /* moves to its end while the bin fills */
        at += size;
    }
    for (int64_t i = 0; i < n; i++) plan->docs[end[bin_of[i]]++] = i;
}

og_status og_pack_lengths(const int64_t *lengths, int64_t n, int64_t capacity, int32_t method, og_pack_plan **out,
                          og_error *err) {
    if (n < 0) return og_fail(err, OG_EINVAL, "%lld lengths", (long long)n);
    if (capacity < 1 || capacity > OG_PACK_CAPACITY_MAX)
        return og_fail(err, OG_EINVAL, "pack capacity %lld; it must be 1 .. %lld tokens", (long long)capacity,
                       (long long)OG_PACK_CAPACITY_MAX);
    if (method < OG_PACK_BEST_FIT || method > OG_PACK_NONE)
        return og_fail(err, OG_EINVAL, "packing method %d; it must be 0 .. 3", method);
    og_pack_plan *plan = og_alloc_zero(1, sizeof *plan);
    int64_t *count = og_alloc_zero(capacity + 1, sizeof *count), *bin_of = og_alloc(n, sizeof *bin_of), sum = 0,
            bins = 0;
    og_status status = OG_OK;
    if (!plan || !count || !bin_of) {
        status = og_fail(err, OG_ENOMEM, "no memory to pack %lld lengths", (long long)n);
        goto done;
    }
    status = counts_of(lengths, n, capacity, count, &sum, err);
    if (status != OG_OK) goto done;
    if (method == OG_PACK_BEST_FIT)
        bins = og_pack_best_fit(lengths, n, capacity, count, bin_of);
    else if (method == OG_PACK_FIRST_FIT)
        bins = og_pack_first_fit(lengths, n, capacity, bin_of);
    else if (method == OG_PACK_CONCAT)
        bins = og_pack_next_fit(lengths, n, capacity, bin_of);
    else {
        for (int64_t i = 0; i < n; i++) bin_of[i] = i;
        bins = n;
    }
    if (bins >= 0) plan->bin_offsets = og_alloc_zero(bins + 1, sizeof *plan->bin_offsets);
    plan->docs = og_alloc(n, sizeof *plan->docs);
    if (bins < 0 || !plan->bin_offsets || !plan->docs) {
        status = og_fail(err, OG_ENOMEM, "no memory to pack %lld lengths", (long long)n);
        goto done;
    }
    plan->n_bins = bins;
    group(plan, bin_of, n);
    plan->lower_bound = og_pack_bound_of_counts(count, capacity);
    plan->fill = bins ? (double)sum / ((double)bins * (double)capacity) : 0;
    *out = plan;
    plan = NULL;
done:
    og_release(count);
    og_release(bin_of);
    og_pack_plan_free(plan);
    return status;
}

void og_pack_plan_free(og_pack_plan *plan) {
    if (!plan) return;
    og_release(plan->bin_offsets);
    og_release(plan->docs);
    og_release(plan);
}
