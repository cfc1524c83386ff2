/* mel.c: mel filter banks and log-mel spectrograms (KissFFT). */
#include "audio/mel.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

og_status og_mel_preset(const char *name, int64_t rate_hz, og_mel_config *out, og_error *err) {
    og_mel_config c = {
        .rate_hz = rate_hz, .f_min = 0, .f_max = (double)rate_hz / 2, .power = 2, .floor = 1e-10, .add = 0, .mul = 1};
    if (!strcmp(name, "librosa")) { /* librosa 0.10: feature.melspectrogram, then power_to_db(top_db=80) */
        c.n_fft = 2048, c.hop = 512, c.bands = 128;
        c.scale = OG_MEL_SLANEY, c.norm = OG_MEL_NORM_SLANEY, c.center = OG_MEL_CENTER_ZERO, c.log = OG_MEL_LOG_DB,
        c.range = 80;
    } else if (!strcmp(name, "torchaudio")) { /* torchaudio 2: transforms.MelSpectrogram */
        c.n_fft = 400, c.hop = 200, c.bands = 128;
        c.scale = OG_MEL_HTK, c.norm = OG_MEL_NORM_NONE, c.center = OG_MEL_CENTER_REFLECT, c.log = OG_MEL_LOG_NONE;
    } else if (!strcmp(name, "whisper")) { /* openai/whisper audio.py, log_mel_spectrogram */
        c.n_fft = 400, c.hop = 160, c.bands = 80;
        c.scale = OG_MEL_SLANEY, c.norm = OG_MEL_NORM_SLANEY, c.center = OG_MEL_CENTER_REFLECT, c.log = OG_MEL_LOG_10;
        c.drop_last = 1, c.range = 8, c.add = 4, c.mul = 0.25;
    } else {
        return og_fail(err, OG_EINVAL, "unknown mel preset '%s'; known: librosa, torchaudio, whisper", name);
    }
    *out = c;
    return OG_OK;
}

/* Slaney: 200/3 Hz a mel up to 1 kHz, then 27 mels for each factor of 6.4 (Auditory Toolbox). HTK: 2595 log10(1 +
 * f/700). */
static double mel_of(int32_t scale, double hz) {
    if (scale == OG_MEL_HTK) return 2595 * log10(1 + hz / 700);
    return hz < 1000 ? hz * 3 / 200 : 15 + 27 * log(hz / 1000) / log(6.4);
}
static double hz_of(int32_t scale, double mel) {
    if (scale == OG_MEL_HTK) return 700 * (pow(10, mel / 2595) - 1);
    return mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

og_status og_mel_filters(const og_mel_config *c, double **filters, og_error *err) {
    if (c->n_fft < 2 || c->n_fft % 2 || c->n_fft > 1 << 20 || c->hop < 1 || c->bands < 1 || c->bands > 1 << 14)
        return og_fail(err, OG_EINVAL, "mel: n_fft %lld (even, 2..1048576), hop %lld (>= 1), bands %lld (1..16384)",
                       (long long)c->n_fft, (long long)c->hop, (long long)c->bands);
    if (!(c->f_min >= 0 && c->f_min < c->f_max && c->f_max <= (double)c->rate_hz / 2))
        return og_fail(err, OG_EINVAL, "mel: f_min %g and f_max %g must rise within 0..%g Hz", c->f_min, c->f_max,
                       (double)c->rate_hz / 2);
    int64_t bins = c->n_fft / 2 + 1;
    double *w = og_alloc_zero(c->bands * bins, sizeof *w);
    if (!w) return og_fail(err, OG_ENOMEM, "mel: no memory for %lld bands", (long long)c->bands);
    double low = mel_of(c->scale, c->f_min), step = (mel_of(c->scale, c->f_max) - low) / (double)(c->bands + 1);
    for (int64_t b = 0; b < c->bands; b++) {
        double left = hz_of(c->scale, low + step * (double)b), peak = hz_of(c->scale, low + step * (double)(b + 1)),
               right = hz_of(c->scale, low + step * (double)(b + 2));
        double gain = c->norm == OG_MEL_NORM_SLANEY ? 2 / (right - left) : 1, sum = 0;
        for (int64_t k = 0; k < bins; k++) {
            double hz = (double)k * (double)c->rate_hz / (double)c->n_fft;
            double value = fmin((hz - left) / (peak - left), (right - hz) / (right - peak));
            if (value > 0) w[b * bins + k] = value * gain;
            sum += w[b * bins + k];
        }
        if (sum <= 0) {
            og_release(w);
            return og_fail(err, OG_EINVAL,
                           "mel: band %lld of %lld (%.1f..%.1f Hz) covers no bin of n_fft %lld at %lld Hz (bins are "
                           "%.1f Hz apart); "
                           "use fewer bands or a larger n_fft",
                           (long long)b, (long long)c->bands, left, right, (long long)c->n_fft, (long long)c->rate_hz,
                           (double)c->rate_hz / (double)c->n_fft);
        }
    }
    *filters = w;
    return OG_OK;
}

int64_t og_mel_frames(const og_mel_config *c, int64_t n) {
    int64_t frames =
        c->center == OG_MEL_CENTER_NONE ? (n < c->n_fft ? 0 : (n - c->n_fft) / c->hop + 1) : n / c->hop + 1;
    frames -= c->drop_last ? 1 : 0;
    return frames > 0 ? frames : 0;
}

#ifdef OG_HAVE_SNDFILE
#include <kiss_fftr.h>

static float sample_at(const og_mel_config *c, const float *samples, int64_t n, int64_t i) {
    if (i >= 0 && i < n) return samples[i];
    if (c->center != OG_MEL_CENTER_REFLECT) return 0;
    return samples[i < 0 ? -i : 2 * (n - 1) - i]; /* the side sample is not repeated */
}

/* The logarithm, the range below the highest value, and the affine end. */
static void finish(const og_mel_config *c, float *values, int64_t n) {
    double highest = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double v = values[i];
        if (c->log != OG_MEL_LOG_NONE) {
            v = fmax(v, c->floor);
            v = c->log == OG_MEL_LOG_LN ? log(v) : log10(v) * (c->log == OG_MEL_LOG_DB ? 10 : 1);
        }
        values[i] = (float)v;
        highest = fmax(highest, v);
    }
    for (int64_t i = 0; i < n; i++) {
        double v = values[i];
        if (c->range > 0) v = fmax(v, highest - c->range);
        values[i] = (float)((v + c->add) * c->mul);
    }
}

og_status og_mel_spectrogram(const og_mel_config *c, const float *samples, int64_t n, float **out, int64_t *frames,
                             og_error *err) {
    int64_t half = c->center == OG_MEL_CENTER_NONE ? 0 : c->n_fft / 2;
    double *filters = NULL;
    OG_TRY(og_mel_filters(c, &filters, err));
    int64_t count = og_mel_frames(c, n), bins = c->n_fft / 2 + 1;
    if (count < 1 || (c->center == OG_MEL_CENTER_REFLECT && n <= half)) {
        og_release(filters);
        return og_fail(err, OG_EINVAL, "mel: %lld samples are too few for n_fft %lld, hop %lld", (long long)n,
                       (long long)c->n_fft, (long long)c->hop);
    }
    float *mel = og_alloc(count * c->bands, sizeof *mel), *frame = og_alloc(c->n_fft, sizeof *frame);
    double *window = og_alloc(c->n_fft, sizeof *window), *spectrum = og_alloc(bins, sizeof *spectrum);
    int64_t *range = og_alloc(2 * c->bands, sizeof *range);
    kiss_fft_cpx *bin = og_alloc(bins, sizeof *bin);
    kiss_fftr_cfg fft = kiss_fftr_alloc((int)c->n_fft, 0, NULL, NULL);
    og_status status = OG_OK;
    if (!mel || !frame || !window || !spectrum || !range || !bin || !fft) {
        status = og_fail(err, OG_ENOMEM, "mel: no memory for %lld frames", (long long)count);
    } else {
        for (int64_t i = 0; i < c->n_fft; i++) window[i] = 0.5 - 0.5 * cos(2 * pi * (double)i / (double)c->n_fft);
        for (int64_t b = 0; b < c->bands; b++) { /* filters are narrow: sum over the bins that count */
            const double *w = filters + b * bins;
            int64_t first = 0, last = bins;
            while (first < last && w[first] == 0) first++;
            while (last > first && w[last - 1] == 0) last--;
            range[2 * b] = first;
            range[2 * b + 1] = last;
        }
        for (int64_t f = 0; f < count; f++) {
            for (int64_t i = 0; i < c->n_fft; i++)
                frame[i] = (float)(window[i] * (double)sample_at(c, samples, n, f * c->hop - half + i));
            kiss_fftr(fft, frame, bin);
            for (int64_t k = 0; k < bins; k++) {
                double energy = (double)bin[k].r * (double)bin[k].r + (double)bin[k].i * (double)bin[k].i;
                spectrum[k] = c->power == 2 ? energy : pow(energy, c->power / 2);
            }
            for (int64_t b = 0; b < c->bands; b++) {
                double sum = 0;
                for (int64_t k = range[2 * b]; k < range[2 * b + 1]; k++) sum += filters[b * bins + k] * spectrum[k];
                mel[f * c->bands + b] = (float)sum;
            }
        }
        finish(c, mel, count * c->bands);
        *out = mel;
        *frames = count;
        mel = NULL;
    }
    kiss_fftr_free(fft);
    og_release(mel);
    og_release(frame);
    og_release(window);
    og_release(spectrum);
    og_release(range);
    og_release(bin);
    og_release(filters);
    return status;
}
#else
og_status og_mel_spectrogram(const og_mel_config *c, const float *samples, int64_t n, float **out, int64_t *frames,
                             og_error *err) {
    (void)c, (void)samples, (void)n, (void)out, (void)frames;
    return og_fail(err, OG_ENOTSUP,
                   "built without KissFFT; install libsndfile1-dev, libsoxr-dev and libkissfft-dev and build again");
}
#endif
