/* fuzz_picture.c: any bytes as a picture file, through the decoder: RGB of the size that was probed, or an error. */
#include "fuzz.h"

#include "image/image.h"

#include <omnigram/memory.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const og_picture_policy policy = {{255, 255, 255}, 1, 1 << 16};
    int64_t before = og_alloc_count();
    og_picture_header header = {0};
    og_media media = {0};
    og_error err = {{0}};
    og_status status = og_picture_decode(&policy, "fuzz", data, (int64_t)size, &media, &err);
    if (status == OG_OK) {
        HOLDS(og_picture_probe("fuzz", data, (int64_t)size, &header, &err) == OG_OK);
        HOLDS(media.shape[0] * media.shape[1] == header.width * header.height && media.shape[2] == 3);
        unsigned sum = 0;
        for (int64_t i = 0; i < media.shape[0] * media.shape[1] * 3; i++) sum += ((const uint8_t *)media.data)[i];
        HOLDS(sum <= 255u * 3 << 16);
        og_media_free(&media);
    } else {
        HOLDS(err.message[0]);
    }
    HOLDS(og_alloc_count() == before);
    return 0;
}
