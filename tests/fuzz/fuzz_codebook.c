/* fuzz_codebook.c: any bytes as a codebook file: a codebook whose fingerprint holds, or an error
 * that says something. */
#include "fuzz.h"

#include <omnigram/codebook.h>
#include <omnigram/memory.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t before = og_alloc_count();
    og_codebook *codebook = NULL;
    og_error err = {{0}};
    og_status status = og_codebook_load(fuzz_file(data, size), &codebook, &err);
    HOLDS((status == OG_OK) == (codebook != NULL) && (status == OG_OK || err.message[0]));
    HOLDS(!codebook || strlen(codebook->fingerprint) == 64);
    og_codebook_free(codebook);
    HOLDS(og_alloc_count() == before);
    return 0;
}
