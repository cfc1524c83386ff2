/* segments.c: a batch's rows, checked and sorted into segments of equal ids. */
#include "update/update_internal.h"

#include <omnigram/addr.h>
#include <omnigram/lookup.h>

typedef struct block_head {
    int64_t bytes; /* of the whole block */
    int64_t unused[7];
} block_head;

static int64_t round64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The store keeps one block; whoever comes while it is out gets a fresh one. */
static void *take_block(const og_store *store, int64_t bytes) {
    og_store *owner = (og_store *)(uintptr_t)store; /* a cache, not a value of the store */
    block_head *block = atomic_exchange(&owner->scratch, NULL);
    if (block && block->bytes >= bytes) return block;
    og_release(block);
    bytes += bytes / 4;
    block = og_alloc(bytes, 1);
    if (block) block->bytes = bytes;
    return block;
}

void og_segments_release(const og_store *store, og_segments *segments) {
    og_store *owner = (og_store *)(uintptr_t)store;
    og_release(atomic_exchange(&owner->scratch, segments->memory));
    segments->memory = NULL;
}

og_status og_update_check_rows(const og_store *store, const int64_t *rows, int64_t n, og_error *err) {
    if (n < 0) return og_fail(err, OG_EINVAL, "update of %lld rows: the count is negative", (long long)n);
    uint64_t limit = (uint64_t)store->rows, bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= (uint64_t)((uint64_t)rows[i] >= limit) & (uint64_t)(rows[i] != OG_ROW_NONE);
    if (!bad) return OG_OK;
    for (int64_t i = 0; i < n; i++)
        if ((uint64_t)rows[i] >= limit && rows[i] != OG_ROW_NONE)
            return og_row_outside(store, rows[i], i, -1, 0, 0, err);
    return OG_OK;
}

static int64_t floats_of(const og_store *store) { return (3 * store->dim + 15) / 16 * 16; } /* of one thread */

static int64_t block_bytes(const og_store *store, int64_t n, const og_pool *pool, int64_t extra_bytes) {
    return (int64_t)sizeof(block_head) + round64(og_dedupe_bytes(n)) + round64((n + 1) * 8) +
           round64(og_pool_threads(pool) * floats_of(store) * 4) + round64(extra_bytes);
}

static og_status no_memory(int64_t bytes, int64_t n, og_error *err) {
    return og_fail(err, OG_ENOMEM, "no memory (%lld bytes) to sort the %lld rows of an update", (long long)bytes,
                   (long long)n);
}

og_status og_segments_reserve(const og_store *store, int64_t n, const og_pool *pool, og_error *err) {
    int64_t bytes = block_bytes(store, n, pool, 0);
    og_segments all = {.memory = take_block(store, bytes)};
    if (!all.memory) return no_memory(bytes, n, err);
    og_segments_release(store, &all);
    return OG_OK;
}

enum { EXPECT_LEAST = 1024 }; /* rows whose update takes longer than to wake a thread */

og_status og_segments_make(const og_store *store, const int64_t *rows, int64_t n, og_pool *pool, int64_t extra_bytes,
                           og_segments *out, void **extra, og_error *err) {
    if (n >= EXPECT_LEAST) og_pool_expect(pool);
    OG_TRY(og_update_check_rows(store, rows, n, err));
    int64_t bytes = block_bytes(store, n, pool, extra_bytes);
    uint8_t *block = take_block(store, bytes);
    if (!block) return no_memory(bytes, n, err);
    og_segments s = {.memory = block, .buffer_floats = floats_of(store)};
    uint8_t *at = block + sizeof(block_head);
    s.sorted = og_sort_ids(rows, n, at);
    int64_t *starts = (int64_t *)(void *)(at += round64(og_dedupe_bytes(n)));
    s.buffers = (float *)(void *)(at += round64((n + 1) * 8));
    *extra = at + round64(og_pool_threads(pool) * s.buffer_floats * 4);
    s.starts = starts;
    int64_t i = 0; /* OG_ROW_NONE sorts first */
    while (i < n && (int64_t)og_sorted_id(&s.sorted, i) + s.sorted.least < 0) i++;
    for (uint64_t last = UINT64_MAX; i < n; i++) {
        uint64_t id = og_sorted_id(&s.sorted, i);
        if (id != last) starts[s.n++] = i;
        last = id;
    }
    starts[s.n] = n;
    *out = s;
    return OG_OK;
}
