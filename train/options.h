/* options.h: the config sections of training as structs. */
#ifndef OMNIGRAM_TRAIN_OPTIONS_H
#define OMNIGRAM_TRAIN_OPTIONS_H

#include <omnigram/train.h>

OG_BEGIN

enum { OG_MLP_SWIGLU = 0, OG_MLP_GELU = 1 };
typedef struct og_model_options {
    int64_t width, layers, heads, hidden, loss_chunk;
    int32_t mlp, tied;
    double rope_base, norm_eps, init_std, embed_scale;
} og_model_options;

enum { OG_MEMORY_OFF = 0, OG_MEMORY_FROZEN = 1, OG_MEMORY_TRAIN = 2 };
enum { OG_FUSION_WELM_MEAN = 0, OG_FUSION_ADD = 1 };
enum { OG_ROWS_ZERO = 0, OG_ROWS_NORMAL = 1 };
typedef struct og_memory_options {
    int32_t mode, fusion, rows, optimiser, rounding, dedupe, huge;
    double dropout, rows_std, up_std, lr, decay, eps, beta1, beta2;
    int64_t workers;
    const og_config *use; /* names of the tables that are used; NULL: all */
    const char *load;     /* checkpoint folder whose table rows are taken; "": none */
} og_memory_options;

enum { OG_SCHEDULE_COSINE = 0, OG_SCHEDULE_CONSTANT = 1, OG_SCHEDULE_WSD = 2, OG_SCHEDULE_LINEAR = 3 };
enum { OG_DEVICE_CPU = 0, OG_DEVICE_CUDA = 1 };
enum { OG_FP32 = 0, OG_BF16_AUTOCAST = 1, OG_FP64 = 2 };
enum { OG_NAN_ABORT = 0, OG_NAN_SKIP = 1, OG_NAN_LOG = 2 };
enum { OG_RESUME_AUTO = 0, OG_RESUME_NEVER = 1, OG_RESUME_MUST = 2 };
typedef struct og_train_options {
    int64_t seed, steps, epochs, batch, micro_batch, warmup, threads, log_every, save_every, keep;
    double lr, lr_end, cooldown, weight_decay, beta1, beta2, eps, clip, save_seconds;
    int32_t schedule, device, precision, nan, resume, overfit_one_batch, save_last;
} og_train_options;

typedef struct og_eval_options {
    int64_t every, packs, final_packs, train_packs;
    int32_t documents;
} og_eval_options;

typedef struct og_all_options {
    og_model_options model;
    og_memory_options memory;
    og_train_options train;
    og_eval_options eval;
} og_all_options;

/* Strings and nodes are borrowed from the merged tree (og_train_config). */
og_status og_options_read(const og_config *merged, og_all_options *out, og_error *err) OG_MUST_USE;

/* Learning rate factor of step 1 .. steps: warm-up from 1/warmup, then the schedule down to lr_end. */
double og_schedule_factor(const og_train_options *options, int64_t step, int64_t steps);

/* Steps that the epochs over n packs give; the last batch may be short. */
int64_t og_steps_available(const og_train_options *options, int64_t packs);

/* The order of n packs in one epoch: a permutation that depends on (seed, epoch) only. */
void og_order_epoch(uint64_t seed, int64_t epoch, int64_t n, int64_t *order);

OG_END
#endif
