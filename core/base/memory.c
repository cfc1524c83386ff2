/* memory.c: the only place of the library that allocates. */
#include "faults.h"

#include <omnigram/memory.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_llong live;

void *og_alloc(int64_t n, size_t size) {
    uint64_t bytes;
    if (n < 0 || __builtin_mul_overflow((uint64_t)n, (uint64_t)size, &bytes)) return NULL;
    if (bytes > (UINT64_C(1) << 47)) return NULL;
    if (og_fault_alloc_now()) return NULL;
    void *memory = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0)));
    if (memory) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return memory;
}

void *og_alloc_zero(int64_t n, size_t size) {
    void *memory = og_alloc(n, size);
    if (memory) memset(memory, 0, (size_t)n * size);
    return memory;
}

og_status og_grow(void **array, int64_t *capacity, int64_t n, size_t size, og_error *err) {
    if (n <= *capacity) return OG_OK;
    int64_t grown = *capacity < 16 ? 16 : *capacity;
    while (grown < n) {
        if (grown > INT64_MAX / 2)
            return og_fail(err, OG_ENOMEM, "an array of %lld elements of %zu bytes is too large", (long long)n, size);
        grown *= 2;
    }
    void *memory = og_alloc(grown, size);
    if (!memory) return og_fail(err, OG_ENOMEM, "no memory for %lld elements of %zu bytes", (long long)grown, size);
    if (*array) memcpy(memory, *array, (size_t)*capacity * size);
    og_release(*array);
    *array = memory;
    *capacity = grown;
    return OG_OK;
}

char *og_copy_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = og_alloc((int64_t)bytes, 1);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

void og_release(void *memory) {
    if (memory) atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(memory);
}

int64_t og_alloc_count(void) { return (int64_t)atomic_load_explicit(&live, memory_order_relaxed); }
