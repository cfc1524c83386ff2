/* addr_internal.h: an addressing from inside. */
#ifndef OMNIGRAM_ADDR_INTERNAL_H
#define OMNIGRAM_ADDR_INTERNAL_H

#include <omnigram/addr.h>
#include <omnigram/digest.h>

#include "window/engine.h"

struct og_addr {
    const og_addr_type *type;
    og_addr_impl *impl;
    og_addr_layout layout;
    og_config *config; /* completed with every default */
    char *description;
    char fingerprint[OG_DIGEST_TEXT];
};

static inline int32_t og_addr_code_ok(const og_addr_layout *layout, int64_t code) {
    return (code >= layout->least_code && code < layout->code_limit) || code == layout->extra_code;
}

#endif
