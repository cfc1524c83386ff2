/* audio_payload.h: a digest of the sound in a file, whatever its comments say. */
#ifndef OMNIGRAM_MODALITIES_AUDIO_PAYLOAD_H
#define OMNIGRAM_MODALITIES_AUDIO_PAYLOAD_H

#include <omnigram/core.h>

/* SHA-256 of: the bodies of an Ogg file's pages behind its headers (position 0); the data chunk of a WAV; else all
 * bytes. Two copies of one recording that differ in title or serial number get the same digest, without
 * being decoded. */
og_status og_sound_digest(const void *bytes, int64_t n, char out[OG_DIGEST_TEXT], og_error *err);

#endif
