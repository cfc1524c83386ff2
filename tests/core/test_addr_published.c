/* Worked numbers of the published systems, beyond the vector files. */
#include "test.h"

#include "addr/engram_constants.h"
#include "addr/pcg64.h"
#include "addr/primes.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>

__extension__ typedef __int128 wide;
enum { T_MOST = 16, C_MOST = 64 };
static int64_t got[T_MOST][C_MOST];
static uint8_t live[T_MOST * C_MOST];
static int32_t signs[T_MOST];

/* Rows of codes[n] (width of the scheme) after past[n_past], into got. */
static void run(const char *yaml, const int32_t *past, int64_t n_past, const int32_t *codes, int64_t n) {
    og_error err;
    og_config *config;
    og_addr *addr;
    static int64_t flat[T_MOST * C_MOST];
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_OK(og_addr_new(config, &addr, &err));
    const og_addr_layout *l = og_addr_layout_of(addr);
    CHECK(n <= T_MOST && l->n_columns <= C_MOST);
    void *memory = og_alloc(og_history_bytes(&l->window, l->width), 1);
    og_history *history = og_history_reset(memory, &l->window, l->width);
    og_stream before = {.codes = past, .n = n_past, .width = l->width}, s = {.codes = codes, .n = n, .width = l->width};
    if (n_past) CHECK_OK(og_history_push(history, &l->window, &before, &err));
    CHECK_OK(og_addr_map(addr, &s, history, NULL, flat, live, og_addr_type_of(addr)->signs ? signs : NULL, &err));
    for (int64_t t = 0; t < n; t++)
        for (int32_t c = 0; c < l->n_columns; c++) got[t][c] = flat[t * l->n_columns + c];
    og_release(memory);
    og_addr_free(addr);
    og_config_free(config);
}

#define CODES(...)     (const int32_t[]){__VA_ARGS__}, (int64_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
#define RUN(yaml, ...) run(yaml, NULL, 0, CODES(__VA_ARGS__))
#define ROW(t, first, ...)                                                                                             \
    check_row(__LINE__, t, first, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))
#define COLUMN(c, ...)                                                                                                 \
    check_column(__LINE__, c, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))

static void check_row(int line, int t, int first, const int64_t *want, int n) {
    for (int c = 0; c < n; c++)
        if (got[t][first + c] != want[c]) {
            fprintf(stderr, "line %d: token %d column %d: %lld, wanted %lld\n", line, t, first + c,
                    (long long)got[t][first + c], (long long)want[c]);
            exit(1);
        }
}
static void check_column(int line, int c, const int64_t *want, int n) {
    for (int t = 0; t < n; t++)
        if (got[t][c] != want[t]) {
            fprintf(stderr, "line %d: token %d column %d: %lld, wanted %lld\n", line, t, c, (long long)got[t][c],
                    (long long)want[t]);
            exit(1);
        }
}

static void welm(void) {
    static const int32_t x[4] = {1, 3, 5, 7}, lags[4][3] = {{5, 4, 9}, {6, 3, 8}, {7, 2, 7}, {8, 1, 6}};
    static const int64_t want[4][2] = {{5, 6}, {5, 9}, {1, 8}, {8, 11}};
    for (int i = 0; i < 4; i++) {
        run("{scheme: welm_knuth32, vocab: 17, orders: [2, 4], rows: [11, 13]}", lags[i], 3, x + i, 1);
        CHECK(got[0][0] == want[i][0] && got[0][1] == want[i][1]);
    }
    RUN("{scheme: welm_oe}", 154880, 5, 77777, 155647);
    ROW(0, 0, 14123048, 14122832, 14122616, 14122400);
    ROW(1, 0, 4796637, 4795717, 4794797, 4793877);
    ROW(2, 0, 13775745, 13774465, 13773185, 13771905);
    ROW(3, 0, 1933007, 1931087, 8602887, 8601071);
    RUN("{scheme: welm_note}", 1, 2, 3, 4, 5);
    ROW(4, 0, 7532661, 9730165, 9730165, 9730165); /* an even V: three tables of one address */
    ROW(0, 0, 14435761, 14435761, 14435761, 14435761);
    RUN("{scheme: welm_note, vocab: 151936}", 1, 2, 3, 4, 5);
    ROW(4, 0, 4228725, 9446005, 454261, 12889717);
    ROW(0, 0, 14435761, 14435761, 14435761, 14435761);
    RUN("{scheme: welm_oe, fill: row0}", 154880, 5, 77777, 155647);
    CHECK(got[0][0] == 0 && got[0][3] == 0 && got[1][0] == 4796637 && got[1][2] == 0 && got[2][2] == 13773185);
    RUN("{scheme: welm_note, fill: row0}", 1, 2, 3, 4);
    ROW(0, 0, 0, 0, 0, 0);
    ROW(1, 0, 12193634, 0, 0, 0);
    ROW(2, 0, 2984211, 705811, 0, 0);
    ROW(3, 0, 742084, 5217988, 5217988, 0);
    RUN("{scheme: welm_note, fill: row0_max}", 1, 2, 3, 4, 5); /* reading 3: max(orders) - 1 positions in all tables */
    ROW(3, 0, 0, 0, 0, 0);
    ROW(4, 0, 7532661, 9730165, 9730165, 9730165);
}

static void mojo(void) {
    RUN("{scheme: mojo_mod, vocab: 10, orders: [2, 2, 3, 3, 4, 4], rows: 10000}", 1, 2, 3, 4, 5);
    ROW(0, 0, 1, 1, 1, 1, 1, 1);
    ROW(1, 0, 12, 12, 12, 12, 12, 12);
    ROW(2, 0, 23, 23, 123, 123, 123, 123);
    ROW(3, 0, 34, 34, 234, 234, 1234, 1234);
    ROW(4, 0, 45, 45, 345, 345, 2345, 2345);
}

static void mojo_history(void) {
    static const int32_t past[4] = {3, 5, 7, 9};
    run("{scheme: mojo_mod, vocab: 257, orders: [2, 2, 3, 3, 4, 4, 5, 5], rows: [263, 269, 271, "
        "277, 281, 283, 293, 307], global_rows: true}",
        past, 4, CODES(11, 13, 15, 17, 19));
    ROW(0, 0, 220, 435, 705, 941, 1260, 1475, 1688, 2140);
    ROW(4, 0, 180, 347, 543, 942, 1310, 1632, 1796, 2137);
}

static void ott(void) {
    RUN("{scheme: over_tokenized}", 100, 200, 300, 100277);
    ROW(0, 0, 100, 100, 100, 100);
    ROW(1, 0, 10028000, 10028000, 10028000, 10028000);
    ROW(2, 0, 7255900, 7255898, 6670056, 6512934);
    ROW(3, 0, 4583677, 4583673, 3411989, 3097745);
    RUN("{scheme: ott_mod, vocab: 50280, splits: 1}", 5, 6, 7);
    ROW(0, 0, 5, 5);
    ROW(1, 0, 251406, 251406);
    ROW(2, 0, 301687, 7091713);
    RUN("{scheme: ott_mod, vocab: 50280, splits: 1, max_order: 2, rows0: 3217920}", 7, 9, 9,
        3); /* m = 64 V: the old token modulo 64 */
    COLUMN(0, 7, 351969, 452529, 452523);
}

static void longcat(void) {
    RUN("{scheme: longcat}", 1000, 2000, 3000, 4000);
    ROW(3, 0, 4722554, 4722478, 4722402, 4722326, 165000, 3666915, 7168834, 447126, 9603846, 10133250, 611369, 1485475);
    for (int c = 0; c < 12; c++) CHECK(got[0][c] == 1000);
    RUN("{scheme: longcat}", 1000, 2, 3000, 4000, 5000);
    ROW(1, 0, 8388598, 8388574, 8388550, 8388526, 8388502);
    for (int c = 0; c < 12; c++) CHECK(got[2][c] == 3000);
    ROW(4, 3, 2888227, 6275875, 6416948, 6558025, 6699106, 6840191);
    /* Next takes no lags at a 0, Flash-Lite does; an eos that Next hashes as 0 ends nothing, any other eos does. */
    RUN("{scheme: longcat}", 1000, 0, 3000);
    ROW(1, 0, 0, 0, 0, 0);
    RUN("{scheme: longcat_lite}", 1000, 0, 3000);
    ROW(1, 0, 8388596, 8388572, 8388548, 8388524);
    RUN("{scheme: longcat, special: [2]}", 1000, 2, 3000);
    ROW(2, 0, 3000, 3000, 3000, 3000, 7948000, 4587184, 1226368, 8089183);
    RUN("{scheme: longcat_lite}", 1000, 2, 3000);
    ROW(2, 0, 3000, 3000, 3000, 3000, 3000);
    RUN("{scheme: longcat_serving, global_rows: true}", 1000, 2, 3000, 4000, 5000);
    ROW(2, 0, 265144, 10488761, 20712380, 30936001, 49104624);
    RUN("{scheme: longcat_serving, global_rows: true, ignored: [2]}", 1000, 2, 3000, 4000, 5000);
    ROW(2, 0, 3000, 10226617, 20450236, 30673857, 40897480);
    ROW(1, 0, 0, 10223617, 20447236);
}

static void engram(void) {
    og_pcg64 rng;
    og_pcg64_seed(&rng, 10007);
    static const uint64_t drawn[4] = {38497073684027, 2431371138190, 18064782595742, 37168446757633};
    for (int i = 0; i < 4; i++) CHECK(og_pcg64_below(&rng, 46759315672300) == drawn[i]);
    uint64_t m[4];
    og_engram_multipliers(0, 15, 98627, 3, m);
    CHECK(m[0] == 29055444938695 && m[1] == 56284491166079 && m[2] == 54183298291715);
    og_engram_multipliers(0, 1, 99092, 4, m);
    CHECK(m[0] == 76632096046245 && m[1] == 4839876093313 && m[2] == 35959672319349 && m[3] == 73987337458391);
    og_engram_multipliers(0, 14, 99092, 4, m);
    CHECK(m[0] == 67716810739261 && m[1] == 51510806800915 && m[2] == 30921347202721 && m[3] == 82619226485591);

    RUN("{scheme: deepseek_engram}", 0, 11, 22, 33, 98626);
    ROW(0, 0, 525894, 395172, 559165, 204669, 374248, 80933, 214739, 170590, 167317, 190172, 226935, 49676, 513067,
        151339, 66287, 605785);
    ROW(4, 0, 430505, 172654, 240783, 185238, 133864, 623191, 410413, 542218, 121720, 387228, 82752, 254126, 195244,
        256486, 350026, 419413);
    RUN("{scheme: deepseek_engram, layer_id: 15}", 0, 11, 22, 33, 98626);
    ROW(4, 0, 240659, 46004, 423827, 150618, 197998, 99285, 470697, 10441, 559739, 432375, 646701, 212642, 85141,
        492698, 331581, 461604);
    RUN("{scheme: deepseek_engram, layer_id: 15}", 0, 1, 2, 3, 74, 604, 76407);
    ROW(6, 0, 178592, 585564, 622038, 622685, 55844, 58600, 227477, 251216, 643829, 525830, 330891, 161726, 7302,
        161930, 378973, 90365);

    RUN("{scheme: deepseek_v41}", 5, 6, 7, 8, 9);
    CHECK(got[0][0] == 5412672 && got[0][8] == 15493752 && got[0][16] == 350501 && got[0][23] == 4003574);
    CHECK(got[3][0] == 11754974 && got[3][8] == 15640850 && got[3][16] == 3284192 && got[3][23] == 3883110);
    CHECK(got[4][0] == 8107260 && got[4][8] == 12130585 && got[4][16] == 2368870 && got[4][23] == 4934496);
    RUN("{scheme: deepseek_v41}", 5, -1, 7, 8, 9, 10);
    CHECK(got[1][0] == 4299726 && got[1][8] == 1400411 && got[1][16] == 8338496 && got[1][23] == 2090348);
    CHECK(got[2][0] == 8939594 && got[2][8] == 453497 && got[2][16] == 7015400 && got[2][23] == 5883494);
    CHECK(got[4][0] == 8107260 && got[4][8] == 12130585 && got[4][16] == 5532904 && got[4][23] == 555245);
    CHECK(got[5][0] == 9949191 && got[5][8] == 10736779 && got[5][16] == 6462021 && got[5][23] == 5079975);
    CHECK(live[0] == 1 && live[24] == 0 && live[48] == 1); /* V4.1's token mask */
    RUN("{scheme: deepseek_v41, global_rows: true}", 0, 237, 5095, 1132, 251, 7208, 242);
    ROW(6, 0, 8434518, 28335418, 33056762, 54845833, 79590735, 82522014, 107990915, 114522034, 130425857, 150965795,
        160866148, 176873966, 204352630, 218104334, 238747352, 249482421, 271830023, 282121836, 301281867, 318898607,
        325323162, 342980488, 364706675, 374988848);
    og_error err;
    og_config *config;
    og_addr *addr;
    for (int layer = 0; layer < 2; layer++) { /* the sums are the released configs' row counts */
        const char *yaml = layer ? "{scheme: deepseek_v41, layer_id: 14}" : "{scheme: deepseek_v41}";
        CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
        CHECK_OK(og_addr_new(config, &addr, &err));
        CHECK(og_addr_total_rows(addr) == (layer ? 384016682 : 384006168));
        og_addr_free(addr);
        og_config_free(config);
    }
    const char *yaml = "{scheme: engram_xor, layer_id: 3}";
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_FAILS(og_addr_new(config, &addr, &err), OG_EINVAL, "layer_id 3");
    og_config_free(config);
}

static void qwen(void) {
    RUN("{scheme: qwen_ple, global_rows: true}", 10, 20, 30, 248044, 40, 50, 60);
    CHECK(got[0][0] == 6826666 && got[0][7] == 152166807 && got[0][8] == 174244281 && got[0][15] == 303574322);
    CHECK(got[2][0] == 9878115 && got[2][7] == 147596134 && got[2][8] == 168936175 && got[2][15] == 306108296);
    CHECK(got[3][0] == 13714628 && got[3][7] == 155038357 && got[3][8] == 177884092 && got[3][15] == 317978052);
    CHECK(got[4][0] == 10580618 && got[4][7] == 159281483 && got[4][8] == 167500023 && got[4][15] == 305321328);
    CHECK(got[6][0] == 16407327 && got[6][7] == 140665598 && got[6][8] == 176916599 && got[6][15] == 300432269);
    RUN("{scheme: qwen_xor, vocab: 64, max_order: 4, heads_per_order: 2, base_rows: 97, seed: 99, "
        "layer_index: 1, eos: 0, global_rows: true}",
        1, 2, 0, 3, 4);
    ROW(4, 0, 121, 130, 382, 510, 587, 740);
}

static void others(void) {
    RUN("{scheme: modded_nanogpt}", 50256, 11, 262, 50000, 0);
    COLUMN(0, 377279, 197920, 3813, 102315, 213763);
    CHECK(signs[0] == 0 && signs[1] == 1115 && signs[2] == 269 && signs[3] == 598 && signs[4] == 848);
    RUN("{scheme: bigram_xor32, rows: 251520}", 1, 2, 3, 4);
    COLUMN(0, 251519, 129737, 97765, 199105);
    RUN("{scheme: blt_poly, order: 3, function: 0}", 1, 101, 102, 103);
    COLUMN(0, 49, 26876, 16010, 26166);
    RUN("{scheme: blt_poly, order: 8, function: 1}", 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111);
    CHECK(got[8][0] == 18308 && got[9][0] == 20716 && got[10][0] == 23124 && got[11][0] == 25532);
    RUN("{scheme: blt_poly, order: 6, function: 6, rows: 500002}", 5, 200, 77, 9, 33, 64, 128);
    COLUMN(0, 436397, 364029, 385878, 493015, 104430, 238544, 476059);
    run("{scheme: ngrammer, global_rows: true}", NULL, 0,
        (const int32_t[]){1, 2, 3, 4, 5, 6, 7, 8, 1023, 1023, 1023, 1023}, 3);
    ROW(0, 0, 2, 196614, 393228, 589844);
    ROW(1, 0, 1030, 200718, 402456, 606244);
    ROW(2, 0, 6144, 210944, 417792, 626688);
    run("{scheme: lngram, routes: 2}", NULL, 0, (const int32_t[]){5, 14, 3, 5, 8, 15}, 3);
    ROW(0, 0, -1, -1, -1, -1);
    ROW(1, 0, 53, 350, -1, -1);
    ROW(2, 0, 131, 501, 2101, 8030);
    RUN("{scheme: gemma3n_ple, rows: 10}", 3, 10, 9);
    COLUMN(0, 3, 0, 9);
    RUN("{scheme: gemma3n_ple, rows: 2147483648}", -1, INT32_MAX, INT32_MIN); /* an id below 0 has no row of its own */
    COLUMN(0, 0, INT32_MAX, 0);
    RUN("{scheme: gemma4_ple, rows: 10, pad: 4, placeholders: [7, 8]}", 3, 7, 8, 9);
    COLUMN(0, 3, 4, 4, 9);
}

/* The same sentence around an image in four systems. */
static void multimodal(void) {
    RUN("{scheme: deepseek_v41}", 1000, 2000, -1, -1, -1, 3000, 4000, 5000, 6000);
    COLUMN(16, 8287351, 14862390, 8338496, 8338496, 8338496, 8142948, 2718460, 5135145, 10656231);
    RUN("{scheme: qwen_ple, global_rows: true}", 1000, 2000, 248056, 248056, 248056, 3000, 4000, 5000, 6000);
    COLUMN(8, 178377549, 172190926, 163066759, 163863430, 168080783, 163909516, 169008595, 161015370, 171229426);
    RUN("{scheme: welm_oe}", 1000, 2000, 154752, 154752, 154752, 3000, 4000, 5000, 6000);
    COLUMN(2, 1971856, 10696, 1246784, 7840416, 13061064, 6214344, 12088400, 8217984, 11646512);
    RUN("{scheme: longcat, special: [131105, 131108]}", 1000, 2000, 131108, 131108, 131108, 3000, 4000, 5000, 6000);
    COLUMN(8, 1000, 8390404, 0, 0, 0, 3000, 4721946, 6840191, 6248450);
    for (int t = 0; t < 9; t++) CHECK(live[t * 12 + 8] == (t < 2 || t > 4));
}

/* int64 that wraps is floor-mod, never negative: multipliers whose products pass 2^63. */
static void wrapping(void) {
    RUN("{scheme: engram_xor, compressed_vocab: 2000000, max_order: 2, heads: 1, primes: [97], "
        "multipliers: [8796093022209, 9223372036854775807], pad: 2}",
        1048576, 1999999, 3);
    static const int64_t x[4] = {2, 1048576, 1999999, 3};
    for (int t = 0; t < 3; t++) {
        wide a = (wide)x[t + 1] * 8796093022209, b = (wide)x[t] * INT64_MAX;
        int64_t mix = (int64_t)((uint64_t)a ^ (uint64_t)b), want = mix % 97;
        if (want < 0) want += 97;
        CHECK(got[t][0] == want && got[t][0] >= 0 && got[t][0] < 97);
    }
}

static void moduli(void) {
    static const uint64_t m[] = {1,
                                 2,
                                 3,
                                 97,
                                 1 << 16,
                                 65537,
                                 377279,
                                 16000057,
                                 UINT64_C(1) << 32,
                                 UINT64_C(4294967291),
                                 UINT64_C(4294967311),
                                 (UINT64_C(1) << 61) - 1,
                                 UINT64_C(1) << 62,
                                 (UINT64_C(1) << 63) - 25,
                                 UINT64_C(1) << 63};
    uint64_t x = 1;
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        og_modulus mod = og_modulus_of(m[i]);
        for (int r = 0; r < 20000; r++) {
            uint64_t edge[] = {0,
                               1,
                               m[i] - 1,
                               m[i],
                               m[i] + 1,
                               UINT64_MAX,
                               UINT64_MAX - 1,
                               (UINT64_C(1) << 63) - 1,
                               UINT64_C(1) << 63,
                               UINT64_MAX / m[i] * m[i],
                               UINT64_MAX / m[i] * m[i] - 1};
            uint64_t v = r < 11 ? edge[r] : (x = x * UINT64_C(6364136223846793005) + 1442695040888963407) >> (r % 60);
            CHECK(og_mod(v, &mod) == v % m[i]);
            wide floor = (wide)(int64_t)v % (wide)m[i];
            if (floor < 0) floor += (wide)m[i];
            CHECK(og_floor_mod(v, &mod) == (uint64_t)floor);
        }
    }
    CHECK(og_prime_above(0) == 2 && og_prime_above(2) == 3 && og_prime_above(13) == 17 &&
          og_prime_above(15999999) == 16000057);
    int64_t count = 0;
    for (uint64_t n = 0; n < 100000; n++) count += og_is_prime(n);
    CHECK(count == 9592);
    CHECK(!og_is_prime(UINT64_C(3215031751)) && !og_is_prime(UINT64_C(3825123056546413051)) &&
          og_is_prime((UINT64_C(1) << 61) - 1));
}

int main(void) {
    welm();
    mojo();
    mojo_history();
    ott();
    longcat();
    engram();
    qwen();
    others();
    multimodal();
    wrapping();
    moduli();
    CHECK(og_alloc_count() == 0);
    return 0;
}
