/* status.c: statuses, error messages, version. */
#include <omnigram/status.h>
#include <omnigram/version.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

og_status(og_fail)(og_error *err, og_status status, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

og_status og_fail_at(og_error *err, og_status status, const char *format, ...) {
    if (err) {
        char callee[sizeof err->message];
        memcpy(callee, err->message, sizeof callee);
        callee[sizeof callee - 1] = 0;
        va_list args;
        va_start(args, format);
        int place = vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        if (place >= 0 && (size_t)place < sizeof err->message)
            snprintf(err->message + place, sizeof err->message - (size_t)place, ": %s", callee);
    }
    return status;
}

const char *og_status_name(og_status status) {
    static const char *const names[] = {"OK",      "EINVAL",  "ENOMEM",    "EIO",      "EFORMAT",
                                        "ENOTSUP", "EDEVICE", "EINTERNAL", "ECANCELED"};
    if (status < 0 || (size_t)status >= sizeof names / sizeof *names) return "unknown status";
    return names[status];
}

const char *og_version(void) { return OG_VERSION; }
uint32_t og_abi(void) { return OG_ABI; }
