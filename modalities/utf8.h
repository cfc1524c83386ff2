/* utf8.h: strict UTF-8 (RFC 3629). */
#ifndef OMNIGRAM_MODALITIES_UTF8_H
#define OMNIGRAM_MODALITIES_UTF8_H

#include <omnigram/status.h>

OG_BEGIN

/* Byte offset of the first fault (overlong form, surrogate, above U+10FFFF, cut short, stray byte), or -1 when all is
 * valid. */
int64_t og_utf8_fault(const char *text, int64_t bytes);
/* An error that names place, offset and byte. */
og_status og_utf8_check(const char *place, const char *text, int64_t bytes, og_error *err);
/* Length of the sequence a valid lead byte opens. */
int32_t og_utf8_length(unsigned char lead);

OG_END
#endif
