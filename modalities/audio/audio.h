/* audio.h: what the files of the audio modality share. */
#ifndef OMNIGRAM_MODALITIES_AUDIO_H
#define OMNIGRAM_MODALITIES_AUDIO_H

#include <omnigram/modalities.h>

enum { OG_NOT_FINITE_ERROR = 0, OG_NOT_FINITE_ZERO = 1 };
enum { OG_RANGE_CLIP = 0, OG_RANGE_NORMALISE = 1, OG_RANGE_ERROR = 2 };
typedef struct og_sound_policy {
    int64_t rate_hz, min_ms, max_seconds;
    int32_t not_finite, range;
} og_sound_policy;

/* File to mono floats [*n] (og_release) at its own rate, read to the end; notes get OG_NOTE_* bits. */
og_status og_sound_read(const og_sound_policy *policy, const char *place, const void *bytes, int64_t n_bytes,
                        float **samples, int64_t *n, int32_t *rate_hz, uint32_t *notes, og_error *err);

/* round(n * out / in), half away from zero: the length that og_sound_resample gives. */
int64_t og_resampled_length(int64_t n, int64_t in_hz, int64_t out_hz);
/* soxr HQ, drained; *out [og_resampled_length] is released by og_release. Equal rates copy. */
og_status og_sound_resample(const float *samples, int64_t n, int64_t in_hz, int64_t out_hz, float **out, og_error *err);

#endif
