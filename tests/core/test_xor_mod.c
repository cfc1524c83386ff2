/* test_xor_mod.c: XOR hashes of every instruction set against plain C and against % of 128-bit integers, where a
 * quotient in doubles is hardest: next to multiples of the modulus, at both ends of int64, for the least and largest
 * moduli. */
#include "test.h"

#include "addr/xor_mod.h"

#include <omnigram/internal/cpu.h>
#include <omnigram/random.h>

enum { COLUMNS = 21, CELLS = 3 };

__extension__ typedef __int128 i128;

static og_modulus modulus[COLUMNS];
static og_column columns[COLUMNS];
static og_xor_hash hash = {.n_columns = COLUMNS, .cells = CELLS, .modulus = modulus, .columns = columns, .wide = 1};

/* 3 columns of order 1, 9 of order 2, 9 of order 3: vectors of 3, 8, 1, 8 and 1 columns. */
static void make(int round) {
    static const uint64_t ends[] = {OG_XOR_WIDE_LEAST,       OG_XOR_WIDE_LEAST + 1,    646403,
                                    (UINT64_C(1) << 31) - 1, (UINT64_C(1) << 32) + 15, (UINT64_C(1) << 53) + 5,
                                    OG_XOR_WIDE_MOST - 1};
    for (int c = 0; c < COLUMNS; c++) {
        uint64_t bits = og_random_bits(1, (uint64_t)(round * COLUMNS + c)), m = ends[(c + round) % 7];
        if (round > 6) m = OG_XOR_WIDE_LEAST + (bits >> 3) % ((OG_XOR_WIDE_MOST - OG_XOR_WIDE_LEAST) >> bits % 48);
        modulus[c] = og_modulus_of(m);
        columns[c] = (og_column){.order = c < 3    ? 1
                                          : c < 12 ? 2
                                                   : 3,
                                 .rows = (int64_t)m,
                                 .base = c % 4 * INT64_C(1000)};
    }
    for (int k = 0; k < CELLS; k++) hash.multiplier[k] = og_random_bits(2, (uint64_t)(round * CELLS + k)) | 1;
}

/* The window whose hash of order 1 is x for sure: code 1 times multiplier x. */
static int64_t near_multiple(int i) {
    uint64_t bits = og_random_bits(3, (uint64_t)i), m = modulus[i % COLUMNS].m;
    switch (i % 5) {
    case 0: return (int64_t)bits;
    case 1: return INT64_MAX - (int64_t)(bits % 3);
    case 2: return INT64_MIN + (int64_t)(bits % 3);
    default: {
        int64_t multiple = (int64_t)((uint64_t)((int64_t)bits / (int64_t)m) * m);
        return multiple + (int64_t)(bits % 3) - 1 < multiple + 2 ? multiple + (int64_t)(bits % 3) - 1 : multiple;
    }
    }
}

static void compare(const int32_t *const *code, int64_t n) {
    static int64_t want[OG_BLOCK * COLUMNS + 8], got[OG_BLOCK * COLUMNS + 8];
    memset(want, 0x5a, sizeof want);
    memset(got, 0x5a, sizeof got);
    og_xor_rows_plain(&hash, code, n, want);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++) {
            uint64_t mix = 0;
            for (int k = 0; k < columns[c].order; k++) mix ^= (uint64_t)(int64_t)code[k][i] * hash.multiplier[k];
            i128 r = (i128)(int64_t)mix % columns[c].rows;
            CHECK(want[i * COLUMNS + c] == columns[c].base + (int64_t)(r < 0 ? r + columns[c].rows : r));
        }
#ifdef OG_HAVE_AVX512
    if (og_cpu_level() == OG_LEVEL_AVX512) {
        og_xor_rows_avx512(&hash, code, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0);
    }
#endif
    og_xor_rows(&hash, code, n, got);
    CHECK(memcmp(want, got, sizeof want) == 0);
}

int main(void) {
    static int32_t cells[CELLS][OG_BLOCK];
    const int32_t *const code[CELLS] = {cells[0], cells[1], cells[2]};
    for (int round = 0; round < 60; round++) {
        make(round);
        for (int k = 0; k < CELLS; k++)
            for (int i = 0; i < OG_BLOCK; i++) {
                uint64_t bits = og_random_bits(4, (uint64_t)((round * CELLS + k) * OG_BLOCK + i));
                cells[k][i] = bits % 9 == 0   ? INT32_MAX
                              : bits % 9 == 1 ? -1
                              : bits % 9 == 2 ? 0
                                              : (int32_t)(bits >> 33);
            }
        compare(code, round % 3 ? OG_BLOCK : 1 + round);
        for (int k = 1; k < CELLS; k++) cells[k][0] = 0;
        cells[0][0] = 1;
        for (int i = 0; i < 1000; i++) {
            hash.multiplier[0] = (uint64_t)near_multiple(i);
            compare(code, 1);
        }
    }
#ifdef OG_HAVE_AVX512
    if (og_cpu_level() == OG_LEVEL_AVX512) return 0;
#endif
    printf("this CPU or build has no AVX-512: plain C alone was tested\n");
    return 0;
}
