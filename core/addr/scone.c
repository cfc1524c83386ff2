/* scone.c: the longest member of a set of n-grams that ends at each position. */
#include <omnigram/scone.h>

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <string.h>

struct og_scone {
    int32_t *ids;
    int64_t *first;   /* [n + 1]: where each n-gram begins in ids */
    int64_t *slots;   /* open addressing: its number, or -1 */
    uint8_t *lengths; /* [max_order + 1]: 1 where a member is so long */
    int64_t n, mask, max_order;
};

/* Newest token first, so that longer windows continue the hash of shorter ones. */
static uint64_t more(uint64_t hash, int32_t id) { return og_splitmix64(hash ^ (uint64_t)(uint32_t)id); }

/* The slot of the n-gram that ends before `end`, or the free one where it would be. */
static int64_t find(const og_scone *s, uint64_t hash, const int32_t *end, int64_t length) {
    for (int64_t slot = (int64_t)(hash & (uint64_t)s->mask);; slot = (slot + 1) & s->mask) {
        int64_t i = s->slots[slot];
        if (i < 0) return slot;
        int64_t own = s->first[i + 1] - s->first[i];
        if (own == length && !memcmp(s->ids + s->first[i], end - length, (size_t)length * sizeof *end)) return slot;
    }
}

static og_status fill(og_scone *s, const int64_t *lengths, og_error *err) {
    for (int64_t i = 0; i < s->n; i++) {
        if (lengths[i] > s->max_order) continue;
        const int32_t *end = s->ids + s->first[i + 1];
        uint64_t hash = 0;
        for (int64_t k = 1; k <= lengths[i]; k++) hash = more(hash, end[-k]);
        int64_t slot = find(s, hash, end, lengths[i]);
        if (s->slots[slot] >= 0)
            return og_fail(err, OG_EINVAL, "n-gram %lld is n-gram %lld again", (long long)i, (long long)s->slots[slot]);
        s->slots[slot] = i;
        s->lengths[lengths[i]] = 1;
    }
    return OG_OK;
}

og_status og_scone_new(const int32_t *ids, const int64_t *lengths, int64_t n, int64_t max_order, og_scone **out,
                       og_error *err) {
    int64_t total = 0, slots = 16;
    if (n < 0 || max_order < 1 || max_order > 1 << 20)
        return og_fail(err, OG_EINVAL, "%lld n-grams of at most %lld tokens", (long long)n, (long long)max_order);
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] < 1 || lengths[i] > INT64_MAX / 8 - total)
            return og_fail(err, OG_EINVAL, "n-gram %lld has %lld tokens; it has at least 1", (long long)i,
                           (long long)lengths[i]);
        total += lengths[i];
    }
    while (slots < 2 * n) slots *= 2;
    og_scone *s = og_alloc_zero(1, sizeof *s);
    if (!s) return og_fail(err, OG_ENOMEM, "no memory for a set of n-grams");
    s->ids = og_alloc(total, sizeof *s->ids);
    s->first = og_alloc(n + 1, sizeof *s->first);
    s->slots = og_alloc(slots, sizeof *s->slots);
    s->lengths = og_alloc_zero(max_order + 1, 1);
    if (!s->ids || !s->first || !s->slots || !s->lengths) {
        og_scone_free(s);
        return og_fail(err, OG_ENOMEM, "no memory for %lld n-grams", (long long)n);
    }
    if (total) memcpy(s->ids, ids, (size_t)total * sizeof *ids);
    memset(s->slots, -1, (size_t)slots * sizeof *s->slots);
    s->first[0] = 0;
    for (int64_t i = 0; i < n; i++) s->first[i + 1] = s->first[i] + lengths[i];
    s->n = n;
    s->mask = slots - 1;
    s->max_order = max_order;
    og_status status = fill(s, lengths, err);
    if (status != OG_OK) {
        og_scone_free(s);
        return status;
    }
    *out = s;
    return OG_OK;
}

void og_scone_free(og_scone *s) {
    if (!s) return;
    og_release(s->ids);
    og_release(s->first);
    og_release(s->slots);
    og_release(s->lengths);
    og_release(s);
}

og_status og_scone_match(const og_scone *s, const int32_t *ids, int64_t n, const int64_t *doc_starts, int64_t n_docs,
                         int64_t *match, og_error *err) {
    for (int64_t d = 0, before = 0; d < n_docs; before = doc_starts[d++])
        if (doc_starts[d] < before || doc_starts[d] > n)
            return og_fail(err, OG_EINVAL, "document start %lld (number %lld) is not in [%lld, %lld]",
                           (long long)doc_starts[d], (long long)d, (long long)before, (long long)n);
    int64_t start = 0, d = 0;
    for (int64_t t = 0; t < n; t++) {
        for (; d < n_docs && doc_starts[d] <= t; d++) start = doc_starts[d];
        uint64_t hash = 0;
        match[t] = -1;
        for (int64_t length = 1; length <= s->max_order && t + 1 - length >= start; length++) {
            hash = more(hash, ids[t + 1 - length]);
            if (!s->lengths[length]) continue;
            int64_t i = s->slots[find(s, hash, ids + t + 1, length)];
            if (i >= 0) match[t] = i;
        }
    }
    return OG_OK;
}
