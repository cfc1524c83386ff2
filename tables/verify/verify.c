/* verify.c: a file of test vectors, case by case. */
#include "verify/verify.h"

#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FILE_LIMIT (INT64_C(256) << 20)

void og_verify_mismatch(const og_verify *v, const char *label, const char *format, ...) {
    char text[700], line[1024];
    v->counts->mismatches++;
    if (!v->report || !v->report->mismatch) return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%s: case %lld (%s): %s", v->path, (long long)v->number, label, text);
    v->report->mismatch(v->report->context, line);
}

void og_verify_unsupported(og_verify *v, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(v->unsupported, sizeof v->unsupported, format, args);
    va_end(args);
}

void og_verify_integer(const og_verify *v, const char *label, const char *field, int64_t at, int64_t column,
                       int64_t want, int64_t got) {
    v->counts->values++;
    if (want == got) return;
    og_verify_mismatch(v, label, "%s[%lld][%lld]: expected %lld, got %lld", field, (long long)at, (long long)column,
                       (long long)want, (long long)got);
}

void og_verify_real(const og_verify *v, const char *label, const char *field, int64_t at, double want, double got,
                    int32_t exact) {
    v->counts->values++;
    int same = want == got || (isnan(want) && isnan(got));
    if (!exact && !same) same = fabs(want - got) <= v->atol + v->rtol * fabs(want);
    if (same) return;
    og_verify_mismatch(v, label, "%s[%lld]: expected %.17g, got %.17g", field, (long long)at, want, got);
}

/* ---- reading ---- */

og_status og_verify_need(const og_config *map, const char *field, const og_config **out, og_error *err) {
    const og_config *child = og_config_get(map, field);
    if (!child) return og_fail(err, OG_EFORMAT, "%s: the case has no '%s'", OG_WHERE(map), field);
    *out = child;
    return OG_OK;
}

og_status og_verify_shape(const og_config *list, int64_t *rows, int64_t *columns, og_error *err) {
    if (og_config_kind(list) != OG_CONFIG_LIST) return og_fail(err, OG_EFORMAT, "%s: a list is wanted", OG_WHERE(list));
    *rows = og_config_size(list);
    *columns = 0;
    for (int64_t i = 0; i < *rows; i++) {
        const og_config *row = og_config_at(list, i);
        int64_t n = og_config_kind(row) == OG_CONFIG_LIST ? og_config_size(row) : 0;
        for (int64_t k = 0; k < n; k++)
            if (og_config_kind(og_config_at(row, k)) == OG_CONFIG_LIST)
                return og_fail(err, OG_EFORMAT, "%s: a list where a number is wanted", OG_WHERE(og_config_at(row, k)));
        if (i && n != *columns)
            return og_fail(err, OG_EFORMAT, "%s: row %lld has %lld values, row 0 has %lld", OG_WHERE(row), (long long)i,
                           (long long)n, (long long)*columns);
        *columns = n;
    }
    return OG_OK;
}

static int64_t count(const og_config *node) {
    if (og_config_kind(node) != OG_CONFIG_LIST) return 1;
    int64_t n = 0;
    for (int64_t i = 0; i < og_config_size(node); i++) n += count(og_config_at(node, i));
    return n;
}

static og_status integers(const og_config *node, int64_t *out, int64_t *n, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_LIST) return og_config_i64(node, &out[(*n)++], err);
    for (int64_t i = 0; i < og_config_size(node); i++) OG_TRY(integers(og_config_at(node, i), out, n, err));
    return OG_OK;
}

static og_status reals(const og_config *node, double *out, int64_t *n, og_error *err) {
    int32_t kind = og_config_kind(node);
    if (kind == OG_CONFIG_NULL)
        out[(*n)++] = NAN;
    else if (kind != OG_CONFIG_LIST)
        return og_config_f64(node, &out[(*n)++], err);
    for (int64_t i = 0; i < og_config_size(node); i++) OG_TRY(reals(og_config_at(node, i), out, n, err));
    return OG_OK;
}

og_status og_verify_integers(const og_config *node, int64_t **out, int64_t *n, og_error *err) {
    int64_t *values = og_alloc(count(node), sizeof *values), m = 0;
    if (!values) return og_fail(err, OG_ENOMEM, "%s: no memory for its numbers", OG_WHERE(node));
    og_status status = integers(node, values, &m, err);
    if (status != OG_OK) {
        og_release(values);
        return status;
    }
    *out = values;
    *n = m;
    return OG_OK;
}

og_status og_verify_reals(const og_config *node, double **out, int64_t *n, og_error *err) {
    double *values = og_alloc(count(node), sizeof *values);
    int64_t m = 0;
    if (!values) return og_fail(err, OG_ENOMEM, "%s: no memory for its numbers", OG_WHERE(node));
    og_status status = reals(node, values, &m, err);
    if (status != OG_OK) {
        og_release(values);
        return status;
    }
    *out = values;
    *n = m;
    return OG_OK;
}

static int is_one_of(const char *word, const char *const *list) {
    while (*list && strcmp(*list, word)) list++;
    return *list != NULL;
}

const char *og_verify_unknown_field(const og_config *node, const char *const *known) {
    static const char *const remarks[] = {"name", "note", "comment", "source", NULL};
    for (int64_t i = 0; i < og_config_size(node); i++) {
        const char *field = og_config_key_at(node, i);
        if (!is_one_of(field, known) && !is_one_of(field, remarks)) return field;
    }
    return NULL;
}

/* ---- cases ---- */

static og_status canonical_case(og_verify *v, const og_config *node, og_error *err) {
    static const char *const known[] = {"text", "key", NULL};
    const og_config *key_node;
    const char *text, *want;
    char *got;
    int64_t text_bytes, want_bytes, bytes;
    OG_TRY(og_config_text(og_config_get(node, "text"), &text, &text_bytes, err));
    OG_TRY(og_verify_need(node, "key", &key_node, err));
    OG_TRY(og_config_text(key_node, &want, &want_bytes, err));
    const char *field = og_verify_unknown_field(node, known);
    if (field) {
        og_verify_unsupported(v, "unknown field '%.80s'", field);
        return OG_OK;
    }
    if (!v->canonical) {
        og_verify_unsupported(v, "there is no function for canonical texts here");
        return OG_OK;
    }
    og_error why = {{0}};
    og_status status = v->canonical(text, text_bytes, &got, &bytes, &why);
    if (status == OG_ENOTSUP) {
        og_verify_unsupported(v, "%s", why.message);
        return OG_OK;
    }
    if (status != OG_OK) return og_fail(err, status, "%s", why.message);
    v->counts->values++;
    if (want_bytes != bytes || memcmp(want, got, (size_t)bytes)) {
        og_verify_mismatch(v, "canonical", "text '%s': expected '%s', got '%s'", text, want, got);
    }
    og_release(got);
    return OG_OK;
}

static og_status replay(og_verify *v, const og_config *node, og_error *err) {
    if (og_config_kind(node) != OG_CONFIG_MAP)
        return og_fail(err, OG_EFORMAT, "%s: a case is an object", OG_WHERE(node));
    const og_config *scheme = og_config_get(node, "scheme"), *block = og_config_get(node, "block");
    if (scheme) {
        OG_TRY(og_config_string(scheme, &v->system, err));
        return og_verify_address(v, node, err);
    }
    if (block) {
        OG_TRY(og_config_string(block, &v->system, err));
        return og_verify_block(v, node, err);
    }
    if (og_config_get(node, "text")) {
        v->system = "canonical";
        return canonical_case(v, node, err);
    }
    return og_fail(err, OG_EFORMAT, "%s: a case has a scheme, a block or a text", OG_WHERE(node));
}

static og_status one_case(og_verify *v, const og_config *node, og_error *err) {
    og_verify_counts before = *v->counts;
    og_error why = {{0}};
    v->system = "(no system)";
    v->unsupported[0] = 0;
    v->counts->cases++;
    og_status status = replay(v, node, &why);
    if (status == OG_ENOMEM) return og_fail(err, status, "%s", why.message);
    if (status != OG_OK) /* a case that cannot be read has failed; the others can still be replayed */
        og_verify_mismatch(v, v->system, "%s", why.message);
    else if (!v->unsupported[0] && v->counts->values == before.values && v->counts->mismatches == before.mismatches)
        og_verify_unsupported(v, "it has no value to compare");
    if (!v->unsupported[0]) v->counts->supported++;
    og_verify_case one = {v->path,
                          v->number,
                          v->system,
                          v->unsupported[0] ? v->unsupported : NULL,
                          v->counts->values - before.values,
                          v->counts->mismatches - before.mismatches};
    if (v->report && v->report->one) v->report->one(v->report->context, &one);
    return OG_OK;
}

static og_status tolerance(const og_config *root, const char *key, double *out, og_error *err) {
    const og_config *node = og_config_get(root, key);
    double value;
    if (!node) return OG_OK;
    OG_TRY(og_config_f64(node, &value, err));
    if (!(value >= 0 && isfinite(value)))
        return og_fail(err, OG_EFORMAT, "%s: a tolerance of %g; it is finite and not negative", OG_WHERE(node), value);
    *out = value;
    return OG_OK;
}

static og_status all_cases(og_verify *v, const og_config *root, og_error *err) {
    const og_config *cases, *format;
    int64_t number;
    if (og_config_kind(root) != OG_CONFIG_MAP)
        return og_fail(err, OG_EFORMAT, "%s: an object {format, cases} is wanted", v->path);
    OG_TRY(og_verify_need(root, "format", &format, err));
    OG_TRY(og_config_i64(format, &number, err));
    if (number != 2)
        return og_fail(err, OG_EFORMAT, "%s: format %lld; this build reads format 2", OG_WHERE(format),
                       (long long)number);
    OG_TRY(og_verify_need(root, "cases", &cases, err));
    if (og_config_kind(cases) != OG_CONFIG_LIST)
        return og_fail(err, OG_EFORMAT, "%s: cases is a list", OG_WHERE(cases));
    OG_TRY(tolerance(root, "rtol", &v->rtol, err));
    OG_TRY(tolerance(root, "atol", &v->atol, err));
    for (int64_t i = 0; i < og_config_size(cases); i++) {
        v->number = i;
        og_status status = one_case(v, og_config_at(cases, i), err);
        if (status != OG_OK) return og_fail_at(err, status, "case %lld", (long long)i);
    }
    return OG_OK;
}

static og_status whole(og_config *root, const char *path, og_verify_canonical_fn *canonical,
                       const og_verify_report *report, og_verify_counts *counts, og_error *err) {
    og_verify v = {
        .path = path, .canonical = canonical, .report = report, .counts = counts, .rtol = 1e-6, .atol = 1e-9};
    og_status status = all_cases(&v, root, err);
    og_config_free(root);
    return status;
}

og_status og_verify_file(const char *path, og_verify_canonical_fn *canonical, const og_verify_report *report,
                         og_verify_counts *counts, og_error *err) {
    char *text;
    int64_t bytes;
    OG_TRY(og_file_read(path, FILE_LIMIT, &text, &bytes, err));
    og_status status = og_verify_text(text, bytes, path, canonical, report, counts, err);
    og_release(text);
    return status;
}

og_status og_verify_text(const char *text, int64_t bytes, const char *name, og_verify_canonical_fn *canonical,
                         const og_verify_report *report, og_verify_counts *counts, og_error *err) {
    og_config *root;
    OG_TRY(og_config_from_json_data(text, bytes, name, &root, err)); /* byte-level tokenizers have a token of U+0000 */
    return whole(root, name, canonical, report, counts, err);
}
