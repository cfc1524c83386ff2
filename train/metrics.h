/* metrics.h: one row of figures a step into metrics.jsonl, metrics.csv and TensorBoard, with the same digits. */
#ifndef OMNIGRAM_TRAIN_METRICS_H
#define OMNIGRAM_TRAIN_METRICS_H

#include <omnigram/train.h>

OG_BEGIN

/* Columns of a row, in order; NaN is written as null in JSON, empty in CSV and left out of TensorBoard. */
extern const char *const og_metric_names[];
enum {
    OG_METRIC_STEP,
    OG_METRIC_LOSS,
    OG_METRIC_LR,
    OG_METRIC_TABLE_LR,
    OG_METRIC_GRAD_NORM,
    OG_METRIC_TOKENS_PER_S,
    OG_METRIC_USEFUL_PER_S,
    OG_METRIC_FILL,
    OG_METRIC_SECONDS,
    OG_METRIC_LOOKUP_HIDDEN,
    OG_METRIC_TOKENS, /* useful tokens since the start */
    OG_METRIC_SKIPPED,
    OG_METRIC_TRAIN_BITS,                                        /* one a modality */
    OG_METRIC_VAL_BITS = OG_METRIC_TRAIN_BITS + OG_N_MODALITIES, /* NaN at steps without a measure */
    OG_N_METRICS = OG_METRIC_VAL_BITS + OG_N_MODALITIES,
};

typedef struct og_metrics_resume {
    int64_t done;   /* steps; 0: the files begin anew */
    og_log_fn *log; /* hears which rows are missing; may be NULL */
    void *log_context;
} og_metrics_resume;

typedef struct og_metrics og_metrics;
/* Rows of steps after done (a killed run's) are removed from the files; OG_EFORMAT names the line that is no row. The
 * folder is locked until og_metrics_close: two trainers would mix their rows and delete each other's checkpoints. */
og_status og_metrics_open(const char *folder, const og_metrics_resume *resume, og_metrics **out,
                          og_error *err) OG_MUST_USE;
og_status og_metrics_row(og_metrics *metrics, const double values[OG_N_METRICS], og_error *err) OG_MUST_USE;
void og_metrics_close(og_metrics *metrics);
/* The shortest text that reads back equal. */
void og_metric_text(double value, char text[32]);

OG_END
#endif
