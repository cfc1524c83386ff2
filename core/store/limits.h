/* limits.h: what memory this process may still take. */
#ifndef OMNIGRAM_STORE_LIMITS_H
#define OMNIGRAM_STORE_LIMITS_H

#include <omnigram/status.h>

typedef struct og_limits {
    int64_t available_bytes; /* MemAvailable of the machine; INT64_MAX when unknown */
    int64_t group_bytes;     /* left under the tightest control group above this process; INT64_MAX: no limit */
    int64_t lock_bytes;      /* RLIMIT_MEMLOCK less what is locked; INT64_MAX: no limit */
    int64_t address_bytes;   /* RLIMIT_AS less what is mapped; INT64_MAX: no limit */
    int64_t promised_bytes;  /* of stores of this process, not touched yet: no room for another one */
    int64_t promised_shared; /* of those, in shared memory */
} og_limits;

/* root: "" for the machine; a test gives a folder that holds proc/ and sys/ files of its own. */
void og_limits_read(const char *root, og_limits *out);
/* Bytes free in the file system of a path; INT64_MAX when unknown. */
int64_t og_limits_free(const char *path);

typedef struct og_promise { /* in a store; zeros: nothing is promised to it */
    int64_t bytes;
    int32_t segment; /* descriptor of its shared memory, -1: anonymous */
    struct og_promise *next;
} og_promise;
/* A store of so many bytes was made; before its descriptor is closed, it is gone. */
void og_limits_promise(og_promise *promise, int64_t bytes, int32_t segment);
void og_limits_release(const og_promise *promise);

/* OG_ENOMEM naming request and limit. what: "store of 10 rows x 64 bytes". */
og_status og_limits_check(const og_limits *limits, int64_t bytes, int32_t lock, const char *what, og_error *err);

#endif
