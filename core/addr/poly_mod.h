/* poly_mod.h: row = (sum over k of code_k * V^k) mod M_c, exactly, for the schemes that are
 * polynomials in V. */
#ifndef OMNIGRAM_ADDR_POLY_MOD_H
#define OMNIGRAM_ADDR_POLY_MOD_H

#include <omnigram/addr.h>

#include "addr/modulus.h"

typedef struct og_poly_column {
    og_modulus modulus;
    int32_t order, wide; /* wide: the sum of products can pass 2^64 */
    uint64_t base;
    uint64_t weight[OG_MAX_ORDER]; /* V^k mod M */
} og_poly_column;

/* n columns for codes below limit; og_release. NULL when memory is short. */
og_poly_column *og_poly_new(const og_addr_layout *layout, uint64_t vocab, uint64_t limit);
/* code[k][n]; rows[n][columns]. */
void og_poly_rows(const og_poly_column *columns, int32_t n_columns, const int32_t *const *code, int64_t n,
                  int64_t *rows);

/* orders[2 .. max_order] x splits with rows0 + row_step * j rows: OTT's and LongCat's layout. */
og_status og_poly_split_columns(og_addr_layout *layout, const char *place, int64_t max_order, int64_t splits,
                                int64_t rows0, int64_t row_step, int32_t global_rows, og_error *err);

#endif
