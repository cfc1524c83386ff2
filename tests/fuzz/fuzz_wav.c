/* fuzz_wav.c: the header walk stays inside the file; reading gives samples or an error. */
#include "fuzz.h"

#include "audio/audio.h"
#include "audio/audio_wav.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    og_wav_header header;
    og_wav_probe(data, (int64_t)size, &header);
    if (header.found && (header.present_bytes < 0 || header.present_bytes > (int64_t)size)) abort();
#ifdef OG_HAVE_SNDFILE
    static const og_sound_policy policy = {16000, 0, 10, OG_NOT_FINITE_ZERO, OG_RANGE_CLIP};
    float *samples = NULL;
    int64_t n = 0;
    int32_t rate = 0;
    uint32_t notes = 0;
    og_error err = {0};
    if (og_sound_read(&policy, "fuzz", data, (int64_t)size, &samples, &n, &rate, &notes, &err) == OG_OK) {
        if (n < 1 || rate < 100) abort();
        for (int64_t i = 0; i < n; i++)
            if (!(fabsf(samples[i]) <= 1)) abort();
        og_release(samples);
    } else if (!err.message[0]) {
        abort();
    }
#endif
    return 0;
}
