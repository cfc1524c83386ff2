// fence.hpp: no exception crosses the C ABI, and no floating-point mode: a call computes with the trainer's, whatever
// thread makes it, and the caller keeps its own.
#ifndef OMNIGRAM_INTERNAL_FENCE_HPP
#define OMNIGRAM_INTERNAL_FENCE_HPP

#include <omnigram/internal/flush.h>
#include <omnigram/status.h>

#include <c10/util/Exception.h>
#include <new>

namespace og {

struct failure { // thrown where a C call failed; its message is in the og_error already
    og_status status;
};
inline void check(og_status status) {
    if (status != OG_OK) throw failure{status};
}

struct flush_scope {
    uint64_t before = og_flush_enter();
    ~flush_scope() { og_flush_leave(before); }
};

template <class F> og_status fence(og_error *err, F &&body) {
    flush_scope flushed;
    try {
        body();
        return OG_OK;
    } catch (const failure &f) {
        return f.status;
    } catch (const std::bad_alloc &) {
        return og_fail(err, OG_ENOMEM, "no memory");
    } catch (const c10::Error &e) {
        return og_fail(err, OG_EINTERNAL, "torch: %.400s", e.what_without_backtrace());
    } catch (const std::exception &e) {
        return og_fail(err, OG_EINTERNAL, "%.400s", e.what());
    }
}

} // namespace og
#endif
