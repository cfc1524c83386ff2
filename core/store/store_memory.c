/* store_memory.c: anonymous memory for rows: address ranges, huge pages, NUMA placement, locking. */
#include "store/limits.h"
#include "store/numa_split.h"
#include "store/store_internal.h"

#include <omnigram/safetensors.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#ifdef OG_HAVE_NUMA
#include <numa.h>
#include <numaif.h>
#endif

#define HUGE (INT64_C(2) << 20)

og_status og_reserve(int64_t bytes, int32_t descriptor, int32_t writable, void **reserved, int64_t *reserved_bytes,
                     void **memory, og_error *err) {
    int64_t span = (bytes + HUGE - 1) / HUGE * HUGE;
    int64_t whole = span + 2 * HUGE; /* a guard before (with the alignment) and one behind */
    uint8_t *range = mmap(NULL, (size_t)whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return og_fail(err, OG_ENOMEM, "%lld bytes of address space were refused: %s", (long long)whole,
                       strerror(errno));
    uint8_t *inner = (uint8_t *)(((uintptr_t)range + (uintptr_t)HUGE) / (uintptr_t)HUGE * (uintptr_t)HUGE);
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = MAP_FIXED | (descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED);
    if (mmap(inner, (size_t)bytes, protection, flags, descriptor, 0) == MAP_FAILED) {
        int cause = errno;
        munmap(range, (size_t)whole);
        return og_fail(err, OG_ENOMEM, "mapping %lld bytes: %s", (long long)bytes, strerror(cause));
    }
    *reserved = range;
    *reserved_bytes = whole;
    *memory = inner;
    return OG_OK;
}

static og_status place_on_nodes(og_store *store, const og_store_options *options, og_error *err) {
#ifdef OG_HAVE_NUMA
    int32_t nodes = numa_available() >= 0 ? numa_num_configured_nodes() : 1;
    if (options->numa >= nodes && options->numa > 0)
        return og_fail(err, OG_EINVAL, "NUMA node %d of %d", options->numa, nodes);
    if (options->numa == OG_NUMA_DEFAULT || nodes < 2) return OG_OK; /* one node: every policy is the same */
    struct bitmask *all = numa_get_mems_allowed();
    if (options->numa == OG_NUMA_INTERLEAVE) {
        numa_interleave_memory(store->memory, (size_t)store->memory_bytes, all);
    } else {
        for (int32_t node = 0; node < nodes; node++) {
            if (options->numa >= 0 && node != options->numa) continue;
            int64_t begin = 0, end = store->memory_bytes;
            if (options->numa == OG_NUMA_SPLIT)
                og_numa_split(store->rows, store->record.bytes, HUGE, nodes, node, store->memory_bytes, &begin, &end);
            unsigned long mask[16] = {0};
            mask[node / 64] = 1ul << (node % 64);
            /* preferred, never bound: a full node must not kill the process. Refused placement only costs speed. */
            if (end > begin) (void)mbind(store->memory + begin, (size_t)(end - begin), MPOL_PREFERRED, mask, 1024, 0);
        }
    }
    numa_bitmask_free(all);
#else
    (void)store;
    if (options->numa > 0) return og_fail(err, OG_ENOTSUP, "NUMA node %d: built without libnuma", options->numa);
#endif
    return OG_OK;
}

og_status og_store_place(og_store *store, const og_store_options *options, og_error *err) {
    size_t bytes = (size_t)store->memory_bytes;
    if (options->huge) (void)madvise(store->memory, bytes, MADV_HUGEPAGE); /* the report says what was granted */
    OG_TRY(place_on_nodes(store, options, err));
    if (options->lock && mlock(store->memory, bytes) != 0) {
        int cause = errno;
        (void)munlock(store->memory, bytes);
        if (options->lock == 1)
            return og_fail(err, OG_ENOMEM, "locking %lld bytes of a store: %s (lock: 2 goes on without)",
                           (long long)store->memory_bytes, strerror(cause));
    }
    return OG_OK;
}

og_status og_store_map_anonymous(og_store *store, const og_store_options *options, int64_t bytes, og_error *err) {
    og_limits limits;
    char what[120];
    og_limits_read("", &limits);
    snprintf(what, sizeof what, "a store of %lld rows x %lld bytes", (long long)store->rows,
             (long long)store->record.bytes);
    OG_TRY(og_limits_check(&limits, bytes, options->lock, what, err));
    void *memory;
    OG_TRY(og_reserve(bytes, -1, 1, &store->reserved, &store->reserved_bytes, &memory, err));
    store->memory = memory;
    store->memory_bytes = bytes;
    return og_store_place(store, options, err);
}
