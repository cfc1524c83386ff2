/* run_folder.h: the files of a run that are not metrics or checkpoints. */
#ifndef OMNIGRAM_TRAIN_RUN_FOLDER_H
#define OMNIGRAM_TRAIN_RUN_FOLDER_H

#include "options.h"

OG_BEGIN

/* Sums over a run that a resume continues. Times are of this process and its predecessors together. */
typedef struct og_run_totals {
    int64_t tokens, useful, skipped;
    double seconds, lookup_work, lookup_waited; /* of the steps */
    double run_seconds;                         /* wall time of earlier processes: start, measures and saves too */
    double median_seconds;                      /* of a step, as earlier processes measured it */
    double train_nll[OG_N_MODALITIES], train_count[OG_N_MODALITIES]; /* over the last tenth of the steps, as trained */
    double step_seconds[512];                                        /* a ring of the latest steps, for the median */
    int64_t n_steps;
} og_run_totals;

/* Refuses a folder that has other things in it and no run: a run's files would lie among them, or replace them. */
og_status og_run_folder_check(const char *run, og_error *err) OG_MUST_USE;

/* The run folder with config.yaml and environment.json, which names the packs. */
og_status og_run_folder_make(const char *run, const og_config *config, const og_packs *packs, int64_t threads,
                             const char *torch_version, og_error *err) OG_MUST_USE;

/* Before a resume: what differs between the run's config.yaml and config in sections model, memory and train. A key
 * that changes what the weights mean (model, memory.fusion) is refused by name; others are named through log. How long,
 * how often and on how many threads may change silently. */
og_status og_run_compare(const char *run, const og_config *config, og_log_fn *log, void *log_context,
                         og_error *err) OG_MUST_USE;

double og_seconds(void); /* monotonic */
double og_run_median_seconds(const og_run_totals *totals);
int64_t og_run_peak_rss_bytes(void);
int64_t og_run_cores(void); /* this process may use */

/* "step 120/400 loss 3.21 ..." */
void og_run_progress_line(const og_step *step, int64_t planned, double seconds_a_step, char *line, size_t bytes);

OG_END
#endif
