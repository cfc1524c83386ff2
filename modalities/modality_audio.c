/* modality_audio.c: sound to log-mel vectors, frame_hz of them a second, and back to a spectrogram. */
#include "audio/audio.h"
#include "audio/mel.h"
#include "json_tree.h"

#include <math.h>
#include <string.h>

enum { STACK_CONCAT, STACK_MEAN };
static const char *const presets[] = {"whisper", "librosa", "torchaudio"};

struct og_modality_impl {
    og_sound_policy policy;
    og_mel_config mel;
    int64_t hops; /* mel frames in a vector */
    int32_t stack, preset;
};

typedef struct settings {
    int64_t rate, frame_hz, hop_ms, n_fft, bands, min_ms, max_seconds;
    double floor, range_db;
    int32_t preset, stack, not_finite, range;
} settings;

#define FIELD(name) offsetof(settings, name)
static const og_key keys[] = {
    {"rate", OG_KEY_I64, FIELD(rate), "16000", 1000, 192000, NULL, "rate after resampling, Hz (soxr HQ)"},
    {"frame_hz", OG_KEY_I64, FIELD(frame_hz), "25", 1, 1000, NULL, "vectors (codes) a second; divides 1000 / hop_ms"},
    {"hop_ms", OG_KEY_I64, FIELD(hop_ms), "10", 1, 1000, NULL, "hop of the mel frames, milliseconds"},
    {"n_fft", OG_KEY_I64, FIELD(n_fft), "400", 2, 65536, NULL, "length of the Fourier window, samples"},
    {"bands", OG_KEY_I64, FIELD(bands), "40", 1, 1024, NULL, "mel bands"},
    {"mel", OG_KEY_CHOICE, FIELD(preset), "whisper", 0, 0, "whisper|librosa|torchaudio",
     "conventions: scale, norm, padding, logarithm (docs/modalities.md)"},
    {"floor", OG_KEY_F64, FIELD(floor), "1e-10", 1e-30, 1, NULL, "silence floor: least mel power before the logarithm"},
    {"range_db", OG_KEY_F64, FIELD(range_db), "80", 0, 300, NULL,
     "whisper, librosa: depth kept below the clip's loudest value, dB; 0: all"},
    {"stack", OG_KEY_CHOICE, FIELD(stack), "concat", 0, 0, "concat|mean", "how the mel frames of a vector are joined"},
    {"not_finite", OG_KEY_CHOICE, FIELD(not_finite), "error", 0, 0, "error|zero", "samples that are NaN or infinite"},
    {"range", OG_KEY_CHOICE, FIELD(range), "clip", 0, 0, "clip|normalise|error", "samples beyond full scale"},
    {"min_ms", OG_KEY_I64, FIELD(min_ms), "40", 0, 60000, NULL, "shorter sounds are padded with zeros, milliseconds"},
    {"max_seconds", OG_KEY_I64, FIELD(max_seconds), "600", 1, 1000000, NULL, "longer sounds are errors, seconds"},
    {0},
};

static og_status create(const og_config *config, og_modality_impl **impl, og_error *err) {
    settings s = {0};
    OG_TRY(og_config_read(config, keys, &s, err));
    struct og_modality_impl made = {.stack = s.stack, .preset = s.preset};
    made.policy = (og_sound_policy){.rate_hz = s.rate,
                                    .min_ms = s.min_ms,
                                    .max_seconds = s.max_seconds,
                                    .not_finite = s.not_finite,
                                    .range = s.range};
    OG_TRY(og_mel_preset(presets[s.preset], s.rate, &made.mel, err));
    if (1000 % (s.frame_hz * s.hop_ms) || s.rate * s.hop_ms % 1000)
        return og_fail(err, OG_EINVAL,
                       "%s: frame_hz %lld x hop_ms %lld must divide 1000, and a hop at %lld Hz be whole samples",
                       OG_WHERE(config), (long long)s.frame_hz, (long long)s.hop_ms, (long long)s.rate);
    made.hops = 1000 / (s.frame_hz * s.hop_ms);
    made.mel.hop = s.rate * s.hop_ms / 1000;
    made.mel.n_fft = s.n_fft;
    made.mel.bands = s.bands;
    made.mel.floor = s.floor;
    if (made.mel.range > 0) made.mel.range = made.mel.log == OG_MEL_LOG_10 ? s.range_db / 10 : s.range_db;
    double *filters = NULL; /* an empty filter is found now, not at the first clip */
    og_status status = og_mel_filters(&made.mel, &filters, err);
    if (status != OG_OK) return og_fail_at(err, status, "%s", OG_WHERE(config));
    og_release(filters);
    og_modality_impl *self = og_alloc(1, sizeof *self);
    if (!self) return og_fail(err, OG_ENOMEM, "audio: no memory");
    *self = made;
    *impl = self;
    return OG_OK;
}

static void destroy(og_modality_impl *impl) { og_release(impl); }

/* Scale 32768 so that 16-bit sound at its own rate comes out unchanged; the filter's overshoot is clipped. */
static void to_pcm(const float *samples, int64_t n, int16_t *pcm) {
    for (int64_t i = 0; i < n; i++) pcm[i] = (int16_t)fmaxf(-32768, fminf(32767, floorf(samples[i] * 32768 + 0.5f)));
}

static og_status decode(const og_modality_impl *impl, const char *place, const void *bytes, int64_t n_bytes,
                        og_media *out, og_error *err) {
    float *samples = NULL, *resampled = NULL;
    int64_t n = 0, rate = impl->policy.rate_hz;
    int32_t own_rate = 0;
    uint32_t notes = 0;
    OG_TRY(og_sound_read(&impl->policy, place, bytes, n_bytes, &samples, &n, &own_rate, &notes, err));
    og_status status = og_sound_resample(samples, n, own_rate, rate, &resampled, err);
    og_release(samples);
    if (status != OG_OK) return og_fail_at(err, status, "%s", place);
    n = og_resampled_length(n, own_rate, rate);
    int64_t least = rate * impl->policy.min_ms / 1000, kept = n;
    if (n < least) {
        n = least;
        notes |= OG_NOTE_PADDED;
    }
    int16_t *pcm = n ? og_alloc_zero(n, sizeof *pcm) : NULL;
    if (!pcm) {
        og_release(resampled);
        return n ? og_fail(err, OG_ENOMEM, "%s: no memory for %lld samples", place, (long long)n)
                 : og_fail(err, OG_EFORMAT, "%s: sound of 0 frames at %lld Hz", place, (long long)rate);
    }
    to_pcm(resampled, kept, pcm);
    og_release(resampled);
    *out = (og_media){.modality = OG_AUDIO,
                      .dtype = OG_I16,
                      .rank = 1,
                      .shape = {n},
                      .data = pcm,
                      .rate_hz = (int32_t)rate,
                      .notes = notes};
    return OG_OK;
}

/* Sound made in memory may have another rate. */
static og_status fit(const og_modality_impl *impl, const og_media *media, const double crop[4], int32_t flip,
                     og_media *out, og_error *err) {
    (void)crop, (void)flip;
    if (media->modality != OG_AUDIO || media->dtype != OG_I16 || media->rank != 1 || media->shape[0] < 1 ||
        media->rate_hz < 1)
        return og_fail(err, OG_EINVAL, "audio: media must be I16 [samples] with a rate, got %s of rank %d at %d Hz",
                       og_dtype_name(media->dtype), media->rank, media->rate_hz);
    int64_t n = media->shape[0], kept = og_resampled_length(n, media->rate_hz, impl->policy.rate_hz);
    const int16_t *pcm = media->data;
    float *samples = og_alloc(n, sizeof *samples), *resampled = NULL;
    int16_t *copy = og_alloc(kept ? kept : 1, sizeof *copy);
    og_status status =
        samples && copy ? OG_OK : og_fail(err, OG_ENOMEM, "audio: no memory for %lld samples", (long long)n);
    for (int64_t i = 0; status == OG_OK && i < n; i++) samples[i] = (float)pcm[i] / 32768;
    if (status == OG_OK) status = og_sound_resample(samples, n, media->rate_hz, impl->policy.rate_hz, &resampled, err);
    if (status == OG_OK && kept < 1)
        status = og_fail(err, OG_EINVAL, "audio: sound of %lld samples at %d Hz is empty at %lld Hz", (long long)n,
                         media->rate_hz, (long long)impl->policy.rate_hz);
    if (status == OG_OK) {
        to_pcm(resampled, kept, copy);
        *out = (og_media){.modality = OG_AUDIO,
                          .dtype = OG_I16,
                          .rank = 1,
                          .shape = {kept},
                          .data = copy,
                          .rate_hz = (int32_t)impl->policy.rate_hz,
                          .notes = media->notes};
        copy = NULL;
    }
    og_release(samples);
    og_release(resampled);
    og_release(copy);
    return status;
}

static int64_t dim(const og_modality_impl *impl) {
    return impl->mel.bands * (impl->stack == STACK_CONCAT ? impl->hops : 1);
}

/* ceil(n / (hop x hops)) vectors; frames past the last are copies of it. */
static og_status vectors(const og_modality_impl *impl, const og_media *media, float **out, int32_t *rows,
                         int32_t *columns, og_error *err) {
    if (media->modality != OG_AUDIO || media->dtype != OG_I16 || media->rank != 1 ||
        media->rate_hz != impl->policy.rate_hz)
        return og_fail(err, OG_EINVAL, "audio: media must be I16 [samples] at %lld Hz, got %s of rank %d at %d Hz",
                       (long long)impl->policy.rate_hz, og_dtype_name(media->dtype), media->rank, media->rate_hz);
    int64_t n = media->shape[0], bands = impl->mel.bands, hops = impl->hops, frames = 0;
    int64_t columns64 = (n + impl->mel.hop * hops - 1) / (impl->mel.hop * hops);
    if (n < 1 || columns64 > INT32_MAX) return og_fail(err, OG_EINVAL, "audio: sound of %lld samples", (long long)n);
    /* A window must fit even into a clip of one sample. */
    int64_t least = impl->mel.n_fft + impl->mel.hop, length = n > least ? n : least;
    float *samples = og_alloc_zero(length, sizeof *samples), *mel = NULL;
    float *v = og_alloc_zero(columns64 * dim(impl), sizeof *v);
    og_status status =
        samples && v ? OG_OK : og_fail(err, OG_ENOMEM, "audio: no memory for %lld vectors", (long long)columns64);
    if (status == OG_OK) {
        const int16_t *pcm = media->data;
        for (int64_t i = 0; i < n; i++) samples[i] = (float)pcm[i] / 32768;
        status = og_mel_spectrogram(&impl->mel, samples, length, &mel, &frames, err);
    }
    og_release(samples);
    if (status != OG_OK) {
        og_release(v);
        return status;
    }
    for (int64_t g = 0; g < columns64; g++)
        for (int64_t h = 0; h < hops; h++) {
            int64_t f = g * hops + h < frames ? g * hops + h : frames - 1;
            for (int64_t b = 0; b < bands; b++) {
                if (impl->stack == STACK_CONCAT)
                    v[(g * hops + h) * bands + b] = mel[f * bands + b];
                else
                    v[g * bands + b] += mel[f * bands + b] / (float)hops;
            }
        }
    og_release(mel);
    *out = v;
    *rows = 1;
    *columns = (int32_t)columns64;
    return OG_OK;
}

static og_status restore(const og_modality_impl *impl, const float *vectors_in, int32_t rows, int32_t columns,
                         og_media *out, og_error *err) {
    if (rows != 1 || columns < 1)
        return og_fail(err, OG_EINVAL, "audio: a grid of %d x %d vectors; sound has 1 row and at least 1 column", rows,
                       columns);
    int64_t bands = impl->mel.bands, frames = columns * impl->hops;
    float *mel = og_alloc(frames * bands, sizeof *mel);
    if (!mel) return og_fail(err, OG_ENOMEM, "audio: no memory for %lld frames", (long long)frames);
    for (int64_t f = 0; f < frames; f++) {
        const float *from = impl->stack == STACK_CONCAT ? vectors_in + f * bands : vectors_in + f / impl->hops * bands;
        memcpy(mel + f * bands, from, (size_t)bands * sizeof *mel);
    }
    *out = (og_media){.modality = OG_AUDIO,
                      .dtype = OG_F32,
                      .rank = 2,
                      .shape = {frames, bands},
                      .data = mel,
                      .rate_hz = (int32_t)(impl->policy.rate_hz / impl->mel.hop)};
    return OG_OK;
}

static og_status describe(const og_modality_impl *impl, og_config **preprocess, og_error *err) {
    const og_mel_config *m = &impl->mel;
    json_t *json = json_pack(
        "{ss sI ss sI sI sI sI sf sf sf sf ss ss}", "modality", "audio", "rate", (json_int_t)impl->policy.rate_hz,
        "mel", presets[impl->preset], "n_fft", (json_int_t)m->n_fft, "hop", (json_int_t)m->hop, "bands",
        (json_int_t)m->bands, "hops", (json_int_t)impl->hops, "f_min", m->f_min, "f_max", m->f_max, "floor", m->floor,
        "range", m->range, "stack", impl->stack == STACK_CONCAT ? "concat" : "mean", "resampler", "soxr_hq");
    return og_json_tree(json, "audio", preprocess, err);
}

const og_modality_type og_modality_audio = {
    .abi = OG_ABI,
    .name = "audio",
    .summary = "log-mel vectors at a fixed rate",
    .source = "decoding: libsndfile; resampling: soxr HQ; mel: librosa, torchaudio, whisper conventions",
    .modality = OG_AUDIO,
    .keys = keys,
    .create = create,
    .destroy = destroy,
    .decode = decode,
    .vectors = vectors,
    .dim = dim,
    .restore = restore,
    .fit = fit,
    .describe = describe,
};
