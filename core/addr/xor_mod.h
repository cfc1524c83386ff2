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
} og_xor_hash;

og_status og_xor_make(og_xor_hash *hash, const og_addr_layout *layout, og_error *err);
void og_xor_free(og_xor_hash *hash);
void og_xor_rows(const og_xor_hash *hash, const int32_t *const *code, int64_t n, int64_t *rows);
/* {"multipliers": [...], "primes": [[heads of an order], ...]} */
og_status og_xor_constants(const og_xor_hash *hash, char **json, og_error *err);

#endif
