/* files.h: the regular files below a folder, sorted, and what their names say. */
#ifndef OMNIGRAM_MODALITIES_FILES_H
#define OMNIGRAM_MODALITIES_FILES_H

#include "data/strings.h"

typedef struct og_file_list {
    char **paths; /* relative to the folder, sorted by bytes */
    int64_t n, capacity;
    int64_t hidden, irregular; /* passed over: names with a leading dot; neither file nor folder */
} og_file_list;
/* Symbolic links to files are followed, to folders are not (they could loop); one to nothing is listed as a file, for
 * whoever reads it to find that it is missing. */
og_status og_files_list(const char *folder, og_strings *strings, og_file_list *out, og_error *err);
void og_files_free(og_file_list *list);

/* OG_IMAGE, OG_AUDIO or OG_TEXT by the extension, whatever its case; -1 for others. *stem_bytes is the length before
 * the last dot. */
int32_t og_file_modality(const char *path, int64_t *stem_bytes);
/* 64 bits of SHA-256(text) for orders and draws that depend on a name. */
og_status og_name_hash(const char *text, uint64_t *out, og_error *err);
/* A permutation of n numbers by key. */
void og_shuffle(uint64_t key, int64_t n, int64_t *order);

#endif
