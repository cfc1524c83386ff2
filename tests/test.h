/* test.h: the whole test harness. A test is a program: exit 0 passed, 77 skipped (say why), else failed. */
#ifndef OMNIGRAM_TEST_H
#define OMNIGRAM_TEST_H

#include <omnigram/status.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void og_test_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) og_test_fail(__FILE__, __LINE__, "failed: " #condition);                 \
    } while (0)
/* Succeeds, or prints the message. */
#define CHECK_OK(expression)                                                                       \
    do {                                                                                           \
        err.message[0] = 0;                                                                        \
        if ((expression) != OG_OK) og_test_fail(__FILE__, __LINE__, err.message);                  \
    } while (0)
/* Fails with that status, and its message names the word. */
#define CHECK_FAILS(expression, wanted, word)                                                      \
    do {                                                                                           \
        err.message[0] = 0;                                                                        \
        og_status got_ = (expression);                                                             \
        if (got_ != (wanted) || !strstr(err.message, word)) {                                      \
            fprintf(stderr, "got %s: %s\n", og_status_name(got_), err.message);                    \
            og_test_fail(__FILE__, __LINE__, "should fail, naming '" word "': " #expression);      \
        }                                                                                          \
    } while (0)
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        printf("skipped: %s\n", reason);                                                           \
        exit(77);                                                                                  \
    } while (0)

#endif
