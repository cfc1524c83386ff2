/* fuzz_jsonl.c: a line of an interleaved-document file gives a document or an error, and loses no
 * memory. */
#include "fuzz.h"

#include "data/jsonl_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_strings strings = {0};
    og_jsonl_document document = {0};
    og_error err = {0};
    int64_t live = og_alloc_count();
    if (og_jsonl_line("fuzz:1", "root", (const char *)data, (int64_t)size, &strings, &document, &err) == OG_OK) {
        if (document.n_items < 1) abort();
        for (int64_t i = 0; i < document.n_items; i++)
            if (!document.items[i].text == !document.items[i].path) abort(); /* exactly one of them */
        og_release(document.items);
    } else if (!err.message[0]) {
        abort();
    }
    og_strings_free(&strings);
    if (og_alloc_count() != live) abort();
    return 0;
}
