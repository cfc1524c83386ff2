// shim.hpp: the fence between C++ libraries and the C ABI. Every extern "C" body of a shim is one call of og_fence.
// Header only and free of og_ symbols, so that a module opened with dlopen can use it too.
#ifndef OMNIGRAM_INTERNAL_SHIM_HPP
#define OMNIGRAM_INTERNAL_SHIM_HPP

#include <omnigram/status.h>

#include <cstdio>
#include <exception>
#include <new>

inline og_status og_fence_fail(og_error *err, og_status status, const char *what, const char *detail) {
    if (err) std::snprintf(err->message, sizeof err->message, "%s: %s", what, detail);
    return status;
}

// Runs body (which returns an og_status) and turns whatever it throws into one. `what` names the work in the message.
template <class Body> og_status og_fence(og_error *err, const char *what, Body &&body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return og_fence_fail(err, OG_ENOMEM, what, "no memory");
    } catch (const std::exception &thrown) {
        return og_fence_fail(err, OG_EINTERNAL, what, thrown.what());
    } catch (...) {
        return og_fence_fail(err, OG_EINTERNAL, what, "an exception of unknown type");
    }
}

#endif
