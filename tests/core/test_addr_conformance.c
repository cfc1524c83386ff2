/* Every registered scheme: range, determinism, threads, streams cut in any way, shards with halos,
 * isolation, faults. A new scheme is tested here before its author writes a test. */
#include "test.h"

#include <omnigram/addr.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>

static uint64_t seed = 7;
static int64_t draw(int64_t n) { return (int64_t)og_random_below(99, seed++, (uint64_t)n); }

static og_status try_make(const char *yaml, og_addr **addr, og_error *err) {
    og_config *config;
    OG_TRY(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, err));
    og_status status = og_addr_new(config, addr, err);
    og_config_free(config);
    return status;
}

static og_addr *made(const char *yaml) {
    og_error err;
    og_addr *addr;
    CHECK_OK(try_make(yaml, &addr, &err));
    return addr;
}

typedef struct sample { /* one stream and its rows */
    int32_t *codes;
    int64_t *starts, *rows;
    uint8_t *live;
    int32_t *signs;
    og_stream stream;
} sample;

/* Codes from a small set, so that n-grams recur, breaks included. */
static sample drawn(const og_addr *addr, int64_t n) {
    const og_addr_layout *l = og_addr_layout_of(addr);
    sample s;
    int64_t span = l->code_limit - l->least_code, few = draw(2) ? 12 : 100000;
    s.codes = og_alloc(n * l->width, sizeof *s.codes);
    s.starts = og_alloc(n + 4, sizeof *s.starts);
    s.rows = og_alloc(n * l->n_columns, sizeof *s.rows);
    s.live = og_alloc(n * l->n_columns, 1);
    s.signs = og_alloc(n, sizeof *s.signs);
    for (int64_t i = 0; i < n * l->width; i++) {
        s.codes[i] = (int32_t)(l->least_code + draw(span < few ? span : few));
        if (l->extra_code != INT64_MIN && draw(9) == 0) s.codes[i] = (int32_t)l->extra_code;
        if (l->window.n_eos && draw(9) == 0) s.codes[i] = (int32_t)l->window.eos[0];
    }
    int64_t docs = 0;
    s.starts[docs++] = 0;
    for (int64_t at = draw(9); at <= n && docs < n + 4; at += draw(draw(3) ? 9 : 3000)) s.starts[docs++] = at;
    s.stream = (og_stream){.codes = s.codes, .n = n, .width = l->width, .doc_starts = s.starts, .n_docs = docs};
    return s;
}

static void freed(sample *s) {
    og_release(s->codes);
    og_release(s->starts);
    og_release(s->rows);
    og_release(s->live);
    og_release(s->signs);
}

static int32_t *signs_of(const og_addr *addr, int32_t *signs) { return og_addr_type_of(addr)->signs ? signs : NULL; }

static void same_rows(const og_addr *addr, const sample *want, int64_t from, int64_t to, const int64_t *got,
                      const char *what) {
    int64_t columns = og_addr_layout_of(addr)->n_columns;
    for (int64_t i = from * columns; i < to * columns; i++)
        if (got[i] != want->rows[i]) {
            fprintf(stderr, "%s, %s: token %lld column %lld: %lld, wanted %lld\n", og_addr_type_of(addr)->name, what,
                    (long long)(i / columns), (long long)(i % columns), (long long)got[i], (long long)want->rows[i]);
            og_test_fail(__FILE__, __LINE__, what);
        }
}

/* ---- one call ---- */

static void ranges_and_threads(const og_addr *addr, og_pool **pools) {
    og_error err;
    const og_addr_layout *l = og_addr_layout_of(addr);
    sample s = drawn(addr, 40000 + draw(9000));
    int64_t n = s.stream.n, cells = n * l->n_columns;
    CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, s.rows, s.live, signs_of(addr, s.signs), &err));
    for (int64_t i = 0; i < cells; i++) {
        const og_column *c = &l->columns[i % l->n_columns];
        CHECK(s.rows[i] == OG_ROW_NONE || (s.rows[i] >= c->base && s.rows[i] < c->base + c->rows));
        CHECK(s.live[i] <= 1);
    }
    int64_t *rows = og_alloc(cells, sizeof *rows);
    uint8_t *live = og_alloc(cells, 1);
    int32_t *signs = og_alloc(n, sizeof *signs);
    for (int p = 0; p < 3; p++) {
        memset(rows, 0x77, (size_t)cells * sizeof *rows);
        CHECK_OK(og_addr_map(addr, &s.stream, NULL, pools[p], rows, live, signs_of(addr, signs), &err));
        same_rows(addr, &s, 0, n, rows, "threads");
        CHECK(!memcmp(live, s.live, (size_t)cells));
        if (signs_of(addr, signs)) CHECK(!memcmp(signs, s.signs, (size_t)n * sizeof *signs));
    }
    if (og_addr_type_of(addr)->signs == NULL)
        CHECK_FAILS(og_addr_map(addr, &s.stream, NULL, NULL, rows, NULL, signs, &err), OG_EINVAL, "sign");

    /* A bad code is named, whichever part finds it, and the first one of them. */
    int64_t at = n - 5, early = 17000;
    s.codes[at * l->width] = s.codes[early * l->width + l->width - 1] =
        (int32_t)(l->least_code - 2 == l->extra_code ? INT32_MIN : l->least_code - 2);
    char word[64];
    snprintf(word, sizeof word, "at position %lld ", (long long)early);
    int every = l->least_code <= INT32_MIN && l->code_limit > INT32_MAX; /* then no code is bad */
    for (int p = 0; p < 3 && !every; p++) {
        err.message[0] = 0;
        CHECK(og_addr_map(addr, &s.stream, NULL, pools[p], rows, NULL, NULL, &err) == OG_EINVAL);
        CHECK(strstr(err.message, word) && strstr(err.message, og_addr_type_of(addr)->name));
    }
    og_release(rows);
    og_release(live);
    og_release(signs);
    freed(&s);
}

/* ---- cuts ---- */

/* Pieces of `step` tokens (0: of any length), each told of the documents that begin in it; now and
 * then a piece is tried and rolled back first, as a rejected draft is. */
static void streamed(const og_addr *addr, int64_t n, int64_t step) {
    og_error err;
    const og_addr_layout *l = og_addr_layout_of(addr);
    sample s = drawn(addr, n);
    CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, s.rows, s.live, signs_of(addr, s.signs), &err));
    int64_t *rows = og_alloc(n * l->n_columns, sizeof *rows), bytes = og_history_bytes(&l->window, l->width);
    uint8_t *live = og_alloc(n * l->n_columns, 1);
    int32_t *signs = og_alloc(n, sizeof *signs);
    void *memory = og_alloc(bytes, 1), *kept = og_alloc(bytes, 1);
    og_history *history = og_history_reset(memory, &l->window, l->width);
    for (int64_t from = 0, d = 0; from <= n;) {
        int64_t length = step ? step : draw(40), to = from + length < n ? from + length : n;
        int64_t first = d, starts[64], n_docs = 0;
        for (; d < s.stream.n_docs && s.starts[d] < to && n_docs < 64; d++) starts[n_docs++] = s.starts[d] - from;
        if (n_docs == 64) to = s.starts[d - 1], n_docs--, d--; /* so many empty documents: end where they do */
        (void)first;
        og_stream piece = {.codes = s.codes + from * l->width,
                           .n = to - from,
                           .width = l->width,
                           .doc_starts = starts,
                           .n_docs = n_docs};
        if (draw(4) == 0) {
            memcpy(kept, memory, (size_t)bytes);
            CHECK_OK(og_addr_map(addr, &piece, history, NULL, rows + from * l->n_columns, NULL, NULL, &err));
            memcpy(memory, kept, (size_t)bytes);
        }
        CHECK_OK(og_addr_map(addr, &piece, history, NULL, rows + from * l->n_columns, live + from * l->n_columns,
                             signs_of(addr, signs + from), &err));
        if (to == n && from == n) break;
        from = to;
    }
    same_rows(addr, &s, 0, n, rows, "streamed");
    CHECK(!memcmp(live, s.live, (size_t)(n * l->n_columns)));
    if (signs_of(addr, signs)) CHECK(!memcmp(signs, s.signs, (size_t)n * sizeof *signs));
    og_release(memory);
    og_release(kept);
    og_release(rows);
    og_release(live);
    og_release(signs);
    freed(&s);
}

/* Shards that know only the halo before them: any split, empty ones, shorter than the halo, in any
 * order (zigzag). */
static int64_t sharded(const og_addr *addr, int64_t rounds) {
    og_error err;
    const og_addr_layout *l = og_addr_layout_of(addr);
    int64_t halo = l->window.max_order - 1, cases = 0;
    /* random_row knows a place by its number in the stream, which only all of the past tells. */
    if (!strcmp(og_addr_type_of(addr)->name, "random_row")) halo = INT64_MAX;
    void *memory = og_alloc(og_history_bytes(&l->window, l->width), 1);
    for (int64_t round = 0; round < rounds; round++) {
        int64_t n = draw(60), shards = 1 + draw(6), cuts[8] = {0};
        sample s = drawn(addr, n);
        int64_t *rows = og_alloc(n * l->n_columns, sizeof *rows);
        CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, s.rows, NULL, NULL, &err));
        memset(rows, 0x77, (size_t)(n * l->n_columns) * sizeof *rows);
        for (int64_t c = 1; c < shards; c++) cuts[c] = draw(n + 1);
        for (int64_t c = 1; c < shards; c++)
            for (int64_t e = c; e > 0 && cuts[e] < cuts[e - 1]; e--) {
                int64_t swap = cuts[e];
                cuts[e] = cuts[e - 1], cuts[e - 1] = swap;
            }
        cuts[shards] = n;
        for (int64_t turn = 0; turn < shards; turn++) {
            int64_t shard = turn % 2 ? shards - 1 - turn / 2 : turn / 2; /* first, last, second ... */
            int64_t from = cuts[shard], to = cuts[shard + 1], back = from < halo ? from : halo, starts[2][80],
                    n_docs[2] = {0, 0};
            for (int64_t d = 0; d < s.stream.n_docs; d++) {
                int64_t at = s.starts[d];
                if (at >= from - back && at < from) starts[0][n_docs[0]++] = at - (from - back);
                if (at >= from && at <= to) starts[1][n_docs[1]++] = at - from;
            }
            og_history *history = og_history_reset(memory, &l->window, l->width);
            og_stream past = {.codes = s.codes + (from - back) * l->width,
                              .n = back,
                              .width = l->width,
                              .doc_starts = starts[0],
                              .n_docs = n_docs[0]};
            og_stream own = {.codes = s.codes + from * l->width,
                             .n = to - from,
                             .width = l->width,
                             .doc_starts = starts[1],
                             .n_docs = n_docs[1]};
            CHECK_OK(og_history_push(history, &l->window, &past, &err));
            CHECK_OK(og_addr_map(addr, &own, history, NULL, rows + from * l->n_columns, NULL, NULL, &err));
        }
        same_rows(addr, &s, 0, n, rows, "sharded");
        cases++;
        og_release(rows);
        freed(&s);
    }
    og_release(memory);
    return cases;
}

/* ---- isolation ---- */

/* Changes the last tokens of document A; counts rows of document B that change. */
static int64_t poked(const og_addr *addr) {
    og_error err;
    const og_addr_layout *l = og_addr_layout_of(addr);
    int64_t changed = 0;
    for (int round = 0; round < 60; round++) {
        sample s = drawn(addr, 40);
        s.stream.n_docs = 2;
        s.starts[1] = 10 + draw(20);
        int64_t *rows = og_alloc(40 * l->n_columns, sizeof *rows);
        CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, s.rows, NULL, NULL, &err));
        for (int64_t i = (s.starts[1] - 1 - draw(5)) * l->width; i < s.starts[1] * l->width; i++)
            s.codes[i] =
                (int32_t)(l->least_code + (s.codes[i] - l->least_code + 1 + draw(3)) % (l->code_limit - l->least_code));
        CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, rows, NULL, NULL, &err));
        for (int64_t i = s.starts[1] * l->n_columns; i < 40 * l->n_columns; i++) changed += rows[i] != s.rows[i];
        og_release(rows);
        freed(&s);
    }
    return changed;
}

/* ---- memory ---- */

static void short_of_memory(const char *yaml) {
    og_error err;
    for (int64_t k = 1;; k++) {
        og_addr *addr = NULL;
        int64_t before = og_alloc_count();
        og_fault_alloc(k);
        og_status status = try_make(yaml, &addr, &err);
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        if (!hit) {
            CHECK(status == OG_OK);
            og_addr_free(addr);
            break;
        }
        CHECK(status == OG_ENOMEM && addr == NULL && og_alloc_count() == before);
    }
    og_addr *addr = made(yaml);
    const og_addr_layout *l = og_addr_layout_of(addr);
    sample s = drawn(addr, 30);
    int64_t bytes = og_history_bytes(&l->window, l->width);
    void *memory = og_alloc(bytes, 1), *kept = og_alloc(bytes, 1);
    og_history *history = og_history_reset(memory, &l->window, l->width);
    memcpy(kept, memory, (size_t)bytes);
    for (int64_t k = 1;; k++) {
        int64_t before = og_alloc_count();
        og_fault_alloc(k);
        og_status status = og_addr_map(addr, &s.stream, history, NULL, s.rows, NULL, NULL, &err);
        int32_t hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        if (!hit) {
            CHECK(status == OG_OK && memcmp(kept, memory, (size_t)bytes));
            break;
        }
        CHECK(status == OG_ENOMEM && og_alloc_count() == before && !memcmp(kept, memory, (size_t)bytes));
    }
    og_release(memory);
    og_release(kept);
    freed(&s);
    og_addr_free(addr);
}

/* A history that holds a code no scheme would have hashed. */
static void bad_history(const char *yaml) {
    og_error err;
    og_addr *addr = made(yaml);
    const og_addr_layout *l = og_addr_layout_of(addr);
    if (l->window.max_order > 1 && l->code_limit <= INT32_MAX && l->width == 1) {
        void *memory = og_alloc(og_history_bytes(&l->window, l->width), 1);
        og_history *history = og_history_reset(memory, &l->window, l->width);
        int32_t code = (int32_t)l->code_limit, fine = (int32_t)l->least_code;
        og_stream past = {.codes = &code, .n = 1, .width = 1}, now = {.codes = &fine, .n = 1, .width = 1};
        int64_t rows[256];
        CHECK(l->n_columns <= 256);
        CHECK_OK(og_history_push(history, &l->window, &past, &err));
        CHECK_FAILS(og_addr_map(addr, &now, history, NULL, rows, NULL, NULL, &err), OG_EINVAL, "history");
        og_release(memory);
    }
    og_addr_free(addr);
}

/* ---- what a scheme's file must hold ---- */

/* Keys with limits, help and the source's defaults, all of them in the description; a preset whose history is carried;
 * the keys that a corpus decides; of a position of several codes, each column reads its own. (The audit of every scheme
 * is tests/tables/test_positions.c.) */
static void promises(const og_addr_type *type, const og_addr *addr) {
    og_error err;
    const og_addr_layout *l = og_addr_layout_of(addr);
    char *json, yaml[128];
    og_config *described;
    CHECK_OK(og_addr_describe(addr, &json, &err));
    CHECK_OK(og_config_from_json(json, (int64_t)strlen(json), "description", &described, &err));
    const og_config *written = og_config_get(described, "config");
    static const char *const common[] = {"scheme", "window", "global_rows"};
    for (int k = 0; type->keys[k].name; k++) {
        const og_key *key = &type->keys[k];
        CHECK(k > 2 || !strcmp(key->name, common[k]));
        CHECK(key->help && key->help[0] && key->fallback); /* a scheme has a default for everything */
        if (key->fallback[0]) CHECK(og_config_get(written, key->name));
    }
    CHECK(og_config_get(described, "window.fill") && og_config_get(described, "window.mode"));
    og_config_free(described);
    og_release(json);
    CHECK(l->window.fill >= OG_FILL_ZERO_VEC && l->window.fill < OG_FILL_LEAK); /* no source looks past a document */
    CHECK(l->window.max_order == 1 ||
          og_history_bytes(&l->window, l->width) > og_history_bytes(&(og_window){.max_order = 1}, l->width));

    og_config *config; /* fitted once, then again: nothing that is there is replaced */
    snprintf(yaml, sizeof yaml, "{scheme: %s}", type->name);
    CHECK_OK(og_config_from_yaml(yaml, (int64_t)strlen(yaml), "test", &config, &err));
    CHECK_OK(og_addr_fit(config, 250000, 0, &err) == OG_OK ? OG_OK : og_addr_fit(config, 5000, 0, &err));
    CHECK_OK(og_addr_fit(config, 100, 0, &err));
    og_addr *fitted;
    CHECK_OK(og_addr_new(config, &fitted, &err));
    CHECK(og_addr_layout_of(fitted)->code_limit >= 5000);
    og_addr_free(fitted);
    og_config_free(config);

    sample s = drawn(addr, 30);
    int64_t *rows = og_alloc(30 * l->n_columns, sizeof *rows);
    CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, s.rows, NULL, NULL, &err));
    for (int32_t w = 0; w < l->width && l->width > 1; w++) {
        int64_t moved = 0;
        for (int64_t i = 0; i < 30; i++) {
            int32_t *code = &s.codes[i * l->width + w];
            *code = (int32_t)(l->least_code + (*code - l->least_code + 1) % (l->code_limit - l->least_code));
        }
        CHECK_OK(og_addr_map(addr, &s.stream, NULL, NULL, rows, NULL, NULL, &err));
        for (int64_t i = 0; i < 30 * l->n_columns; i++) {
            int own = l->columns[i % l->n_columns].head % l->width == w;
            CHECK(own || rows[i] == s.rows[i]);
            moved += rows[i] != s.rows[i];
        }
        CHECK(moved > 0);
        memcpy(s.rows, rows, (size_t)(30 * l->n_columns) * sizeof *rows);
    }
    og_release(rows);
    freed(&s);
}

int main(void) {
    og_error err;
    og_pool *pools[3];
    for (int p = 0; p < 3; p++) CHECK_OK(og_pool_new(1 << p, &pools[p], &err));
    int schemes = 0;
    int64_t splits = 0, standing = og_alloc_count();
    for (int i = 0; og_addr_types[i]; i++, schemes++) {
        const og_addr_type *type = og_addr_types[i];
        CHECK(type->abi == OG_ABI && type->name && type->summary && type->source && type->keys && type->create &&
              type->rows);
        CHECK(og_addr_find(type->name) == type);
        char yaml[256], other[320];
        snprintf(yaml, sizeof yaml, "{scheme: %s}", type->name); /* its source's defaults are enough */
        og_addr *addr = made(yaml), *again = made(yaml);
        CHECK(!strcmp(og_addr_fingerprint(addr), og_addr_fingerprint(again)) &&
              strlen(og_addr_fingerprint(addr)) == 64);
        og_addr_free(again);
        ranges_and_threads(addr, pools);
        for (int64_t step = 0; step < 8; step += step == 0 ? 1 : step == 1 ? 1 : 5)
            streamed(addr, 300 + draw(900), step);
        streamed(addr, 600, 600);
        splits += sharded(addr, 800);
        promises(type, addr);
        CHECK(poked(addr) == 0);
        og_addr_free(addr);
        static const char *const windows[] = {"{fill: leak}", "{breaks: {modality: latch}, fill: zero_vec}",
                                              "{fill: backoff}", "{fill: row0, span: max_order}"};
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            snprintf(other, sizeof other, "{scheme: %s, window: %s}", type->name, windows[w]);
            addr = made(other);
            int64_t changed = poked(addr);
            int context = og_addr_layout_of(addr)->window.max_order > 1 && strcmp(type->name, "random_row");
            CHECK(w == 0 && context ? changed > 0 : changed == 0);
            for (int64_t step = 0; step < 3; step++) streamed(addr, 200, step);
            og_addr_free(addr);
        }
        short_of_memory(yaml);
        bad_history(yaml);
        CHECK(og_alloc_count() == standing);
    }
    printf("%d schemes, %lld random splits without a mismatch\n", schemes, (long long)splits);
    CHECK(splits >= 10000);
    for (int p = 0; p < 3; p++) og_pool_free(pools[p]);
    CHECK(og_alloc_count() == 0);
    return 0;
}
