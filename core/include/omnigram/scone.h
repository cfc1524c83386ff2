/* SCONE: a set of frequent n-grams; a position reads the longest one that ends there (arXiv
 * 2502.01637). */
#ifndef OMNIGRAM_SCONE_H
#define OMNIGRAM_SCONE_H

#include <omnigram/status.h>

OG_BEGIN

typedef struct og_scone og_scone;

/* n n-grams, oldest token first: ids holds them one after another, lengths[n] says how long each is
 * (>= 1). Those longer than max_order never match. Copies. A repeated n-gram is an error that names
 * both numbers. */
OG_API og_status og_scone_new(const int32_t *ids, const int64_t *lengths, int64_t n, int64_t max_order, og_scone **out,
                              og_error *err) OG_MUST_USE;
OG_API void og_scone_free(og_scone *scone); /* NULL is fine */
/* match[t] = number of the longest member that ends at token t inside its document, or -1. A
 * document begins at 0 and at each of doc_starts[n_docs] (ascending; may be NULL). */
OG_API og_status og_scone_match(const og_scone *scone, const int32_t *ids, int64_t n, const int64_t *doc_starts,
                                int64_t n_docs, int64_t *match, og_error *err) OG_MUST_USE;

OG_END
#endif
