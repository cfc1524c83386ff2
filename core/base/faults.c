/* faults.c: allocations and file calls that fail when a test says so. */
#include "faults.h"

#include <stdatomic.h>
#include <stddef.h>

static atomic_llong countdown;
static atomic_int hit;
static _Atomic(og_io_hook *) io_hook;
static atomic_int ignore_digests;

void og_fault_alloc(int64_t k) {
    atomic_store(&hit, 0);
    atomic_store(&countdown, k);
}

int32_t og_fault_alloc_hit(void) { return atomic_load(&hit); }

int32_t og_fault_alloc_now(void) {
    if (atomic_load_explicit(&countdown, memory_order_relaxed) <= 0) return 0; /* the only cost outside tests */
    if (atomic_fetch_sub(&countdown, 1) != 1) return 0;
    atomic_store(&hit, 1);
    return 1;
}

void og_fault_io(og_io_hook *hook) { atomic_store(&io_hook, hook); }

int32_t og_fault_io_now(const char *call, const char *path) {
    og_io_hook *hook = atomic_load_explicit(&io_hook, memory_order_relaxed);
    return hook ? hook(call, path) : 0;
}

void og_fault_digest(int32_t ignore) { atomic_store(&ignore_digests, ignore); }

int32_t og_fault_digest_now(void) { return atomic_load_explicit(&ignore_digests, memory_order_relaxed); }
