/* mix64: its formula by itself, every instruction set, and the spread of its rows for every
 * vocabulary, lag and table size. */
#include "test.h"

#include "addr/mix64.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

__extension__ typedef unsigned __int128 u128;

static og_addr *made(const char *yaml) {
    og_error err;
    og_config *config;
    og_addr *addr;
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_OK(og_addr_new(config, &addr, &err));
    og_config_free(config);
    return addr;
}

/* The documented formula, one n-gram at a time. */
static int64_t formula(uint64_t seed, int32_t order, int32_t head, const int32_t *code, const int8_t *tag,
                       uint64_t rows) {
    uint64_t key = og_splitmix64(seed), z = og_splitmix64(~key + (uint64_t)(head * 64 + order));
    for (int k = 0; k < order; k++)
        z += (uint64_t)((int64_t)code[k] + 1) *
             (og_splitmix64(key + (uint64_t)(head * 1024 + (tag[k] & 15) * 64 + k)) | 1);
    z = (z ^ z >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 29) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((u128)z * rows >> 64);
}

static void levels(void) {
    static int32_t code[5][OG_BLOCK];
    static int8_t tag[5][OG_BLOCK];
    static int64_t want[OG_BLOCK * 8], got[OG_BLOCK * 8];
    static const char *const configs[] = {
        "{scheme: mix64, heads: 2, rows: [7, 65536, 1, 1000003, 16777216, 4294967296, 4294967311, "
        "1099511627776], seed: 5}",
        "{scheme: mix64, heads: 2, rows: 16000057, global_rows: true}",
    };
    uint64_t seeds[] = {5, 0};
    for (int which = 0; which < 2; which++) {
        og_error err;
        og_addr *addr = made(configs[which]);
        const og_addr_layout *layout = og_addr_layout_of(addr);
        CHECK(layout->n_columns == 8);
        for (int round = 0; round < 200; round++) {
            og_cells cells = {.n = round < 100 ? 1 + round % 37 : OG_BLOCK, .order = 5, .width = 1};
            for (int k = 0; k < 5; k++) {
                cells.code[k] = code[k];
                int tags = round % 3;
                cells.constant_tag[k] = (int8_t)(tags == 0 ? 0 : k - 1);
                if (tags == 2) cells.tag[k] = tag[k];
                for (int i = 0; i < OG_BLOCK; i++) {
                    uint64_t bits = og_random_bits((uint64_t)(round * 5 + k), (uint64_t)i);
                    code[k][i] = round % 7 == 0
                                     ? (bits % 3 ? INT32_MAX : -1)
                                     : (int32_t)(bits % 200000) - (bits % 50 == 0 ? (int32_t)(bits % 200000) + 1 : 0);
                    tag[k][i] = tags == 2 ? (int8_t)(bits >> 40 & 3) : cells.constant_tag[k];
                }
            }
            CHECK_OK(og_addr_map_cells(addr, &cells, got, &err));
            for (int64_t i = 0; i < cells.n; i++)
                for (int c = 0; c < 8; c++) {
                    int32_t codes[5];
                    int8_t tags[5];
                    for (int k = 0; k < 5; k++) codes[k] = code[k][i], tags[k] = tag[k][i];
                    const og_column *column = &layout->columns[c];
                    want[i * 8 + c] = column->base + formula(seeds[which], column->order, column->head, codes, tags,
                                                             (uint64_t)column->rows);
                    CHECK(got[i * 8 + c] == want[i * 8 + c]);
                    CHECK(got[i * 8 + c] >= column->base && got[i * 8 + c] < column->base + column->rows);
                }
        }
        og_addr_free(addr);
    }
    /* The same multipliers through every level, straight. */
    uint64_t multipliers[OG_MIX64_TAGS * 5 * 3];
    og_mix64_column columns[12];
    for (int i = 0; i < OG_MIX64_TAGS * 15; i++) multipliers[i] = og_random_bits(9, (uint64_t)i) | 1;
    for (int c = 0; c < 12; c++)
        columns[c] = (og_mix64_column){c / 3 + 2, c % 3, og_random_bits(10, (uint64_t)c),
                                       og_random_bits(11, (uint64_t)c) >> (c * 4 + 1), (uint64_t)c << 50};
    og_mix64 mix = {12, 3, 5, columns, multipliers};
    int tried = 0;
    for (int32_t level = 1; level <= 2; level++) {
        og_mix64_fn *fn = og_mix64_level(level);
        if (!fn) continue;
        tried++;
        for (int round = 0; round < 300; round++) {
            static int64_t a[OG_BLOCK * 12 + 16], b[OG_BLOCK * 12 + 16];
            og_cells cells = {.n = round % 4 == 3 ? OG_BLOCK : 1 + round % 61, .order = 5, .width = 1};
            for (int k = 0; k < 5; k++) {
                cells.code[k] = code[k];
                cells.constant_tag[k] = (int8_t)(round % 5);
                if (round % 2) cells.tag[k] = tag[k];
                for (int i = 0; i < OG_BLOCK; i++)
                    code[k][i] = (int32_t)og_random_below((uint64_t)round, (uint64_t)(k * OG_BLOCK + i), INT32_MAX) -
                                 (i % 9 == 0);
            }
            mix.n_columns = (const int32_t[]){12, 4, 10, 3}[round / 4 % 4]; /* turned in fours, or scattered */
            memset(a, 0x5a, sizeof a);
            memset(b, 0x5a, sizeof b);
            og_mix64_plain(&mix, &cells, a);
            fn(&mix, &cells, b);
            CHECK(!memcmp(a, b, sizeof a)); /* nothing beyond the last window either */
        }
    }
    printf("levels compared with plain C: %d\n", tried);
}

/* Share of the ideal number of distinct rows when one cell sweeps the vocabulary. */
static void spread(void) {
    static const int32_t vocabs[] = {8192, 16384, 32000, 50257, 65536, 100352, 129280, 131072, 151936, 155648};
    static const int64_t sizes[] = {65536,   65537,    1 << 18, 1 << 20,  1000003,
                                    6400000, 16000000, 1 << 24, 16000057, INT64_C(1) << 27};
    static int32_t code[5][OG_BLOCK];
    static int64_t rows[OG_BLOCK * 4];
    double worst = 2;
    uint8_t *seen = og_alloc((1 << 24) + 1, 1);
    CHECK(seen);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char yaml[128];
        snprintf(yaml, sizeof yaml, "{scheme: mix64, rows: %lld}", (long long)sizes[s]);
        og_addr *addr = made(yaml);
        for (size_t v = 0; v < sizeof vocabs / sizeof *vocabs; v++)
            for (int lag = 0; lag < 5; lag++)
                for (int c = 0; c < 4; c++) {
                    if (lag > c + 1) continue;
                    og_error err;
                    int64_t distinct = 0, changed_not = 0, last = -1;
                    memset(seen, 0, (size_t)(sizes[s] / 8 + 1));
                    for (int32_t at = 0; at < vocabs[v]; at += OG_BLOCK) {
                        og_cells cells = {
                            .n = vocabs[v] - at < OG_BLOCK ? vocabs[v] - at : OG_BLOCK, .order = 5, .width = 1};
                        for (int k = 0; k < 5; k++) {
                            cells.code[k] = code[k];
                            for (int i = 0; i < OG_BLOCK; i++)
                                code[k][i] = k == lag ? at + i : (k * 7919 + 13) % vocabs[v];
                        }
                        CHECK_OK(og_addr_map_cells(addr, &cells, rows, &err));
                        for (int64_t i = 0; i < cells.n; i++) {
                            int64_t row = rows[i * 4 + c];
                            distinct += !(seen[row / 8] >> (row % 8) & 1);
                            seen[row / 8] = (uint8_t)(seen[row / 8] | 1 << row % 8);
                            changed_not += row == last;
                            last = row;
                        }
                    }
                    double r = (double)sizes[s], ideal = r * -expm1((double)vocabs[v] * log1p(-1 / r));
                    double share = (double)distinct / ideal;
                    if (share < worst) worst = share;
                    if (share < 0.99 || changed_not > 40)
                        fprintf(stderr, "V %d rows %lld order %d lag %d: %lld distinct of %.0f\n", vocabs[v],
                                (long long)sizes[s], c + 2, lag, (long long)distinct, ideal);
                    CHECK(share >= 0.99);
                }
        og_addr_free(addr);
    }
    og_release(seen);
    printf("least share of the ideal number of distinct rows: %.4f\n", worst);
}

/* Chi-square of the load, and pairs of cells at once: Zipf-like and grid-like streams. */
static void load(void) {
    for (int shape = 0; shape < 3; shape++) {
        og_error err;
        og_addr *addr = made("{scheme: mix64, orders: [2], rows: 4096}");
        static int32_t code[2][OG_BLOCK];
        static int64_t rows[OG_BLOCK], count[4096];
        memset(count, 0, sizeof count);
        int64_t n = 0;
        for (int a = 0; a < 1024; a++)
            for (int b = 0; b < 1024; b += OG_BLOCK) {
                og_cells cells = {.n = OG_BLOCK, .order = 2, .width = 1, .code = {code[0], code[1]}};
                for (int i = 0; i < OG_BLOCK; i++) {
                    code[0][i] = shape == 0 ? a : shape == 1 ? a * 64 : a << 13;
                    code[1][i] = shape == 0 ? b + i : shape == 1 ? (b + i) * 128 : (b + i) << 16;
                }
                CHECK_OK(og_addr_map_cells(addr, &cells, rows, &err));
                for (int i = 0; i < OG_BLOCK; i++) count[rows[i]]++, n++;
            }
        double expected = (double)n / 4096, chi = 0;
        for (int r = 0; r < 4096; r++) chi += ((double)count[r] - expected) * ((double)count[r] - expected) / expected;
        double z = (chi - 4095) / sqrt(2 * 4095.0);
        printf("chi-square of shape %d: %.0f (z %.2f)\n", shape, chi, z);
        CHECK(fabs(z) < 5);
        og_addr_free(addr);
    }
}

static void sizes_of_rows(void) {
    og_error err;
    og_config *config;
    og_addr *addr = made("{scheme: mix64, rows: 100, prime: true}");
    const og_addr_layout *l = og_addr_layout_of(addr);
    CHECK(l->columns[0].rows == 101 && l->columns[1].rows == 103 && l->columns[2].rows == 107 &&
          l->columns[3].rows == 109);
    CHECK(og_addr_total_rows(addr) == 420);
    og_addr_free(addr);
    addr = made("{scheme: mix64}");
    CHECK(og_addr_layout_of(addr)->columns[0].rows == 1000003);
    og_addr *same = made("{scheme: mix64, heads: 1, orders: [2, 3, 4, 5]}"), *other = made("{scheme: mix64, seed: 1}");
    CHECK(!strcmp(og_addr_fingerprint(addr), og_addr_fingerprint(same)));
    CHECK(strcmp(og_addr_fingerprint(addr), og_addr_fingerprint(other)));
    og_addr_free(addr), og_addr_free(same), og_addr_free(other);
    static const char *const bad[][2] = {
        {"{scheme: mix64, rows: 0}", "rows"},
        {"{scheme: mix64, rows: [1, 2]}", "2 values for 4"},
        {"{scheme: mix64, orders: [3, 2]}", "ascend"},
        {"{scheme: mix64, row: 5}", "rows"},
        {"{scheme: mix46}", "mix64"},
        {"{rows: 3}", "scheme"},
        {"{scheme: mix64, window: {fill: pad_id, fill_id: -7}}", "-7"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_OK(og_config_from_yaml(bad[i][0], (int64_t)strlen(bad[i][0]), "test", &config, &err));
        og_status status = og_addr_new(config, &addr, &err);
        if (status != OG_EINVAL || !strstr(err.message, bad[i][1])) {
            fprintf(stderr, "%s gave %s %s\n", bad[i][0], og_status_name(status), err.message);
            og_test_fail(__FILE__, __LINE__, "bad config");
        }
        og_config_free(config);
    }
    int32_t codes[3] = {5, -2, 7};
    int64_t rows[12];
    og_stream s = {codes, 3, 1, NULL, 0, NULL, NULL};
    addr = made("{scheme: mix64, vocab: 7}");
    CHECK_FAILS(og_addr_map(addr, &s, NULL, NULL, rows, NULL, NULL, &err), OG_EINVAL, "code -2 at position 1");
    codes[1] = INT32_MIN;
    CHECK_FAILS(og_addr_map(addr, &s, NULL, NULL, rows, NULL, NULL, &err), OG_EINVAL, "mix64");
    codes[1] = 0;
    CHECK_FAILS(og_addr_map(addr, &s, NULL, NULL, rows, NULL, NULL, &err), OG_EINVAL, "code 7 at position 2");
    og_addr_free(addr);
}

int main(void) {
    levels();
    spread();
    load();
    sizes_of_rows();
    CHECK(og_alloc_count() == 0);
    return 0;
}
