/* sources.h: the files that a prepared folder was read from: path, size and time of change of each. */
#ifndef OMNIGRAM_MODALITIES_SOURCES_H
#define OMNIGRAM_MODALITIES_SOURCES_H

#include "data/strings.h"

#include <omnigram/modalities.h>

/* Arrays of FOLDER/sources.safetensors, N files in the order of their paths' bytes. */
#define OG_SOURCES_FILE  "sources.safetensors"
#define OG_SOURCES_START "path_start" /* I64 [N]: in paths */
#define OG_SOURCES_PATHS "paths"      /* U8: zero-terminated */
#define OG_SOURCES_SIZE  "size"       /* I64 [N]: bytes; -1: there was no such file */
#define OG_SOURCES_TIME  "mtime_ns"   /* I64 [N]: nanoseconds since 1970 */

typedef struct og_source {
    const char *path;
    int64_t size, time;
} og_source;

typedef struct og_sources {
    og_strings strings;
    char *root; /* what the key `path` of the data set names, or NULL */
    int32_t folder;
    og_source *list;
    int64_t n, capacity;
} og_sources;

/* Every file below the root (hidden ones apart), or the file that it is. A data set without a path has none. */
og_status og_sources_walk(const og_dataset_type *type, const og_config *dataset, og_sources *out, og_error *err);
/* Refuses an output folder below a root that is a folder: the next run would read what this one writes. */
og_status og_sources_apart(const og_sources *sources, const char *folder, og_error *err);
/* A file that a document names. Those below the root are there already. */
og_status og_sources_add(og_sources *sources, const char *path, og_error *err);
og_status og_sources_write(og_sources *sources, const char *folder, og_error *err);
/* What changed since `folder` was written, in words ("2 changed: a.txt, b.png; 1 new: c.txt"), or "" for nothing. */
og_status og_sources_changes(const char *folder, og_sources *now, char *out, size_t room, og_error *err);
void og_sources_free(og_sources *sources);

#endif
