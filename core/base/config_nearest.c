/* config_nearest.c: which known word a mistyped one was meant to be. */
#include "nearest.h"

#include <omnigram/config.h>

#include <string.h>

#define LONGEST 63

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static char fold(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
int32_t og_nearest_distance(const char *word, const char *candidate, size_t n) {
    size_t m = strlen(word);
    if (m == 0 || n == 0 || m > LONGEST || n > LONGEST) return -1;
    int32_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = (int32_t)j;
    for (size_t i = 1; i <= m; i++) {
        int32_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = (int32_t)i;
        for (size_t j = 1; j <= n; j++) {
            char a = fold(word[i - 1]), b = fold(candidate[j - 1]);
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a != b));
            if (i > 1 && j > 1 && a == fold(candidate[j - 2]) && fold(word[i - 2]) == b)
                now[j] = least(now[j], older[j - 2] + 1);
        }
    }
    int32_t distance = rows[m % 3][n];
    int32_t allowed = (int32_t)((m > n ? m : n) + 2) / 3; /* a third of the letters may be wrong */
    return distance <= allowed && distance < (int32_t)(m > n ? m : n) ? distance : -1;
}

const char *og_config_nearest(const char *word, const char *const *words, int64_t n) {
    const char *best = NULL;
    int32_t best_distance = 0;
    for (int64_t i = 0; word && i < n; i++) {
        int32_t distance = og_nearest_distance(word, words[i], strlen(words[i]));
        if (distance >= 0 && (!best || distance < best_distance)) {
            best = words[i];
            best_distance = distance;
        }
    }
    return best;
}
