/* test.h: the whole test harness. A test is a program: exit 0 passed, 77 skipped (say why), else failed. */
#ifndef OMNIGRAM_TEST_H
#define OMNIGRAM_TEST_H

#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/status.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void og_test_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    exit(1);
}

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) og_test_fail(__FILE__, __LINE__, "failed: " #condition);                                     \
    } while (0)
/* Succeeds, or prints the message. */
#define CHECK_OK(expression)                                                                                           \
    do {                                                                                                               \
        err.message[0] = 0;                                                                                            \
        if ((expression) != OG_OK) og_test_fail(__FILE__, __LINE__, err.message);                                      \
    } while (0)
/* Fails with that status, and its message names the word. */
#define CHECK_FAILS(expression, wanted, word)                                                                          \
    do {                                                                                                               \
        err.message[0] = 0;                                                                                            \
        og_status got_ = (expression);                                                                                 \
        if (got_ != (wanted) || !strstr(err.message, word)) {                                                          \
            fprintf(stderr, "got %s: %s\n", og_status_name(got_), err.message);                                        \
            og_test_fail(__FILE__, __LINE__, "should fail, naming '" word "': " #expression);                          \
        }                                                                                                              \
    } while (0)
/* Evaluates `scenario`, a call that gives og_status and frees all it made, with its 1st, 2nd, ... allocation failing
 * until it needs no more. Each time it must answer OG_ENOMEM with a message and leave no memory; the last time it must
 * succeed. `least` allocations at least must have been failed, so that the scenario cannot pass by doing nothing.
 * Allocations of libyaml, jansson and libcrypto do not go through og_alloc and are not counted. */
#define CHECK_ALLOC_FAILS(scenario, least)                                                                             \
    do {                                                                                                               \
        int64_t live_ = og_alloc_count();                                                                              \
        for (int64_t k_ = 1;; k_++) {                                                                                  \
            err.message[0] = 0;                                                                                        \
            og_fault_alloc(k_);                                                                                        \
            og_status got_ = (scenario);                                                                               \
            int32_t hit_ = og_fault_alloc_hit();                                                                       \
            og_fault_alloc(0);                                                                                         \
            if (got_ != (hit_ ? OG_ENOMEM : OG_OK) || (hit_ && !err.message[0]) || og_alloc_count() != live_) {        \
                fprintf(stderr, "allocation %lld fails: %s: %s; %lld left\n", (long long)k_, og_status_name(got_),     \
                        err.message, (long long)(og_alloc_count() - live_));                                           \
                og_test_fail(__FILE__, __LINE__, "allocation failure in: " #scenario);                                 \
            }                                                                                                          \
            if (hit_) continue;                                                                                        \
            if (k_ <= (least)) og_test_fail(__FILE__, __LINE__, "too few allocations: " #scenario);                    \
            break;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define SKIP(reason)                                                                                                   \
    do {                                                                                                               \
        printf("skipped: %s\n", reason);                                                                               \
        exit(77);                                                                                                      \
    } while (0)

#endif
