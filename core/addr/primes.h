/* primes.h: exact primality of 64-bit numbers, for table sizes. */
#ifndef OMNIGRAM_ADDR_PRIMES_H
#define OMNIGRAM_ADDR_PRIMES_H

#include <omnigram/status.h>

int32_t og_is_prime(uint64_t n);
/* The least prime above n; 0 when there is none below 2^63. */
uint64_t og_prime_above(uint64_t n);

/* Primes that are given out once each, kept sorted. */
typedef struct og_prime_set {
    uint64_t *values; /* [most]; og_release */
    int64_t n, most;
} og_prime_set;
og_status og_prime_set_new(int64_t most, og_prime_set *out, og_error *err);
/* The least prime above n that was not yet given out; at most `most` times. */
og_status og_prime_take(og_prime_set *set, uint64_t n, uint64_t *prime, og_error *err);

#endif
