/* audio_decode.c: sound files to mono floats (libsndfile, from memory, read to the end). */
#include "audio/audio.h"
#include "audio/audio_wav.h"

#include <math.h>
#include <string.h>

/* Interleaved [frames][channels] to mono by the mean; notes PHASE_CANCEL when under 1 % of the mean channel energy is
 * left. */
static void downmix(const float *interleaved, int64_t frames, int32_t channels, float *mono, uint32_t *notes) {
    double before = 0, after = 0;
    for (int64_t i = 0; i < frames; i++) {
        double sum = 0;
        for (int32_t c = 0; c < channels; c++) {
            double value = interleaved[i * channels + c];
            sum += value;
            before += value * value;
        }
        sum /= channels;
        after += sum * sum;
        mono[i] = (float)sum;
    }
    before /= channels;
    if (channels > 1 && before > 0 && after < 0.01 * before) *notes |= OG_NOTE_PHASE_CANCEL;
}

/* The policy of non-finite and over-range samples, in place. */
static og_status police(const og_sound_policy *policy, const char *place, float *samples, int64_t n, uint32_t *notes,
                        og_error *err) {
    float peak = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(samples[i])) {
            if (policy->not_finite == OG_NOT_FINITE_ERROR)
                return og_fail(err, OG_EFORMAT, "%s: sample %lld of %lld is %s (audio.not_finite: zero takes it as 0)",
                               place, (long long)i, (long long)n, isnan(samples[i]) ? "NaN" : "infinite");
            samples[i] = 0;
            *notes |= OG_NOTE_NOT_FINITE;
        }
        peak = fmaxf(peak, fabsf(samples[i]));
    }
    if (peak <= 1) return OG_OK;
    if (policy->range == OG_RANGE_ERROR)
        return og_fail(err, OG_EFORMAT, "%s: peak %g is beyond full scale 1 (audio.range: clip | normalise)", place,
                       (double)peak);
    if (policy->range == OG_RANGE_NORMALISE) {
        *notes |= OG_NOTE_NORMALISED;
        for (int64_t i = 0; i < n; i++) samples[i] /= peak;
    } else {
        *notes |= OG_NOTE_CLIPPED;
        for (int64_t i = 0; i < n; i++) samples[i] = fminf(1, fmaxf(-1, samples[i]));
    }
    return OG_OK;
}

#ifdef OG_HAVE_SNDFILE
#include <sndfile.h>

typedef struct memory_file {
    const char *bytes;
    sf_count_t n, at;
} memory_file;

static sf_count_t file_length(void *user) { return ((memory_file *)user)->n; }
static sf_count_t file_tell(void *user) { return ((memory_file *)user)->at; }
static sf_count_t file_seek(sf_count_t offset, int whence, void *user) {
    memory_file *f = user;
    sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->at : f->n;
    if (offset < -base || offset > f->n - base) return -1;
    return f->at = base + offset;
}
static sf_count_t file_read(void *to, sf_count_t count, void *user) {
    memory_file *f = user;
    if (count > f->n - f->at) count = f->n - f->at;
    if (count > 0) memcpy(to, f->bytes + f->at, (size_t)count);
    f->at += count;
    return count;
}
static sf_count_t file_write(const void *from, sf_count_t count, void *user) {
    (void)from;
    (void)count;
    (void)user;
    return 0;
}

/* Counts of headers can be wrong or missing, so frames come in blocks until none is left. */
static og_status read_all(const og_sound_policy *policy, const char *place, SNDFILE *file, const SF_INFO *info,
                          float **samples, int64_t *n, uint32_t *notes, og_error *err) {
    enum { BLOCK = 16384 };
    int64_t limit = policy->max_seconds * info->samplerate, frames = 0, capacity = 0;
    float *block = og_alloc((int64_t)BLOCK * info->channels, sizeof *block), *all = NULL;
    og_status status = block ? OG_OK : og_fail(err, OG_ENOMEM, "%s: no memory for %d channels", place, info->channels);
    double before = 0, after = 0;
    while (status == OG_OK) {
        sf_count_t got = sf_readf_float(file, block, BLOCK);
        if (got <= 0) break;
        if (frames + got > limit) {
            status = og_fail(err, OG_EFORMAT, "%s: longer than the limit of %lld s (audio.max_seconds)", place,
                             (long long)policy->max_seconds);
            break;
        }
        status = og_grow((void **)&all, &capacity, frames + got, sizeof *all, err);
        if (status != OG_OK) break;
        /* Energies over the whole clip, not block by block, decide about cancellation. */
        for (sf_count_t i = 0; i < got * info->channels; i++) before += (double)block[i] * (double)block[i];
        uint32_t ignored = 0;
        downmix(block, got, info->channels, all + frames, &ignored);
        for (sf_count_t i = 0; i < got; i++) after += (double)all[frames + i] * (double)all[frames + i];
        frames += got;
    }
    if (status == OG_OK && sf_error(file) != SF_ERR_NO_ERROR)
        status = og_fail(err, OG_EFORMAT, "%s: libsndfile stopped at frame %lld: %s", place, (long long)frames,
                         sf_strerror(file));
    if (status == OG_OK && frames == 0) status = og_fail(err, OG_EFORMAT, "%s: sound of 0 frames", place);
    og_release(block);
    if (status != OG_OK) {
        og_release(all);
        return status;
    }
    if (info->channels > 1 && before > 0 && after < 0.01 * before / info->channels) *notes |= OG_NOTE_PHASE_CANCEL;
    *samples = all;
    *n = frames;
    return OG_OK;
}

og_status og_sound_read(const og_sound_policy *policy, const char *place, const void *bytes, int64_t n_bytes,
                        float **samples, int64_t *n, int32_t *rate_hz, uint32_t *notes, og_error *err) {
    if (n_bytes == 0) return og_fail(err, OG_EFORMAT, "%s: empty file (0 bytes)", place);
    og_wav_header wav;
    og_wav_probe(bytes, n_bytes, &wav);
    if (wav.found && wav.claimed_bytes > wav.present_bytes)
        return og_fail(err, OG_EFORMAT, "%s: truncated WAV: its header claims %lld bytes of sound, the file has %lld",
                       place, (long long)wav.claimed_bytes, (long long)wav.present_bytes);
    if (wav.found && wav.claimed_bytes == 0)
        return og_fail(err, OG_EFORMAT, "%s: sound of 0 frames (data size 0, with %lld bytes after it)", place,
                       (long long)wav.present_bytes);
    memory_file memory = {bytes, n_bytes, 0};
    SF_VIRTUAL_IO io = {file_length, file_seek, file_read, file_write, file_tell};
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&io, SFM_READ, &info, &memory);
    if (!file) return og_fail(err, OG_EFORMAT, "%s: not a sound file this build reads: %s", place, sf_strerror(NULL));
    og_status status = OG_OK;
    if (info.samplerate < 100 || info.samplerate > 1000000 || info.channels < 1 || info.channels > 64)
        status =
            og_fail(err, OG_EFORMAT, "%s: %d Hz with %d channels; rates of 100..1000000 Hz and 1..64 channels are read",
                    place, info.samplerate, info.channels);
    uint32_t found = 0;
    if (wav.found && wav.frame_bytes > 0 && wav.claimed_bytes > 0 && wav.claimed_bytes % wav.frame_bytes)
        found |= OG_NOTE_ODD_BYTES;
    float *all = NULL;
    int64_t frames = 0;
    if (status == OG_OK) status = read_all(policy, place, file, &info, &all, &frames, &found, err);
    sf_close(file);
    if (status == OG_OK) status = police(policy, place, all, frames, &found, err);
    if (status != OG_OK) {
        og_release(all);
        return status;
    }
    *samples = all;
    *n = frames;
    *rate_hz = info.samplerate;
    *notes |= found;
    return OG_OK;
}
#else
og_status og_sound_read(const og_sound_policy *policy, const char *place, const void *bytes, int64_t n_bytes,
                        float **samples, int64_t *n, int32_t *rate_hz, uint32_t *notes, og_error *err) {
    (void)policy, (void)bytes, (void)n_bytes, (void)samples, (void)n, (void)rate_hz, (void)notes;
    return og_fail(
        err, OG_ENOTSUP,
        "%s: built without libsndfile; install libsndfile1-dev, libsoxr-dev and libkissfft-dev and build again", place);
}
#endif
