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

/* The step of a whole row, 0 for any other line. */
static double step_of(const char *line, const char *newline, int csv) {
    size_t head = csv ? 0 : strlen("{\"step\":");
    if (!csv && (strncmp(line, "{\"step\":", head) || newline[-1] != '}')) return 0;
    char *rest;
    double step = strtod(line + head, &rest);         /* 10 is written 1e+01 */
    return *rest == ',' && rest < newline ? step : 0; /* strtod goes over an empty line */
}

/* Keeps the rows of steps up to done (and CSV's heading): a killed run wrote rows after its last checkpoint. A line
 * that is no row is an error, since all behind it would be lost; *last is the step of the last row. */
static og_status cut(const char *path, double done, int csv, double *last, og_error *err) {
    *last = 0;
    if (!og_file_exists(path)) return OG_OK;
    char *text = NULL;
    int64_t bytes = 0, end = 0, line = 0;
    OG_TRY(og_file_read(path, INT64_C(1) << 33, &text, &bytes, err));
    og_status status = OG_OK;
    while (status == OG_OK) {
        const char *newline = memchr(text + end, '\n', (size_t)(bytes - end));
        if (!newline) break; /* a line that was not finished */
        int heading = ++line == 1 && csv;
        double step = heading ? 0 : step_of(text + end, newline, csv);
        if (step > done) break;
        if (heading ? strncmp(text + end, "step,", 5) != 0 : !(step > 0))
            status = og_fail(err, OG_EFORMAT, "%s:%lld: is no %s; mend the line, or remove the file", path,
                             (long long)line, heading ? "heading" : "row of a step");
        if (step > 0) *last = step;
        end = newline - text + 1;
    }
    if (status == OG_OK && end < bytes) status = og_file_write(path, text, end, err);
    og_release(text);
    return status;
}

static og_status open_one(const char *folder, const char *leaf, const og_metrics_resume *resume, FILE **out,
                          og_error *err) {
    char path[1100], warning[1300];
    snprintf(path, sizeof path, "%s/%s", folder, leaf);
    int csv = strstr(leaf, ".csv") != NULL;
    int64_t done = resume->done;
    double last = 0;
    if (done > 0) OG_TRY(cut(path, (double)done, csv, &last, err));
    if (last < (double)done && resume->log) {
        snprintf(warning, sizeof warning, "%s: ends at step %.0f, the checkpoint is of step %lld: rows are missing",
                 path, last, (long long)done);
        resume->log(resume->log_context, OG_LOG_WARNING, warning);
    }
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

og_status og_metrics_open(const char *folder, const og_metrics_resume *resume, og_metrics **out, og_error *err) {
    og_metrics *m = og_alloc_zero(1, sizeof *m);
    if (!m) return og_fail(err, OG_ENOMEM, "metrics: no memory");
    snprintf(m->folder, sizeof m->folder, "%s", folder);
    og_status status = lock_folder(m, folder, err);
    if (status == OG_OK) status = open_one(folder, "metrics.jsonl", resume, &m->jsonl, err);
    if (status == OG_OK) status = open_one(folder, "metrics.csv", resume, &m->csv, err);
    if (status == OG_OK) status = og_events_open(folder, resume->done ? resume->done + 1 : 0, &m->events, err);
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
