/* fuzz_verify.c: vector files of any bytes, and with them every scheme's config: no crash, no leak,
 * counts that add up. */
#include "fuzz.h"

#include <omnigram/canonical.h>
#include <omnigram/memory.h>
#include <omnigram/verify.h>

static void said(void *context, const char *line) {
    HOLDS(line[0]);
    ++*(int64_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_error err;
    og_verify_counts counts = {0};
    int64_t lines = 0;
    const og_verify_report report = {.context = &lines, .mismatch = said};
    og_status status =
        og_verify_text((const char *)data, (int64_t)size, "fuzz", og_canonical_key, &report, &counts, &err);
    HOLDS(counts.supported <= counts.cases && counts.mismatches == lines);
    HOLDS(status == OG_OK || err.message[0]);
    HOLDS(og_alloc_count() == 0);
    return 0;
}
