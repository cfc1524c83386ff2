/* SHA-256, for fingerprints, manifests and splits (libcrypto inside). */
#ifndef OMNIGRAM_DIGEST_H
#define OMNIGRAM_DIGEST_H

#include <omnigram/status.h>

OG_BEGIN

#define OG_DIGEST_TEXT 65 /* 64 hexadecimal digits and the zero */

typedef struct og_digest og_digest;
OG_API og_status og_digest_new(og_digest **out, og_error *err) OG_MUST_USE;
OG_API og_status og_digest_add(og_digest *digest, const void *data, int64_t bytes, og_error *err) OG_MUST_USE;
/* Writes the hexadecimal text; frees the digest. */
OG_API og_status og_digest_end(og_digest *digest, char out[OG_DIGEST_TEXT], og_error *err) OG_MUST_USE;
OG_API void og_digest_free(og_digest *digest); /* NULL is fine */

OG_API og_status og_digest_of(const void *data, int64_t bytes, char out[OG_DIGEST_TEXT], og_error *err) OG_MUST_USE;
OG_API og_status og_digest_of_file(const char *path, char out[OG_DIGEST_TEXT], og_error *err) OG_MUST_USE;

OG_END
#endif
