/* tuxpaint.h: the stamps of the Debian package tuxpaint-stamps-default: a picture, its name in many languages, and
 * speech. */
#ifndef OMNIGRAM_MODALITIES_TUXPAINT_H
#define OMNIGRAM_MODALITIES_TUXPAINT_H

#include "data/files.h"

#include <omnigram/modalities.h>

typedef struct og_caption {
    const char *language, *text;
} og_caption;
typedef struct og_captions {
    og_caption *list; /* og_release */
    int64_t n, capacity;
    int64_t bad_lines; /* neither "xx.utf8=text" nor blank, not UTF-8, or an empty text */
} og_captions;
/* NAME.txt: line 1 is English, then "xx.utf8=..." lines. A language that comes twice keeps its first text. */
og_status og_captions_parse(const char *text, int64_t bytes, og_strings *strings, og_captions *out, og_error *err);
const char *og_captions_find(const og_captions *captions, const char *language); /* or NULL */

typedef struct og_clip {
    const char *path;     /* full */
    const char *language; /* of a spoken description; NULL: the sound of the thing */
} og_clip;
typedef struct og_stamp {
    const char *folder, *stem; /* relative folder, base name without extension */
    const char *picture;       /* full path of the PNG; NULL: SVG only, or none */
    int32_t svg, keep_sides;   /* keep_sides: the package says it must not be mirrored */
    og_captions captions;
    og_clip *clips; /* og_release */
    int64_t n_clips, cap_clips;
    int64_t group; /* number of the first stamp of its group */
} og_stamp;
typedef struct og_stamps {
    og_stamp *list; /* sorted by folder and stem */
    int64_t n, capacity;
    og_strings strings;
    int64_t files, orphans, unknown; /* orphans: clips and captions of no stamp */
} og_stamps;

/* path: the unpacked package, or the folder usr/share/tuxpaint/stamps in it. */
og_status og_stamps_scan(const char *path, og_stamps *out, og_error *err);
void og_stamps_free(og_stamps *stamps);

/* Joins stamps that share a recording, a picture (bytes, or pixels up to a mirror), an English caption, "_mirror" or
 * "_flip", or a family (folder and leading word). Sets group, and *groups to how many there are. */
og_status og_stamps_group(og_stamps *stamps, int64_t *groups, og_error *err);
/* The word that names a family: "flower" of flower3, "a" of A_filled, "bishop" of b_3_bishop; empty: none. */
void og_stamp_family(const char *stem, char out[64]);

#endif
