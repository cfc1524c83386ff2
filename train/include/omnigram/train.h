/* omnigram train: the decoder-only model with hashed n-gram tables beside its token embedding, and its trainer.
 *
 * A trainer is used from one thread. It sets the calling thread, and every thread that computes for it, to flush
 * subnormals to zero, and leaves them so. Same config, packs and thread count: same bits, also over a resume. */
#ifndef OMNIGRAM_TRAIN_H
#define OMNIGRAM_TRAIN_H

#include <omnigram/core.h>
#include <omnigram/tables.h>

OG_BEGIN

/* ---- config ----------------------------------------------------------------------------------------------- */

/* Key tables of the sections model, memory, train and eval, for help and documentation. */
typedef struct og_train_section {
    const char *name, *summary;
    const og_key *keys;
} og_train_section;
OG_API const og_train_section *og_train_sections(void); /* ends with a NULL name */

/* A new tree: the defaults of every key with the user's values over them; sections of other verbs are kept. Unknown
 * keys are errors that name the nearest. This is what a run folder's config.yaml holds. */
OG_API og_status og_train_config(const og_config *user, og_config **out, og_error *err) OG_MUST_USE;

/* Finds what can be known to be wrong before a model is made, and reads or writes no run: keys and limits, names in
 * memory.use and, with packs (may be NULL), the tables against their ids and codebooks, and whether they fit in memory.
 * JSON object (og_release): memory; with packs also steps, packs, parameters, table_values (of one position),
 * table_bytes, tables.NAME.{rows, dim, columns, bytes}. */
OG_API og_status og_train_check(const og_config *config, const og_packs *packs, char **json, og_error *err) OG_MUST_USE;

/* ---- trainer ---------------------------------------------------------------------------------------------- */

typedef struct og_trainer og_trainer;

enum { OG_LOG_PROGRESS = 0, OG_LOG_NOTE = 1, OG_LOG_WARNING = 2 };
/* Lines for a person; the library prints nothing itself. */
typedef void og_log_fn(void *context, int32_t kind, const char *line);

typedef struct og_trainer_options {
    const og_config *config; /* any tree og_train_config takes; copied */
    const og_packs *packs;   /* training packs; borrowed while the trainer lives */
    const char *run;         /* run folder, made when missing; NULL: nothing is written */
    og_log_fn *log;          /* may be NULL */
    void *log_context;
} og_trainer_options;

/* Makes model, tables and optimiser, and restores the newest whole checkpoint where train.resume says so. Fails with
 * OG_EINVAL naming key, value and limit; OG_EFORMAT for a checkpoint made for another model or other tables. */
OG_API og_status og_trainer_new(const og_trainer_options *options, og_trainer **out, og_error *err) OG_MUST_USE;
OG_API void og_trainer_free(og_trainer *trainer);

typedef struct og_step {
    int64_t step;  /* 1, 2, ... after this step */
    double loss;   /* nats a weighted target: sum(weight * nll) / sum(weight) over the whole global batch */
    double weight; /* sum(weight); 0: the step was skipped, loss is NaN */
    double bits[OG_N_MODALITIES]; /* bits a target of each modality; NaN where there was none */
    double lr, table_lr;
    double grad_norm; /* before clipping, rows of tables included */
    int64_t tokens;   /* positions of the packs, pads included */
    int64_t useful;   /* without pads */
    double seconds;   /* wall time of the step */
    double lookup_work_seconds, lookup_waited_seconds;
    int32_t skipped; /* 1: no update was made (nothing to learn from, or nan: skip) */
} og_step;
/* One optimiser step. *done becomes 1, and nothing happens, when all steps are made. */
OG_API og_status og_trainer_step(og_trainer *trainer, og_step *out, int32_t *done, og_error *err) OG_MUST_USE;

/* Steps to the end, with metrics, checkpoints, evaluation through the hook and the run's summary.json. */
OG_API og_status og_trainer_run(og_trainer *trainer, og_error *err) OG_MUST_USE;

/* Asks og_trainer_run to end after the step that it makes, with a checkpoint and without the measures and summary of an
 * end; og_trainer_done is then less than og_trainer_planned. The next call goes on. For signal handlers and any
 * thread. */
OG_API void og_trainer_stop(og_trainer *trainer);

/* The hook that measures on held-out packs (eval.h gives one). It adds its figures to the JSON object text it returns
 * (og_release): during training at every eval.every steps (final 0) and at the end (final 1). */
typedef og_status og_eval_fn(void *context, og_trainer *trainer, int64_t step, int32_t final, char **json,
                             og_error *err);
OG_API void og_trainer_on_eval(og_trainer *trainer, og_eval_fn *fn, void *context);

OG_API int64_t og_trainer_done(const og_trainer *trainer);            /* steps made */
OG_API int64_t og_trainer_planned(const og_trainer *trainer);         /* steps in all */
OG_API const og_config *og_trainer_config(const og_trainer *trainer); /* merged; borrowed */
/* Canonical JSON of the run so far (the contents of summary.json); og_release. */
OG_API og_status og_trainer_summary(const og_trainer *trainer, char **json, og_error *err) OG_MUST_USE;
OG_API og_status og_trainer_save(og_trainer *trainer, og_error *err) OG_MUST_USE; /* a checkpoint now */
/* Weights and table rows of a checkpoint folder, or of the newest whole one of a run folder (manifests are checked);
 * optimiser and place in the data stay as they are. */
OG_API og_status og_trainer_load(og_trainer *trainer, const char *checkpoint, og_error *err) OG_MUST_USE;

/* nll [pack->n_tokens] in nats of any pack of the same ids, NaN at tokens that are no targets; tables are read as they
 * are now. */
OG_API og_status og_trainer_nll(og_trainer *trainer, const og_pack *pack, double *nll, og_error *err) OG_MUST_USE;
OG_API const og_packs *og_trainer_packs(const og_trainer *trainer);  /* borrowed */
OG_API const char *og_trainer_run_folder(const og_trainer *trainer); /* "" without one */

/* ---- looking inside (tests, benchmarks, peers) ---------------------------------------------------------------- */

/* Parameters in a fixed order: name and a borrowed float32 (or float64) view. */
OG_API int64_t og_trainer_parameters(const og_trainer *trainer);
OG_API og_status og_trainer_parameter(const og_trainer *trainer, int64_t i, const char **name, DLTensor *view,
                                      og_error *err) OG_MUST_USE;
/* Its gradient after og_trainer_gradients. */
OG_API og_status og_trainer_gradient(const og_trainer *trainer, int64_t i, DLTensor *view, og_error *err) OG_MUST_USE;
/* Loss and gradients of these packs as one global batch in micro batches of `micro` packs (0: all); nothing is updated.
 * rows_grad (may be NULL) receives the gradients of the looked-up vectors, [valid tokens of the packs][width]. */
OG_API og_status og_trainer_gradients(og_trainer *trainer, const int64_t *packs, int64_t n, int64_t micro, double *loss,
                                      float *rows_grad, og_error *err) OG_MUST_USE;
/* logits [valid tokens][ids] of one training pack; capacity in floats is checked. */
OG_API og_status og_trainer_logits(og_trainer *trainer, int64_t pack, float *logits, int64_t capacity,
                                   og_error *err) OG_MUST_USE;
OG_API int64_t og_trainer_table_count(const og_trainer *trainer);
OG_API og_store *og_trainer_table(const og_trainer *trainer, int64_t i); /* borrowed */
/* Numbers of the packs of the step after `step` steps; n of them at most. Returns how many there are. */
OG_API int64_t og_trainer_batch(const og_trainer *trainer, int64_t step, int64_t *packs, int64_t n);

/* Sets flush-to-zero and denormals-are-zero in this thread and in the OpenMP workers that torch computes with. */
OG_API void og_train_flush_denormals(void);
/* Masked CRC32C as TFRecord and TensorBoard frame their records. */
OG_API uint32_t og_crc32c_masked(const void *data, int64_t bytes);

OG_END
#endif
