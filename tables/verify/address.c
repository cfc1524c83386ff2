/* address.c: one stream through one addressing, as a user would make it. */
#include "verify/verify.h"

#include <omnigram/addr.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <string.h>

/* Everything of one case; freed in one place. */
typedef struct replay {
    const char *scheme;
    og_addr *addr;
    og_history *history;
    int32_t *codes;
    int64_t *starts, *rows;
    uint8_t *live;
    int32_t *signs;
    int64_t n, width, n_docs, n_past, columns;
} replay;

static void replay_free(replay *r) {
    og_addr_free(r->addr);
    og_release(r->history);
    og_release(r->codes);
    og_release(r->starts);
    og_release(r->rows);
    og_release(r->live);
    og_release(r->signs);
}

static const char *const known[] = {"scheme", "config", "ids",         "doc_starts", "history_oldest_first",
                                    "rows",   "live",   "multipliers", "primes",     "logits",
                                    "signs",  NULL};

/* The past and the stream as one array of codes. */
static og_status read_codes(replay *r, const og_config *node, og_error *err) {
    const og_config *ids, *past = og_config_get(node, "history_oldest_first");
    int64_t columns, past_columns = 0, *values[2] = {NULL, NULL}, n[2] = {0, 0};
    OG_TRY(og_verify_need(node, "ids", &ids, err));
    OG_TRY(og_verify_shape(ids, &r->n, &columns, err));
    if (past) OG_TRY(og_verify_shape(past, &r->n_past, &past_columns, err));
    if (past && r->n && r->n_past && past_columns != columns)
        return og_fail(err, OG_EFORMAT, "%s: history of %lld codes a position, ids of %lld", OG_WHERE(past),
                       (long long)past_columns, (long long)columns);
    r->width = columns ? columns : past_columns ? past_columns : 1;
    og_status status = past ? og_verify_integers(past, &values[0], &n[0], err) : OG_OK;
    if (status == OG_OK) status = og_verify_integers(ids, &values[1], &n[1], err);
    if (status == OG_OK && !(r->codes = og_alloc(n[0] + n[1], sizeof *r->codes)))
        status = og_fail(err, OG_ENOMEM, "no memory for ids");
    for (int64_t part = 0, at = 0; part < 2 && status == OG_OK; part++)
        for (int64_t i = 0; i < n[part] && status == OG_OK; i++, at++) {
            if (values[part][i] < INT32_MIN || values[part][i] > INT32_MAX)
                status = og_fail(err, OG_EFORMAT, "%s: id %lld does not fit 32 bits", OG_WHERE(part ? ids : past),
                                 (long long)values[part][i]);
            else
                r->codes[at] = (int32_t)values[part][i];
        }
    og_release(values[0]);
    og_release(values[1]);
    return status;
}

/* Absent doc_starts are [0]; with a history the stream continues it, so that a start at 0 is that
 * of the history. */
static og_status read_starts(replay *r, const og_config *node, og_error *err) {
    const og_config *starts = og_config_get(node, "doc_starts");
    if (!starts) {
        r->starts = og_alloc_zero(1, sizeof *r->starts);
        if (!r->starts) return og_fail(err, OG_ENOMEM, "no memory for document starts");
        r->n_docs = 1;
    } else {
        OG_TRY(og_verify_integers(starts, &r->starts, &r->n_docs, err));
    }
    int64_t drop = 0;
    while (r->n_past && drop < r->n_docs && r->starts[drop] == 0) drop++;
    memmove(r->starts, r->starts + drop, (size_t)(r->n_docs - drop) * sizeof *r->starts);
    r->n_docs -= drop;
    return OG_OK;
}

/* The case's config with its scheme; codes of several routes or heads say how many where the config
 * does not. */
static og_status make_addr(replay *r, const og_config *node, const og_addr_type *type, og_error *err) {
    const og_config *given;
    og_config *tree;
    char line[128];
    OG_TRY(og_verify_need(node, "config", &given, err));
    if (og_config_kind(given) != OG_CONFIG_MAP)
        return og_fail(err, OG_EFORMAT, "%s: an object of keys is wanted", OG_WHERE(given));
    OG_TRY(og_config_copy(given, &tree, err));
    snprintf(line, sizeof line, "scheme=%s", type->name);
    og_status status = og_config_override(tree, line, err);
    for (const og_key *key = type->keys; status == OG_OK && key->name; key++) {
        if ((strcmp(key->name, "routes") && strcmp(key->name, "heads")) || og_config_get(given, key->name)) continue;
        if (og_config_size(og_config_get(node, "ids")) == 0 ||
            og_config_kind(og_config_at(og_config_get(node, "ids"), 0)) != OG_CONFIG_LIST)
            continue;
        snprintf(line, sizeof line, "%s=%lld", key->name, (long long)r->width);
        status = og_config_override(tree, line, err);
    }
    if (status == OG_OK) status = og_addr_new(tree, &r->addr, err);
    og_config_free(tree);
    return status;
}

/* Pushes the past and maps the stream. */
static og_status run(replay *r, og_error *err) {
    const og_addr_layout *layout = og_addr_layout_of(r->addr);
    r->columns = layout->n_columns;
    int64_t bytes = og_history_bytes(&layout->window, layout->width);
    r->history = og_alloc(bytes, 1);
    r->rows = og_alloc(r->n * r->columns, sizeof *r->rows);
    r->live = og_alloc(r->n * r->columns, 1);
    r->signs = og_alloc(r->n, sizeof *r->signs);
    if (!r->history || !r->rows || !r->live || !r->signs)
        return og_fail(err, OG_ENOMEM, "no memory for %lld rows", (long long)(r->n * r->columns));
    og_history *history = og_history_reset(r->history, &layout->window, layout->width);
    og_stream past = {.codes = r->codes, .n = r->n_past, .width = (int32_t)r->width};
    if (r->n_past) OG_TRY(og_history_push(history, &layout->window, &past, err));
    og_stream stream = {.codes = r->codes + r->n_past * r->width,
                        .n = r->n,
                        .width = (int32_t)r->width,
                        .doc_starts = r->starts,
                        .n_docs = r->n_docs};
    return og_addr_map(r->addr, &stream, history, NULL, r->rows, r->live,
                       og_addr_type_of(r->addr)->signs ? r->signs : NULL, err);
}

/* ---- comparing ---- */

static og_status wrong_length(const og_config *node, const char *field, int64_t got, int64_t want, og_error *err) {
    return og_fail(err, OG_EFORMAT, "%s: %s has %lld values, %lld are wanted", OG_WHERE(node), field, (long long)got,
                   (long long)want);
}

/* rows[T]: null, or a list with null for an n-gram that does not exist. */
static og_status compare_rows(og_verify *v, replay *r, const og_config *list, og_error *err) {
    if (og_config_kind(list) != OG_CONFIG_LIST || og_config_size(list) != r->n)
        return wrong_length(list, "rows", og_config_size(list), r->n, err);
    for (int64_t t = 0; t < r->n; t++) {
        const og_config *row = og_config_at(list, t);
        int null = og_config_kind(row) == OG_CONFIG_NULL;
        int64_t columns = og_config_kind(row) == OG_CONFIG_LIST ? og_config_size(row) : 1;
        if (!null && columns != r->columns) return wrong_length(row, "a row", columns, r->columns, err);
        for (int64_t c = 0; c < r->columns; c++) {
            const og_config *cell = og_config_kind(row) == OG_CONFIG_LIST ? og_config_at(row, c) : row;
            int64_t want = OG_ROW_NONE;
            if (og_config_kind(cell) != OG_CONFIG_NULL) OG_TRY(og_config_i64(cell, &want, err));
            og_verify_integer(v, r->scheme, "rows", t, c, want, r->rows[t * r->columns + c]);
        }
    }
    return OG_OK;
}

static og_status compare_list(og_verify *v, replay *r, const og_config *list, const char *field, int64_t columns,
                              const uint8_t *live, const int32_t *signs, og_error *err) {
    int64_t *want, n;
    OG_TRY(og_verify_integers(list, &want, &n, err));
    og_status status = n == r->n * columns ? OG_OK : wrong_length(list, field, n, r->n * columns, err);
    for (int64_t i = 0; i < n && status == OG_OK; i++)
        og_verify_integer(v, r->scheme, field, i / columns, i % columns, want[i], live ? live[i] : signs[i]);
    og_release(want);
    return status;
}

/* The bits of (logit > 0), bit j of weight 2^j, against the case's ids. */
static og_status compare_codes(og_verify *v, replay *r, const og_config *logits, og_error *err) {
    double *values;
    int64_t n;
    OG_TRY(og_verify_reals(logits, &values, &n, err));
    int64_t cells = r->n * r->width;
    og_status status =
        cells && n % cells == 0 && n / cells <= 31 ? OG_OK : wrong_length(logits, "logits", n, cells, err);
    int64_t bits = status == OG_OK ? n / cells : 0;
    for (int64_t i = 0; i < cells && status == OG_OK; i++) {
        int64_t code = 0;
        for (int64_t j = 0; j < bits; j++) code |= (int64_t)(values[i * bits + j] > 0) << j;
        og_verify_integer(v, r->scheme, "codes of logits", i / r->width, i % r->width,
                          r->codes[r->n_past * r->width + i], code);
    }
    og_release(values);
    return status;
}

/* multipliers and primes, against those the addressing says a checkpoint must carry. */
static og_status compare_constants(og_verify *v, replay *r, const og_config *list, const char *field, og_error *err) {
    char *text;
    og_config *description;
    int64_t *want = NULL, *got = NULL, n_want = 0, n_got = 0;
    OG_TRY(og_addr_describe(r->addr, &text, err));
    og_status status = og_config_from_json(text, (int64_t)strlen(text), "description", &description, err);
    og_release(text);
    OG_TRY(status);
    const og_config *constants = og_config_get(og_config_get(description, "constants"), field);
    status = og_verify_integers(list, &want, &n_want, err);
    if (status == OG_OK && constants) status = og_verify_integers(constants, &got, &n_got, err);
    if (status == OG_OK) {
        for (int64_t i = 0; i < n_want && i < n_got; i++) og_verify_integer(v, r->scheme, field, i, 0, want[i], got[i]);
        if (n_want != n_got) {
            og_verify_mismatch(v, r->scheme, "%s: expected %lld values, got %lld", field, (long long)n_want,
                               (long long)n_got);
        }
    }
    og_release(want);
    og_release(got);
    og_config_free(description);
    return status;
}

static og_status compare(og_verify *v, replay *r, const og_config *node, og_error *err) {
    const og_config *rows, *live = og_config_get(node, "live"), *signs = og_config_get(node, "signs");
    const og_config *logits = og_config_get(node, "logits");
    OG_TRY(og_verify_need(node, "rows", &rows, err));
    OG_TRY(compare_rows(v, r, rows, err));
    if (live) OG_TRY(compare_list(v, r, live, "live", r->columns, r->live, NULL, err));
    if (logits) OG_TRY(compare_codes(v, r, logits, err));
    if (signs && og_addr_type_of(r->addr)->signs)
        OG_TRY(compare_list(v, r, signs, "signs", 1, NULL, r->signs, err));
    else if (signs) {
        og_verify_mismatch(v, r->scheme, "signs are expected, but the scheme has none");
    }
    static const char *const fields[] = {"multipliers", "primes"};
    for (int i = 0; i < 2; i++)
        if (og_config_get(node, fields[i]))
            OG_TRY(compare_constants(v, r, og_config_get(node, fields[i]), fields[i], err));
    return OG_OK;
}

og_status og_verify_address(og_verify *v, const og_config *node, og_error *err) {
    replay r = {.scheme = v->system};
    og_error why = {{0}};
    const og_addr_type *type = og_addr_find(r.scheme);
    const char *field = og_verify_unknown_field(node, known);
    if (!type) {
        const char *nearest = og_addr_nearest(r.scheme);
        og_verify_unsupported(v, "unknown scheme '%.80s'%s%s%s", r.scheme, nearest ? ", did you mean '" : "",
                              nearest ? nearest : "", nearest ? "'?" : "");
        return OG_OK;
    }
    if (field) {
        og_verify_unsupported(v, "unknown field '%.80s'", field);
        return OG_OK;
    }
    og_status status = read_codes(&r, node, err);
    if (status == OG_OK) status = read_starts(&r, node, err);
    if (status == OG_OK) {
        og_status made = make_addr(&r, node, type, &why);
        if (made == OG_OK) made = run(&r, &why);
        if (made == OG_ENOMEM) {
            status = og_fail(err, made, "%s", why.message);
        } else if (made != OG_OK) { /* what the addressing refuses is this case's failure, not the file's */
            og_verify_mismatch(v, r.scheme, "%s", why.message);
        } else {
            status = compare(v, &r, node, err);
        }
    }
    replay_free(&r);
    return status;
}
