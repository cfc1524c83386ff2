/* audit_hash_print.c: a hash audit for the eye, for scripts and as a picture. */
#include "audit_hash.h"

#include <omnigram/memory.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int is_weak(const og_hash_lag *l) { return l->distinct / l->ideal < 0.99; }

void og_audit_print(const og_audit_entry *e, FILE *to) {
    if (!e->n_reports) {
        fprintf(to, "\n%s: not audited: %s\n", e->name, e->refused);
        return;
    }
    fprintf(to, "\n%s: %s, V = %lld\n", e->name, e->scheme, (long long)e->reports[0]->vocab);
    fprintf(to, "  order head lag        rows  edits that change the row   rows reached       "
                "ideal   share\n");
    for (int32_t p = 0; p < e->n_reports; p++) {
        const og_hash_report *r = e->reports[p];
        if (e->n_reports > 1) fprintf(to, "  n-gram %d of the table's cells\n", p);
        for (int32_t i = 0; i < r->n_lags; i++) {
            const og_hash_lag *l = &r->lags[i];
            double share = l->distinct / l->ideal;
            fprintf(to, "  %5d %4d %3d %11lld %25.3f %% %14.1f %11.1f %6.1f %%%s\n", l->order, l->head, l->lag,
                    (long long)l->rows, 100 * l->changed, l->distinct, l->ideal, 100 * share,
                    is_weak(l) ? "  weak" : "");
        }
    }
    for (int32_t p = 0; p < e->n_reports; p++)
        for (int32_t i = 0; i < e->reports[p]->n_columns; i++) {
            const og_hash_column *c = &e->reports[p]->columns[i];
            if (c->samples)
                fprintf(to,
                        "  order %d head %d: chi-square %+.1f deviations, %.3f %% of %lld random "
                        "n-grams share a row (a random function: %.3f %%)\n",
                        c->order, c->head, c->chi2_z, 100 * c->collided, (long long)c->samples, 100 * c->expected);
        }
    for (int32_t i = 0; i < e->n_corpus; i++) {
        const og_corpus_column *c = &e->corpus[i];
        fprintf(to,
                "  order %d head %d: %lld n-grams of the packs, %lld distinct, on %lld rows "
                "(random: %.0f); %.2f %% share a row (random: %.2f %%); fullest row %lld\n",
                c->order, c->head, (long long)c->ngrams, (long long)c->distinct, (long long)c->used, c->expected_used,
                100 * c->collided, 100 * c->expected_collided, (long long)c->most);
    }
    for (int32_t p = 0; p < e->n_reports; p++)
        for (int32_t i = 0; i < e->reports[p]->n_warnings; i++) fprintf(to, "  weak: %s\n", e->reports[p]->warnings[i]);
}

static void print_line(const og_audit_entry *e, int width, FILE *to) {
    const og_hash_lag *least = NULL;
    int32_t cells = 0, weak = 0, warnings = 0;
    for (int32_t p = 0; p < e->n_reports; p++) {
        const og_hash_report *r = e->reports[p];
        cells += r->n_lags;
        warnings += r->n_warnings;
        for (int32_t i = 0; i < r->n_lags; i++) {
            const og_hash_lag *l = &r->lags[i];
            weak += is_weak(l);
            if (!least || l->distinct / l->ideal < least->distinct / least->ideal) least = l;
        }
    }
    if (least)
        fprintf(to, "%-*s %6d %6d %9d %9.4g %% (order %d, head %d, lag %d)\n", width, e->name, cells, weak, warnings,
                100 * least->distinct / least->ideal, least->order, least->head, least->lag);
    else
        fprintf(to, "%-*s %s\n", width, e->name, e->n_reports ? "no cells" : "not audited");
}

void og_audit_summary(const og_audit_entry *entries, int32_t n, FILE *to) {
    int width = 8;
    for (int32_t i = 0; i < n; i++) width = (int)strlen(entries[i].name) > width ? (int)strlen(entries[i].name) : width;
    fprintf(to, "\n%-*s %6s %6s %9s %11s\n", width, "summary", "cells", "weak", "warnings", "least share");
    for (int32_t i = 0; i < n; i++) print_line(&entries[i], width, to);
}

json_t *og_audit_json(const og_audit_entry *e) {
    if (!e->n_reports) return json_pack("{s:s, s:s}", "scheme", e->scheme, "refused", e->refused);
    json_t *lags = json_array(), *columns = json_array(), *orders = json_array(), *warnings = json_array(),
           *corpus = json_array();
    for (int32_t p = 0; p < e->n_reports; p++) {
        const og_hash_report *r = e->reports[p];
        for (int32_t i = 0; i < r->n_lags; i++) {
            const og_hash_lag *l = &r->lags[i];
            json_array_append_new(lags, json_pack("{s:i, s:i, s:i, s:i, s:I, s:f, s:f, s:f}", "ngram", p, "order",
                                                  l->order, "head", l->head, "lag", l->lag, "rows", (json_int_t)l->rows,
                                                  "changed", l->changed, "distinct", l->distinct, "ideal", l->ideal));
        }
        for (int32_t i = 0; i < r->n_columns; i++) {
            const og_hash_column *c = &r->columns[i];
            json_array_append_new(columns,
                                  json_pack("{s:i, s:i, s:i, s:I, s:I, s:I, s:f, s:f, s:f}", "ngram", p, "order",
                                            c->order, "head", c->head, "rows", (json_int_t)c->rows, "gcd",
                                            (json_int_t)c->gcd, "samples", (json_int_t)c->samples, "chi2_z", c->chi2_z,
                                            "collided", c->collided, "expected", c->expected));
        }
        for (int32_t i = 0; i < r->n_orders; i++) {
            const og_hash_order *o = &r->orders[i];
            json_array_append_new(orders,
                                  json_pack("{s:i, s:i, s:i, s:i, s:b, s:f, s:f}", "ngram", p, "order", o->order,
                                            "heads", o->heads, "bits", o->bits, "overflows_64_bits", o->bits > 64,
                                            "colliding_pairs", o->pairs, "expected", o->expected));
        }
        for (int32_t i = 0; i < r->n_warnings; i++) json_array_append_new(warnings, json_string(r->warnings[i]));
    }
    for (int32_t i = 0; i < e->n_corpus; i++) {
        const og_corpus_column *c = &e->corpus[i];
        json_array_append_new(corpus, json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I}", "order",
                                                c->order, "head", c->head, "rows", (json_int_t)c->rows, "ngrams",
                                                (json_int_t)c->ngrams, "distinct", (json_int_t)c->distinct, "used",
                                                (json_int_t)c->used, "expected_used", c->expected_used, "collided",
                                                c->collided, "collided_mass", c->collided_mass, "expected_collided",
                                                c->expected_collided, "most", (json_int_t)c->most));
    }
    return json_pack("{s:s, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "scheme", e->scheme, "vocab",
                     (json_int_t)e->reports[0]->vocab, "twos", e->reports[0]->twos, "lags", lags, "columns", columns,
                     "orders", orders, "corpus", corpus, "warnings", warnings);
}

/* ---- the picture ---- */

typedef struct text {
    char *at;
    int64_t n, capacity;
    int failed;
} text;

static void OG_PRINTF(2, 3) add(text *t, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (t->failed || n < 0 || og_grow((void **)&t->at, &t->capacity, t->n + n + 1, 1, NULL) != OG_OK) {
        t->failed = 1;
        return;
    }
    memcpy(t->at + t->n, line, (size_t)n + 1);
    t->n += n;
}

enum { CELL_W = 58, CELL_H = 26, LEFT = 250, TOP = 62 };

static const og_hash_lag *lag_number(const og_audit_entry *e, int32_t i) { /* head 0 of each n-gram's orders */
    for (int32_t p = 0; p < e->n_reports; p++)
        for (int32_t k = 0; k < e->reports[p]->n_lags; k++)
            if (e->reports[p]->lags[k].head == 0 && i-- == 0) return &e->reports[p]->lags[k];
    return NULL;
}

static void add_row(text *t, const og_audit_entry *e, int32_t y) {
    const og_hash_lag *l;
    add(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 10, y + 17);
    for (const char *c = e->name; *c; c++) { /* a table's name is the user's */
        if (*c == '<' || *c == '&')
            add(t, "&#%d;", *c);
        else
            add(t, "%c", *c);
    }
    add(t, "</text>\n");
    if (!e->n_reports)
        add(t, "<text x=\"%d\" y=\"%d\" fill=\"#555\">not audited: the scheme does not take this vocabulary</text>\n",
            LEFT, y + 17);
    for (int32_t i = 0; (l = lag_number(e, i)) != NULL; i++) {
        double share = l->distinct / l->ideal;
        share = share > 1 ? 1 : share;
        /* red through yellow to green, dark enough to be read in grey as well */
        int hue = (int)(share * 130), light = 45 + (int)(share * 25), x = LEFT + i * CELL_W;
        add(t,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "fill=\"hsl(%d,70%%,%d%%)\"><title>order %d, lag %d: %.1f of %.1f rows, %.3f %% of "
            "edits</title></rect>\n",
            x, y, CELL_W - 2, CELL_H - 2, hue, light, l->order, l->lag, l->distinct, l->ideal, 100 * l->changed);
        add(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\">n%d lag %d</text>\n", x + CELL_W / 2,
            y + 11, l->order, l->lag);
        if (share < 1e-4)
            add(t,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\">&lt; 0.01 "
                "%%</text>\n",
                x + CELL_W / 2, y + 21);
        else
            add(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\">%.4g %%</text>\n", x + CELL_W / 2,
                y + 21, 100 * share);
    }
}

char *og_audit_svg(const og_audit_entry *entries, int32_t n) {
    int32_t most = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (lag_number(&entries[i], k)) k++;
        if (k > most) most = k;
    }
    int width = LEFT + most * CELL_W + 20, height = TOP + n * CELL_H + 20;
    if (width < 640) width = 640;
    text t = {0};
    add(&t,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
        width, height, width, height);
    add(&t,
        "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n<text x=\"20\" y=\"26\" "
        "font-size=\"16\">Rows that each cell of an n-gram can reach</text>\n",
        width, height);
    add(&t, "<text x=\"20\" y=\"46\" fill=\"#555\">distinct rows while the cell sweeps the "
            "vocabulary, as a share of what a random function reaches</text>\n");
    for (int32_t i = 0; i < n; i++) add_row(&t, &entries[i], TOP + i * CELL_H);
    add(&t, "</svg>\n");
    if (!t.failed) return t.at;
    og_release(t.at);
    return NULL;
}
