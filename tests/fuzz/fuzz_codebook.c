/* fuzz_codebook.c: any bytes as a codebook file: a codebook whose fingerprint holds, or an error that says something. */
#include <omnigram/codebook.h>
#include <omnigram/memory.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int file = memfd_create("codebook", 0);
    if (file < 0 || (size && write(file, data, size) != (ssize_t)size)) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int64_t before = og_alloc_count();
    og_codebook *codebook = NULL;
    og_error err = {{0}};
    og_status status = og_codebook_load(path, &codebook, &err);
    if ((status == OG_OK) != (codebook != NULL) || (status != OG_OK && !err.message[0])) abort();
    if (codebook && strlen(codebook->fingerprint) != 64) abort();
    og_codebook_free(codebook);
    if (og_alloc_count() != before) abort();
    close(file);
    return 0;
}
