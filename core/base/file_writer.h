/* file_writer.h: what the safetensors writer needs of the atomic writer besides its public calls. */
#ifndef OMNIGRAM_BASE_FILE_WRITER_H
#define OMNIGRAM_BASE_FILE_WRITER_H

#include <omnigram/file.h>

/* The next write goes to offset, which may lie behind the end: the caller fills the gap before commit. */
og_status og_writer_seek(og_writer *writer, int64_t offset, og_error *err) OG_MUST_USE;
/* Claims disk space for a file of that size, so that a full disk is an error before hours of work. */
og_status og_writer_reserve(og_writer *writer, int64_t bytes, og_error *err) OG_MUST_USE;

#endif
