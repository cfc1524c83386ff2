/* engram_constants.c: Engram's multipliers (numpy's generator) and its prime search. */
#include "addr/engram_constants.h"
#include "addr/pcg64.h"
#include "addr/primes.h"

#include <omnigram/memory.h>
#include <omnigram/window.h>

#define PRIMES_MOST (1 << 16)

void og_engram_multipliers(uint64_t seed, uint64_t layer, int64_t vocab, int32_t cells, uint64_t *out) {
    uint64_t half = (uint64_t)INT64_MAX / (uint64_t)vocab / 2;
    og_pcg64 rng;
    og_pcg64_seed(&rng, seed + 10007 * layer);
    for (int32_t k = 0; k < cells; k++) out[k] = 2 * og_pcg64_below(&rng, half ? half : 1) + 1;
}

og_status og_engram_primes(og_i64_list layers, int64_t layer, og_i64_list starts, int64_t heads, int64_t *primes,
                           og_error *err) {
    int64_t at_layer = 0;
    while (at_layer < layers.n && layers.values[at_layer] != layer) at_layer++;
    if (at_layer == layers.n) return og_fail(err, OG_EINVAL, "layer_id %lld is not in all_layers", (long long)layer);
    if (at_layer + 1 > PRIMES_MOST / (starts.n * heads))
        return og_fail(err, OG_EINVAL,
                       "layer_id %lld asks for the primes after those of %lld layers of %lld; the limit is %d in all",
                       (long long)layer, (long long)at_layer, (long long)(starts.n * heads), PRIMES_MOST);
    /* Each layer begins anew at the starts, and finds every prime taken up to the one that its order found last. */
    uint64_t last[OG_MAX_ORDER];
    for (int64_t order = 0; order < starts.n; order++) last[order] = (uint64_t)starts.values[order] - 1;
    og_prime_set seen;
    OG_TRY(og_prime_set_new((at_layer + 1) * starts.n * heads, &seen, err));
    og_status status = OG_OK;
    for (int64_t l = 0; l <= at_layer && status == OG_OK; l++)
        for (int64_t order = 0; order < starts.n && status == OG_OK; order++) {
            for (int64_t head = 0; head < heads && status == OG_OK; head++) {
                status = og_prime_take(&seen, last[order], &last[order], err);
                if (l == at_layer) primes[order * heads + head] = (int64_t)last[order];
            }
        }
    og_release(seen.values);
    return status;
}
