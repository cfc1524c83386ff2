/* primes.h: exact primality of 64-bit numbers, for table sizes. */
#ifndef OMNIGRAM_ADDR_PRIMES_H
#define OMNIGRAM_ADDR_PRIMES_H

#include <stdint.h>

int32_t og_is_prime(uint64_t n);
/* The least prime above n; 0 when there is none below 2^63. */
uint64_t og_prime_above(uint64_t n);

#endif
