/* addr_lngram_direct.c: Lngram: learned codes of a few bits address their table directly, without a
 * hash or a collision. */
#include "addr/scheme.h"

#include <omnigram/memory.h>

typedef struct keys {
    og_addr_keys common;
    int64_t bits, routes;
    og_i64_list order;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"bits", OG_KEY_I64, offsetof(keys, bits), "4", 1, 16, NULL, "bits of a route's code"},
    {"order", OG_KEY_I64_LIST, offsetof(keys, order), "[2, 3]", 1, OG_MAX_ORDER, NULL,
     "orders of the n-grams, one table each"},
    {"routes", OG_KEY_I64, offsetof(keys, routes), "4", 1, 4096, NULL,
     "codes of a position (model width / bits); all share an order's table"},
    {0},
};

struct og_addr_impl {
    int32_t n_columns, routes, bits;
    og_column *columns;
};

static void destroy(og_addr_impl *impl) {
    if (impl) og_release(impl->columns);
    og_release(impl);
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    const char *place = OG_WHERE(config);
    int64_t n = k.order.n * k.routes, orders[OG_COLUMNS_MOST], sizes[OG_COLUMNS_MOST];
    if (n < 1 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: %lld columns; an addressing has 1 to %d", place, (long long)n,
                       OG_COLUMNS_MOST);
    for (int64_t c = 0; c < n; c++) {
        orders[c] = k.order.values[c / k.routes];
        if (orders[c] * k.bits > 48)
            return og_fail(err, OG_EINVAL,
                           "%s: order %lld of %lld-bit codes has 2^%lld rows a route; the limit is 2^48", place,
                           (long long)orders[c], (long long)k.bits, (long long)(orders[c] * k.bits));
        sizes[c] = INT64_C(1) << (orders[c] * k.bits);
    }
    OG_TRY(og_addr_columns(layout, place, orders, sizes, n, 1, err));
    /* Routes follow each other in their order's table; tables follow each other only for global
     * rows. */
    for (int64_t c = n - 1; !k.common.global_rows && c >= 0; c--)
        layout->columns[c].base -= layout->columns[c / k.routes * k.routes].base;
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (impl) impl->columns = og_alloc(n, sizeof *impl->columns);
    if (!impl || !impl->columns) {
        destroy(impl);
        return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    }
    for (int64_t c = 0; c < n; c++) impl->columns[c] = layout->columns[c];
    impl->n_columns = (int32_t)n;
    impl->routes = (int32_t)k.routes;
    impl->bits = (int32_t)k.bits;
    layout->width = (int32_t)k.routes;
    layout->code_limit = INT64_C(1) << k.bits;
    layout->window.fill = OG_FILL_ZERO_VEC;
    *out = impl;
    return OG_OK;
}

static og_status fit(og_config *config, int64_t codes, int32_t width, og_error *err) {
    int64_t bits = 1;
    while (codes > INT64_C(1) << bits) bits++;
    if (bits > 16 && !og_config_get(config, "bits"))
        return og_fail(err, OG_EINVAL, "%lld codes need %lld bits; a route's code has at most 16", (long long)codes,
                       (long long)bits);
    if (width) OG_TRY(og_addr_fit_key(config, "routes", width, err));
    return og_addr_fit_key(config, "bits", bits, err);
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    for (int32_t c = 0; c < impl->n_columns; c++) {
        const og_column *column = &impl->columns[c];
        int32_t route = c % impl->routes;
        for (int64_t i = 0; i < cells->n; i++) {
            int64_t address = 0;
            for (int32_t k = 0; k < column->order; k++) /* the oldest is the lowest digit */
                address = (address << impl->bits) + cells->code[k][i * impl->routes + route];
            out[i * impl->n_columns + c] = column->base + address;
        }
    }
}

const og_addr_type og_addr_lngram_direct = {
    .abi = OG_ABI,
    .name = "lngram_direct",
    .summary = "Lngram: learned few-bit codes, addressed exactly",
    .source = "arXiv 2605.24869; zyaaa-ux/Lngram @94a24f03",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .fit = fit,
};
