/* packs_identity.h: what the ids of packs mean. Between train and eval; never installed. */
#ifndef OMNIGRAM_INTERNAL_PACKS_IDENTITY_H
#define OMNIGRAM_INTERNAL_PACKS_IDENTITY_H

#include <omnigram/pack.h>

#include <jansson.h>

OG_BEGIN

/* {ids: {MODALITY: [base, codes, levels]}, codebooks: [fingerprint], tokenizer: fingerprint or null};
 * NULL: no memory. */
json_t *og_packs_identity(const og_packs *packs);

/* Whether the ids of packs mean what they mean in those that `then` was made of; a member that it lacks is not
 * compared. The error calls the packs `now_name` and the others `then_name`, and names what differs of both. */
og_status og_packs_identity_check(const json_t *then, const char *then_name, const og_packs *packs,
                                  const char *now_name, og_error *err) OG_MUST_USE;

OG_END
#endif
