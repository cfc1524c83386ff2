/* engram_constants.c: Engram's multipliers (numpy's generator) and its prime search. */
#include "addr/engram_constants.h"
#include "addr/pcg64.h"
#include "addr/primes.h"

#include <omnigram/memory.h>

void og_engram_multipliers(uint64_t seed, uint64_t layer, int64_t vocab, int32_t cells, uint64_t *out) {
    uint64_t half = (uint64_t)INT64_MAX / (uint64_t)vocab / 2;
    og_pcg64 rng;
    og_pcg64_seed(&rng, seed + 10007 * layer);
    for (int32_t k = 0; k < cells; k++) out[k] = 2 * og_pcg64_below(&rng, half ? half : 1) + 1;
}

/* Sorted numbers with insertion: thousands at most, and they come nearly in order. */
typedef struct taken {
    uint64_t *values;
    int64_t n;
} taken;

static int64_t place_of(const taken *t, uint64_t value) {
    int64_t low = 0, high = t->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (t->values[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

og_status og_engram_primes(og_i64_list layers, int64_t layer, og_i64_list starts, int64_t heads, int64_t *primes, og_error *err) {
    int64_t at_layer = 0;
    while (at_layer < layers.n && layers.values[at_layer] != layer) at_layer++;
    if (at_layer == layers.n)
        return og_fail(err, OG_EINVAL, "layer_id %lld is not in all_layers", (long long)layer);
    taken seen = {og_alloc((at_layer + 1) * starts.n * heads, sizeof(uint64_t)), 0};
    if (!seen.values) return og_fail(err, OG_ENOMEM, "no memory for %lld primes", (long long)((at_layer + 1) * starts.n * heads));
    og_status status = OG_OK;
    for (int64_t l = 0; l <= at_layer && status == OG_OK; l++)
        for (int64_t order = 0; order < starts.n && status == OG_OK; order++) {
            uint64_t p = (uint64_t)starts.values[order] - 1;
            for (int64_t head = 0; head < heads; head++) {
                int64_t place;
                do {
                    p = og_prime_above(p);
                    place = place_of(&seen, p);
                } while (p && place < seen.n && seen.values[place] == p);
                if (!p) {
                    status = og_fail(err, OG_EINVAL, "no prime is left above %lld", (long long)starts.values[order]);
                    break;
                }
                for (int64_t i = seen.n; i > place; i--) seen.values[i] = seen.values[i - 1];
                seen.values[place] = p;
                seen.n++;
                if (l == at_layer) primes[order * heads + head] = (int64_t)p;
            }
        }
    og_release(seen.values);
    return status;
}
