/* documents.h: og_documents as it lies in memory; not a public header. */
#ifndef OMNIGRAM_PACK_DOCUMENTS_H
#define OMNIGRAM_PACK_DOCUMENTS_H

#include <omnigram/pack.h>
#include <omnigram/safetensors.h>

/* Every og_documents that the library hands out is the first field of one of these. */
typedef struct og_documents_owner {
    og_documents documents;
    og_arrays *file; /* NULL: the arrays are our own; else they lie in it (segments and codebooks
                        stay ours) */
} og_documents_owner;

#endif
