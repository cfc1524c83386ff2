/* kmeans_distinct.c: the distinct finite vectors of a set, each with how often it occurs. */
#include "kmeans.h"

#include "nearest.h"

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

/* rows[*n_rows]: the first row of each distinct finite vector, in order; weights: its copies. table
 * [slots] is scratch. */
static int64_t find_distinct(const float *vectors, int64_t n, int64_t dim, int64_t *table, int64_t slots, int64_t *rows,
                             float *weights, int64_t *finite) {
    int64_t found = 0;
    for (int64_t i = 0; i < slots; i++) table[i] = -1; /* open addressing: index into rows */
    for (int64_t i = 0; i < n; i++) {
        const float *vector = vectors + i * dim;
        if (!og_all_finite(vector, dim)) continue;
        ++*finite;
        int64_t slot = (int64_t)(hash_row(vector, dim) & (uint64_t)(slots - 1));
        while (table[slot] >= 0 && !same_row(vectors + rows[table[slot]] * dim, vector, dim))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            table[slot] = found;
            rows[found] = i;
            weights[found++] = 0;
        }
        weights[table[slot]] += 1; /* exact below 2^24; more copies of one vector weigh no less than that */
    }
    return found;
}

og_status og_kmeans_distinct_new(const float *vectors, int64_t n, int64_t dim, og_kmeans_distinct *out, og_error *err) {
    int64_t slots = 16;
    while (slots < 2 * n) slots *= 2;
    og_kmeans_distinct made = {.n_given = n, .weights = og_alloc(n, sizeof(float))};
    int64_t *table = og_alloc(slots, sizeof *table), *rows = og_alloc(n, sizeof *rows);
    int short_of_memory = !made.weights || !table || !rows;
    if (!short_of_memory) made.n = find_distinct(vectors, n, dim, table, slots, rows, made.weights, &made.n_finite);
    if (!short_of_memory && made.n < n) {
        made.owned = og_alloc(made.n * dim, sizeof *made.owned);
        short_of_memory = !made.owned;
        for (int64_t i = 0; !short_of_memory && i < made.n; i++)
            memcpy(made.owned + i * dim, vectors + rows[i] * dim, (size_t)dim * sizeof *vectors);
    }
    og_release(table);
    og_release(rows);
    if (short_of_memory) {
        og_kmeans_distinct_drop(&made);
        return og_fail(err, OG_ENOMEM, "no memory to find the distinct ones of %lld vectors of %lld values",
                       (long long)n, (long long)dim);
    }
    made.vectors = made.owned ? made.owned : vectors;
    *out = made;
    return OG_OK;
}

void og_kmeans_distinct_drop(og_kmeans_distinct *distinct) {
    og_release(distinct->owned);
    og_release(distinct->weights);
    *distinct = (og_kmeans_distinct){0};
}
