/* exchange.c: the exact mode: several processes step together over one shared table.
 *
 * Two shared stores make the meeting place: one line of control words a rank, and an outbox of `capacity` gradient rows
 * a rank, each with its row id beside it. A step is: write the outbox, meet, apply the rows one owns, meet. */
#include "update/update_internal.h"

#include <omnigram/addr.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct control_line { /* one cache line a rank, written by that rank only */
    _Atomic uint64_t arrived; /* meetings this rank has come to */
    _Atomic int64_t n;        /* rows of its batch; -1: it refuses the step */
    _Atomic int32_t pid;      /* of the rank that came; 0: not yet */
    int32_t unused[11];
} control_line;

struct og_exchange {
    og_store *control, *outbox;
    int32_t rank, world;
    int64_t capacity, dim;
    uint64_t meetings;
    int32_t broken;
    int64_t *rows; /* [world * capacity]: what this rank applies */
};

enum { NAME_MOST = 192 }; /* 200 of a shared store, less the longer suffix */

static control_line *line_of(const og_exchange *x, int32_t rank) { return og_store_row(x->control, rank); }

/* Byte `rank` of the control segment, locked by the open file of that rank. The kernel drops the lock when the process
 * ends, however it ends; a pid may be another process by then, or not be visible in this namespace. */
static struct flock byte_of(int32_t rank) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
}

static int is_dead(const og_exchange *x, int32_t rank) {
    struct flock lock = byte_of(rank);
    return fcntl(x->control->descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

static og_status take_rank(og_exchange *x, const char *name, og_error *err) {
    struct flock lock = byte_of(x->rank);
    if (fcntl(x->control->descriptor, F_OFD_SETLK, &lock) != 0)
        return og_fail(err, OG_EINVAL, "exchange %s: rank %d is taken by process %d", name, x->rank,
                       atomic_load_explicit(&line_of(x, x->rank)->pid, memory_order_acquire));
    atomic_store_explicit(&line_of(x, x->rank)->pid, (int32_t)getpid(), memory_order_release);
    return OG_OK;
}

static int64_t nap(int64_t ns) {
    nanosleep(&(struct timespec){0, (long)ns}, NULL);
    return ns;
}

int64_t og_exchange_patience_ms = 60000;

/* Waits until every rank has come as often as this one. `meaning`: what it says of the table if one never comes. */
static og_status meet(og_exchange *x, const char *meaning, og_error *err) {
    x->meetings++;
    atomic_store_explicit(&line_of(x, x->rank)->arrived, x->meetings, memory_order_release);
    for (int32_t r = 0; r < x->world; r++) {
        control_line *line = line_of(x, r);
        int64_t waited_ns = 0;
        for (int64_t tries = 0; atomic_load_explicit(&line->arrived, memory_order_acquire) < x->meetings; tries++) {
            waited_ns += nap(tries < 100 ? 1000 : 200000);
            if (tries % 256 != 255) continue;
            int32_t pid = atomic_load_explicit(&line->pid, memory_order_acquire);
            if (pid ? !is_dead(x, r) : waited_ns < og_exchange_patience_ms * 1000000) continue;
            if (atomic_load_explicit(&line->arrived, memory_order_acquire) >= x->meetings) break;
            x->broken = 1;
            if (!pid)
                return og_fail(err, OG_EIO, "rank %d of %d has not come for %lld ms", r, x->world,
                               (long long)og_exchange_patience_ms);
            return og_fail(err, OG_EIO, "rank %d (process %d) has ended: %s; the exchange cannot go on", r, pid,
                           meaning);
        }
    }
    return OG_OK;
}

static og_status open_store(const char *name, const char *suffix, int32_t rank, const og_store_options *options,
                            og_store **out, og_error *err) {
    char full[NAME_MOST + 16];
    snprintf(full, sizeof full, "%s.%s", name, suffix);
    if (rank == 0) {
        og_store_options o = *options;
        o.backing = OG_BACK_SHARED;
        o.name = full;
        return og_store_new(&o, out, err);
    }
    og_status status = OG_OK;
    for (int tries = 0; tries < 6000; tries++) {
        status = og_store_attach(full, 1, out, err);
        if (status == OG_OK || status == OG_ENOMEM) break;
        (void)nap(10000000);
    }
    if (status == OG_OK && ((*out)->rows != options->rows || (*out)->dim != options->dim)) {
        og_status wrong = og_fail(
            err, OG_EINVAL, "exchange %s has %lld x %lld, this rank wants %lld x %lld: world, capacity or dim differ",
            name, (long long)(*out)->rows, (long long)(*out)->dim, (long long)options->rows, (long long)options->dim);
        og_store_free(*out);
        *out = NULL;
        return wrong;
    }
    return status;
}

og_status og_exchange_new(const char *name, int32_t rank, int32_t world, int64_t capacity, int64_t dim,
                          og_exchange **out, og_error *err) {
    if (!name || !*name || strlen(name) > NAME_MOST || strchr(name, '/'))
        return og_fail(err, OG_EINVAL, "exchange name '%.40s': 1..%d characters without '/'", name ? name : "",
                       NAME_MOST);
    if (world < 1 || world > 1024 || rank < 0 || rank >= world)
        return og_fail(err, OG_EINVAL, "exchange rank %d of %d: worlds are 1..1024", rank, world);
    if (capacity < 1 || capacity > (INT64_C(1) << 32))
        return og_fail(err, OG_EINVAL, "exchange capacity %lld: must be in 1..2^32", (long long)capacity);
    og_exchange *x = og_alloc_zero(1, sizeof *x);
    if (!x) return og_fail(err, OG_ENOMEM, "no memory for an exchange");
    x->rank = rank;
    x->world = world;
    x->capacity = capacity;
    x->dim = dim;
    og_store_options control = og_store_defaults(world, 16, OG_F32),
                     outbox = og_store_defaults(world * capacity, dim, OG_F32);
    outbox.state = 2; /* the row id, 64 bits */
    x->rows = og_alloc(world * capacity, sizeof *x->rows);
    og_status status =
        x->rows ? OG_OK
                : og_fail(err, OG_ENOMEM, "no memory for an exchange of %lld rows", (long long)(world * capacity));
    /* the outbox first: whoever sees the control lines finds it */
    if (status == OG_OK) status = open_store(name, "outbox", rank, &outbox, &x->outbox, err);
    if (status == OG_OK) status = open_store(name, "control", rank, &control, &x->control, err);
    if (status == OG_OK) status = take_rank(x, name, err);
    if (status == OG_OK) status = meet(x, "no step was made", err);
    if (status != OG_OK) {
        og_exchange_free(x);
        return status;
    }
    *out = x;
    return OG_OK;
}

void og_exchange_free(og_exchange *x) {
    if (!x) return;
    og_store_free(x->control);
    og_store_free(x->outbox);
    og_release(x->rows);
    og_release(x);
}

/* What this rank may not give is found before anyone applies anything. */
static og_status check_batch(const og_exchange *x, const og_store *store, const og_update_options *options,
                             const int64_t *rows, int64_t n, int64_t stride, double grad_scale, int64_t step,
                             const og_pool *pool, og_error *err) {
    if (store->backing != OG_BACK_SHARED) return og_fail(err, OG_EINVAL, "exact updates need a shared store");
    if (store->dim != x->dim)
        return og_fail(err, OG_EINVAL, "the store has rows of %lld values, the exchange of %lld", (long long)store->dim,
                       (long long)x->dim);
    if (n < 0 || n > x->capacity)
        return og_fail(err, OG_EINVAL, "a batch of %lld rows: rank %d has room for %lld", (long long)n, x->rank,
                       (long long)x->capacity);
    if (n > 0 && stride < store->dim)
        return og_fail(err, OG_EINVAL, "grad_stride %lld: rows have %lld values", (long long)stride,
                       (long long)store->dim);
    if (!isfinite(grad_scale)) return og_fail(err, OG_EINVAL, "grad_scale %g: must be finite", grad_scale);
    OG_TRY(og_update_check(store, options, step, err));
    OG_TRY(og_update_check_rows(store, rows, n, err));
    return og_segments_reserve(store, x->world * x->capacity, pool, err); /* it must not be short when others apply */
}

/* The rows that this rank owns, out of all outboxes, in rank order. */
static void collect(og_exchange *x, const og_store *store) {
    int64_t begin =
        store->rows / x->world * x->rank + (store->rows % x->world < x->rank ? store->rows % x->world : x->rank);
    int64_t end = begin + store->rows / x->world + (x->rank < store->rows % x->world);
    for (int32_t r = 0; r < x->world; r++) {
        int64_t n = atomic_load_explicit(&line_of(x, r)->n, memory_order_acquire);
        for (int64_t i = 0; i < x->capacity; i++) {
            int64_t at = r * x->capacity + i, row = OG_ROW_NONE;
            if (i < n) memcpy(&row, og_store_state(x->outbox, at), sizeof row);
            x->rows[at] = row >= begin && row < end ? row : OG_ROW_NONE;
        }
    }
}

og_status og_exchange_apply(og_exchange *x, og_store *store, const og_update_options *options, const int64_t *rows,
                            int64_t n, const float *grads, int64_t grad_stride, double grad_scale, int64_t step,
                            og_pool *pool, og_error *err) {
    if (x->broken) return og_fail(err, OG_EIO, "the exchange is broken: a rank has ended");
    og_status mine = check_batch(x, store, options, rows, n, grad_stride, grad_scale, step, pool, err);
    for (int64_t i = 0; mine == OG_OK && i < n; i++) {
        int64_t at = x->rank * x->capacity + i;
        memcpy(og_store_values(x->outbox, at), grads + i * grad_stride, (size_t)x->dim * sizeof *grads);
        memcpy(og_store_state(x->outbox, at), &rows[i], sizeof *rows);
    }
    atomic_store_explicit(&line_of(x, x->rank)->n, mine == OG_OK ? n : -1, memory_order_release);
    og_status met = meet(x, "nothing of this step was applied", mine == OG_OK ? err : NULL);
    if (met != OG_OK) return mine != OG_OK ? mine : met;
    int32_t refused = -1;
    for (int32_t r = 0; r < x->world; r++)
        if (atomic_load_explicit(&line_of(x, r)->n, memory_order_acquire) < 0) refused = r;
    og_status status = mine;
    if (refused < 0) {
        collect(x, store);
        status = og_update_apply(store, options, x->rows, x->world * x->capacity,
                                 (const float *)(const void *)x->outbox->values,
                                 x->outbox->value_stride / (int64_t)sizeof(float), grad_scale, step, pool, err);
    } else if (mine == OG_OK) {
        status = og_fail(err, OG_EINVAL, "rank %d refused its batch of step %lld; no rank has changed the table",
                         refused, (long long)step);
    }
    /* nobody reads the table or fills an outbox before all have applied */
    met = meet(x,
               refused < 0 ? "values of the rows it owned may be those before this step"
                           : "nothing of this step was applied",
               status == OG_OK ? err : NULL);
    return status != OG_OK ? status : met;
}
