/* events.c: TensorBoard's event files: records of (length, masked CRC of it, payload, masked CRC of it), little-endian,
 * whose payloads are Event messages (tensorflow/core/util/event.proto) written by hand: three message types need no
 * protobuf. */
#include "events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct og_events {
    FILE *file;
    char path[1024];
};

typedef struct buffer {
    uint8_t *data;
    int64_t n, capacity;
    og_status status; /* the first failure; later calls do nothing */
} buffer;

static void put(buffer *b, const void *data, int64_t n, og_error *err) {
    if (b->status != OG_OK) return;
    b->status = og_grow((void **)&b->data, &b->capacity, b->n + n, 1, err);
    if (b->status != OG_OK) return;
    memcpy(b->data + b->n, data, (size_t)n);
    b->n += n;
}
static void put_varint(buffer *b, uint64_t v, og_error *err) {
    uint8_t bytes[10];
    int64_t n = 0;
    do {
        bytes[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        v >>= 7;
    } while (v);
    put(b, bytes, n, err);
}
static void put_key(buffer *b, int field, int wire, og_error *err) {
    put_varint(b, (uint64_t)(field << 3 | wire), err);
}
static void put_bytes(buffer *b, int field, const void *data, int64_t n, og_error *err) {
    put_key(b, field, 2, err);
    put_varint(b, (uint64_t)n, err);
    put(b, data, n, err);
}

/* Event: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5, session_log = 7 */
static void put_event(buffer *b, int64_t step, og_error *err) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double wall = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    put_key(b, 1, 1, err);
    put(b, &wall, 8, err);
    put_key(b, 2, 0, err);
    put_varint(b, (uint64_t)step, err);
}

static og_status write_record(og_events *e, buffer *b, og_error *err) {
    og_status status = b->status;
    uint64_t length = (uint64_t)b->n;
    uint32_t crc = og_crc32c_masked(&length, 8), data_crc = og_crc32c_masked(b->data, b->n);
    if (status == OG_OK && (fwrite(&length, 8, 1, e->file) != 1 || fwrite(&crc, 4, 1, e->file) != 1 ||
                            (b->n && fwrite(b->data, (size_t)b->n, 1, e->file) != 1) ||
                            fwrite(&data_crc, 4, 1, e->file) != 1 || fflush(e->file)))
        status = og_fail(err, OG_EIO, "%s: cannot write: %s", e->path, strerror(errno));
    og_release(b->data);
    return status;
}

og_status og_events_open(const char *folder, int64_t first_step, og_events **out, og_error *err) {
    og_events *e = og_alloc_zero(1, sizeof *e);
    if (!e) return og_fail(err, OG_ENOMEM, "events: no memory");
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    snprintf(e->path, sizeof e->path, "%s/events.out.tfevents.%lld.%.200s.%d", folder, (long long)time(NULL), host,
             (int)getpid());
    e->file = fopen(e->path, "wb");
    if (!e->file) {
        og_status status = og_fail(err, OG_EIO, "%s: cannot create: %s", e->path, strerror(errno));
        og_release(e);
        return status;
    }
    buffer version = {0};
    put_event(&version, 0, err);
    put_bytes(&version, 3, "brain.Event:2", 13, err);
    og_status status = write_record(e, &version, err);
    if (status == OG_OK && first_step > 0) {
        buffer start = {0};
        const uint8_t session_start[2] = {1 << 3 | 0, 1}; /* SessionLog.status = START */
        put_event(&start, first_step, err);
        put_bytes(&start, 7, session_start, 2, err);
        status = write_record(e, &start, err);
    }
    if (status != OG_OK) {
        og_events_close(e);
        return status;
    }
    *out = e;
    return OG_OK;
}

og_status og_events_scalars(og_events *e, int64_t step, const char *const *tags, const double *values, int64_t n,
                            og_error *err) {
    buffer summary = {0}, event = {0};
    for (int64_t i = 0; i < n; i++) { /* Summary.value = 1: {tag = 1 (string), simple_value = 2 (float)} */
        buffer value = {0};
        float f = (float)values[i];
        put_bytes(&value, 1, tags[i], (int64_t)strlen(tags[i]), err);
        put_key(&value, 2, 5, err);
        put(&value, &f, 4, err);
        if (value.status == OG_OK)
            put_bytes(&summary, 1, value.data, value.n, err);
        else if (summary.status == OG_OK)
            summary.status = value.status;
        og_release(value.data);
    }
    put_event(&event, step, err);
    if (summary.status == OG_OK)
        put_bytes(&event, 5, summary.data, summary.n, err);
    else
        event.status = summary.status;
    og_release(summary.data);
    return write_record(e, &event, err);
}

void og_events_close(og_events *e) {
    if (!e) return;
    if (e->file) fclose(e->file);
    og_release(e);
}
