/* audio_resample.c: libsoxr at its HQ setting, drained, with an exact length. */
#include "audio/audio.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

int64_t og_resampled_length(int64_t n, int64_t in_hz, int64_t out_hz) {
    return (int64_t)(((wide)n * (uint64_t)out_hz + (uint64_t)in_hz / 2) / (uint64_t)in_hz);
}

#ifdef OG_HAVE_SNDFILE
#include <soxr.h>

og_status og_sound_resample(const float *samples, int64_t n, int64_t in_hz, int64_t out_hz, float **out,
                            og_error *err) {
    if (in_hz < 1 || out_hz < 1)
        return og_fail(err, OG_EINVAL, "cannot resample from %lld to %lld Hz; rates start at 1", (long long)in_hz,
                       (long long)out_hz);
    int64_t wanted = og_resampled_length(n, in_hz, out_hz), got = 0, used = 0;
    float *to = og_alloc_zero(wanted ? wanted : 1, sizeof *to);
    if (!to) return og_fail(err, OG_ENOMEM, "no memory to resample %lld samples", (long long)n);
    if (in_hz == out_hz) {
        memcpy(to, samples, (size_t)n * sizeof *to);
        *out = to;
        return OG_OK;
    }
    soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    soxr_runtime_spec_t runtime = soxr_runtime_spec(1); /* threads are the caller's business */
    soxr_error_t fault = NULL;
    soxr_t soxr = soxr_create((double)in_hz, (double)out_hz, 1, &fault, &io, &quality, &runtime);
    /* Input first, then a NULL input: what the filter still holds comes out only then. */
    while (!fault && used < n && got < wanted) {
        size_t in_done = 0, out_done = 0;
        fault = soxr_process(soxr, samples + used, (size_t)(n - used), &in_done, to + got, (size_t)(wanted - got),
                             &out_done);
        used += (int64_t)in_done;
        got += (int64_t)out_done;
        if (in_done == 0 && out_done == 0) break;
    }
    while (!fault && got < wanted) {
        size_t out_done = 0;
        fault = soxr_process(soxr, NULL, 0, NULL, to + got, (size_t)(wanted - got), &out_done);
        if (out_done == 0) break; /* rounding may leave it a sample short: that one stays 0 */
        got += (int64_t)out_done;
    }
    soxr_delete(soxr);
    if (fault || wanted - got > 2) {
        og_release(to);
        return og_fail(err, OG_EINTERNAL, "soxr: %s (%lld of %lld samples)", soxr_strerror(fault), (long long)got,
                       (long long)wanted);
    }
    *out = to;
    return OG_OK;
}
#else
og_status og_sound_resample(const float *samples, int64_t n, int64_t in_hz, int64_t out_hz, float **out,
                            og_error *err) {
    (void)samples, (void)n, (void)in_hz, (void)out_hz, (void)out;
    return og_fail(err, OG_ENOTSUP,
                   "built without libsoxr; install libsndfile1-dev, libsoxr-dev and libkissfft-dev "
                   "and build again");
}
#endif
