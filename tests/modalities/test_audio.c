/* test_audio.c: declared outcomes for the traps of sound files; exact lengths; vectors and back. */
#include "fixtures.h"

#include "audio/audio.h"

static og_error err;
static bytes file;
static const og_modality_type *type;

static og_media decode(const char *policy) {
    og_modality_impl *impl = make(type, policy);
    og_media media = {0};
    CHECK_OK(type->decode(impl, "clip.wav", file.data, file.n, &media, &err));
    CHECK(media.dtype == OG_I16 && media.rank == 1 && media.rate_hz == 16000);
    type->destroy(impl);
    return media;
}

static void fails(const char *policy, const char *word) {
    og_modality_impl *impl = make(type, policy);
    og_media media = {0};
    err.message[0] = 0;
    og_status got = type->decode(impl, "bad.wav", file.data, file.n, &media, &err);
    if (got != OG_EFORMAT || !strstr(err.message, word) || !strstr(err.message, "bad.wav")) {
        fprintf(stderr, "%s: %s; wanted EFORMAT naming '%s' and the file\n", og_status_name(got), err.message, word);
        exit(1);
    }
    CHECK(!media.data);
    type->destroy(impl);
}

static const int16_t *pcm(const og_media *media) { return media->data; }

static void test_range(void) {
    /* One loud sample must not change how the others are read. */
    static const float loud[3] = {.25f, 1.f, -1.5f}, quiet[3] = {.25f, 1.f, -1.f};
    wav(&file, 3, 1, 16000, 32, loud, 12);
    og_media media = decode("min_ms: 0");
    CHECK(media.shape[0] == 3 && pcm(&media)[0] == 8192 && pcm(&media)[1] == 32767 && pcm(&media)[2] == -32768);
    CHECK(media.notes == OG_NOTE_CLIPPED);
    og_media_free(&media);
    media = decode("min_ms: 0\nrange: normalise");
    CHECK(pcm(&media)[0] == 5461 && pcm(&media)[2] == -32768 && media.notes == OG_NOTE_NORMALISED);
    og_media_free(&media);
    fails("range: error", "peak 1.5");
    wav(&file, 3, 1, 16000, 32, quiet, 12);
    media = decode("min_ms: 0\nrange: error");
    CHECK(pcm(&media)[0] == 8192 && media.notes == 0);
    og_media_free(&media);
}

static void test_not_finite(void) {
    float values[4] = {.5f, NAN, -.5f, INFINITY};
    wav(&file, 3, 1, 16000, 32, values, 16);
    fails("", "sample 1 of 4 is NaN");
    og_media media = decode("min_ms: 0\nnot_finite: zero");
    CHECK(pcm(&media)[0] == 16384 && pcm(&media)[1] == 0 && pcm(&media)[2] == -16384 && pcm(&media)[3] == 0);
    CHECK(media.notes == OG_NOTE_NOT_FINITE);
    og_media_free(&media);
    values[1] = 0;
    wav(&file, 3, 1, 16000, 32, values, 16);
    fails("", "sample 3 of 4 is infinite");
}

static void test_headers(void) {
    static const int16_t some[8] = {1, -2, 3, -4, 5, -6, 7, -8};
    file.n = 0;
    fails("", "0 bytes");
    put(&file, "this is no sound at all", 23);
    fails("", "not a sound file");
    wav(&file, 1, 1, 16000, 16, some, 0);
    fails("", "0 frames");
    wav_claim(&file, 1, 1, 16000, 16, some, 16, 0); /* libsndfile says 0 frames and no error */
    fails("", "0 frames (data size 0, with 16 bytes after it)");
    wav_claim(&file, 1, 1, 16000, 16, some, 16, 1000);
    fails("", "claims 1000 bytes of sound, the file has 16");
    wav(&file, 1, 0, 16000, 16, some, 16);
    fails("", "bad.wav");
    wav(&file, 1, 1, 0, 16, some, 16);
    fails("", "bad.wav");
    static int16_t long_clip[30000];
    wav(&file, 1, 1, 16000, 16, long_clip, sizeof long_clip);
    fails("max_seconds: 1", "limit of 1 s");
}

static void test_odd_sizes(void) {
    static const int16_t some[8] = {1, -2, 3, -4, 5, -6, 7, -8};
    wav(&file, 1, 1, 16000, 16, some, 15); /* 15 bytes: 7 frames */
    og_media media = decode("min_ms: 0");
    CHECK(media.shape[0] == 7 && pcm(&media)[6] == 7 && media.notes == OG_NOTE_ODD_BYTES);
    og_media_free(&media);
    wav_claim(&file, 1, 1, 16000, 16, some, 16, 0xFFFFFFFF); /* a stream of unknown length */
    media = decode("min_ms: 0");
    CHECK(media.shape[0] == 8 && !memcmp(media.data, some, 16) && media.notes == 0); /* 16 bits at 16 kHz: unchanged */
    og_media_free(&media);
    bytes list = {.n = 0}; /* an empty LIST chunk before the data */
    wav(&file, 1, 1, 16000, 16, some, 16);
    put(&list, file.data, 36);
    put(&list, "LIST\0\0\0\0", 8);
    put(&list, file.data + 36, (size_t)file.n - 36);
    list.data[4] = (unsigned char)(list.data[4] + 8);
    memcpy(file.data, list.data, (size_t)list.n);
    file.n = list.n;
    media = decode("min_ms: 0");
    CHECK(media.shape[0] == 8 && !memcmp(media.data, some, 16));
    og_media_free(&media);
    wav(&file, 1, 1, 16000, 16, some, 16);
    media = decode("min_ms: 40");
    CHECK(media.shape[0] == 640 && pcm(&media)[7] == -8 && pcm(&media)[8] == 0 && media.notes == OG_NOTE_PADDED);
    og_media_free(&media);
}

static void test_channels(void) {
    int16_t stereo[2 * 64];
    for (int i = 0; i < 64; i++) {
        stereo[2 * i] = (int16_t)(1000 * (i % 7) - 3000);
        stereo[2 * i + 1] = (int16_t)-stereo[2 * i];
    }
    wav(&file, 1, 2, 16000, 16, stereo, sizeof stereo);
    og_media media = decode("min_ms: 0");
    CHECK(media.shape[0] == 64 && pcm(&media)[3] == 0 && media.notes == OG_NOTE_PHASE_CANCEL);
    og_media_free(&media);
    for (int i = 0; i < 64; i++) stereo[2 * i + 1] = 0;
    wav(&file, 1, 2, 16000, 16, stereo, sizeof stereo);
    media = decode("min_ms: 0");
    CHECK(pcm(&media)[0] == -1500 && media.notes == 0); /* the mean of the channels */
    og_media_free(&media);
}

static void test_lengths(void) {
    static const struct {
        int64_t n, in, out, want; /* want by hand: n * out / in, rounded half up */
    } table[] = {{48000, 48000, 16000, 16000}, {44100, 44100, 16000, 16000}, {1, 48000, 16000, 0},
                 {2, 48000, 16000, 1},         {3, 48000, 16000, 1},         {1, 8000, 16000, 2},
                 {22254, 22254, 16000, 16000}, {11127, 22254, 16000, 8000},  {1000, 5000, 16000, 3200},
                 {12345, 44100, 16000, 4479},  {99, 44100, 16000, 36},       {5, 16000, 16000, 5}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t n = table[i].n;
        float *in = og_alloc(n, sizeof *in), *out = NULL;
        for (int64_t k = 0; k < n; k++) in[k] = 0.5f;
        CHECK(og_resampled_length(n, table[i].in, table[i].out) == table[i].want);
        CHECK_OK(og_sound_resample(in, n, table[i].in, table[i].out, &out, &err));
        if (table[i].want > 200) CHECK(fabsf(out[table[i].want / 2] - 0.5f) < 1e-3f);
        og_release(in);
        og_release(out);
    }
    CHECK(og_resampled_length(INT64_C(4000000000000000), 44100, 192000) ==
          INT64_C(17414965986394558)); /* no 64-bit overflow */
}

/* Nothing at the end is lost, and a tone keeps its place and height. */
static void test_resampler(void) {
    enum { N = 44100 };
    float *in = og_alloc_zero(N, sizeof *in), *out = NULL;
    in[N - 1] = 1;
    CHECK_OK(og_sound_resample(in, N, 44100, 16000, &out, &err));
    float tail = 0;
    for (int i = 15990; i < 16000; i++) tail = fmaxf(tail, fabsf(out[i]));
    CHECK(tail > 0.1f);
    og_release(out);
    for (int i = 0; i < N; i++) in[i] = (float)(0.5 * sin(2 * 3.14159265358979323846 * 1000 * i / 44100.0));
    CHECK_OK(og_sound_resample(in, N, 44100, 16000, &out, &err));
    for (int i = 1000; i < 15000; i++)
        CHECK(fabs((double)out[i] - 0.5 * sin(2 * 3.14159265358979323846 * 1000 * i / 16000.0)) < 1e-4);
    og_release(out);
    og_release(in);
    int16_t both[2 * 4410] = {0};
    both[2 * 4409] = both[2 * 4409 + 1] = 32767; /* an impulse in the last sample of both channels */
    wav(&file, 1, 2, 44100, 16, both, sizeof both);
    og_media media = decode("");
    CHECK(media.shape[0] == 1600);
    int loudest = 0;
    for (int i = 1590; i < 1600; i++) loudest = abs(pcm(&media)[i]) > loudest ? abs(pcm(&media)[i]) : loudest;
    CHECK(loudest > 3000);
    og_media_free(&media);
}

static void test_vectors(void) {
    enum { N = 16000 };
    int16_t *samples = og_alloc(N, sizeof *samples);
    for (int i = 0; i < N; i++)
        samples[i] = (int16_t)(8000 * sin(2 * 3.14159265358979323846 * (i < 8000 ? 500 : 3000) * i / 16000.0));
    for (int mean = 0; mean < 2; mean++) {
        og_modality_impl *impl = make(type, mean ? "stack: mean" : "stack: concat");
        og_media media = {.modality = OG_AUDIO,
                          .dtype = OG_I16,
                          .rank = 1,
                          .shape = {N},
                          .data = samples,
                          .rate_hz = 16000},
                 back = {0};
        float *v = NULL;
        int32_t rows = 0, columns = 0;
        int64_t dim = type->dim(impl);
        CHECK(dim == (mean ? 40 : 160));
        CHECK_OK(type->vectors(impl, &media, &v, &rows, &columns, &err));
        CHECK(rows == 1 && columns == 25);
        CHECK_OK(type->restore(impl, v, rows, columns, &back, &err));
        CHECK(back.dtype == OG_F32 && back.rank == 2 && back.shape[0] == 100 && back.shape[1] == 40 &&
              back.rate_hz == 100);
        if (!mean) CHECK(!memcmp(back.data, v, (size_t)(25 * dim) * sizeof *v));
        const float *spectrogram = back.data;
        int low = 0, high = 0;
        for (int b = 0; b < 40; b++) {
            if (spectrogram[20 * 40 + b] > spectrogram[20 * 40 + low]) low = b;
            if (spectrogram[80 * 40 + b] > spectrogram[80 * 40 + high]) high = b;
        }
        CHECK(low >= 5 && low <= 8 && high >= 23 && high <= 28); /* 500 Hz and 3 kHz of 40 Slaney bands */
        og_media_free(&back);
        og_release(v);
        static const int64_t lengths[][2] = {{1, 1}, {639, 1}, {640, 1}, {641, 2}, {6400, 10}, {6401, 11}};
        for (size_t i = 0; i < 6; i++) {
            media.shape[0] = lengths[i][0];
            CHECK_OK(type->vectors(impl, &media, &v, &rows, &columns, &err));
            CHECK(columns == lengths[i][1]);
            for (int64_t k = 0; k < columns * dim; k++) CHECK(isfinite(v[k]));
            og_release(v);
        }
        media.shape[0] = 0;
        CHECK_FAILS(type->vectors(impl, &media, &v, &rows, &columns, &err), OG_EINVAL, "0 samples");
        media.rate_hz = 8000;
        CHECK_FAILS(type->vectors(impl, &media, &v, &rows, &columns, &err), OG_EINVAL, "8000 Hz");
        type->destroy(impl);
    }
    og_release(samples);
}

static void test_silence(void) { /* the floor: digital silence is finite, and one vector */
    int16_t zero[3200] = {0};
    og_modality_impl *impl = make(type, "");
    og_media media = {
        .modality = OG_AUDIO, .dtype = OG_I16, .rank = 1, .shape = {3200}, .data = zero, .rate_hz = 16000};
    float *v = NULL;
    int32_t rows, columns;
    CHECK_OK(type->vectors(impl, &media, &v, &rows, &columns, &err));
    for (int64_t i = 0; i < columns * type->dim(impl); i++) CHECK(v[i] == -1.5f); /* (log10 1e-10 + 4) / 4 */
    og_release(v);
    type->destroy(impl);
}

static void test_keys(void) {
    static const struct {
        const char *yaml, *word;
    } bad[] = {{"bands: 128\nmel: torchaudio", "covers no bin"},
               {"frame_hz: 30", "must divide"},
               {"mel: htk", "htk"},
               {"banks: 4", "bands"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        og_config *config = yaml(bad[i].yaml);
        og_modality_impl *impl = NULL;
        err.message[0] = 0;
        CHECK(type->create(config, &impl, &err) == OG_EINVAL);
        if (!strstr(err.message, bad[i].word)) og_test_fail(__FILE__, __LINE__, err.message);
        og_config_free(config);
    }
}

int main(void) {
    type = og_modality_find("audio");
    CHECK(type && type->modality == OG_AUDIO);
#ifndef OG_HAVE_SNDFILE
    SKIP("built without libsndfile, libsoxr and KissFFT");
#endif
    test_range();
    test_not_finite();
    test_headers();
    test_odd_sizes();
    test_channels();
    test_lengths();
    test_resampler();
    test_vectors();
    test_silence();
    test_keys();
    CHECK(og_alloc_count() == 0);
    return 0;
}
