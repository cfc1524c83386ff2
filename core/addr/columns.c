/* columns.c: lists of orders and rows to the columns of a layout. */
#include "addr/primes.h"
#include "addr/scheme.h"

#include <omnigram/memory.h>

#include <stdarg.h>
#include <stdio.h>

og_status og_addr_columns(og_addr_layout *layout, const char *place, const int64_t *orders, const int64_t *rows,
                          int64_t n, int32_t global_rows, og_error *err) {
    if (n < 1 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld columns; an addressing has 1 to %d", place, (long long)n,
                       OG_COLUMNS_MOST);
    og_column *columns = og_alloc_zero(n, sizeof *columns);
    if (!columns) return og_fail(err, OG_ENOMEM, "no memory for %lld columns", (long long)n);
    int64_t base = 0;
    int32_t heads[OG_MAX_ORDER + 1] = {0}, longest = 1;
    for (int64_t c = 0; c < n; c++) {
        og_status bad = OG_OK;
        if (orders[c] < 1 || orders[c] > OG_MAX_ORDER)
            bad = og_fail(err, OG_EINVAL, "%s: order %lld of column %lld is not in [1, %d]", place,
                          (long long)orders[c], (long long)c, OG_MAX_ORDER);
        else if (rows[c] < 1 || rows[c] > OG_ROWS_MOST - base)
            bad = og_fail(err, OG_EINVAL,
                          "%s: %lld rows of column %lld; a table has at least 1 row, all together "
                          "at most 2^62",
                          place, (long long)rows[c], (long long)c);
        if (bad != OG_OK) {
            og_release(columns);
            return bad;
        }
        columns[c] = (og_column){(int32_t)orders[c], heads[orders[c]]++, rows[c], global_rows ? base : 0};
        base += rows[c];
        if (columns[c].order > longest) longest = columns[c].order;
    }
    layout->columns = columns;
    layout->n_columns = (int32_t)n;
    layout->window.max_order = longest;
    return OG_OK;
}

og_status og_addr_expand(const char *place, const char *key, og_i64_list list, int64_t n, int64_t *out, og_error *err) {
    if (list.n != n && list.n != 1)
        return og_fail(err, OG_EINVAL, "%s: %s has %lld values for %lld columns; give one a column, or one for all",
                       place, key, (long long)list.n, (long long)n);
    for (int64_t i = 0; i < n; i++) out[i] = list.values[list.n == 1 ? 0 : i];
    return OG_OK;
}

og_status og_addr_listed_columns(og_addr_layout *layout, const char *place, og_i64_list orders, og_i64_list rows,
                                 int32_t global_rows, og_error *err) {
    int64_t sizes[OG_COLUMNS_MOST];
    if (orders.n <= OG_COLUMNS_MOST) /* else og_addr_columns names the limit */
        OG_TRY(og_addr_expand(place, "rows", rows, orders.n, sizes, err));
    return og_addr_columns(layout, place, orders.values, sizes, orders.n, global_rows, err);
}

static og_status hashed_sizes(const og_hashed_keys *k, const char *place, int64_t n, int64_t *rows, og_error *err) {
    int32_t prime = k->prime || k->rows.n == 0;
    if (k->rows.n)
        OG_TRY(og_addr_expand(place, "rows", k->rows, n, rows, err));
    else
        for (int64_t c = 0; c < n; c++) rows[c] = 1000003;
    if (!prime) return OG_OK;
    og_prime_set taken;
    OG_TRY(og_prime_set_new(n, &taken, err));
    og_status status = OG_OK;
    uint64_t p = 0;
    for (int64_t c = 0, before = 0; c < n && status == OG_OK; c++) {
        /* columns that ask for the same size continue each other */
        if (c == 0 || rows[c] != before) p = (uint64_t)rows[c] - 1;
        before = rows[c];
        status = og_prime_take(&taken, p, &p, err);
        rows[c] = (int64_t)p;
    }
    og_release(taken.values);
    return status;
}

og_status og_addr_hashed_columns(og_addr_layout *layout, const char *place, const og_hashed_keys *k,
                                 int32_t global_rows, og_error *err) {
    int64_t n = k->orders.n * k->heads;
    if (n < 1 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld orders of %lld heads; an addressing has 1 to %d columns", place,
                       (long long)k->orders.n, (long long)k->heads, OG_COLUMNS_MOST);
    int64_t orders[OG_COLUMNS_MOST], rows[OG_COLUMNS_MOST];
    for (int64_t i = 0; i < k->orders.n; i++) {
        if (i && k->orders.values[i] <= k->orders.values[i - 1])
            return og_fail(err, OG_EINVAL, "%s: orders ascend; %lld follows %lld", place,
                           (long long)k->orders.values[i], (long long)k->orders.values[i - 1]);
        for (int64_t h = 0; h < k->heads; h++) orders[i * k->heads + h] = k->orders.values[i];
    }
    OG_TRY(hashed_sizes(k, place, n, rows, err));
    return og_addr_columns(layout, place, orders, rows, n, global_rows, err);
}

og_status og_addr_text(char **text, int64_t *length, int64_t *capacity, og_error *err, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    og_status status = need < 0 ? og_fail(err, OG_EINTERNAL, "a text could not be formatted")
                                : og_grow((void **)text, capacity, *length + need + 1, 1, err);
    if (status == OG_OK) *length += vsnprintf(*text + *length, (size_t)(need + 1), format, again);
    va_end(again);
    return status;
}
