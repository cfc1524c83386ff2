/* hash_load.c: rows of many random n-grams: how evenly they fall, and which fall together. */
#include "hash_audit.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Radix sort, least significant byte first, with the passes left out that all values share. */
static void sort(uint64_t *values, int64_t n) {
    uint64_t *other = og_alloc(n, sizeof *other), *from = values, *to = other;
    if (!other) { /* slower, but needs nothing */
        for (int64_t gap = n / 2; gap > 0; gap /= 2)
            for (int64_t i = gap; i < n; i++) {
                uint64_t v = values[i];
                int64_t k = i;
                for (; k >= gap && values[k - gap] > v; k -= gap) values[k] = values[k - gap];
                values[k] = v;
            }
        return;
    }
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t count[257] = {0};
        for (int64_t i = 0; i < n; i++) count[(from[i] >> shift & 255) + 1]++;
        int one = 0;
        for (int b = 1; b <= 256; b++) one |= count[b] == n;
        if (one) continue;
        for (int b = 0; b < 256; b++) count[b + 1] += count[b];
        for (int64_t i = 0; i < n; i++) to[count[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) memcpy(values, from, (size_t)n * sizeof *values);
    og_release(other);
}

/* Of sorted values: how many share theirs with another, and how many pairs do. */
static void shared(const uint64_t *sorted, int64_t n, double *share, double *pairs) {
    int64_t together = 0;
    *pairs = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] == sorted[i]; end++) continue;
        int64_t run = end - i;
        if (run > 1) together += run;
        *pairs += (double)run * (double)(run - 1) / 2;
    }
    *share = n ? (double)together / (double)n : 0;
}

/* Sum over rows of the squared load, from the pairs: chi-square = sum (load - e)^2 / e with e = n /
 * R, of mean R - 1. */
static double chi2_z(double pairs, double n, double rows) {
    if (rows < 2) return 0;
    double squares = 2 * pairs + n, chi2 = squares * rows / n - n;
    return (chi2 - (rows - 1)) / sqrt(2 * (rows - 1) * (1 - 1 / n));
}

/* Code w of window i's positions becomes n-gram `number` of `total` (limit: too many to count). The codes beside each
 * other in a position are n-grams of their own: those of w = 0 moved on by a step, so that each column meets distinct
 * ones too. */
static void set_ngram(og_prober *p, int64_t i, int32_t w, int32_t order, uint64_t number, uint64_t total,
                      uint64_t limit) {
    uint64_t v = (uint64_t)p->vocab;
    if (total < limit)
        number = (number + (uint64_t)w * (total / (uint64_t)p->width + 1)) % total;
    else if (w)
        number = og_splitmix64(number + (uint64_t)w);
    for (int32_t k = 0; k < p->cells; k++) {
        int32_t *code = &p->code[k][i * p->width + w];
        if (k >= order)
            *code = 0;
        else if (total < limit) {
            *code = (int32_t)(number % v);
            number /= v;
        } else {
            *code = (int32_t)og_random_below(number, (uint64_t)k, v);
        }
    }
}

/* Distinct random n-grams of `order` codes as their rows: rows [columns][n]; returns n. The draw
 * repeats an n-gram only where V^order is small; repeats are left out, so that a shared row is a
 * collision. */
static og_status draw(og_prober *p, int32_t order, int64_t n, uint64_t seed, uint64_t *keys, uint64_t *rows,
                      int64_t *n_distinct, og_error *err) {
    const og_addr_layout *l = og_addr_layout_of(p->addr);
    uint64_t key = og_splitmix64(seed ^ (uint64_t)order << 32), total = 1, limit = UINT64_C(1) << 62;
    for (int32_t k = 0; k < order && total < limit; k++)
        total = total > limit / (uint64_t)p->vocab ? limit : total * (uint64_t)p->vocab;
    int32_t all = total <= (uint64_t)n * 2; /* few enough to take every one */
    if (all && (int64_t)total < n) n = (int64_t)total;
    int64_t kept = 0;
    if (!all) {
        /* the number of an n-gram among all; numbers are drawn without repeats as far as 64 bits
         * tell them apart */
        for (int64_t i = 0; i < n; i++)
            keys[i] = total < limit ? og_random_below(key, (uint64_t)i, total) : og_random_bits(key, (uint64_t)i);
        sort(keys, n);
        for (int64_t i = 0; i < n; i++)
            if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
    } else {
        for (; kept < n; kept++) keys[kept] = (uint64_t)kept;
    }
    for (int64_t done = 0; done < kept;) {
        int64_t b = kept - done < p->block ? kept - done : p->block;
        for (int64_t i = 0; i < b; i++)
            for (int32_t w = 0; w < p->width; w++) set_ngram(p, i, w, order, keys[done + i], total, limit);
        OG_TRY(og_prober_run(p, b, err));
        p->place += b;
        int64_t at = 0;
        for (int32_t c = 0; c < p->columns; c++) {
            if (l->columns[c].order != order) continue;
            for (int64_t i = 0; i < b; i++)
                rows[at * n + done + i] = (uint64_t)(p->rows[i * p->columns + c] - l->columns[c].base);
            at++;
        }
        done += b;
    }
    if (kept < n) { /* rows of each head one behind the other */
        int64_t heads = 0;
        for (int32_t c = 0; c < p->columns; c++) heads += l->columns[c].order == order;
        for (int64_t h = 1; h < heads; h++) memmove(rows + h * kept, rows + h * n, (size_t)kept * sizeof *rows);
    }
    *n_distinct = kept;
    return OG_OK;
}

static void measure(og_hash_report *r, og_hash_order *order, uint64_t *rows, uint64_t *joint, int64_t n) {
    double product = 1, share, pairs;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) joint[i] = 0;
    for (int32_t c = 0; c < r->n_columns; c++) {
        og_hash_column *column = &r->columns[c];
        if (column->order != order->order) continue;
        uint64_t *mine = rows + at++ * n;
        for (int64_t i = 0; i < n; i++) joint[i] = og_splitmix64(joint[i] ^ mine[i]);
        sort(mine, n);
        shared(mine, n, &share, &pairs);
        column->samples = n;
        column->collided = share;
        column->expected = -expm1((double)(n - 1) * log1p(-1 / (double)column->rows));
        column->chi2_z = chi2_z(pairs, (double)n, (double)column->rows);
        product *= (double)column->rows;
    }
    sort(joint, n);
    shared(joint, n, &share, &order->pairs);
    order->expected = (double)n * (double)(n - 1) / 2 / product;
}

og_status og_hash_load(const og_addr *addr, const og_hash_options *options, og_hash_report *r, og_error *err) {
    og_prober *p;
    OG_TRY(og_prober_new(addr, options, &p, err));
    int64_t n = options->samples, heads = 1;
    for (int32_t i = 0; i < r->n_orders; i++)
        if (r->orders[i].heads > heads) heads = r->orders[i].heads;
    uint64_t *keys = og_alloc(n, sizeof *keys), *rows = og_alloc(n, (size_t)heads * sizeof *rows);
    og_status status = keys && rows ? OG_OK : og_fail(err, OG_ENOMEM, "no memory for %lld n-grams", (long long)n);
    for (int32_t i = 0; status == OG_OK && i < r->n_orders; i++) {
        int64_t distinct = 0;
        status = draw(p, r->orders[i].order, n, options->seed, keys, rows, &distinct, err);
        if (status == OG_OK) measure(r, &r->orders[i], rows, keys, distinct);
    }
    og_release(keys);
    og_release(rows);
    og_prober_free(p);
    return status;
}
