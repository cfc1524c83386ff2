/* gather.h: what gather.cu gives to C. */
#ifndef OMNIGRAM_OFFLOAD_GATHER_H
#define OMNIGRAM_OFFLOAD_GATHER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The launch for n rows of `units` loads each: `lanes` threads (a power of two, at most a warp) share a row. However
 * many rows there are, the grid stays small and its loop over rows, in 64 bits, takes what is more. */
enum { OG_GATHER_THREADS = 256, OG_GATHER_BLOCKS = 65536 };
typedef struct og_gather_grid {
    int32_t lanes, rows_of_block;
    int64_t blocks;
} og_gather_grid;
static inline og_gather_grid og_gather_grid_of(int64_t n, int64_t units) {
    og_gather_grid g = {1, 0, 0};
    while (g.lanes < 32 && g.lanes < units) g.lanes *= 2;
    g.rows_of_block = OG_GATHER_THREADS / g.lanes;
    g.blocks = n / g.rows_of_block + (n % g.rows_of_block != 0);
    if (g.blocks > OG_GATHER_BLOCKS) g.blocks = OG_GATHER_BLOCKS;
    return g;
}

/* out[i] = table[rows[i]] for i < n, or zeros where rows[i] < 0. Strides are bytes; elements are of `unit` bytes (16,
 * 8, 4 or 2) and all pointers and strides are multiples of it. The answer is a cudaError_t. */
int og_launch_gather_copy(const void *table, int64_t row_stride, const int64_t *rows, int64_t n, int64_t row_bytes,
                          int64_t unit, void *out, int64_t out_stride, void *stream);
/* The same with a conversion of each of dim values; to_f32: bf16 to f32, else f32 to bf16. */
int og_launch_gather_convert(const void *table, int64_t row_stride, const int64_t *rows, int64_t n, int64_t dim,
                             int32_t to_f32, void *out, int64_t out_stride, void *stream);

#ifdef __cplusplus
}
#endif
#endif
