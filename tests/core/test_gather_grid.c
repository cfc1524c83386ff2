/* test_gather_grid.c: the launch of the device gather for any number of rows: no product that overflows, no row left
 * out or moved twice. */
#include "test.h"

#include "offload/gather.h"

/* The loop of gather.cu, thread by thread. */
static void every_row_is_moved_once(int64_t n, int64_t units) {
    og_gather_grid g = og_gather_grid_of(n, units);
    unsigned char *moved = calloc((size_t)n, 1);
    CHECK(moved);
    for (int64_t block = 0; block < g.blocks; block++)
        for (int64_t group = 0; group < g.rows_of_block; group++)
            for (int64_t i = block * g.rows_of_block + group; i < n; i += g.blocks * g.rows_of_block) moved[i]++;
    for (int64_t i = 0; i < n; i++) CHECK(moved[i] == 1);
    free(moved);
}

static void any_count_has_a_small_grid(void) {
    for (int64_t units = 1; units <= 70; units++)
        for (int64_t n = 1; n <= INT64_MAX / 4; n = n < 1000 ? n + 1 : n * 3 + 1) {
            og_gather_grid g = og_gather_grid_of(n, units);
            CHECK(g.lanes >= 1 && g.lanes <= 32 && (g.lanes & (g.lanes - 1)) == 0 && g.lanes < 2 * units);
            CHECK(g.rows_of_block == OG_GATHER_THREADS / g.lanes);
            CHECK(g.blocks >= 1 && g.blocks <= OG_GATHER_BLOCKS); /* a grid has at most 2^31 - 1 blocks */
            CHECK(g.blocks * OG_GATHER_THREADS < INT64_C(1) << 32);
            CHECK(g.blocks == OG_GATHER_BLOCKS || g.blocks * g.rows_of_block >= n); /* else the loop takes the rest */
        }
    og_gather_grid all = og_gather_grid_of(INT64_MAX, 1);
    CHECK(all.blocks == OG_GATHER_BLOCKS);
}

int main(void) {
    any_count_has_a_small_grid();
    for (int64_t n = 1; n < 600; n++) every_row_is_moved_once(n, n % 40 + 1);
    every_row_is_moved_once((INT64_C(1) << 24) + 3, 32); /* the loop goes round 33 times */
    every_row_is_moved_once((INT64_C(1) << 26) + 2, 1);
    return 0;
}
