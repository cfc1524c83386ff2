/* test_config_read.c: key tables: types, limits, defaults and the wording of each fault. */
#include "test.h"

#include <omnigram/config.h>
#include <omnigram/memory.h>

typedef struct image {
    int64_t rows, columns;
    double scale;
    int32_t wrap, mode;
    const char *name;
    og_i64_list orders, lags;
    const og_config *extra;
} image;

static const og_key image_keys[] = {
    {"rows", OG_KEY_I64, offsetof(image, rows), NULL, 1, 1e12, NULL, "rows of the table"},
    {"columns", OG_KEY_I64, offsetof(image, columns), "0x10", 0, 0, NULL, "columns"},
    {"scale", OG_KEY_F64, offsetof(image, scale), "1e-3", 0, 1, NULL, "standard deviation"},
    {"wrap", OG_KEY_BOOL, offsetof(image, wrap), "true", 0, 0, NULL, "wrap around"},
    {"mode", OG_KEY_CHOICE, offsetof(image, mode), "serving", 0, 0, "hf|serving|4", "variant"},
    {"name", OG_KEY_STRING, offsetof(image, name), "true", 1, 8, NULL, "name"},
    {"orders", OG_KEY_I64_LIST, offsetof(image, orders), "[2, 3]", 1, 32, NULL, "orders"},
    {"lags", OG_KEY_I64_LIST, offsetof(image, lags), "", 0, 0, NULL, "lags"},
    {"extra", OG_KEY_NODE, offsetof(image, extra), "", 0, 0, NULL, "passed on"},
    {0},
};

static og_error err;

static og_config *parse(const char *text) {
    og_config *root;
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "q.yaml", &root, &err));
    return root;
}

static void test_values(void) {
    og_config *root = parse("rows: 1000000000000\nscale: 0.5\nwrap: false\nmode: 4\nname: x\norders: 5\n"
                            "lags: [-1, 9223372036854775807]\nextra: {a: 1}\ncolumns: ~\n");
    image im;
    CHECK_OK(og_config_read(root, image_keys, &im, &err));
    CHECK(im.rows == 1000000000000 && im.columns == 16 && im.scale == 0.5 && im.wrap == 0 && im.mode == 2);
    CHECK(strcmp(im.name, "x") == 0 && im.orders.n == 1 && im.orders.values[0] == 5);
    CHECK(im.lags.n == 2 && im.lags.values[0] == -1 && im.lags.values[1] == INT64_MAX);
    CHECK(og_config_size(im.extra) == 1);
    og_config_free(root);
}

static void test_defaults(void) {
    og_config *root = parse("rows: 1");
    image im, again;
    CHECK_OK(og_config_read(root, image_keys, &im, &err));
    CHECK(im.columns == 16 && im.scale == 1e-3 && im.wrap == 1 && im.mode == 1 && strcmp(im.name, "true") == 0);
    CHECK(im.orders.n == 2 && im.orders.values[0] == 2 && im.orders.values[1] == 3);
    CHECK(im.lags.n == 0 && im.extra == NULL);
    og_config_free(root);
    CHECK(im.orders.values[1] == 3); /* lives on */
    CHECK_OK(og_config_read(NULL, image_keys + 1, &again, &err));
    CHECK(again.orders.values == im.orders.values);
    CHECK_FAILS(og_config_read(NULL, image_keys, &im, &err), OG_EINVAL, "rows: missing; it is rows of the table");
}

static void expect(const char *text, const char *message) {
    og_config *root = parse(text);
    const og_config *map = og_config_get(root, "tables.image");
    image im;
    err.message[0] = 0;
    og_status status = og_config_read(map, image_keys, &im, &err);
    if (status != OG_EINVAL || strcmp(err.message, message) != 0) {
        fprintf(stderr, "wanted: %s\ngot %s: %s\n", message, og_status_name(status), err.message);
        exit(1);
    }
    og_config_free(root);
}

static void test_faults(void) {
    expect("tables:\n  image:\n    rows: 1\n    colums: 2\n",
           "q.yaml:4: tables.image.colums: unknown key; did you mean 'columns'?");
    expect("tables:\n  image: {rows: 1,\n rowz: 3}\n",
           "q.yaml:3: tables.image.rowz: unknown key; did you mean 'rows'?");
    expect("tables:\n  image: {qqqqqqqq: 3}\n",
           "q.yaml:2: tables.image.qqqqqqqq: unknown key; known are: rows, columns, "
           "scale, wrap, mode, name, orders, lags, extra");
    expect("tables:\n  image:\n    mode: hf\n", "q.yaml:3: tables.image.rows: missing; it is rows of the table");
    expect("tables:\n  image: {rows: 0}\n",
           "q.yaml:2: tables.image.rows: the integer 0 is out of limits: 1 .. 1000000000000");
    expect("tables:\n  image: {rows: 1e6}\n",
           "q.yaml:2: tables.image.rows: wants an integer, not the number 1000000.0 (write 1000000)");
    expect("tables:\n  image: {rows: '7'}\n", "q.yaml:2: tables.image.rows: wants an integer, not the text '7'");
    expect("tables:\n  image: {rows: 7, wrap: yes}\n",
           "q.yaml:2: tables.image.wrap: wants true or false, not the text 'yes'");
    expect("tables:\n  image: {rows: 7, scale: 1.5}\n",
           "q.yaml:2: tables.image.scale: the number 1.5 is out of limits: 0 .. 1");
    expect("tables:\n  image: {rows: 7, scale: .nan}\n",
           "q.yaml:2: tables.image.scale: the number nan is out of limits: 0 .. 1");
    expect("tables:\n  image: {rows: 7, name: 3}\n",
           "q.yaml:2: tables.image.name: wants text, not the integer 3 (quote it)");
    expect("tables:\n  image: {rows: 7, name: ninechars}\n",
           "q.yaml:2: tables.image.name: the text 'ninechars' is out of limits: 1 .. 8 bytes");
    expect("tables:\n  image: {rows: 7, mode: severing}\n",
           "q.yaml:2: tables.image.mode: the text 'severing' is none of hf|serving|4; did you mean 'serving'?");
    expect("tables:\n  image: {rows: 7, orders: [2, 33]}\n",
           "q.yaml:2: tables.image.orders[1]: the integer 33 is out of limits: 1 .. 32");
    expect("tables:\n  image: {rows: 7, orders: [2, 2.5]}\n",
           "q.yaml:2: tables.image.orders[1]: wants an integer, not the number 2.5");
    expect("tables:\n  image: {rows: 7, orders: {}}\n",
           "q.yaml:2: tables.image.orders: wants a list of integers, not a map of 0 keys");
    expect("tables:\n  image: [1]\n", "q.yaml:2: tables.image: wants a map (key: value), not a list of 1");
    expect("tables:\n  image:\n", "q.yaml:2: tables.image.rows: missing; it is rows of the table");
}

static void test_limits_near_2_63(void) {
    static const og_key keys[] = {{"n", OG_KEY_I64, 0, NULL, -0x1p63, 9007199254740992.0, NULL, "n"}, {0}};
    int64_t n;
    og_config *root = parse("n: 9007199254740992");
    CHECK_OK(og_config_read(root, keys, &n, &err));
    CHECK_OK(og_config_override(root, "n=-9223372036854775808", &err));
    CHECK_OK(og_config_read(root, keys, &n, &err));
    CHECK(n == INT64_MIN);
    CHECK_OK(og_config_override(root, "n=9007199254740993", &err)); /* equal to the limit as a double */
    CHECK_FAILS(og_config_read(root, keys, &n, &err), OG_EINVAL, "--n: the integer 9007199254740993 is out of limits");
    og_config_free(root);
}

static void fails(const og_config *map, const char *message) {
    image im;
    og_status status = og_config_read(map, image_keys, &im, &err);
    if (status != OG_EINVAL || strcmp(err.message, message) != 0) {
        fprintf(stderr, "wanted: %s\ngot %s: %s\n", message, og_status_name(status), err.message);
        exit(1);
    }
}

/* A message names the whole key, whatever override or copy the map went through. */
static void test_paths(void) {
    og_config *root = parse("tables:\n  text: {rows: 1}\n"), *copy, *made;
    CHECK_OK(og_config_override(root, "tables.image.mode=hf", &err));
    fails(og_config_get(root, "tables.image"), "tables.image.rows: missing; it is rows of the table");
    CHECK_OK(og_config_override(root, "tables.image.rows=0", &err));
    fails(og_config_get(root, "tables.image"),
          "--tables.image.rows: the integer 0 is out of limits: 1 .. 1000000000000");
    CHECK_OK(og_config_override(root, "tables.image={rows: 5, lags: {x: 1}}", &err));
    fails(og_config_get(root, "tables.image"), "--tables.image.lags: wants a list of integers, not a map of 1 keys");

    /* a copy keeps the path of what it was copied from, and so does what is put into it */
    CHECK_OK(og_config_copy(og_config_get(root, "tables.text"), &copy, &err));
    CHECK_OK(og_config_set(copy, "rows", "0", &err));
    fails(copy, "q.yaml:2: tables.text.rows: the integer 0 is out of limits: 1 .. 1000000000000");
    CHECK_OK(og_config_put(copy, "rows", og_config_get(root, "tables.image.lags.x"), &err));
    CHECK_OK(og_config_set(copy, "mode", "[1]", &err));
    fails(copy, "q.yaml:2: tables.text.mode: a list of 1 is none of hf|serving|4");
    og_config *list = parse("[1]");
    CHECK_FAILS(og_config_put(list, "a", copy, &err), OG_EINVAL, "q.yaml:1: is no map, so it has no 'a'");
    CHECK_FAILS(og_config_set(list, "a", "1", &err), OG_EINVAL, "q.yaml:1: is no map, so it has no 'a'");
    og_config_free(list);
    CHECK_OK(og_config_put(root, "x.y", copy, &err));
    CHECK(og_config_kind(og_config_get(root, "x.y")) == OG_CONFIG_MAP); /* the whole word is the key */

    /* an empty map that stands in for a section that was left out */
    CHECK_OK(og_config_new_at(og_config_get(root, "tables.text"), "addressing", &made, &err));
    CHECK(og_config_kind(made) == OG_CONFIG_MAP && og_config_size(made) == 0);
    fails(made, "q.yaml:2: tables.text.addressing.rows: missing; it is rows of the table");
    og_config_free(made);
    CHECK_OK(og_config_new_at(NULL, NULL, &made, &err));
    fails(made, "(no config): rows: missing; it is rows of the table");
    CHECK(!strcmp(OG_WHERE(NULL), "config"));
    og_config_free(made);
    og_config_free(copy);
    og_config_free(root);
}

static void test_table_faults(void) {
    static const og_key wrong[] = {{"n", OG_KEY_I64, 0, "many", 0, 0, NULL, "n"}, {0}};
    static const og_key list[] = {{"n", OG_KEY_I64_LIST, 0, "[1, x]", 0, 0, NULL, "n"}, {0}};
    og_i64_list out;
    CHECK_FAILS(og_config_read(NULL, wrong, &out, &err), OG_EINTERNAL, "default of 'n'");
    CHECK_FAILS(og_config_read(NULL, list, &out, &err), OG_EINTERNAL, "'[1, x]'");
}

static void test_nearest(void) {
    static const char *const words[] = {"rows", "dim", "order", "orders", "learning_rate"};
    CHECK(strcmp(og_config_nearest("rosw", words, 5), "rows") == 0);
    CHECK(strcmp(og_config_nearest("oders", words, 5), "orders") == 0);
    CHECK(strcmp(og_config_nearest("learning-rat", words, 5), "learning_rate") == 0);
    CHECK(strcmp(og_config_nearest("DIM", words, 5), "dim") == 0);
    CHECK(og_config_nearest("", words, 5) == NULL && og_config_nearest("zebra", words, 5) == NULL);
    CHECK(og_config_nearest("x", words, 5) == NULL);
    char longest[300];
    memset(longest, 'a', 299);
    longest[299] = 0;
    CHECK(og_config_nearest(longest, words, 5) == NULL);
}

int main(void) {
    test_values();
    test_defaults();
    test_faults();
    test_limits_near_2_63();
    test_paths();
    test_table_faults();
    test_nearest();
    CHECK(og_alloc_count() == 0);
    return 0;
}
