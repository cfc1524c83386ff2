/* All allocation of the library goes through these four, so that failure can be tested and bytes counted. */
#ifndef OMNIGRAM_MEMORY_H
#define OMNIGRAM_MEMORY_H

#include <omnigram/status.h>

OG_BEGIN

/* n * size bytes, 64-byte aligned, contents undefined; NULL when the product overflows or memory is short.
 * n * size == 0 gives a pointer that may be released. */
OG_API void *og_alloc(int64_t n, size_t size);
/* The same, zeroed. */
OG_API void *og_alloc_zero(int64_t n, size_t size);
/* Grows *array (of *capacity elements) to hold at least n; doubles. The old array stays valid on failure. */
OG_API og_status og_grow(void **array, int64_t *capacity, int64_t n, size_t size, og_error *err) OG_MUST_USE;
OG_API char *og_copy_string(const char *text); /* og_release when done; NULL when memory is short */
OG_API void og_release(void *memory);          /* NULL is fine */
/* Allocations that live now; tests use it to find leaks. */
OG_API int64_t og_alloc_count(void);

OG_END
#endif
