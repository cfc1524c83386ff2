/* strings.c: a bump allocator for strings. */
#include "data/strings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct og_strings_block {
    struct og_strings_block *next;
    int64_t used, capacity;
    char bytes[];
};

char *og_strings_add(og_strings *strings, const char *text, int64_t n) {
    struct og_strings_block *block = strings->blocks;
    if (!block || block->capacity - block->used < n + 1) {
        int64_t capacity = n + 1 > 65536 ? n + 1 : 65536;
        block = og_alloc((int64_t)sizeof *block + capacity, 1);
        if (!block) return NULL;
        *block = (struct og_strings_block){.next = strings->blocks, .capacity = capacity};
        strings->blocks = block;
    }
    char *at = block->bytes + block->used;
    if (n) memcpy(at, text, (size_t)n);
    at[n] = 0;
    block->used += n + 1;
    return at;
}

char *og_strings_format(og_strings *strings, const char *format, ...) {
    char text[8192];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) return NULL;
    return og_strings_add(strings, text, n);
}

void og_strings_free(og_strings *strings) {
    while (strings->blocks) {
        struct og_strings_block *next = strings->blocks->next;
        og_release(strings->blocks);
        strings->blocks = next;
    }
}
