/* metrics.c: the metric files of a run folder. */
#include "metrics.h"

#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <omnigram/file.h>

const char *const og_metric_names[] = {"step",
                                       "loss",
                                       "lr",
                                       "table_lr",
                                       "grad_norm",
                                       "tokens_per_s",
                                       "useful_tokens_per_s",
                                       "fill",
                                       "step_seconds",
                                       "lookup_hidden",
                                       "tokens",
                                       "skipped",
                                       "train_bits_text",
                                       "train_bits_image",
                                       "train_bits_audio",
                                       "train_bits_marker",
                                       "val_bits_text",
                                       "val_bits_image",
                                       "val_bits_audio",
                                       "val_bits_marker",
                                       NULL};
_Static_assert(sizeof og_metric_names / sizeof *og_metric_names == OG_N_METRICS + 1, "one name a column");

struct og_metrics {
    FILE *jsonl, *csv;
    og_events *events;
    char folder[1024];
    int lock; /* a descriptor of the folder; the kernel drops the lock of a process that dies */
};

void og_metric_text(double value, char text[32]) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* Keeps the lines of steps up to done (and CSV's heading): a killed run wrote rows after its last checkpoint. */
static og_status cut(const char *path, int64_t done, int csv, og_error *err) {
    if (!og_file_exists(path)) return OG_OK;
    char *text = NULL;
    int64_t bytes = 0;
    OG_TRY(og_file_read(path, INT64_C(1) << 33, &text, &bytes, err));
    int64_t end = 0;
    for (int64_t i = 0; i < bytes;) {
        const char *newline = memchr(text + i, '\n', (size_t)(bytes - i));
        if (!newline) break; /* a line that was not finished */
        int heading = csv && i == 0;
        const char *number = csv ? text + i : strstr(text + i, ":");
        if (!heading && (!number || strtoll(csv ? number : number + 1, NULL, 10) > done)) break;
        i = newline - text + 1;
        end = i;
    }
    og_status status = end < bytes ? og_file_write(path, text, end, err) : OG_OK;
    og_release(text);
    return status;
}

static og_status open_one(const char *folder, const char *leaf, int64_t done, FILE **out, og_error *err) {
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", folder, leaf);
    int csv = strstr(leaf, ".csv") != NULL;
    if (done > 0) OG_TRY(cut(path, done, csv, err));
    *out = fopen(path, done > 0 ? "ab" : "wb");
    if (!*out) return og_fail(err, OG_EIO, "%s: cannot create: %s", path, strerror(errno));
    fseek(*out, 0, SEEK_END);
    if (csv && ftell(*out) == 0)
        for (int i = 0; i < OG_N_METRICS; i++)
            fprintf(*out, "%s%s", og_metric_names[i], i + 1 < OG_N_METRICS ? "," : "\n");
    return fflush(*out) ? og_fail(err, OG_EIO, "%s: cannot write: %s", path, strerror(errno)) : OG_OK;
}

static og_status lock_folder(og_metrics *m, const char *folder, og_error *err) {
    m->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m->lock < 0) return og_fail(err, OG_EIO, "%s: %s", folder, strerror(errno));
    if (!flock(m->lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
        return OG_OK; /* a file system without locks keeps nobody from training */
    return og_fail(err, OG_EINVAL, "%s: another trainer writes this run folder now; wait for it, or use another folder",
                   folder);
}

og_status og_metrics_open(const char *folder, int64_t done, og_metrics **out, og_error *err) {
    og_metrics *m = og_alloc_zero(1, sizeof *m);
    if (!m) return og_fail(err, OG_ENOMEM, "metrics: no memory");
    snprintf(m->folder, sizeof m->folder, "%s", folder);
    og_status status = lock_folder(m, folder, err);
    if (status == OG_OK) status = open_one(folder, "metrics.jsonl", done, &m->jsonl, err);
    if (status == OG_OK) status = open_one(folder, "metrics.csv", done, &m->csv, err);
    if (status == OG_OK) status = og_events_open(folder, done ? done + 1 : 0, &m->events, err);
    if (status != OG_OK) {
        og_metrics_close(m);
        return status;
    }
    *out = m;
    return OG_OK;
}

og_status og_metrics_row(og_metrics *m, const double values[OG_N_METRICS], og_error *err) {
    const char *tags[OG_N_METRICS];
    double finite[OG_N_METRICS];
    int64_t n = 0;
    for (int i = 0; i < OG_N_METRICS; i++) {
        char text[32] = "";
        int number = isfinite(values[i]) != 0;
        if (number) og_metric_text(values[i], text);
        fprintf(m->csv, "%s%s", i ? "," : "", text);
        fprintf(m->jsonl, "%s\"%s\":%s", i ? "," : "{", og_metric_names[i], number ? text : "null");
        if (number && i != OG_METRIC_STEP) {
            tags[n] = og_metric_names[i];
            finite[n++] = values[i];
        }
    }
    fputs("\n", m->csv);
    fputs("}\n", m->jsonl);
    if (fflush(m->csv) || fflush(m->jsonl))
        return og_fail(err, OG_EIO, "%s: cannot write metrics: %s", m->folder, strerror(errno));
    return og_events_scalars(m->events, (int64_t)values[OG_METRIC_STEP], tags, finite, n, err);
}

void og_metrics_close(og_metrics *m) {
    if (!m) return;
    if (m->jsonl) fclose(m->jsonl);
    if (m->csv) fclose(m->csv);
    og_events_close(m->events);
    if (m->lock >= 0) close(m->lock);
    og_release(m);
}
