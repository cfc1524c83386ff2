/* xor_mod.h: row = (XOR over k of code_k * multiplier_k) mod prime: the hash of Engram and of
 * Qwen's n-gram layer. */
#ifndef OMNIGRAM_ADDR_XOR_MOD_H
#define OMNIGRAM_ADDR_XOR_MOD_H

#include <omnigram/addr.h>

#include "addr/modulus.h"

typedef struct og_xor_hash {
    int32_t n_columns, cells;
    uint64_t multiplier[OG_MAX_ORDER];
    og_modulus *modulus; /* [n_columns] */
    og_column *columns;  /* orders ascend */
    int32_t wide;        /* 1: every modulus is in the range of og_xor_rows_avx512 */
} og_xor_hash;

#define OG_XOR_WIDE_LEAST (UINT64_C(1) << 13)
#define OG_XOR_WIDE_MOST  (UINT64_C(1) << 62) /* below it: twice a modulus is an int64 */

og_status og_xor_make(og_xor_hash *hash, const og_addr_layout *layout, og_error *err);
void og_xor_free(og_xor_hash *hash);
void og_xor_rows(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows);
/* og_xor_rows of one instruction set: the same bits. */
void og_xor_rows_plain(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows);
#ifdef OG_HAVE_AVX512
void og_xor_rows_avx512(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows);
#endif
/* {"multipliers": [...], "primes": [[heads of an order], ...]} */
og_status og_xor_constants(const og_xor_hash *hash, char **json, og_error *err);

#endif
