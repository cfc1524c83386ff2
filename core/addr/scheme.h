/* scheme.h: what the schemes' files share: common keys and the making of columns. */
#ifndef OMNIGRAM_ADDR_SCHEME_H
#define OMNIGRAM_ADDR_SCHEME_H

#include <omnigram/addr.h>

/* First member of every scheme's struct of keys. */
typedef struct og_addr_keys {
    const char *scheme;
    const og_config *window; /* og_addr_new reads it, after create's preset */
    int32_t global_rows;
} og_addr_keys;

/* clang-format off */
#define OG_ADDR_KEYS(type)                                                                         \
    {"scheme", OG_KEY_STRING, offsetof(type, common.scheme), "", 0, 0, NULL, "the scheme's name"}, \
    {"window", OG_KEY_NODE, offsetof(type, common.window), "", 0, 0, NULL,                         \
     "breaks and fills that replace the scheme's preset (docs/addressing.md)"},                    \
    {"global_rows", OG_KEY_BOOL, offsetof(type, common.global_rows), "false", 0, 0, NULL,          \
     "rows include the sizes of the columns before"}
/* clang-format on */

#define OG_ROWS_MOST    ((int64_t)1 << 62) /* rows of all columns together */
#define OG_COLUMNS_MOST 4096

/* orders[n], rows[n] to layout->columns: checks them, numbers the heads of each order, sums the
 * bases when global. Sets the window's max_order. place names the config in messages. */
og_status og_addr_columns(og_addr_layout *layout, const char *place, const int64_t *orders, const int64_t *rows,
                          int64_t n, int32_t global_rows, og_error *err);
/* The same for lists of the config: rows has one number a column or one for all. */
og_status og_addr_listed_columns(og_addr_layout *layout, const char *place, og_i64_list orders, og_i64_list rows,
                                 int32_t global_rows, og_error *err);
/* Keys of the schemes that hash as many rows as they are told: mix64 and the controls. */
typedef struct og_hashed_keys {
    og_i64_list orders, rows;
    int64_t heads;
    int32_t prime;
} og_hashed_keys;
/* clang-format off */
#define OG_HASHED_KEYS(type)                                                                       \
    {"orders", OG_KEY_I64_LIST, offsetof(type, columns.orders), "[2, 3, 4, 5]", 1, OG_MAX_ORDER, NULL,\
     "orders n of the n-grams, ascending"},                                                        \
    {"heads", OG_KEY_I64, offsetof(type, columns.heads), "1", 1, 256, NULL,                        \
     "hashes (columns) of each order"},                                                            \
    {"rows", OG_KEY_I64_LIST, offsetof(type, columns.rows), "", 1, 0x1p61, NULL,                   \
     "rows of every column, or a list with one number a column; taken as given (absent: "          \
     "distinct primes from 1000003)"},                                                             \
    {"prime", OG_KEY_BOOL, offsetof(type, columns.prime), "false", 0, 0, NULL,                     \
     "raise rows to distinct primes"}
/* clang-format on */
/* Order-major, heads within an order. */
og_status og_addr_hashed_columns(og_addr_layout *layout, const char *place, const og_hashed_keys *keys,
                                 int32_t global_rows, og_error *err);

/* A list as it is given, or one number repeated n times; wrong lengths are errors. out [n]. */
og_status og_addr_expand(const char *place, const char *key, og_i64_list list, int64_t n, int64_t *out, og_error *err);

/* For fit: key = value, unless the config has the key. */
og_status og_addr_fit_key(og_config *config, const char *key, int64_t value, og_error *err);

/* Appends to a string that grows; *text is og_alloc'ed (NULL at first). */
og_status og_addr_text(char **text, int64_t *length, int64_t *capacity, og_error *err, const char *format, ...)
    OG_PRINTF(5, 6);

/* An addressing's scheme, for a scheme that wraps another. */
const og_addr_impl *og_addr_impl_of(const og_addr *addr);

/* The alias's scheme and preset (YAML), or NULL. */
const char *og_addr_alias(const char *name, const char **preset);
const char *og_addr_alias_at(int32_t i); /* names in turn, then NULL */

#endif
