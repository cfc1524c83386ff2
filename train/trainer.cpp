// trainer.cpp: making a trainer, and one step: rows, forward, backward, norm, updates.
#include "trainer_impl.hpp"

#include "checkpoint.h"

#include <omnigram/file.h>

#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adamw.h>

og_trainer::~og_trainer() {
    og_metrics_close(metrics);
    og_memory_free(memory);
    og_pool_free(pool);
    og_config_free(config);
}

std::vector<int64_t> og_trainer::batch_of(int64_t step) {
    int64_t n = og_packs_count(packs), total = n * o.train.epochs;
    if (o.train.overfit_one_batch) step = 0;
    std::vector<int64_t> out;
    for (int64_t i = step * o.train.batch; i < std::min(total, (step + 1) * o.train.batch); i++) {
        int64_t epoch = i / n;
        auto &order = orders[epoch];
        if (order.empty()) {
            order.resize((size_t)n);
            og_order_epoch((uint64_t)o.train.seed, epoch, n, order.data());
            // The measures at the end ask for an early epoch again: never drop the order that is in use.
            while (orders.size() > 3)
                orders.erase(orders.begin()->first == epoch ? std::prev(orders.end()) : orders.begin());
        }
        out.push_back(order[(size_t)(i % n)]);
    }
    return out;
}

void og_trainer::plan(int64_t step) {
    if (!memory || step >= planned) return;
    auto numbers = batch_of(step);
    og_memory_batch b{step + 1, numbers.data(), (int64_t)numbers.size(),
                      o.train.micro_batch ? o.train.micro_batch : o.train.batch};
    og_error err{};
    if (og_memory_plan(memory, &b, &err) != OG_OK) throw std::runtime_error(err.message);
}

namespace og {

const model &model_of(const og_trainer *t) { return *t->model; }
int64_t columns_of(const og_trainer *t) { return t->memory ? og_table_set_columns(og_memory_set(t->memory)) : 0; }
void say(const og_trainer *t, int32_t kind, const std::string &line) {
    if (t->log) t->log(t->log_context, kind, line.c_str());
}

at::Tensor pack_vectors(og_trainer *t, const og_pack &pack, std::vector<int64_t> *rows) {
    if (!t->memory) return {};
    at::Tensor v = at::empty({pack.n_valid, og_memory_width(t->memory)}, at::kFloat);
    if (rows) rows->resize((size_t)(pack.n_valid * columns_of(t)));
    og_error err{};
    if (og_memory_read(t->memory, &pack, rows ? rows->data() : nullptr, v.data_ptr<float>(), &err) != OG_OK)
        throw std::runtime_error(err.message);
    return v;
}

static double weight_of(const std::vector<batch> &batches) {
    double sum = 0;
    for (auto &b : batches) sum += b.weight;
    return sum;
}

computed compute(og_trainer *t, const std::vector<int64_t> &numbers, int64_t micro, int64_t step) {
    computed c;
    std::vector<batch> batches;
    for (size_t first = 0; first < numbers.size(); first += (size_t)micro) {
        std::vector<og_pack> packs(std::min((size_t)micro, numbers.size() - first));
        og_error err{};
        for (size_t i = 0; i < packs.size(); i++)
            if (og_packs_get(t->packs, numbers[first + i], &packs[i], &err) != OG_OK)
                throw std::runtime_error(err.message);
        batches.push_back(make_batch(packs.data(), (int64_t)packs.size()));
        c.tokens += batches.back().n_padded;
        c.useful += batches.back().n;
    }
    c.weight = weight_of(batches);
    for (auto &p : t->model->parameters) p.value.mutable_grad() = at::Tensor();
    bool learns_rows = t->memory && t->o.memory.mode == OG_MEMORY_TRAIN;
    std::vector<at::Tensor> row_grads;
    for (size_t k = 0; k < batches.size(); k++) {
        const batch &b = batches[k];
        at::Tensor memory;
        if (t->memory) {
            float *vectors = nullptr;
            int64_t n = 0;
            og_error err{};
            if (og_memory_take(t->memory, step, (int64_t)k, &vectors, &n, &err) != OG_OK)
                throw std::runtime_error(err.message);
            memory = at::from_blob(vectors, {n, og_memory_width(t->memory)}, at::kFloat);
            if (learns_rows) memory.requires_grad_(true);
        }
        if (b.target_modality.empty()) { // nothing to predict: its rows have no gradient
            if (learns_rows) row_grads.push_back(at::zeros({b.n, og_memory_width(t->memory)}, at::kFloat));
            continue;
        }
        at::Tensor nll, loss = t->model->loss(t->model->hidden(b, memory), b, c.weight, &nll);
        loss.backward();
        c.loss += loss.item<double>();
        const double *v = nll.data_ptr<double>();
        for (size_t i = 0; i < b.target_modality.size(); i++) {
            c.nll[b.target_modality[i]] += v[i];
            c.count[b.target_modality[i]] += 1;
        }
        if (learns_rows) row_grads.push_back(memory.grad());
    }
    if (learns_rows) c.rows_grad = row_grads.size() == 1 ? row_grads[0].contiguous() : at::cat(row_grads);
    return c;
}

std::string first_bad(og_trainer *t, const computed &c) {
    for (auto &p : t->model->parameters)
        if (!at::isfinite(p.value).all().item<bool>()) return "parameter " + p.name;
    if (!std::isfinite(c.loss)) return "loss";
    for (auto &p : t->model->parameters)
        if (p.value.grad().defined() && !at::isfinite(p.value.grad()).all().item<bool>())
            return "gradient of " + p.name;
    if (c.rows_grad.defined() && !at::isfinite(c.rows_grad).all().item<bool>()) return "gradient of the looked-up rows";
    return "";
}

static void make_model(og_trainer *t) {
    og_all_options &o = t->o;
    int64_t width = 0;
    std::vector<int64_t> dims;
    if (t->memory) {
        const og_table_set *set = og_memory_set(t->memory);
        width = og_memory_width(t->memory);
        for (int32_t i = 0; i < og_table_set_count(set); i++)
            for (int32_t c = 0; c < og_table_set_info(set, i)->n_columns; c++)
                dims.push_back(og_table_set_info(set, i)->dim);
        t->table_bytes = og_memory_bytes(t->memory);
    }
    at::ScalarType weights = o.train.precision == OG_FP64 ? at::kDouble : at::kFloat;
    at::ScalarType compute = o.train.precision == OG_BF16_AUTOCAST ? at::kBFloat16 : weights;
    t->model.reset(new model(o.model, o.memory, og_packs_ids(t->packs)->size, og_packs_capacity(t->packs), width, dims,
                             (uint64_t)o.train.seed, weights, compute));
    for (auto &p : t->model->parameters) {
        t->first.push_back(at::zeros_like(p.value).detach());
        t->second.push_back(at::zeros_like(p.value).detach());
        t->steps_seen.push_back(at::zeros({}, at::kFloat));
    }
}

static void make(og_trainer *t, const og_trainer_options *options, og_error *err) {
    check(og_train_config(options->config, &t->config, err));
    check(og_options_read(t->config, &t->o, err));
    t->packs = options->packs;
    t->run = options->run ? options->run : "";
    t->log = options->log;
    t->log_context = options->log_context;
    if (!t->run.empty()) check(og_run_folder_check(t->run.c_str(), err));
    og_train_options &o = t->o.train;

    int64_t n = og_packs_count(t->packs), available = og_steps_available(&o, n);
    if (!n) check(og_fail(err, OG_EINVAL, "there are no training packs"));
    t->planned = o.steps ? o.steps : available;
    if (!o.overfit_one_batch && t->planned > available) {
        say(t, OG_LOG_WARNING,
            "train.steps is " + std::to_string(o.steps) + ", but " + std::to_string(n) + " packs in " +
                std::to_string(o.epochs) + " epoch(s) of batches of " + std::to_string(o.batch) + " give " +
                std::to_string(available) + " steps; the run ends there");
        t->planned = available;
    }
    t->threads = o.threads ? o.threads : og_run_cores();
    at::set_num_threads((int)t->threads); // OpenMP and the BLAS inside torch follow it
    og_train_flush_denormals();           // the workers that exist now; those made later inherit it
    if (t->threads > 1) check(og_pool_new((int32_t)t->threads, &t->pool, err));
    if (t->o.memory.mode != OG_MEMORY_OFF)
        check(og_memory_new(t->config, &t->o, t->packs, o.batch, t->pool, &t->memory, err));
    make_model(t);

    if (t->run.empty()) return;
    char *folder = nullptr;
    int64_t step = 0;
    if (o.resume != OG_RESUME_NEVER) {
        check(og_checkpoint_find(t->run.c_str(), t->log, t->log_context, &step, &folder, err));
        std::string path = folder ? folder : "";
        og_release(folder);
        if (path.empty() && o.resume == OG_RESUME_MUST)
            check(
                og_fail(err, OG_EINVAL, "%s: train.resume is must, but there is no whole checkpoint", t->run.c_str()));
        if (!path.empty()) {
            check(og_run_compare(t->run.c_str(), t->config, t->log, t->log_context, err));
            load_state(t, path, err);
            if (t->done > t->planned)
                check(og_fail(err, OG_EINVAL,
                              "%s: %lld steps are asked for, but the run has made %lld; raise train.steps, or use "
                              "another run folder or train.resume: never",
                              path.c_str(), (long long)t->planned, (long long)t->done));
            if (t->done < t->planned)
                say(t, OG_LOG_NOTE, "resumed from " + path + " after " + std::to_string(t->done) + " steps");
        } else if (og_file_exists((t->run + "/metrics.jsonl").c_str()))
            say(t, OG_LOG_WARNING, t->run + ": an earlier run left no whole checkpoint; starting over");
    }
    check(og_folder_make(t->run.c_str(), err));
    const og_metrics_resume rows{t->done, t->log, t->log_context};
    check(og_metrics_open(t->run.c_str(), &rows, &t->metrics, err));
    // Last: a resume that was refused leaves the config that made the checkpoints, and so does one with nothing to do.
    if (t->done < t->planned || !og_file_exists((t->run + "/config.yaml").c_str()))
        check(og_run_folder_make(t->run.c_str(), t->config, t->packs, t->threads, TORCH_VERSION, err));
}

struct updated {
    double lr, table_lr, norm;
    bool skipped;
};

static updated update(og_trainer *t, const computed &c, int64_t step, og_error *err) {
    og_train_options &o = t->o.train;
    double factor = og_schedule_factor(&o, step, t->planned);
    bool learns_rows = c.rows_grad.defined();
    updated u{o.lr * factor, learns_rows ? t->o.memory.lr * factor : NAN, NAN, true};
    if (!(c.weight > 0)) {
        say(t, OG_LOG_WARNING, "step " + std::to_string(step) + ": all targets have weight 0; skipped");
        return u;
    }
    double norm2 = 0;
    for (auto &p : t->model->parameters)
        if (p.value.grad().defined()) {
            double norm = p.value.grad().norm().item<double>();
            norm2 += norm * norm;
        }
    if (learns_rows) {
        double rows2 = 0;
        check(og_memory_norm2(t->memory, step, c.rows_grad.data_ptr<float>(), &rows2, err));
        norm2 += rows2;
    }
    u.norm = std::sqrt(norm2);
    if (!std::isfinite(u.norm) || !std::isfinite(c.loss)) {
        std::string bad = first_bad(t, c),
                    what = "step " + std::to_string(step) + ": not finite: " + (bad.empty() ? "gradient norm" : bad);
        if (o.nan == OG_NAN_ABORT) check(og_fail(err, OG_EINVAL, "%s (train.nan: abort)", what.c_str()));
        say(t, OG_LOG_WARNING, what + (o.nan == OG_NAN_SKIP ? "; the update is skipped" : ""));
        if (o.nan == OG_NAN_SKIP) return u;
    }
    double scale = o.clip > 0 && u.norm > o.clip ? o.clip / u.norm : 1;
    // Rows first: the next step's lookup may begin while the dense weights are updated.
    if (learns_rows) check(og_memory_apply(t->memory, step, c.rows_grad.data_ptr<float>(), u.table_lr, scale, err));
    if (t->memory && step < t->planned) check(og_memory_gather(t->memory, step + 1, err));
    at::NoGradGuard none;
    for (int decays = 0; decays < 2; decays++) {
        std::vector<at::Tensor> values, grads, first, second, steps;
        for (size_t i = 0; i < t->model->parameters.size(); i++) {
            auto &p = t->model->parameters[i];
            if (p.decays != (decays != 0) || !p.value.grad().defined()) continue;
            if (scale != 1) p.value.mutable_grad().mul_(scale);
            t->steps_seen[i].add_(1);
            values.push_back(p.value);
            grads.push_back(p.value.grad());
            first.push_back(t->first[i]);
            second.push_back(t->second[i]);
            steps.push_back(t->steps_seen[i]);
        }
        if (!values.empty())
            at::_fused_adamw_(values, grads, first, second, {}, steps, u.lr, o.beta1, o.beta2,
                              decays ? o.weight_decay : 0.0, o.eps, false, false);
    }
    u.skipped = false;
    return u;
}

static void one_step(og_trainer *t, og_step *out, og_error *err) {
    double began = og_seconds();
    og_memory_times before{}, after{};
    if (t->memory) og_memory_read_times(t->memory, &before);
    int64_t step = t->done + 1;
    auto numbers = t->batch_of(t->done);
    int64_t micro = t->o.train.micro_batch ? t->o.train.micro_batch : t->o.train.batch;
    if (t->memory) { // ids are two steps ahead; rows one step ahead, or right after the update that could change them
        t->plan(t->done);
        t->plan(t->done + 1);
        check(og_memory_gather(t->memory, step, err));
        if (t->o.memory.mode == OG_MEMORY_FROZEN && step < t->planned)
            check(og_memory_gather(t->memory, step + 1, err));
        t->plan(t->done + 2);
    }
    computed c = compute(t, numbers, micro, step);
    updated u = update(t, c, step, err);
    t->done = step;
    if (t->memory) og_memory_read_times(t->memory, &after);

    og_step s{};
    s.step = step;
    s.loss = c.weight > 0 ? c.loss : NAN;
    s.weight = c.weight;
    for (int m = 0; m < OG_N_MODALITIES; m++) s.bits[m] = c.count[m] > 0 ? c.nll[m] / c.count[m] / std::log(2.0) : NAN;
    s.lr = u.lr;
    s.table_lr = u.table_lr;
    s.grad_norm = u.norm;
    s.tokens = c.tokens;
    s.useful = c.useful;
    s.skipped = u.skipped;
    s.lookup_work_seconds = after.work_seconds - before.work_seconds;
    s.lookup_waited_seconds = after.waited_seconds - before.waited_seconds;
    s.seconds = og_seconds() - began;
    og_run_totals &r = t->totals;
    r.tokens += s.tokens;
    r.useful += s.useful;
    r.skipped += s.skipped;
    r.seconds += s.seconds;
    r.lookup_work += s.lookup_work_seconds;
    r.lookup_waited += s.lookup_waited_seconds;
    r.step_seconds[r.n_steps++ % 512] = s.seconds;
    if (step > t->planned - (t->planned + 9) / 10)
        for (int m = 0; m < OG_N_MODALITIES; m++) {
            r.train_nll[m] += c.nll[m];
            r.train_count[m] += c.count[m];
        }
    *out = s;
}

} // namespace og

og_status og_trainer_new(const og_trainer_options *options, og_trainer **out, og_error *err) {
    return og::fence(err, [&] {
        std::unique_ptr<og_trainer> t(new og_trainer);
        og::make(t.get(), options, err);
        *out = t.release();
    });
}

void og_trainer_free(og_trainer *trainer) { delete trainer; }

og_status og_trainer_step(og_trainer *t, og_step *out, int32_t *done, og_error *err) {
    return og::fence(err, [&] {
        int32_t finished = t->done >= t->planned;
        if (!finished) og::one_step(t, out, err);
        *done = finished;
    });
}

int64_t og_trainer_done(const og_trainer *t) { return t->done; }
int64_t og_trainer_planned(const og_trainer *t) { return t->planned; }
const og_config *og_trainer_config(const og_trainer *t) { return t->config; }
void og_trainer_on_eval(og_trainer *t, og_eval_fn *fn, void *context) {
    t->eval = fn;
    t->eval_context = context;
}
const og_packs *og_trainer_packs(const og_trainer *t) { return t->packs; }
const char *og_trainer_run_folder(const og_trainer *t) { return t->run.c_str(); }

og_status og_trainer_nll(og_trainer *t, const og_pack *pack, double *nll, og_error *err) {
    return og::fence(err, [&] {
        at::NoGradGuard none;
        og::batch b = og::make_batch(pack, 1);
        std::fill(nll, nll + pack->n_tokens, NAN);
        if (b.target_modality.empty()) return;
        at::Tensor each;
        t->model->loss(t->model->hidden(b, og::pack_vectors(t, *pack)), b, 1, &each);
        for (int64_t i = 0; i < each.numel(); i++)
            nll[b.sources.data_ptr<int64_t>()[i] + 1] = each.data_ptr<double>()[i];
    });
}
