/* audio_wav.h: what a RIFF/WAVE header claims, read by our own code: libsndfile hides cut and empty data. */
#ifndef OMNIGRAM_MODALITIES_AUDIO_WAV_H
#define OMNIGRAM_MODALITIES_AUDIO_WAV_H

#include <omnigram/status.h>

typedef struct og_wav_header {
    int32_t found;         /* 1: RIFF (or RIFX) with a data chunk */
    int64_t claimed_bytes; /* size field of the data chunk; -1: an unknown size (0xFFFFFFFF, streams) */
    int64_t present_bytes; /* bytes of the file behind that chunk's header */
    int64_t frame_bytes;   /* block align, 0 when absent */
} og_wav_header;
void og_wav_probe(const void *bytes, int64_t n, og_wav_header *out);

#endif
