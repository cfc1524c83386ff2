/* Engram's canonical form of token texts, and the id map it gives: raw ids to ids of the compressed
 * vocabulary, which addressing (engram_xor, key id_map) reads. Source: deepseek-ai/Engram
 * engram_demo_v1.py @fb7f84a. */
#ifndef OMNIGRAM_CANONICAL_H
#define OMNIGRAM_CANONICAL_H

#include <omnigram/status.h>

OG_BEGIN

/* The key under which tokens are merged: NFKC, NFD, marks (category M) deleted, lower case a
 * character at a time, each run of blanks one space, White_Space trimmed (one lone space stays).
 * The text itself where nothing is left, or where it holds U+FFFD (a part of a character: the
 * caller passes the vocabulary's own piece). text is UTF-8; *key is zero-terminated and released
 * with og_release. */
OG_API og_status og_canonical_key(const char *text, int64_t bytes, char **key, int64_t *key_bytes,
                                  og_error *err) OG_MUST_USE;

/* map[n]: ids handed out in order of first appearance of the texts' keys; *compressed of them.
 * texts[i]: what token i decodes to (special tokens included, no clean-up of spaces), or its
 * vocabulary piece where that holds U+FFFD. */
OG_API og_status og_canonical_map(const char *const *texts, const int64_t *bytes, int64_t n, int32_t *map,
                                  int64_t *compressed, og_error *err) OG_MUST_USE;
/* Writes safetensors: id_map I32 [n], metadata kind, compressed_vocab, source (a note, may be
 * NULL). Atomic. */
OG_API og_status og_canonical_write(const char *path, const int32_t *map, int64_t n, int64_t compressed,
                                    const char *source, og_error *err) OG_MUST_USE;

OG_END
#endif
