/* test_mel.c: the three presets against a naive DFT and filters written another way. */
#include "fixtures.h"

#include "audio/mel.h"

static og_error err;
static const double pi = 3.14159265358979323846;

/* Corner k of bands + 2 corners, in Hz, in closed form: HTK by natural logarithms; Slaney by counting mels of 200/3 Hz
 * to 1 kHz and a factor of 6.4^(1/27) each above. */
static double corner(int htk, double top, int64_t bands, int64_t k) {
    double share = (double)k / (double)(bands + 1);
    if (htk) return 700 * (exp(share * log(1 + top / 700)) - 1);
    double mels = top <= 1000 ? top / (200.0 / 3) : 15 + log(top / 1000) / (log(6.4) / 27), mel = share * mels;
    return mel <= 15 ? mel * (200.0 / 3) : 1000 * pow(6.4, (mel - 15) / 27);
}

static double weight(int htk, int area, double top, int64_t bands, int64_t b, double hz) {
    double l = corner(htk, top, bands, b), m = corner(htk, top, bands, b + 1), r = corner(htk, top, bands, b + 2),
           w = 0;
    if (hz > l && hz <= m) w = (hz - l) / (m - l);
    if (hz > m && hz < r) w = (r - hz) / (r - m);
    return area ? w * 2 / (r - l) : w;
}

static void test_filters(void) {
    static const struct {
        const char *preset;
        int64_t rate, n_fft, bands;
        int htk, area;
    } cases[] = {{"whisper", 16000, 400, 80, 0, 1},
                 {"whisper", 16000, 400, 40, 0, 1},
                 {"librosa", 22050, 2048, 128, 0, 1},
                 {"torchaudio", 16000, 1024, 64, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        og_mel_config c;
        double *w = NULL;
        CHECK_OK(og_mel_preset(cases[i].preset, cases[i].rate, &c, &err));
        c.n_fft = cases[i].n_fft;
        c.bands = cases[i].bands;
        CHECK_OK(og_mel_filters(&c, &w, &err));
        int64_t bins = c.n_fft / 2 + 1;
        double worst = 0;
        for (int64_t b = 0; b < c.bands; b++)
            for (int64_t k = 0; k < bins; k++) {
                double hz = (double)k * (double)c.rate_hz / (double)c.n_fft;
                worst = fmax(worst, fabs(w[b * bins + k] -
                                         weight(cases[i].htk, cases[i].area, (double)c.rate_hz / 2, c.bands, b, hz)));
            }
        CHECK(worst < 1e-6);
        og_release(w);
    }
}

/* By hand, 80 bands to 8 kHz: 1 kHz is mel 15 of 45.25 (Slaney), 26.9 corners up; mel 1000 of 2840 (HTK), 28.5 corners
 * up, and a bin of 40 Hz there lies nearer to the upper one. */
static void test_peak(void) {
    float *x = og_alloc(16000, sizeof *x);
    for (int i = 0; i < 16000; i++) x[i] = (float)sin(2 * pi * 1000 * i / 16000.0);
    for (int htk = 0; htk < 2; htk++) {
        og_mel_config c;
        float *mel = NULL;
        int64_t frames = 0;
        CHECK_OK(og_mel_preset("whisper", 16000, &c, &err));
        if (htk) c.scale = OG_MEL_HTK, c.norm = OG_MEL_NORM_NONE;
        CHECK_OK(og_mel_spectrogram(&c, x, 16000, &mel, &frames, &err));
        CHECK(frames == 100);
        int best = 0;
        for (int b = 0; b < 80; b++)
            if (mel[50 * 80 + b] > mel[50 * 80 + best]) best = b;
        CHECK(best == (htk ? 28 : 26));
        og_release(mel);
    }
    og_release(x);
}

/* A whole spectrogram by the definition: padding, periodic Hann, DFT, power, filters, logarithm, range. */
static void test_spectrograms(void) {
    enum { N = 3000 };
    static const struct {
        const char *preset;
        int64_t rate, n_fft, hop, bands;
    } cases[] = {
        {"whisper", 16000, 400, 160, 40}, {"librosa", 16000, 512, 128, 32}, {"torchaudio", 16000, 512, 256, 24}};
    float x[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)(0.4 * sin(0.05 * i + 0.00001 * i * i) +
                       (i > 1500 ? 0.1 * (og_random_unit(3, (uint64_t)i) - 0.5) : 0));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        og_mel_config c;
        float *mel = NULL;
        int64_t frames = 0;
        int htk = k == 2, area = k < 2, reflect = k != 1;
        CHECK_OK(og_mel_preset(cases[k].preset, cases[k].rate, &c, &err));
        c.n_fft = cases[k].n_fft, c.hop = cases[k].hop, c.bands = cases[k].bands;
        CHECK_OK(og_mel_spectrogram(&c, x, N, &mel, &frames, &err));
        CHECK(frames == N / c.hop + 1 - (k == 0)); /* whisper drops the last */
        double *want = og_alloc(frames * c.bands, sizeof *want), highest = -1e300;
        for (int64_t f = 0; f < frames; f++) {
            double power[1025];
            for (int64_t bin = 0; bin <= c.n_fft / 2; bin++) {
                double re = 0, im = 0;
                for (int64_t i = 0; i < c.n_fft; i++) {
                    int64_t at = f * c.hop - c.n_fft / 2 + i;
                    if (reflect && at < 0) at = -at;
                    if (reflect && at >= N) at = 2 * N - 2 - at;
                    double sample = at >= 0 && at < N ? (double)x[at] : 0;
                    sample *= sin(pi * (double)i / (double)c.n_fft) *
                              sin(pi * (double)i / (double)c.n_fft); /* Hann as sin^2 */
                    double angle = -2 * pi * (double)(bin * i % c.n_fft) / (double)c.n_fft;
                    re += sample * cos(angle);
                    im += sample * sin(angle);
                }
                power[bin] = re * re + im * im;
            }
            for (int64_t b = 0; b < c.bands; b++) {
                double sum = 0;
                for (int64_t bin = 0; bin <= c.n_fft / 2; bin++)
                    sum += power[bin] * weight(htk, area, (double)c.rate_hz / 2, c.bands, b,
                                               (double)bin * (double)c.rate_hz / (double)c.n_fft);
                want[f * c.bands + b] = k == 0 ? log10(fmax(sum, 1e-10)) : k == 1 ? 10 * log10(fmax(sum, 1e-10)) : sum;
                highest = fmax(highest, want[f * c.bands + b]);
            }
        }
        for (int64_t i = 0; i < frames * c.bands; i++) {
            double w = want[i];
            if (k == 0) w = (fmax(w, highest - 8) + 4) / 4;
            if (k == 1) w = fmax(w, highest - 80);
            double tolerance = k == 2   ? 1e-4 * fabs(w) + 1e-5
                               : k == 1 ? 2e-2
                                        : 1e-3; /* floats in the transform; near the floor more */
            if (fabs((double)mel[i] - w) > tolerance) {
                fprintf(stderr, "%s: value %lld is %g, want %g\n", cases[k].preset, (long long)i, (double)mel[i], w);
                exit(1);
            }
        }
        og_release(want);
        og_release(mel);
    }
}

static void test_limits(void) {
    og_mel_config c;
    double *w = NULL;
    float *mel = NULL, x[400] = {0};
    int64_t frames = 0;
    CHECK_FAILS(og_mel_preset("kaldi", 16000, &c, &err), OG_EINVAL, "kaldi");
    CHECK_OK(og_mel_preset("torchaudio", 16000, &c, &err)); /* 128 HTK bands at n_fft 400: some cover no bin */
    CHECK_FAILS(og_mel_filters(&c, &w, &err), OG_EINVAL, "covers no bin");
    CHECK_OK(og_mel_preset("whisper", 16000, &c, &err));
    CHECK_FAILS(og_mel_spectrogram(&c, x, 200, &mel, &frames, &err), OG_EINVAL, "too few");
    c.n_fft = 401;
    CHECK_FAILS(og_mel_filters(&c, &w, &err), OG_EINVAL, "n_fft 401");
    c.n_fft = 400;
    c.f_max = 9000;
    CHECK_FAILS(og_mel_filters(&c, &w, &err), OG_EINVAL, "9000");
    CHECK_OK(og_mel_preset("librosa", 16000, &c, &err)); /* frame counts of the three framings */
    CHECK(og_mel_frames(&c, 16000) == 16000 / 512 + 1);
    c.center = OG_MEL_CENTER_NONE;
    CHECK(og_mel_frames(&c, 16000) == (16000 - 2048) / 512 + 1 && og_mel_frames(&c, 2047) == 0 &&
          og_mel_frames(&c, 2048) == 1);
}

int main(void) {
    test_filters();
    test_limits();
#ifdef OG_HAVE_SNDFILE
    test_peak();
    test_spectrograms();
#endif
    CHECK(og_alloc_count() == 0);
    return 0;
}
