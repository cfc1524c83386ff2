/* Threads. No library thread starts by itself: a caller makes a pool and passes it; NULL means "this thread". */
#ifndef OMNIGRAM_POOL_H
#define OMNIGRAM_POOL_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_pool og_pool;

/* n_threads in 1..1024 counts the calling thread, so a pool of 1 starts none. Not for use after fork. */
OG_API og_status og_pool_new(int32_t n_threads, og_pool **out, og_error *err) OG_MUST_USE;
OG_API void og_pool_free(og_pool *pool);             /* joins; NULL is fine */
OG_API int32_t og_pool_threads(const og_pool *pool); /* NULL: 1 */

/* One part of [0, n): [k * grain, (k + 1) * grain). Parts are cut at multiples of grain whatever the thread count is,
 * so that a function that works part by part gives the same bits for any pool. worker is in 0..threads-1. */
typedef void og_range_fn(void *context, int64_t begin, int64_t end, int32_t worker);

/* Calls fn over all of [0, n) and returns when every part is done. The caller works too. Calls on
 * one pool from several threads wait for each other; a call from inside fn runs on that thread alone. grain >= 1. */
OG_API void og_pool_for(og_pool *pool, int64_t n, int64_t grain, og_range_fn *fn, void *context);

/* og_pool_for is to follow: wakes the workers, which wait for it a tenth of a millisecond without sleep, while the
 * caller prepares it. Changes no result; where no call follows nothing happens. NULL is fine. */
OG_API void og_pool_expect(og_pool *pool);

OG_END
#endif
