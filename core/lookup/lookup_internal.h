/* lookup_internal.h: the parts of a lookup that its files and its tests share. */
#ifndef OMNIGRAM_LOOKUP_INTERNAL_H
#define OMNIGRAM_LOOKUP_INTERNAL_H

#include "lookup/row_ops.h"
#include "store/store_internal.h"

#include <omnigram/lookup.h>

#include <pthread.h>

typedef struct og_lookup_column {
    const og_store *store;
    int32_t table; /* its number in the plan */
    int64_t base;
    int64_t out_offset, out_bytes; /* in an output row */
    og_convert_fn *convert;
} og_lookup_column;

/* Memory of one worker; grows to what a batch needs and stays. */
typedef struct og_lookup_scratch {
    void *memory;
    int64_t bytes;
} og_lookup_scratch;

enum { OG_TICKET_FREE = 0, OG_TICKET_WAITING = 1, OG_TICKET_RUNNING = 2, OG_TICKET_DONE = 3, OG_TICKET_CANCELED = 4 };

typedef struct og_lookup_job {
    og_ticket ticket;
    const int64_t *rows;
    int64_t n;
    uint8_t *out;
    int64_t chunk, next, active; /* rows of a chunk; first row not taken; chunks being worked on */
    int32_t state;
} og_lookup_job;

enum { OG_REMEMBERED = 1024 }; /* finished tickets whose end is known; older ones ended well */

struct og_lookup {
    og_lookup_column *columns;
    uint64_t *limits; /* base[period], rows[period] of the columns in turn, for the check of ids */
    int64_t period;
    int32_t n_columns, threads, in_flight, dedupe, out_dtype;
    int64_t width, out_row_bytes;
    const og_row_ops *ops;
    og_lookup_scratch *scratch; /* [threads + 1]; the last is the caller's, under `now` */
    pthread_mutex_t now;
    pthread_t *workers;
    int32_t n_workers; /* started */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    og_lookup_job *jobs;        /* ring of in_flight; ticket t is in jobs[t % in_flight] */
    og_ticket next_ticket;      /* from 1 */
    og_ticket first_waiting;    /* the oldest ticket with rows that no worker has taken */
    uint8_t end[OG_REMEMBERED]; /* OG_TICKET_DONE or CANCELED of ticket t at t % OG_REMEMBERED */
    int32_t stop;
    og_lookup_stats stats;
    void (*before_chunk)(void *context); /* tests: a slow worker */
    void *before_context;
};

typedef struct og_lookup_count {
    int64_t ids, distinct, absent;
} og_lookup_count;

/* Rows [begin, end) of a batch, on this thread. */
void og_lookup_run(const og_lookup *lookup, const int64_t *rows, int64_t begin, int64_t end, uint8_t *out,
                   og_lookup_scratch *scratch, og_lookup_count *count);
/* OG_EINVAL naming id, column, rows and position of the first id out of range. */
og_status og_lookup_check(const og_lookup *lookup, const int64_t *rows, int64_t n, og_error *err);
og_status og_lookup_start(og_lookup *lookup, og_error *err);

#endif
