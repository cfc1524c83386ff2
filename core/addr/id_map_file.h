/* id_map_file.h: a map from raw token ids to compressed ids (omnigram/canonical.h writes it), as
 * addressing reads it. */
#ifndef OMNIGRAM_ADDR_ID_MAP_FILE_H
#define OMNIGRAM_ADDR_ID_MAP_FILE_H

#include <omnigram/digest.h>
#include <omnigram/status.h>

typedef struct og_id_map_file {
    int32_t *map; /* [raw] compressed ids in [0, compressed); og_release */
    int64_t raw, compressed;
    char digest[OG_DIGEST_TEXT];
} og_id_map_file;

og_status og_id_map_file_read(const char *path, og_id_map_file *out, og_error *err);

#endif
