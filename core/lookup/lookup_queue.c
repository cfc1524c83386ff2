/* lookup_queue.c: tickets: submit, wait, cancel, and the workers that serve them in order. */
#include "base/clock.h"
#include "lookup/lookup_internal.h"

#include <string.h>

typedef struct worker_start {
    og_lookup *lookup;
    int32_t index;
} worker_start;

static og_lookup_job *job_of(og_lookup *l, og_ticket ticket) { return &l->jobs[ticket % l->in_flight]; }

/* Under the lock: the ticket ends; the slot is free for the next one. */
static void finish(og_lookup *l, og_lookup_job *job, int32_t state) {
    l->end[job->ticket % OG_REMEMBERED] = (uint8_t)state;
    job->state = OG_TICKET_FREE;
    pthread_cond_broadcast(&l->done);
}

/* Under the lock: the next part of the oldest ticket that has one. */
static og_lookup_job *take(og_lookup *l, int64_t *begin, int64_t *end) {
    for (; l->first_waiting < l->next_ticket; l->first_waiting++) {
        og_lookup_job *job = job_of(l, l->first_waiting);
        if (job->ticket != l->first_waiting || (job->state != OG_TICKET_WAITING && job->state != OG_TICKET_RUNNING) ||
            job->next >= job->n)
            continue;
        if (l->stop && job->state == OG_TICKET_WAITING) continue; /* dropped: nobody has begun it */
        job->state = OG_TICKET_RUNNING;
        *begin = job->next;
        *end = job->n - job->next < job->chunk ? job->n : job->next + job->chunk;
        job->next = *end;
        job->active++;
        return job;
    }
    return NULL;
}

static void *worker(void *context) {
    worker_start start = *(worker_start *)context;
    og_release(context);
    og_lookup *l = start.lookup;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        int64_t begin, end;
        og_lookup_job *job = take(l, &begin, &end);
        if (!job) {
            if (l->stop) break;
            pthread_cond_wait(&l->work, &l->lock);
            continue;
        }
        const int64_t *rows = job->rows;
        uint8_t *out = job->out;
        pthread_mutex_unlock(&l->lock);

        og_lookup_count count = {0};
        int64_t began = og_clock_ns();
        if (l->before_chunk) l->before_chunk(l->before_context);
        og_lookup_run(l, rows, begin, end, out, &l->scratch[start.index], &count);
        int64_t took = og_clock_ns() - began;

        pthread_mutex_lock(&l->lock);
        l->stats.work_ns += took;
        l->stats.ids += count.ids;
        l->stats.distinct += count.distinct;
        l->stats.absent += count.absent;
        job->active--;
        if (job->active == 0 && job->state == OG_TICKET_CANCELED) {
            finish(l, job, OG_TICKET_CANCELED);
        } else if (job->active == 0 && job->next >= job->n) {
            l->stats.lookups++;
            finish(l, job, OG_TICKET_DONE);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

og_status og_lookup_start(og_lookup *l, og_error *err) {
    for (int32_t i = 0; i < l->threads; i++) {
        worker_start *start = og_alloc(1, sizeof *start);
        if (!start) return og_fail(err, OG_ENOMEM, "no memory for worker %d of a lookup", i);
        *start = (worker_start){l, i};
        int cause = pthread_create(&l->workers[i], NULL, worker, start);
        if (cause) {
            og_release(start);
            return og_fail(err, OG_ENOMEM, "starting worker %d of a lookup: %s", i, strerror(cause));
        }
        l->n_workers++;
    }
    return OG_OK;
}

og_status og_lookup_submit(og_lookup *l, const int64_t *rows, int64_t n, void *out, og_ticket *ticket, og_error *err) {
    OG_TRY(og_lookup_check(l, rows, n, err));
    /* One worker takes all of a batch. More share it in parts that keep them evenly busy and still hold most
     * duplicates. */
    int64_t most = 131072 / l->n_columns < 256 ? 256 : 131072 / l->n_columns;
    int64_t chunk = l->threads == 1 ? n : (n + 2 * l->threads - 1) / (2 * l->threads);
    chunk = chunk < 64 ? 64 : chunk > most ? most : (chunk + 63) / 64 * 64;
    pthread_mutex_lock(&l->lock);
    while (job_of(l, l->next_ticket)->state != OG_TICKET_FREE) pthread_cond_wait(&l->done, &l->lock);
    og_ticket number = l->next_ticket; /* only now: another thread may have submitted while this one waited */
    og_lookup_job *job = job_of(l, number);
    *job =
        (og_lookup_job){.ticket = number, .rows = rows, .n = n, .out = out, .chunk = chunk, .state = OG_TICKET_WAITING};
    l->end[number % OG_REMEMBERED] = 0;
    l->next_ticket++;
    if (n == 0)
        finish(l, job, OG_TICKET_DONE);
    else if (l->threads > 1)
        pthread_cond_broadcast(&l->work);
    else
        pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&l->lock);
    *ticket = number;
    return OG_OK;
}

/* Under the lock: waits until the ticket has ended. */
static void wait_end(og_lookup *l, og_ticket ticket) {
    og_lookup_job *job = job_of(l, ticket);
    while (job->ticket == ticket && job->state != OG_TICKET_FREE) pthread_cond_wait(&l->done, &l->lock);
}

static og_status check_ticket(const og_lookup *l, og_ticket ticket, og_error *err) {
    if (ticket >= 1 && ticket < l->next_ticket) return OG_OK;
    return og_fail(err, OG_EINVAL, "ticket %lld: this lookup has given 1..%lld", (long long)ticket,
                   (long long)(l->next_ticket - 1));
}

og_status og_lookup_wait(og_lookup *l, og_ticket ticket, og_error *err) {
    pthread_mutex_lock(&l->lock);
    og_status status = check_ticket(l, ticket, err);
    if (status == OG_OK) {
        og_lookup_job *job = job_of(l, ticket);
        if (job->ticket == ticket && job->state != OG_TICKET_FREE) {
            int64_t began = og_clock_ns();
            wait_end(l, ticket);
            l->stats.waited_ns += og_clock_ns() - began;
        }
        if (l->next_ticket - ticket < OG_REMEMBERED && l->end[ticket % OG_REMEMBERED] == OG_TICKET_CANCELED)
            status = og_fail(err, OG_ECANCELED, "ticket %lld was cancelled", (long long)ticket);
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}

og_status og_lookup_cancel(og_lookup *l, og_ticket ticket, og_error *err) {
    pthread_mutex_lock(&l->lock);
    og_status status = check_ticket(l, ticket, err);
    if (status == OG_OK) {
        og_lookup_job *job = job_of(l, ticket);
        if (job->ticket == ticket && job->state != OG_TICKET_FREE) {
            job->state = OG_TICKET_CANCELED; /* no worker takes another part */
            if (job->active == 0)
                finish(l, job, OG_TICKET_CANCELED);
            else
                wait_end(l, ticket);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}
