/* omnigram_cdef.c: preprocessed, never compiled. Macros do not survive that, so those Python needs become constants. */
#include <omnigram/core.h>
#include <omnigram/modalities.h>
#include <omnigram/quantizers.h>
#include <omnigram/tables.h>

enum {
    OG_CDEF_ABI = OG_ABI,
    OG_CDEF_MAX_ORDER = OG_MAX_ORDER,
    OG_CDEF_MAX_RANK = OG_MAX_RANK,
};
