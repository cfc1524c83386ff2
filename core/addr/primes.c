/* primes.c: Miller-Rabin with the twelve bases that decide every 64-bit number (Sorenson, Webster
 * 2015). */
#include "addr/primes.h"
#include "addr/modulus.h"

#include <omnigram/memory.h>

static uint64_t times(uint64_t a, uint64_t b, uint64_t n) { return (uint64_t)((og_u128)a * b % n); }

static uint64_t power(uint64_t a, uint64_t e, uint64_t n) {
    uint64_t out = 1;
    for (; e; e >>= 1, a = times(a, a, n))
        if (e & 1) out = times(out, a, n);
    return out;
}

int32_t og_is_prime(uint64_t n) {
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    if (n < 2) return 0;
    for (int i = 0; i < 12; i++)
        if (n % bases[i] == 0) return n == bases[i];
    uint64_t odd = n - 1;
    int twos = __builtin_ctzll(odd);
    odd >>= twos;
    for (int i = 0; i < 12; i++) {
        uint64_t x = power(bases[i], odd, n);
        if (x == 1 || x == n - 1) continue;
        int left = twos - 1;
        while (left > 0 && x != n - 1) {
            x = times(x, x, n);
            left--;
        }
        if (x != n - 1) return 0;
    }
    return 1;
}

uint64_t og_prime_above(uint64_t n) {
    if (n < 2) return 2;
    for (uint64_t p = n % 2 ? n + 2 : n + 1; p < UINT64_C(1) << 63; p += 2)
        if (og_is_prime(p)) return p;
    return 0;
}

og_status og_prime_set_new(int64_t most, og_prime_set *out, og_error *err) {
    uint64_t *values = og_alloc(most, sizeof *values);
    if (!values) return og_fail(err, OG_ENOMEM, "no memory for %lld primes", (long long)most);
    *out = (og_prime_set){values, 0, most};
    return OG_OK;
}

static int64_t place_of(const og_prime_set *set, uint64_t value) {
    int64_t low = 0, high = set->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (set->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

og_status og_prime_take(og_prime_set *set, uint64_t n, uint64_t *prime, og_error *err) {
    uint64_t p = n;
    int64_t at;
    if (set->n == set->most) return og_fail(err, OG_EINTERNAL, "more than %lld primes are taken", (long long)set->most);
    do {
        p = og_prime_above(p);
        if (!p) return og_fail(err, OG_EINVAL, "no prime is left above %llu", (unsigned long long)n);
        at = place_of(set, p);
    } while (at < set->n && set->values[at] == p);
    for (int64_t i = set->n; i > at; i--) set->values[i] = set->values[i - 1];
    set->values[at] = p;
    set->n++;
    *prime = p;
    return OG_OK;
}
