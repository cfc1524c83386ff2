/* addr_engram_xor.c: DeepSeek's Engram: compressed ids times odd multipliers, XORed, modulo a prime
 * for each head. */
#include "addr/engram_constants.h"
#include "addr/id_map_file.h"
#include "addr/scheme.h"
#include "addr/xor_mod.h"

#include <omnigram/memory.h>

#include <string.h>

typedef struct keys {
    og_addr_keys common;
    int32_t variant;
    int64_t compressed_vocab, layer_id, heads, max_order, pad, seed, dead;
    og_i64_list all_layers, start_rows, multipliers, primes;
    const char *id_map;
} keys;

static const og_key key_table[] = {
    OG_ADDR_KEYS(keys),
    {"variant", OG_KEY_CHOICE, offsetof(keys, variant), "v1", 0, 0, "v1|v41",
     "v1: what is before the start reads as pad; v41: so does a dead token, the current one "
     "included, and all older"},
    {"compressed_vocab", OG_KEY_I64, offsetof(keys, compressed_vocab), "", 1, 2147483648.0, NULL,
     "V', size of the compressed vocabulary (absent: that of id_map, else v1 98627, v41 99092); "
     "multipliers derive from it"},
    {"layer_id", OG_KEY_I64, offsetof(keys, layer_id), "1", 0, 1 << 20, NULL, "0-based layer, part of the seed"},
    {"all_layers", OG_KEY_I64_LIST, offsetof(keys, all_layers), "", 0, 1 << 20, NULL,
     "the model's Engram layers in the order of the prime search (absent: v1 [1, 15], v41 [1, "
     "14])"},
    {"start_rows_per_order", OG_KEY_I64_LIST, offsetof(keys, start_rows), "", 1, 0x1p60, NULL,
     "where the prime search of each order begins (absent: v1 646400, v41 16000000)"},
    {"heads", OG_KEY_I64, offsetof(keys, heads), "8", 1, 1024, NULL, "heads of each order"},
    {"max_order", OG_KEY_I64, offsetof(keys, max_order), "", 0, OG_MAX_ORDER, NULL,
     "orders are 2 .. max_order (absent: v1 3, v41 4)"},
    {"pad", OG_KEY_I64, offsetof(keys, pad), "2", 0, 2147483647.0, NULL, "compressed id of pad"},
    {"seed", OG_KEY_I64, offsetof(keys, seed), "0", -0x1p62, 0x1p62, NULL, "seed of the multipliers"},
    {"dead", OG_KEY_I64, offsetof(keys, dead), "-1", -2147483648.0, 2147483647.0, NULL,
     "v41: the id of image placeholders (with id_map: a raw id, released model 129264)"},
    {"id_map", OG_KEY_STRING, offsetof(keys, id_map), "", 0, 0, NULL,
     "file that maps raw ids to compressed ones (omnigram/canonical.h); then the stream's ids are "
     "raw"},
    {"multipliers", OG_KEY_I64_LIST, offsetof(keys, multipliers), "", 0, 0, NULL,
     "a checkpoint's own multipliers, instead of derived ones"},
    {"primes", OG_KEY_I64_LIST, offsetof(keys, primes), "", 1, 0x1p61, NULL,
     "a checkpoint's own sizes, one a column, instead of the search"},
    {0},
};

struct og_addr_impl {
    og_xor_hash hash;
    og_id_map_file ids;
    int64_t dead;
};

static void destroy(og_addr_impl *impl) {
    if (!impl) return;
    og_xor_free(&impl->hash);
    og_release(impl->ids.map);
    og_release(impl);
}

static og_status sizes(const keys *k, const char *place, int32_t v41, int64_t orders, int64_t *out, og_error *err) {
    static const int64_t layers1[] = {1, 15}, layers41[] = {1, 14};
    int64_t n = orders * k->heads, starts[OG_MAX_ORDER];
    if (k->primes.n) {
        if (k->primes.n != n)
            return og_fail(err, OG_EINVAL, "%s: %lld primes for %lld columns", place, (long long)k->primes.n,
                           (long long)n);
        memcpy(out, k->primes.values, (size_t)n * sizeof *out);
        return OG_OK;
    }
    og_i64_list layers = k->all_layers.n ? k->all_layers : (og_i64_list){v41 ? layers41 : layers1, 2};
    int64_t usual = v41 ? 16000000 : 646400;
    og_i64_list given = k->start_rows.n ? k->start_rows : (og_i64_list){&usual, 1};
    OG_TRY(og_addr_expand(place, "start_rows_per_order", given, orders, starts, err));
    og_status status = og_engram_primes(layers, k->layer_id, (og_i64_list){starts, orders}, k->heads, out, err);
    return status == OG_OK ? OG_OK : og_fail_at(err, status, "%s", place);
}

/* The raw id that reads as pad, since absent cells are filled before ids are mapped. */
static og_status raw_pad(const og_id_map_file *ids, int64_t pad, const char *path, int32_t *out, og_error *err) {
    for (int64_t i = 0; i < ids->raw; i++)
        if (ids->map[i] == pad) {
            *out = (int32_t)i;
            return OG_OK;
        }
    return og_fail(err, OG_EINVAL, "%s: no raw id maps to pad %lld", path, (long long)pad);
}

static og_status fill_in(const keys *k, const char *place, og_addr_impl *impl, og_addr_layout *layout, og_error *err) {
    int32_t v41 = k->variant == 1;
    int64_t max_order = k->max_order ? k->max_order : v41 ? 4 : 3, orders = max_order - 1, n = orders * k->heads;
    int64_t vocab = k->compressed_vocab, of[OG_COLUMNS_MOST], rows[OG_COLUMNS_MOST];
    if (max_order < 2 || n > OG_COLUMNS_MOST)
        return og_fail(err, OG_EINVAL, "%s: max_order %lld with %lld heads; orders are 2 .. %d, columns at most %d",
                       place, (long long)max_order, (long long)k->heads, OG_MAX_ORDER, OG_COLUMNS_MOST);
    if (k->id_map) {
        OG_TRY(og_id_map_file_read(k->id_map, &impl->ids, err));
        if (vocab && vocab != impl->ids.compressed)
            return og_fail(err, OG_EINVAL,
                           "%s: compressed_vocab is %lld but %s has %lld ids; another vocabulary "
                           "moves every row",
                           place, (long long)vocab, k->id_map, (long long)impl->ids.compressed);
        vocab = impl->ids.compressed;
    }
    if (!vocab) vocab = v41 ? 99092 : 98627;
    if (k->pad >= vocab)
        return og_fail(err, OG_EINVAL, "%s: pad %lld is not below compressed_vocab %lld", place, (long long)k->pad,
                       (long long)vocab);
    OG_TRY(sizes(k, place, v41, orders, rows, err));
    for (int64_t c = 0; c < n; c++) of[c] = 2 + c / k->heads;
    OG_TRY(og_addr_columns(layout, place, of, rows, n, k->common.global_rows, err));
    OG_TRY(og_xor_make(&impl->hash, layout, err));
    if (k->multipliers.n) {
        int64_t own[OG_MAX_ORDER];
        if (k->multipliers.n != max_order)
            return og_fail(err, OG_EINVAL, "%s: %lld multipliers for max_order %lld", place,
                           (long long)k->multipliers.n, (long long)max_order);
        OG_TRY(og_addr_expand(place, "multipliers", k->multipliers, max_order, own, err));
        for (int64_t i = 0; i < max_order; i++) impl->hash.multiplier[i] = (uint64_t)own[i];
    } else {
        if (k->seed + 10007 * k->layer_id < 0)
            return og_fail(err, OG_EINVAL,
                           "%s: seed %lld with layer_id %lld; numpy takes no seed below 0 (seed + 10007 layer_id)",
                           place, (long long)k->seed, (long long)k->layer_id);
        og_engram_multipliers((uint64_t)k->seed, (uint64_t)k->layer_id, vocab, (int32_t)max_order,
                              impl->hash.multiplier);
    }
    layout->width = 1;
    layout->code_limit = k->id_map ? impl->ids.raw : vocab;
    og_window *window = &layout->window;
    window->fill = OG_FILL_PAD_ID;
    window->fill_id = (int32_t)k->pad;
    if (k->id_map) OG_TRY(raw_pad(&impl->ids, k->pad, k->id_map, &window->fill_id, err));
    if (v41) {
        impl->dead = k->dead;
        window->mode[OG_AT_IMAGE_TOKEN] = OG_BREAK_LATCH;
        window->self[OG_AT_IMAGE_TOKEN] = 1;
        window->image = &impl->dead;
        window->n_image = 1;
        layout->extra_code = k->dead;
    }
    return OG_OK;
}

static og_status create(const og_config *config, og_addr_impl **out, og_addr_layout *layout, og_error *err) {
    keys k;
    OG_TRY(og_config_read(config, key_table, &k, err));
    og_addr_impl *impl = og_alloc_zero(1, sizeof *impl);
    if (!impl) return og_fail(err, OG_ENOMEM, "no memory for an addressing");
    og_status status = fill_in(&k, OG_WHERE(config), impl, layout, err);
    if (status != OG_OK) {
        destroy(impl);
        return status;
    }
    *out = impl;
    return OG_OK;
}

/* With an id map the file decides, and the corpus holds raw ids. */
static og_status fit(og_config *config, int64_t codes, int32_t width, og_error *err) {
    (void)width;
    return og_config_get(config, "id_map") ? OG_OK : og_addr_fit_key(config, "compressed_vocab", codes, err);
}

static void rows(const og_addr_impl *impl, const og_cells *cells, int64_t *out) {
    if (!impl->ids.map) {
        og_xor_rows(&impl->hash, cells->code, cells->n, out);
        return;
    }
    int32_t mapped[OG_MAX_ORDER][OG_BLOCK];
    const int32_t *code[OG_MAX_ORDER];
    for (int32_t k = 0; k < impl->hash.cells; k++) {
        for (int64_t i = 0; i < cells->n; i++) {
            int32_t raw = cells->code[k][i]; /* a dead id outside the map is only seen where the
                                                user took its latch away */
            mapped[k][i] = raw >= 0 && raw < impl->ids.raw ? impl->ids.map[raw] : raw;
        }
        code[k] = mapped[k];
    }
    og_xor_rows(&impl->hash, code, cells->n, out);
}

/* V4.1's token mask: a dead position reads nothing. */
static void live(const og_addr_impl *impl, const og_cells *cells, uint8_t *out) {
    for (int64_t i = 0; i < cells->n; i++)
        memset(out + i * impl->hash.n_columns, !cells->present || (cells->present[i] & 1),
               (size_t)impl->hash.n_columns);
}

static og_status constants(const og_addr_impl *impl, char **json, og_error *err) {
    if (!impl->ids.map) return og_xor_constants(&impl->hash, json, err);
    char *hash, *text = NULL;
    int64_t length = 0, capacity = 0;
    OG_TRY(og_xor_constants(&impl->hash, &hash, err));
    og_status status =
        og_addr_text(&text, &length, &capacity, err, "{\"id_map\":\"%s\",%s", impl->ids.digest, hash + 1);
    og_release(hash);
    if (status == OG_OK)
        *json = text;
    else
        og_release(text);
    return status;
}

const og_addr_type og_addr_engram_xor = {
    .abi = OG_ABI,
    .name = "engram_xor",
    .summary = "DeepSeek Engram v1 and V4.1: XOR of compressed ids times odd multipliers, modulo primes",
    .source = "arXiv 2601.07372; deepseek-ai/Engram engram_demo_v1.py @fb7f84a; vllm "
              "deepseek_v4_1/common/engram.py @053c340a",
    .keys = key_table,
    .create = create,
    .destroy = destroy,
    .rows = rows,
    .live = live,
    .constants = constants,
    .fit = fit,
};
