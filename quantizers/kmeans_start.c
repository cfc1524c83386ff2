/* kmeans_start.c: a seeded draw of distinct vectors. */
#include "kmeans.h"

#include <omnigram/memory.h>
#include <omnigram/random.h>

#include <string.h>

static uint64_t hash_row(const float *row, int64_t dim) {
    uint64_t hash = 0;
    for (int64_t j = 0; j < dim; j++) {
        float value = row[j] + 0.0f; /* -0 becomes 0 */
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = og_splitmix64(hash ^ bits);
    }
    return hash;
}

static int same_row(const float *a, const float *b, int64_t dim) {
    for (int64_t j = 0; j < dim; j++)
        if (a[j] != b[j]) return 0;
    return 1;
}

og_status og_kmeans_start(const float *vectors, int64_t n, int64_t dim, int64_t wanted, uint64_t seed, int64_t *rows,
                          int64_t *found, og_error *err) {
    int64_t slots = 16;
    while (slots < 2 * wanted) slots *= 2;
    int64_t *order = og_alloc(n, sizeof *order);
    int64_t *table = og_alloc(slots, sizeof *table); /* open addressing: index into rows, or -1 */
    if (!order || !table) {
        og_release(order);
        og_release(table);
        return og_fail(err, OG_ENOMEM, "no memory to draw %lld of %lld vectors", (long long)wanted, (long long)n);
    }
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = 0; i < slots; i++) table[i] = -1;
    int64_t taken = 0;
    for (int64_t i = 0; i < n && taken < wanted; i++) { /* Fisher-Yates, as far as it is needed */
        int64_t j = i + (int64_t)og_random_below(seed, (uint64_t)i, (uint64_t)(n - i));
        int64_t row = order[j];
        order[j] = order[i];
        const float *vector = vectors + row * dim;
        int64_t slot = (int64_t)(hash_row(vector, dim) & (uint64_t)(slots - 1));
        while (table[slot] >= 0 && !same_row(vectors + rows[table[slot]] * dim, vector, dim)) slot = (slot + 1) & (slots - 1);
        if (table[slot] >= 0) continue;
        table[slot] = taken;
        rows[taken++] = row;
    }
    og_release(order);
    og_release(table);
    *found = taken;
    return OG_OK;
}
