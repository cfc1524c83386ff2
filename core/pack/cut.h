/* cut.h: documents to pieces that fit a pack, by the policy; not a public header. */
#ifndef OMNIGRAM_PACK_CUT_H
#define OMNIGRAM_PACK_CUT_H

#include <omnigram/pack.h>

typedef struct og_range {
    int64_t begin, end; /* tokens, relative to the document */
} og_range;

typedef struct og_piece { /* a document, or the part of it that lies in one pack */
    int64_t doc;
    int64_t first_range, n_ranges; /* more than one where an image was removed */
    int64_t length;
    int64_t pos, pos3; /* where its positions would start if they went on from the piece before */
    int64_t context;   /* its first tokens, which are the last of the piece before: of weight 0 */
    int32_t number;    /* 0: the first piece of its document */
} og_piece;

enum { OG_LOST_LONG, OG_LOST_IMAGE_DOCUMENT, OG_LOST_IMAGE, OG_LOST_TRUNCATED, OG_N_LOST };
typedef struct og_tally {
    int64_t read, kept, cut, lost[OG_N_LOST];
} og_tally;

typedef struct og_cut {
    og_piece *pieces;
    og_range *ranges;
    int64_t n_pieces, n_ranges, piece_capacity, range_capacity;
    og_tally documents, tokens, images;                   /* lost: by cause; of documents: dropped ones */
    int64_t kept_tokens[OG_N_MODALITIES], context_tokens; /* context is not counted as kept again */
    int64_t fragmented, short_fragments; /* documents in several pieces; pieces of them with fewer than 5 tokens */
} og_cut;

og_status og_cut_documents(const og_documents *documents, const og_pack_policy *policy, og_cut *out, og_error *err);
void og_cut_free(og_cut *cut);
/* The first segment of a document that ends after `token`. */
int64_t og_segment_after(const og_documents *documents, int64_t doc, int64_t token);

#endif
