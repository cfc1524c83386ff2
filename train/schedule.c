/* schedule.c: the learning rate of a step, and the order in which packs come. */
#include "options.h"

#include <omnigram/random.h>

#include <math.h>

double og_schedule_factor(const og_train_options *o, int64_t step, int64_t steps) {
    if (step <= o->warmup) return (double)step / (double)o->warmup;
    int64_t span = steps - o->warmup;
    double done = span > 0 ? (double)(step - o->warmup) / (double)span : 1;
    if (done > 1) done = 1;
    switch (o->schedule) {
    case OG_SCHEDULE_COSINE: return o->lr_end + (1 - o->lr_end) * 0.5 * (1 + cos(3.14159265358979323846 * done));
    case OG_SCHEDULE_LINEAR: return 1 - (1 - o->lr_end) * done;
    case OG_SCHEDULE_WSD: {
        double flat = 1 - o->cooldown;
        return done <= flat ? 1 : 1 - (1 - o->lr_end) * (done - flat) / o->cooldown;
    }
    default: return 1;
    }
}

int64_t og_steps_available(const og_train_options *o, int64_t packs) {
    return (packs * o->epochs + o->batch - 1) / o->batch;
}

void og_order_epoch(uint64_t seed, int64_t epoch, int64_t n, int64_t *order) {
    uint64_t key = og_random_bits(og_splitmix64(seed ^ 0x6f72646572ull), (uint64_t)epoch);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) { /* Fisher-Yates */
        int64_t j = (int64_t)og_random_below(key, (uint64_t)i, (uint64_t)i + 1);
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}
