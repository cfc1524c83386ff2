// trainer_impl.hpp: the trainer's own struct, shared by trainer.cpp, state.cpp and run.cpp.
#ifndef OMNIGRAM_TRAINER_IMPL_HPP
#define OMNIGRAM_TRAINER_IMPL_HPP

#include <omnigram/internal/trainer.hpp>

#include "memory.h"
#include "metrics.h"
#include "options.h"
#include "run_folder.h"

#include <atomic>
#include <map>

struct og_trainer {
    og_config *config = nullptr;
    og_all_options o{};
    const og_packs *packs = nullptr;
    std::string run;
    og_log_fn *log = nullptr;
    void *log_context = nullptr;
    og_eval_fn *eval = nullptr;
    void *eval_context = nullptr;

    og_pool *pool = nullptr;
    og_memory *memory = nullptr; // null with memory.mode off
    std::unique_ptr<og::model> model;
    std::vector<at::Tensor> first, second, steps_seen; // AdamW's moments and counters, one a parameter
    og_metrics *metrics = nullptr;
    og_run_totals totals{};
    double began = og_seconds();

    int64_t done = 0, planned = 0, threads = 1;
    int64_t table_bytes = 0;
    std::map<int64_t, std::vector<int64_t>> orders; // of the epochs in use
    std::string eval_json;                          // the last measure at the end
    std::string finished;                           // summary.json of a run that has ended
    std::atomic<bool> stop{false};                  // og_trainer_stop

    ~og_trainer();
    std::vector<int64_t> batch_of(int64_t step); // packs of the step after `step` steps
    void plan(int64_t step);
};

namespace og {

struct computed {
    double loss = 0, weight = 0; // loss is of the whole global batch
    double nll[OG_N_MODALITIES] = {0}, count[OG_N_MODALITIES] = {0};
    int64_t tokens = 0, useful = 0;
    at::Tensor rows_grad; // [positions][memory width] float32 (mode train), undefined else
};
// Forward and backward of a global batch in micro batches; gradients are in the parameters.
computed compute(og_trainer *t, const std::vector<int64_t> &packs, int64_t micro, int64_t step);
// "" or the name of the first tensor that is not finite.
std::string first_bad(og_trainer *t, const computed &c);

// Wall time of the run so far, over all processes that worked on it.
inline double run_seconds(const og_trainer *t) { return t->totals.run_seconds + og_seconds() - t->began; }

void save_state(og_trainer *t, const std::string &folder, og_error *err);
void load_state(og_trainer *t, const std::string &folder, og_error *err);

} // namespace og
#endif
