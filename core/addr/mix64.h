/* mix64.h: the hash of addr_mix64.c for each instruction set. */
#ifndef OMNIGRAM_ADDR_MIX64_H
#define OMNIGRAM_ADDR_MIX64_H

#include <omnigram/window.h>

#define OG_MIX64_TAGS 16 /* modality tags are taken modulo it */
#define OG_MIX64_A    UINT64_C(0xbf58476d1ce4e5b9)
#define OG_MIX64_B    UINT64_C(0x94d049bb133111eb)

typedef struct og_mix64_column {
    int32_t order, head;
    uint64_t salt, rows, base;
} og_mix64_column;

typedef struct og_mix64 {
    int32_t n_columns, heads, cells;
    og_mix64_column *columns; /* orders ascend; within an order heads 0 .. heads-1 */
    uint64_t *multipliers;    /* [tag][cell][head], odd */
} og_mix64;

typedef void og_mix64_fn(const og_mix64 *mix, const og_cells *cells, int64_t *rows);
og_mix64_fn og_mix64_plain;
#ifdef OG_HAVE_AVX512
og_mix64_fn og_mix64_avx512; /* needs AVX-512 F and DQ */
#endif
#ifdef OG_HAVE_AVX2
og_mix64_fn og_mix64_avx2;
#endif
/* What this CPU runs; level (tests): 0 plain, 1 avx2, 2 avx512; NULL where the CPU or build lacks
 * it. */
og_mix64_fn *og_mix64_best(void);
og_mix64_fn *og_mix64_level(int32_t level);

#endif
