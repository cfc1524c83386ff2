/* quantizers.c: finding a quantizer by its name. */
#include <omnigram/quantizers.h>

#include <string.h>

const og_quantizer_type *og_quantizer_find(const char *name) {
    for (int i = 0; name && og_quantizer_types[i]; i++)
        if (og_quantizer_types[i]->abi == OG_ABI && !strcmp(og_quantizer_types[i]->name, name))
            return og_quantizer_types[i];
    return NULL;
}
