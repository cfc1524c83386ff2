/* Windows against a walk back over the whole document, for every break, mode, fill and way to cut a
 * stream. */
#include "test.h"

#include <omnigram/memory.h>
#include <omnigram/window.h>

enum { MOST = 700, ORDER_MOST = 6 };

static uint64_t seed = 1;
static uint32_t draw(uint32_t n) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

typedef struct table { /* what every window of a stream is */
    int32_t code[MOST * 2][ORDER_MOST][2];
    int8_t tag[MOST * 2][ORDER_MOST];
    uint32_t present[MOST * 2];
    int64_t position[MOST * 2], index[MOST * 2];
    int64_t base, n;
} table;

static og_status keep(void *context, const og_cells *cells, int64_t first, og_error *err) {
    table *t = context;
    (void)err;
    for (int64_t i = 0; i < cells->n; i++) {
        int64_t at = t->base + first + i;
        CHECK(at == t->n);
        t->present[at] = cells->present ? cells->present[i] : (uint32_t)((UINT64_C(1) << cells->order) - 1);
        t->position[at] = cells->position + i;
        t->index[at] = cells->index + i;
        for (int32_t k = 0; k < cells->order; k++) {
            for (int32_t w = 0; w < cells->width; w++) t->code[at][k][w] = cells->code[k][i * cells->width + w];
            t->tag[at][k] = cells->tag[k] ? cells->tag[k][i] : cells->constant_tag[k];
        }
        t->n++;
    }
    return OG_OK;
}

static int listed(const int64_t *ids, int32_t n, int32_t id) {
    for (int32_t i = 0; i < n; i++)
        if (ids[i] == id) return 1;
    return 0;
}

/* The meaning of the rules, token by token: no history, no blocks, no state. */
static void oracle(const og_window *win, const og_stream *s, int32_t nothing, table *out) {
    int32_t leak = win->fill == OG_FILL_LEAK;
    int32_t fill = win->fill == OG_FILL_ZERO_ID  ? 0
                   : win->fill == OG_FILL_PAD_ID ? win->fill_id
                   : win->fill == OG_FILL_EOS_ID ? (int32_t)win->eos[0]
                                                 : nothing;
    int32_t run[OG_N_BREAKS] = {0};
    static int32_t runs[MOST * 2][OG_N_BREAKS];
    static uint32_t marked[MOST * 2];
    static int64_t document[MOST * 2];
    for (int64_t i = 0, d = 0, start = 0; i < s->n; i++) {
        for (; d < s->n_docs && s->doc_starts[d] <= i; d++) start = s->doc_starts[d];
        document[i] = leak ? 0 : start;
        uint32_t m = s->marks ? s->marks[i] : 0;
        if (s->width == 1) {
            if (listed(win->eos, win->n_eos, s->codes[i])) m |= 1u << OG_AT_EOS;
            if (listed(win->special, win->n_special, s->codes[i])) m |= 1u << OG_AT_SPECIAL;
            if (listed(win->image, win->n_image, s->codes[i])) m |= 1u << OG_AT_IMAGE_TOKEN;
        }
        marked[i] = m;
        for (int b = 0; b < OG_N_BREAKS; b++) {
            if (m >> b & 1) run[b]++;
            runs[i][b] = b == OG_AT_MODALITY ? (s->modality ? s->modality[i] : 0) : run[b];
        }
    }
    for (int64_t t = 0; t < s->n; t++) {
        int gone = 0;
        for (int b = 0; b < 3; b++) gone |= !leak && win->self[b] && marked[t] >> b & 1;
        out->position[t] = t - document[t];
        out->index[t] = t;
        out->present[t] = gone ? 0 : 1;
        int64_t from[ORDER_MOST];
        for (int k = 0; k < ORDER_MOST; k++) from[k] = -1;
        if (!gone) from[0] = t;
        int32_t k = 1;
        for (int64_t j = t - 1; !gone && k < win->max_order && j >= document[t]; j--) {
            int latch = 0, hole = 0, skip = 0;
            for (int b = 0; b < OG_N_BREAKS && !leak; b++) {
                int across = b < 3 ? marked[j] >> b & 1 : runs[j][b] != runs[t][b];
                latch |= across && win->mode[b] == OG_BREAK_LATCH;
                hole |= across && win->mode[b] == OG_BREAK_HOLE;
                skip |= across && win->mode[b] == OG_BREAK_SKIP;
            }
            if (latch) break;
            if (skip) continue;
            if (!hole) from[k] = j, out->present[t] |= 1u << k;
            k++;
        }
        int first_gap = win->max_order;
        for (int c = win->max_order - 1; c >= 0; c--)
            if (from[c] < 0) first_gap = c;
        for (int32_t c = 0; c < win->max_order; c++) {
            int there = from[c] >= 0 && !(win->fill == OG_FILL_BACKOFF && c > first_gap);
            for (int32_t w = 0; w < s->width; w++) out->code[t][c][w] = there ? s->codes[from[c] * s->width + w] : fill;
            out->tag[t][c] = s->modality ? s->modality[there ? from[c] : t] : 0;
        }
    }
    out->n = s->n;
}

static void same(const table *a, const table *b, const og_window *win, int32_t width, const char *what) {
    CHECK(a->n == b->n);
    for (int64_t t = 0; t < a->n; t++) {
        int bad = a->present[t] != b->present[t] || a->position[t] != b->position[t] || a->index[t] != b->index[t];
        for (int32_t k = 0; k < win->max_order; k++) {
            bad |= a->tag[t][k] != b->tag[t][k];
            for (int32_t w = 0; w < width; w++) bad |= a->code[t][k][w] != b->code[t][k][w];
        }
        if (bad) {
            fprintf(stderr, "%s: token %lld present %x %x position %lld %lld fill %d modes", what, (long long)t,
                    a->present[t], b->present[t], (long long)a->position[t], (long long)b->position[t], win->fill);
            for (int i = 0; i < OG_N_BREAKS; i++) fprintf(stderr, " %d", win->mode[i]);
            for (int k = 0; k < win->max_order; k++)
                fprintf(stderr, "\n  cell %d: %d/%d wanted %d/%d", k, b->code[t][k][0], b->tag[t][k], a->code[t][k][0],
                        a->tag[t][k]);
            og_test_fail(__FILE__, __LINE__, what);
        }
    }
}

/* Cuts the stream at cuts[0..n_cuts) and walks each piece with the history of those before it. */
static void walk_pieces(const og_window *win, const og_stream *s, int32_t nothing, const int64_t *cuts, int64_t n_cuts,
                        table *out) {
    og_error err;
    void *memory = og_alloc(og_history_bytes(win, s->width), 1);
    og_history *history = og_history_reset(memory, win, s->width);
    CHECK(history);
    out->n = 0;
    int64_t d = 0;
    for (int64_t c = 0; c <= n_cuts; c++) {
        int64_t from = c ? cuts[c - 1] : 0, to = c < n_cuts ? cuts[c] : s->n;
        int64_t starts[MOST], n_docs = 0;
        /* a start on a cut is told to the piece that ends there or to the one that begins: both are
         * right */
        for (; d < s->n_docs && (s->doc_starts[d] < to || (s->doc_starts[d] == to && (c == n_cuts || draw(2)))); d++)
            starts[n_docs++] = s->doc_starts[d] - from;
        og_stream piece = {.codes = s->codes + from * s->width,
                           .n = to - from,
                           .width = s->width,
                           .doc_starts = starts,
                           .n_docs = n_docs,
                           .marks = s->marks ? s->marks + from : NULL,
                           .modality = s->modality ? s->modality + from : NULL};
        out->base = from;
        CHECK_OK(og_window_walk(win, &piece, history, nothing, keep, out, &err));
    }
    og_release(memory);
}

static void random_case(int round) {
    static const int64_t eos_ids[] = {3}, special_ids[] = {5, 7, 9}, image_ids[] = {11};
    static int32_t codes[MOST * 2];
    static og_marks marks[MOST];
    static int8_t modality[MOST];
    static table want, got;
    og_error err;
    og_window win = {.max_order = 1 + (int32_t)draw(ORDER_MOST), .eos = eos_ids, .n_eos = 1};
    win.fill = (int32_t)draw(7);
    win.fill_id = 77;
    win.special = special_ids, win.n_special = (int32_t)draw(4);
    win.image = image_ids, win.n_image = (int32_t)draw(2);
    int rules = round % 4; /* none, one, two, any */
    for (int i = 0; i < rules; i++) win.mode[draw(OG_N_BREAKS)] = (int32_t)draw(4);
    if (rules == 3)
        for (int b = 0; b < OG_N_BREAKS; b++) win.mode[b] = draw(2) ? (int32_t)draw(4) : 0;
    for (int b = 0; b < 3; b++) win.self[b] = draw(4) == 0;
    int32_t width = draw(4) == 0 ? 2 : 1;
    if (width == 2) {
        win.n_eos = win.n_special = win.n_image = 0;
        if (win.fill == OG_FILL_EOS_ID) win.fill = OG_FILL_ROW0;
    }
    int64_t n = draw(10) == 0 ? draw(MOST) : draw(60);
    uint32_t vocab = draw(2) ? 16 : 400;
    for (int64_t i = 0; i < n * width; i++) codes[i] = (int32_t)draw(vocab);
    for (int64_t i = 0; i < n; i++) marks[i] = (og_marks)(draw(5) == 0 ? 1u << draw(OG_N_BREAKS) : 0);
    int8_t m = 0;
    for (int64_t i = 0; i < n; i++) modality[i] = m = draw(4) == 0 ? (int8_t)(draw(4) - 1u) : m;
    int64_t starts[MOST], n_docs = 1;
    starts[0] = 0;
    for (int64_t i = draw(20); i <= n && n_docs < 100; i += draw(40)) starts[n_docs++] = i; /* empty documents too */
    og_stream s = {codes, n, width, starts, n_docs, draw(2) ? marks : NULL, draw(2) ? modality : NULL};

    oracle(&win, &s, -9, &want);
    got.base = got.n = 0;
    CHECK_OK(og_window_walk(&win, &s, NULL, -9, keep, &got, &err));
    same(&want, &got, &win, width, "whole");
    int64_t cuts[MOST], n_cuts = 0;
    int64_t step = round % 5 == 0 ? 1 : round % 5 == 1 ? 2 : round % 5 == 2 ? 7 : 0;
    for (int64_t at = 0; n_cuts < MOST - 1 && at <= n; at += step ? step : (int64_t)draw(30)) cuts[n_cuts++] = at;
    walk_pieces(&win, &s, -9, cuts, n_cuts, &got);
    same(&want, &got, &win, width, "pieces");

    /* Pushing the past is the same as having walked it. */
    int64_t cut = n ? draw((uint32_t)n + 1) : 0, early = 0;
    while (early < n_docs && starts[early] < cut) early++;
    void *memory = og_alloc(og_history_bytes(&win, width), 1);
    og_history *history = og_history_reset(memory, &win, width);
    og_stream past = s, rest = s;
    past.n = cut, past.n_docs = early;
    CHECK_OK(og_history_push(history, &win, &past, &err));
    rest.n = n - cut, rest.codes += cut * width;
    if (s.marks) rest.marks += cut;
    if (s.modality) rest.modality += cut;
    int64_t later[MOST];
    rest.n_docs = n_docs - early, rest.doc_starts = later;
    for (int64_t d = early; d < n_docs; d++) later[d - early] = starts[d] - cut;
    memcpy(&got, &want, sizeof got);
    got.n = got.base = cut;
    CHECK_OK(og_window_walk(&win, &rest, history, -9, keep, &got, &err));
    same(&want, &got, &win, width, "pushed");
    og_release(memory);
}

/* The truth table: one stream of 12 tokens, order 4, every rule and every mode, written out by
 * hand. token     0 1 2 3 4 5 6 7 8 9 10 11      documents begin at 0 and 9 marks       e       s
 * i                e: eos 1, s: special 4, i: image token 6 (by the stream's marks) runs          t
 * T R F            a turn begins at 2, an image at 6, a row at 7, a fragment at 8 modality  0 0 0 0
 * 0 0 2 2 0 0 0 0 Each string gives, per token, the present cells looked back at (lags 1, 2, 3 as x
 * where present). */
typedef struct truth {
    int rule, mode;
    const char *cells[12];
} truth;

static void truth_table(void) {
    static const int32_t codes[12] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
    og_marks marks[12] = {0};
    marks[1] = 1u << OG_AT_EOS;
    marks[4] = 1u << OG_AT_SPECIAL;
    marks[6] = 1u << OG_AT_IMAGE_TOKEN | 1u << OG_AT_IMAGE;
    marks[2] = 1u << OG_AT_TURN;
    marks[7] = 1u << OG_AT_ROW;
    marks[8] = 1u << OG_AT_FRAGMENT;
    static const int8_t modality[12] = {0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0};
    static const int64_t starts[2] = {0, 9};
    /* what lag k of token t reads, as the token's number in hexadecimal; '.' absent */
    static const truth rows[] = {
        {-1, OG_BREAK_NONE, {"...", "0..", "10.", "210", "321", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_EOS,
         OG_BREAK_LATCH,
         {"...", "0..", "...", "2..", "32.", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_EOS,
         OG_BREAK_HOLE,
         {"...", "0..", ".0.", "2.0", "32.", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_EOS,
         OG_BREAK_SKIP,
         {"...", "0..", "0..", "20.", "320", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_SPECIAL,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "...", "5..", "65.", "765", "...", "9..", "a9."}},
        {OG_AT_SPECIAL,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", ".32", "5.3", "65.", "765", "...", "9..", "a9."}},
        {OG_AT_SPECIAL,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "321", "532", "653", "765", "...", "9..", "a9."}},
        {OG_AT_IMAGE_TOKEN,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "432", "543", "...", "7..", "...", "9..", "a9."}},
        {OG_AT_IMAGE_TOKEN,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", "432", "543", ".54", "7.5", "...", "9..", "a9."}},
        {OG_AT_IMAGE_TOKEN,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "432", "543", "543", "754", "...", "9..", "a9."}},
        /* runs do not come back: the three modes are one */
        {OG_AT_TURN,
         OG_BREAK_LATCH,
         {"...", "0..", "...", "2..", "32.", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_TURN,
         OG_BREAK_HOLE,
         {"...", "0..", "...", "2..", "32.", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_TURN,
         OG_BREAK_SKIP,
         {"...", "0..", "...", "2..", "32.", "432", "543", "654", "765", "...", "9..", "a9."}},
        {OG_AT_MODALITY,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "...", "...", "9..", "a9."}},
        {OG_AT_MODALITY,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "..5", "...", "9..", "a9."}},
        {OG_AT_MODALITY,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "543", "...", "9..", "a9."}},
        {OG_AT_IMAGE,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "76.", "...", "9..", "a9."}},
        {OG_AT_IMAGE,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "76.", "...", "9..", "a9."}},
        {OG_AT_IMAGE,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "432", "...", "6..", "76.", "...", "9..", "a9."}},
        {OG_AT_ROW,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "432", "543", "...", "7..", "...", "9..", "a9."}},
        {OG_AT_ROW,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", "432", "543", "...", "7..", "...", "9..", "a9."}},
        {OG_AT_ROW,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "432", "543", "...", "7..", "...", "9..", "a9."}},
        {OG_AT_FRAGMENT,
         OG_BREAK_LATCH,
         {"...", "0..", "10.", "210", "321", "432", "543", "654", "...", "...", "9..", "a9."}},
        {OG_AT_FRAGMENT,
         OG_BREAK_HOLE,
         {"...", "0..", "10.", "210", "321", "432", "543", "654", "...", "...", "9..", "a9."}},
        {OG_AT_FRAGMENT,
         OG_BREAK_SKIP,
         {"...", "0..", "10.", "210", "321", "432", "543", "654", "...", "...", "9..", "a9."}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        static table got;
        og_error err;
        og_window win = {.max_order = 4, .fill = OG_FILL_PAD_ID, .fill_id = 5};
        if (rows[r].rule >= 0) win.mode[rows[r].rule] = rows[r].mode;
        og_stream s = {codes, 12, 1, starts, 2, marks, modality};
        got.n = got.base = 0;
        CHECK_OK(og_window_walk(&win, &s, NULL, 0, keep, &got, &err));
        for (int t = 0; t < 12; t++)
            for (int k = 1; k < 4; k++) {
                char c = rows[r].cells[t][k - 1];
                int32_t want = c == '.' ? 5 : c >= 'a' ? codes[c - 'a' + 10] : codes[c - '0'];
                if (got.code[t][k][0] != want || (got.present[t] >> k & 1) != (c != '.')) {
                    fprintf(stderr, "rule %d mode %d token %d lag %d: %d, wanted %d\n", rows[r].rule, rows[r].mode, t,
                            k, got.code[t][k][0], want);
                    og_test_fail(__FILE__, __LINE__, "truth table");
                }
            }
    }
}

/* Order n lacks context for exactly n - 1 positions of a document. */
static void lacking(void) {
    static table got;
    og_error err;
    int32_t codes[40];
    for (int i = 0; i < 40; i++) codes[i] = i;
    for (int64_t length = 0; length < 8; length++) {
        int64_t starts[2] = {0, length};
        og_stream s = {codes, 20, 1, starts, 2, NULL, NULL};
        og_window win = {.max_order = 5};
        got.n = got.base = 0;
        CHECK_OK(og_window_walk(&win, &s, NULL, 0, keep, &got, &err));
        for (int32_t order = 1; order <= 5; order++) {
            int64_t lack = 0;
            uint32_t cells = (1u << order) - 1;
            for (int64_t t = 0; t < length; t++) lack += (got.present[t] & cells) != cells;
            CHECK(lack == (length < order - 1 ? length : order - 1));
        }
    }
}

static void refused(void) {
    og_error err;
    int32_t codes[4] = {1, 2, 3, 4};
    int64_t starts[2] = {3, 1};
    og_window win = {.max_order = 3};
    og_stream s = {codes, 4, 1, starts, 2, NULL, NULL};
    static table got;
    CHECK_FAILS(og_window_walk(&win, &s, NULL, 0, keep, &got, &err), OG_EINVAL, "document start 1");
    starts[1] = 5;
    CHECK_FAILS(og_window_walk(&win, &s, NULL, 0, keep, &got, &err), OG_EINVAL, "document start 5");
    s.n_docs = 0;
    win.max_order = 40;
    CHECK_FAILS(og_window_walk(&win, &s, NULL, 0, keep, &got, &err), OG_EINVAL, "40 cells");
    win.max_order = 3;
    win.fill = OG_FILL_EOS_ID;
    CHECK_FAILS(og_window_walk(&win, &s, NULL, 0, keep, &got, &err), OG_EINVAL, "eos");
}

static og_status count(void *context, const og_cells *cells, int64_t first, og_error *err) {
    (void)first, (void)err;
    *(int64_t *)context += cells->n;
    return OG_OK;
}

/* Memory that is short leaves the history where it was. */
static og_error err;
static og_status walks(og_history *history, int64_t bytes) {
    og_window win = {.max_order = 3};
    int32_t codes[4] = {1, 2, 3, 4};
    og_stream s = {.codes = codes, .n = 4, .width = 1};
    int64_t seen = 0, before[64];
    CHECK(bytes <= (int64_t)sizeof before);
    memcpy(before, history, (size_t)bytes);
    og_status status = og_window_walk(&win, &s, history, 0, count, &seen, &err);
    CHECK(status == OG_OK ? seen == 4 : memcmp(before, history, (size_t)bytes) == 0);
    return status;
}

static void short_of_memory(void) {
    og_window win = {.max_order = 3};
    int64_t memory[64], bytes = og_history_bytes(&win, 1);
    CHECK(bytes <= (int64_t)sizeof memory);
    og_history *history = og_history_reset(memory, &win, 1);
    CHECK_ALLOC_FAILS(walks(history, bytes), 1);
}

int main(void) {
    truth_table();
    lacking();
    refused();
    short_of_memory();
    for (int i = 0; i < 6000; i++) random_case(i);
    CHECK(og_alloc_count() == 0);
    return 0;
}
