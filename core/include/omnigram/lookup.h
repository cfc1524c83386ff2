/* Lookup: row ids to vectors, submit -> ticket -> wait, so that step N+1's rows arrive while step N computes. */
#ifndef OMNIGRAM_LOOKUP_H
#define OMNIGRAM_LOOKUP_H

#include <omnigram/dtype.h>
#include <omnigram/status.h>
#include <omnigram/store.h>

OG_BEGIN

/* Auto: in batches of 4,096 and more whose rows are long and come often enough for sorting to pay. On a machine whose
 * caches are small beside its batches, always may be faster. Values are the same. */
enum { OG_DEDUPE_NEVER = 0, OG_DEDUPE_AUTO = 1, OG_DEDUPE_ALWAYS = 2 };

/* Column c of a batch reads stores[store[c]], row id - base[c], and fills values offset(c) .. offset(c) + dim of the
 * output row. */
typedef struct og_lookup_plan {
    og_store *const *stores; /* borrowed while the lookup lives */
    int32_t n_stores;
    const int32_t *store; /* [n_columns] */
    const int64_t *base;  /* [n_columns], NULL: zeros */
    int32_t n_columns;
    int32_t out_dtype; /* OG_F32, OG_BF16 or OG_F16 */
    int32_t threads;   /* workers, 1 .. 64; they start now and are joined by og_lookup_free */
    int32_t in_flight; /* tickets at once, 1 .. 64 */
    int32_t dedupe;    /* OG_DEDUPE_*: read each distinct row once */
} og_lookup_plan;

typedef struct og_lookup og_lookup;
typedef int64_t og_ticket;

OG_API og_status og_lookup_new(const og_lookup_plan *plan, og_lookup **out, og_error *err) OG_MUST_USE;
/* Waits for running jobs, drops waiting ones, joins the workers: no write to any output after it returns. */
OG_API void og_lookup_free(og_lookup *lookup);
OG_API int64_t og_lookup_width(const og_lookup *lookup); /* values of one output row: sum of dims */

/* rows [n][n_columns], out [n][width]: caller-owned, valid and unchanged until wait or cancel returns. Ids are checked
 * here, on the calling thread: an error names id, column, table rows and position, and nothing is queued. OG_ROW_NONE
 * gives exact zeros. Blocks while in_flight tickets are unfinished (a finished one that nobody has waited for takes no
 * place). An output that begins at a multiple of 64 bytes is written fastest. */
OG_API og_status og_lookup_submit(og_lookup *lookup, const int64_t *rows, int64_t n, void *out, og_ticket *ticket,
                                  og_error *err) OG_MUST_USE;
/* OG_ECANCELED after a cancel. A ticket may be waited for more than once. */
OG_API og_status og_lookup_wait(og_lookup *lookup, og_ticket ticket, og_error *err) OG_MUST_USE;
/* After it returns nothing writes to the ticket's output. */
OG_API og_status og_lookup_cancel(og_lookup *lookup, og_ticket ticket, og_error *err) OG_MUST_USE;

/* The same on the calling thread, without a queue. Threads that call it at once take turns. */
OG_API og_status og_lookup_now(og_lookup *lookup, const int64_t *rows, int64_t n, void *out, og_error *err) OG_MUST_USE;

typedef struct og_lookup_stats {
    int64_t lookups, ids, absent;
    int64_t distinct; /* counted where a batch was sorted, estimated from a sample where it was not, ids less absent for
                         batches below 4,096 rows that were not and without dedupe */
    int64_t work_ns;  /* summed time of the workers' lookups */
    int64_t waited_ns; /* summed time callers stood in wait: hidden share = 1 - waited / work */
} og_lookup_stats;
OG_API void og_lookup_read_stats(const og_lookup *lookup, og_lookup_stats *out);
OG_API void og_lookup_reset_stats(og_lookup *lookup);

/* Sorted distinct ids and the inverse: ids[i] == distinct[inverse[i]]. distinct, inverse: [n]. scratch:
 * og_dedupe_bytes(n). */
OG_API int64_t og_dedupe_bytes(int64_t n);
OG_API int64_t og_dedupe(const int64_t *ids, int64_t n, int64_t *distinct, int64_t *inverse, void *scratch);

OG_END
#endif
