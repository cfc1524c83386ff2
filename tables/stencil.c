/* stencil.c: finding a stencil by its name. */
#include "stencil.h"

#include <string.h>

const og_stencil_type *og_stencil_find(const char *name) {
    for (int i = 0; og_stencil_types[i]; i++)
        if (!strcmp(og_stencil_types[i]->name, name)) return og_stencil_types[i];
    return NULL;
}

og_status og_stencil_modality(const og_config *config, const og_id_map *ids, int32_t modality, og_error *err) {
    if (ids->codes[modality] > 0) return OG_OK;
    return og_fail(err, OG_EINVAL,
                   "%s: there are no %s codes among the ids; leave out a table of a modality that the data lack "
                   "(--tables.NAME=null takes one away, memory.use names those that are used)",
                   OG_WHERE(config), og_modality_name(modality));
}
