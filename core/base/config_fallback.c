/* config_fallback.c: lists that key tables give as defaults, kept in fixed memory and shared by text. */
#include "config_fallback.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LISTS  256
#define VALUES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const int64_t *values;
    int64_t n;
} lists[LISTS];
static int64_t store[VALUES];
static int64_t n_lists, n_values;

/* Appends to store behind n_values; the count, or -1 when the text is no list or the store is full. */
static int64_t parse(const char *text) {
    int64_t n = 0;
    const char *p = text + strspn(text, " [");
    while (*p && *p != ']') {
        char *end;
        if (n_values + n == VALUES) return -1;
        store[n_values + n++] = strtoll(p, &end, 0);
        if (end == p) return -1;
        p = end + strspn(end, " ,");
    }
    return n;
}

static og_status intern(const char *text, og_i64_list *out, og_error *err) {
    int64_t n = parse(text);
    if (n < 0)
        return og_fail(err, OG_EINTERNAL,
                       "the default '%.80s' of a key table is no list of integers, or the %d there "
                       "is room for are used up",
                       text, VALUES);
    for (int64_t i = 0; i < n_lists; i++)
        if (lists[i].n == n && memcmp(lists[i].values, store + n_values, (size_t)n * sizeof *store) == 0) {
            *out = (og_i64_list){lists[i].values, n};
            return OG_OK;
        }
    if (n_lists == LISTS) return og_fail(err, OG_EINTERNAL, "key tables have more than %d different lists", LISTS);
    lists[n_lists].values = store + n_values;
    lists[n_lists++].n = n;
    *out = (og_i64_list){store + n_values, n};
    n_values += n;
    return OG_OK;
}

og_status og_fallback_list(const char *text, og_i64_list *out, og_error *err) {
    pthread_mutex_lock(&lock);
    og_status status = intern(text, out, err);
    pthread_mutex_unlock(&lock);
    return status;
}
