/* fuzz_captions.c: a caption file gives valid, distinct, non-empty captions whatever it holds. */
#include "fuzz.h"

#include "data/tuxpaint.h"

#include "utf8.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_strings strings = {0};
    og_captions captions = {0};
    char family[64], stem[200];
    if (og_captions_parse((const char *)data, (int64_t)size, &strings, &captions, NULL) == OG_OK) {
        for (int64_t i = 0; i < captions.n; i++) {
            const char *text = captions.list[i].text;
            if (!*text || og_utf8_fault(text, (int64_t)strlen(text)) >= 0) abort();
            if (og_captions_find(&captions, captions.list[i].language) != text) abort();
        }
        og_release(captions.list);
    }
    og_strings_free(&strings);
    size_t n = size < sizeof stem - 1 ? size : sizeof stem - 1;
    if (n) memcpy(stem, data, n);
    stem[n] = 0;
    og_stamp_family(stem, family);
    if (strlen(family) > 63) abort();
    return 0;
}
