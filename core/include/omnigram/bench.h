/* What benchmarks compare the library with: plain loops as one would write them first, and what the machine can do at
 * most. No data path uses these. */
#ifndef OMNIGRAM_BENCH_H
#define OMNIGRAM_BENCH_H

#include <omnigram/status.h>

OG_BEGIN

/* out[i] = row ids[i]: one memcpy a row. */
OG_API void og_bench_gather_plain(const void *table, int64_t stride, const int64_t *ids, int64_t n, int64_t row_bytes,
                                  void *out);
/* The ceiling of a gather: n of `rows` rows of row_bytes from places that a generator draws, prefetched, copied by the
 * instructions that lookups use and written to the same output; no ids are read, nothing is checked or counted. ids not
 * NULL: the rows that these name, which costs 8 more bytes read a row. stream: 1 writes past the caches; a measurement
 * takes the better of the two. */
OG_API void og_bench_gather_ceiling(const void *table, int64_t stride, int64_t rows, const int64_t *ids, uint64_t seed,
                                    int64_t n, int64_t row_bytes, int32_t stream, void *out);
/* Row-wise Adagrad on bf16 rows in the order of ids, duplicates one after the other; state: one f32 at state_offset of
 * a row. */
OG_API void og_bench_adagrad_plain(void *table, int64_t stride, int64_t state_offset, const int64_t *ids, int64_t n,
                                   const float *grads, int64_t dim, float lr, float eps);
/* A compute step that stays in the first-level cache: `steps` rounds of arithmetic; returns a value that depends on
 * all. */
OG_API float og_bench_compute(int64_t steps);

OG_END
#endif
