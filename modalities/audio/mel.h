/* mel.h: mel spectrograms with every convention stated; three presets. */
#ifndef OMNIGRAM_MODALITIES_MEL_H
#define OMNIGRAM_MODALITIES_MEL_H

#include <omnigram/modalities.h>

enum { OG_MEL_SLANEY = 0, OG_MEL_HTK = 1 };
enum { OG_MEL_NORM_NONE = 0, OG_MEL_NORM_SLANEY = 1 }; /* slaney: each filter has area 1 Hz */
enum { OG_MEL_CENTER_NONE = 0, OG_MEL_CENTER_ZERO = 1, OG_MEL_CENTER_REFLECT = 2 };
enum { OG_MEL_LOG_NONE = 0, OG_MEL_LOG_LN = 1, OG_MEL_LOG_10 = 2, OG_MEL_LOG_DB = 3 };

/* No field has a hidden default. Frames: center none (n - n_fft) / hop + 1, else n / hop + 1, less drop_last. */
typedef struct og_mel_config {
    int64_t rate_hz, n_fft, hop, bands; /* n_fft even; window: periodic Hann of n_fft */
    double f_min, f_max;                /* Hz */
    int32_t scale, norm, center, log, drop_last;
    double power; /* of the magnitude: 1 or 2 */
    double floor; /* least value before the logarithm: the silence floor */
    double range; /* values more than this below the clip's highest are raised to it, in the log's unit; 0: no limit */
    double add, mul; /* (value + add) * mul at the end */
} og_mel_config;

/* "librosa" (melspectrogram + power_to_db), "torchaudio" (MelSpectrogram), "whisper"
 * (log_mel_spectrogram), at rate_hz. */
og_status og_mel_preset(const char *name, int64_t rate_hz, og_mel_config *out, og_error *err);
/* *filters [bands][n_fft / 2 + 1], og_release. A filter that covers no bin is an error that names it. */
og_status og_mel_filters(const og_mel_config *config, double **filters, og_error *err);
int64_t og_mel_frames(const og_mel_config *config, int64_t n);
/* *out [*frames][bands], og_release. */
og_status og_mel_spectrogram(const og_mel_config *config, const float *samples, int64_t n, float **out, int64_t *frames,
                             og_error *err);

#endif
