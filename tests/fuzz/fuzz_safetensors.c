/* fuzz_safetensors.c: safetensors files of any bytes: no crash, no leak, and every array that is
 * given lies in the file. */
#include "fuzz.h"

#include <omnigram/memory.h>
#include <omnigram/safetensors.h>

#include <string.h>

static void check_arrays(const og_arrays *arrays, int64_t file_bytes) {
    og_error err;
    int64_t total = 0;
    unsigned sum = 0;
    for (int64_t i = 0; i < og_arrays_count(arrays); i++) {
        const og_array_info *info = og_arrays_info(arrays, i), *found;
        void *data;
        HOLDS(og_arrays_get(arrays, info->name, &found, &data, &err) == OG_OK && found == info);
        int64_t bytes = og_dtype_bits(info->dtype) / 8;
        HOLDS((uintptr_t)data % (uintptr_t)bytes == 0);
        for (int32_t k = 0; k < info->rank; k++) bytes *= info->shape[k];
        HOLDS(bytes == info->bytes);
        for (int64_t k = 0; k < bytes; k++) sum += ((const unsigned char *)data)[k]; /* a sanitizer sees a wrong one */
        total += bytes;
    }
    HOLDS(total < file_bytes && sum < 0xFFFFFFFF);
    for (int64_t i = 0; i < og_arrays_metadata_count(arrays); i++)
        HOLDS(og_arrays_metadata(arrays, og_arrays_metadata_key(arrays, i)) != NULL);
    HOLDS(og_arrays_get(arrays, "no such array, surely", NULL, NULL, &err) == OG_EFORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file(data, size);
    og_error err;
    og_arrays *arrays;
    if (og_arrays_open(path, 0, &arrays, &err) == OG_OK) {
        check_arrays(arrays, (int64_t)size);
        og_arrays_close(arrays);
    } else {
        HOLDS(strstr(err.message, path)); /* each message names the file */
    }
    HOLDS(og_alloc_count() == 0);
    return 0;
}
