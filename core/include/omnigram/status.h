/* Statuses and errors. Every call that can fail returns og_status and takes a caller-owned og_error last. */
#ifndef OMNIGRAM_STATUS_H
#define OMNIGRAM_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OG_BEGIN extern "C" {
#define OG_END   }
#else
#define OG_BEGIN
#define OG_END
#endif

#define OG_API                 __attribute__((visibility("default")))
#define OG_MUST_USE            __attribute__((warn_unused_result))
#define OG_PRINTF(text, first) __attribute__((format(printf, text, first)))

OG_BEGIN

/* Bumped when a public struct or vtable changes; a vtable whose abi differs is refused. */
#define OG_ABI 1u

typedef int32_t og_status; /* numbers are pinned: they cross the ABI */
enum {
    OG_OK = 0,
    OG_EINVAL = 1,    /* an argument, a key or a value is not allowed */
    OG_ENOMEM = 2,    /* memory or a memory limit is short */
    OG_EIO = 3,       /* the operating system refused a file */
    OG_EFORMAT = 4,   /* a file or text is not what it should be */
    OG_ENOTSUP = 5,   /* this build or device cannot do it; the message says what to install */
    OG_EDEVICE = 6,   /* CUDA failed */
    OG_EINTERNAL = 7, /* a fault of omnigram */
    OG_ECANCELED = 8, /* the caller cancelled it */
};

/* The message names the value, the limit and the place. Borrowed by each call; NULL is allowed. */
typedef struct og_error {
    char message[512];
} og_error;

/* Writes the message (when err is not NULL) and returns status, so that a fault is one line. */
OG_API og_status og_fail(og_error *err, og_status status, const char *format, ...) OG_PRINTF(3, 4);
/* The compiler sees that a constant status is no OG_OK, and so that nothing behind OG_TRY reads what was not set. */
#define og_fail(err, status, ...)                                                                                      \
    __extension__({                                                                                                    \
        (void)(og_fail)(err, status, __VA_ARGS__);                                                                     \
        (og_status)(status);                                                                                           \
    })

/* Puts "place: " before the message that a callee wrote; returns status unchanged. */
OG_API og_status og_fail_at(og_error *err, og_status status, const char *format, ...) OG_PRINTF(3, 4);

/* "EINVAL" and so on; static. */
OG_API const char *og_status_name(og_status status);

/* "0.1.0"; static. The same number as CMake's project(VERSION). */
OG_API const char *og_version(void);
/* OG_ABI of the library that is loaded; the Python package compares it with its own. */
OG_API uint32_t og_abi(void);
/* OG_EINVAL when the environment variable OG_CPU, the best instruction set that may be used, is none of c, avx2 and
 * avx512. The calls that choose one (og_lookup_new, og_update_check, fits and encoders) fail so too. */
OG_API og_status og_cpu_check(og_error *err) OG_MUST_USE;

#define OG_TRY(expression)                                                                                             \
    do {                                                                                                               \
        og_status og_try_status_ = (expression);                                                                       \
        if (og_try_status_ != OG_OK) return og_try_status_;                                                            \
    } while (0)

OG_END
#endif
