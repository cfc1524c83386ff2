/* tally.h: what prepare read, kept and dropped, by modality and cause: read = kept + dropped. */
#ifndef OMNIGRAM_MODALITIES_TALLY_H
#define OMNIGRAM_MODALITIES_TALLY_H

#include <omnigram/modalities.h>

#include <jansson.h>

enum { OG_DROP_MISSING, OG_DROP_DAMAGED, OG_DROP_REFUSED, OG_DROP_LEFT_OUT, OG_N_DROPS };
typedef struct og_tally {
    int64_t documents_read, documents_kept, documents_dropped;          /* dropped: no item was left */
    int64_t items_read[3], items_kept[3], items_dropped[3][OG_N_DROPS]; /* references, by modality */
    int64_t distinct[3];
    int64_t notes[OG_N_NOTES];
    int64_t split_documents[OG_N_SPLITS], split_items[OG_N_SPLITS][3], split_elements[OG_N_SPLITS][3];
    json_t *log; /* what was dropped: list of messages */
} og_tally;
int32_t og_drop_cause(og_status status);      /* -1: not a fault of the item, never skipped */
json_t *og_tally_json(const og_tally *tally); /* new; NULL when memory is short */

#endif
