// state.cpp: what a checkpoint holds: weights, moments, table rows, and where the run stands.
#include "trainer_impl.hpp"

#include "checkpoint.h"

#include <omnigram/internal/packs_identity.h>
#include <omnigram/safetensors.h>

#include <jansson.h>

#include <algorithm>

namespace og {
namespace {

struct named {
    std::string name;
    at::Tensor value;
};

og_dtype dtype_of(const at::Tensor &t) { return t.scalar_type() == at::kDouble ? OG_F64 : OG_F32; }

void save_tensors(const std::string &path, const std::vector<named> &tensors, og_error *err) {
    og_arrays_writer *w = nullptr;
    check(og_arrays_writer_new(path.c_str(), &w, err));
    og_status status =
        og_arrays_writer_metadata(w, "format", "pt", err); // what the safetensors library calls torch's layout
    for (auto &t : tensors) {
        std::vector<int64_t> shape = t.value.sizes().vec();
        if (status == OG_OK)
            status = og_arrays_writer_declare(w, t.name.c_str(), dtype_of(t.value), (int32_t)shape.size(), shape.data(),
                                              err);
    }
    for (auto &t : tensors)
        if (status == OG_OK)
            status = og_arrays_writer_append(w, t.value.contiguous().data_ptr(), (int64_t)t.value.nbytes(), err);
    if (status != OG_OK) {
        og_arrays_writer_abort(w);
        throw failure{status};
    }
    check(og_arrays_writer_commit(w, err));
}

void load_tensors(const std::string &path, std::vector<named> &tensors, og_error *err) {
    og_arrays *arrays = nullptr;
    check(og_arrays_open(path.c_str(), 0, &arrays, err));
    og_status status = OG_OK;
    for (auto &t : tensors) {
        int64_t shape[OG_MAX_RANK];
        void *data = nullptr;
        status = og_arrays_expect(arrays, t.name.c_str(), dtype_of(t.value), (int32_t)t.value.dim(), shape, &data, err);
        for (int64_t i = 0; status == OG_OK && i < t.value.dim(); i++)
            if (shape[i] != t.value.size(i))
                status = og_fail(err, OG_EFORMAT, "%s: %s has %lld at axis %lld, this model %lld", path.c_str(),
                                 t.name.c_str(), (long long)shape[i], (long long)i, (long long)t.value.size(i));
        if (status != OG_OK) break;
        at::NoGradGuard none;
        memcpy(t.value.data_ptr(), data, (size_t)t.value.nbytes());
    }
    // What the file has beyond the model is another model's: a run with tables is not one without.
    for (int64_t i = 0; status == OG_OK && i < og_arrays_count(arrays); i++) {
        const char *name = og_arrays_info(arrays, i)->name;
        if (std::none_of(tensors.begin(), tensors.end(), [&](const named &t) { return t.name == name; }))
            status =
                og_fail(err, OG_EFORMAT, "%s: holds %s, which this model does not have (memory.mode, model.layers)",
                        path.c_str(), name);
    }
    og_arrays_close(arrays);
    check(status);
}

std::vector<named> weights_of(og_trainer *t) {
    std::vector<named> out;
    for (auto &p : t->model->parameters) out.push_back({p.name, p.value.detach()});
    return out;
}

std::vector<named> moments_of(og_trainer *t) {
    std::vector<named> out;
    for (size_t i = 0; i < t->model->parameters.size(); i++) {
        const std::string &name = t->model->parameters[i].name;
        out.push_back({"exp_avg." + name, t->first[i]});
        out.push_back({"exp_avg_sq." + name, t->second[i]});
        out.push_back({"step." + name, t->steps_seen[i]});
    }
    return out;
}

json_t *numbers(const double *v, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real(v[i]));
    return list;
}

// The packs' identity: a resume with other packs would not continue the same run.
json_t *loader_of(og_trainer *t) {
    auto packs = (json_int_t)og_packs_count(t->packs);
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:o}", "packs", packs, "capacity", (json_int_t)og_packs_capacity(t->packs),
                     "ids", (json_int_t)og_packs_ids(t->packs)->size, "seed", (json_int_t)t->o.train.seed, "next_pack",
                     (json_int_t)(t->done * t->o.train.batch), "identity", og_packs_identity(t->packs));
}

json_t *state_of(og_trainer *t) {
    const og_run_totals &r = t->totals;
    return json_pack("{s:I,s:I,s:o,s:{s:I,s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:o,s:o}}", "step", (json_int_t)t->done, "batch",
                     (json_int_t)t->o.train.batch, "loader", loader_of(t), "totals", "tokens", (json_int_t)r.tokens,
                     "useful", (json_int_t)r.useful, "skipped", (json_int_t)r.skipped, "seconds", r.seconds,
                     "lookup_work", r.lookup_work, "lookup_waited", r.lookup_waited, "run_seconds", run_seconds(t),
                     "step_seconds", og_run_median_seconds(&r), "train_nll", numbers(r.train_nll, OG_N_MODALITIES),
                     "train_count", numbers(r.train_count, OG_N_MODALITIES));
}

using json = std::unique_ptr<json_t, void (*)(json_t *)>;

// The state of a checkpoint whose packs had ids of the same meaning as the trainer's: sizes alone would not tell.
json open_state(const og_trainer *t, const std::string &folder, og_error *err) {
    json_error_t where;
    std::string path = folder + "/state.json", then = "the training packs of " + folder, now = "the packs";
    json root(json_load_file(path.c_str(), 0, &where), [](json_t *j) { json_decref(j); });
    if (!root) check(og_fail(err, OG_EFORMAT, "%s: %s", path.c_str(), where.text));
    const json_t *identity = json_object_get(json_object_get(root.get(), "loader"), "identity");
    if (og_packs_path(t->packs)) now += std::string(" ") + og_packs_path(t->packs);
    check(og_packs_identity_check(identity, then.c_str(), t->packs, now.c_str(), err));
    return root;
}

void read_state(og_trainer *t, const std::string &folder, og_error *err) {
    std::string path = folder + "/state.json";
    json root = open_state(t, folder, err);
    json_int_t step = 0, batch = 0, packs = -1, capacity = -1, ids = -1, seed = -1, next = -1, tokens = 0, useful = 0,
               skipped = 0;
    double seconds = 0, work = 0, waited = 0, whole = 0, median = 0;
    json_t *nll = nullptr, *count = nullptr;
    if (json_unpack(root.get(), "{s:I,s:I,s:{s:I,s:I,s:I,s:I,s:I},s:{s:I,s:I,s:I,s:F,s:F,s:F,s?F,s?F,s:o,s:o}}", "step",
                    &step, "batch", &batch, "loader", "packs", &packs, "capacity", &capacity, "ids", &ids, "seed",
                    &seed, "next_pack", &next, "totals", "tokens", &tokens, "useful", &useful, "skipped", &skipped,
                    "seconds", &seconds, "lookup_work", &work, "lookup_waited", &waited, "run_seconds", &whole,
                    "step_seconds", &median, "train_nll", &nll, "train_count", &count))
        check(og_fail(err, OG_EFORMAT, "%s: lacks the loader's state or the totals", path.c_str()));
    auto same = [&](const char *what, json_int_t then, json_int_t now) {
        if (then != now)
            check(
                og_fail(err, OG_EINVAL,
                        "%s: the run began with %s %lld, now it is %lld; use another run folder or train.resume: never",
                        path.c_str(), what, (long long)then, (long long)now));
    };
    same("train.batch", batch, t->o.train.batch);
    same("packs", packs, og_packs_count(t->packs));
    same("pack capacity", capacity, og_packs_capacity(t->packs));
    same("ids", ids, og_packs_ids(t->packs)->size);
    same("train.seed", seed, t->o.train.seed);
    same("next pack", next, step * batch);
    og_run_totals &r = t->totals;
    t->done = step;
    r.tokens = tokens;
    r.useful = useful;
    r.skipped = skipped;
    r.seconds = seconds;
    r.lookup_work = work;
    r.lookup_waited = waited;
    r.run_seconds = whole;
    r.median_seconds = median;
    for (size_t m = 0; m < OG_N_MODALITIES; m++) {
        r.train_nll[m] = json_number_value(json_array_get(nll, m));
        r.train_count[m] = json_number_value(json_array_get(count, m));
    }
}

DLTensor view_of(const at::Tensor &t) {
    DLTensor v{};
    v.data = t.data_ptr();
    v.device = {1, 0};
    v.ndim = (int32_t)t.dim();
    v.dtype = {2, (uint8_t)(8 * t.element_size()), 1};
    v.shape = const_cast<int64_t *>(t.sizes().data());
    return v;
}

} // namespace

void save_state(og_trainer *t, const std::string &folder, og_error *err) {
    save_tensors(folder + "/model.safetensors", weights_of(t), err);
    save_tensors(folder + "/optimiser.safetensors", moments_of(t), err);
    if (t->memory && t->o.memory.mode == OG_MEMORY_TRAIN)
        check(og_memory_save(t->memory, (folder + "/tables.safetensors").c_str(), err));
    json state(state_of(t), [](json_t *j) { json_decref(j); });
    char *text = state ? json_dumps(state.get(), JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : nullptr;
    og_status status = text ? og_file_write((folder + "/state.json").c_str(), text, (int64_t)strlen(text), err)
                            : og_fail(err, OG_ENOMEM, "state.json: no memory");
    free(text);
    check(status);
}

void load_weights(og_trainer *t, const std::string &folder, bool moments, og_error *err) {
    auto weights = weights_of(t);
    load_tensors(folder + "/model.safetensors", weights, err);
    if (moments) {
        auto all = moments_of(t);
        load_tensors(folder + "/optimiser.safetensors", all, err);
    }
    if (t->memory && t->o.memory.mode == OG_MEMORY_TRAIN)
        check(og_memory_load(t->memory, (folder + "/tables.safetensors").c_str(), 1, err));
}

void load_state(og_trainer *t, const std::string &folder, og_error *err) {
    read_state(t, folder, err);
    load_weights(t, folder, true, err);
}

} // namespace og

og_status og_trainer_save(og_trainer *t, og_error *err) {
    if (t->run.empty()) return og_fail(err, OG_EINVAL, "this trainer has no run folder to save into");
    char *folder = nullptr;
    OG_TRY(og_checkpoint_begin(t->run.c_str(), t->done, &folder, err));
    og_status status = og::fence(err, [&] { og::save_state(t, folder, err); });
    if (status == OG_OK) status = og_checkpoint_commit(t->run.c_str(), t->done, folder, t->o.train.keep, err);
    if (status != OG_OK) og_checkpoint_abort(folder);
    og_release(folder);
    return status;
}

og_status og_trainer_load(og_trainer *t, const char *folder, og_error *err) {
    return og::fence(err, [&] {
        std::string path = folder;
        if (!og_file_exists((path + "/manifest.json").c_str())) { // a run folder: its newest whole checkpoint
            char *found = nullptr;
            int64_t step = 0;
            og::check(og_checkpoint_find(folder, t->log, t->log_context, &step, &found, err));
            if (!found) og::check(og_fail(err, OG_EINVAL, "%s: holds no whole checkpoint (ckpt/step-N)", folder));
            path = found;
            og_release(found);
        }
        og::check(og_checkpoint_check(path.c_str(), err));
        og::open_state(t, path, err);
        og::load_weights(t, path, false, err);
        if (t->memory) og::check(og_memory_forget(t->memory, err));
    });
}

int64_t og_trainer_parameters(const og_trainer *t) { return (int64_t)t->model->parameters.size(); }

static og_status in_range(const og_trainer *t, int64_t i, og_error *err) {
    if (i >= 0 && i < og_trainer_parameters(t)) return OG_OK;
    return og_fail(err, OG_EINVAL, "parameter %lld of %lld", (long long)i, (long long)og_trainer_parameters(t));
}

og_status og_trainer_parameter(const og_trainer *t, int64_t i, const char **name, DLTensor *view, og_error *err) {
    OG_TRY(in_range(t, i, err));
    const og::parameter &p = t->model->parameters[(size_t)i];
    if (name) *name = p.name.c_str();
    if (view) *view = og::view_of(p.value);
    return OG_OK;
}

og_status og_trainer_gradient(const og_trainer *t, int64_t i, DLTensor *view, og_error *err) {
    OG_TRY(in_range(t, i, err));
    const og::parameter &p = t->model->parameters[(size_t)i];
    if (!p.value.grad().defined())
        return og_fail(err, OG_EINVAL, "%s has no gradient; call og_trainer_gradients first", p.name.c_str());
    if (!p.value.grad().is_contiguous()) p.value.mutable_grad() = p.value.grad().contiguous();
    *view = og::view_of(p.value.grad());
    return OG_OK;
}

og_status og_trainer_gradients(og_trainer *t, const int64_t *packs, int64_t n, int64_t micro, double *loss,
                               float *rows_grad, og_error *err) {
    if (n < 1 || n > t->o.train.batch)
        return og_fail(err, OG_EINVAL, "%lld packs; 1 .. train.batch = %lld", (long long)n,
                       (long long)t->o.train.batch);
    if (micro < 1) micro = n;
    return og::fence(err, [&] {
        int64_t step = t->done + 1;
        if (t->memory) {
            og::check(og_memory_forget(t->memory, err));
            og_memory_batch b{step, packs, n, micro};
            og::check(og_memory_plan(t->memory, &b, err));
            og::check(og_memory_gather(t->memory, step, err));
        }
        og::computed c = og::compute(t, {packs, packs + n}, micro, step);
        if (t->memory) og::check(og_memory_forget(t->memory, err));
        *loss = c.loss;
        if (rows_grad && c.rows_grad.defined())
            memcpy(rows_grad, c.rows_grad.data_ptr<float>(), (size_t)c.rows_grad.nbytes());
    });
}

og_status og_trainer_logits(og_trainer *t, int64_t number, float *logits, int64_t capacity, og_error *err) {
    og_pack pack;
    OG_TRY(og_packs_get(t->packs, number, &pack, err));
    int64_t needed = pack.n_valid * og_packs_ids(t->packs)->size;
    if (capacity < needed)
        return og_fail(err, OG_EINVAL, "logits need %lld values, there is room for %lld", (long long)needed,
                       (long long)capacity);
    return og::fence(err, [&] {
        at::NoGradGuard none;
        og::batch b = og::make_batch(&pack, 1);
        at::Tensor y = t->model->logits(t->model->hidden(b, og::pack_vectors(t, pack))).to(at::kFloat).contiguous();
        memcpy(logits, y.data_ptr<float>(), (size_t)y.nbytes());
    });
}

int64_t og_trainer_table_count(const og_trainer *t) { return t->memory ? og_memory_tables(t->memory) : 0; }
og_store *og_trainer_table(const og_trainer *t, int64_t i) { return og_memory_store(t->memory, i); }
int64_t og_trainer_batch(const og_trainer *t, int64_t step, int64_t *packs, int64_t n) {
    auto numbers = const_cast<og_trainer *>(t)->batch_of(step);
    for (size_t i = 0; i < numbers.size() && (int64_t)i < n; i++) packs[i] = numbers[i];
    return (int64_t)numbers.size();
}
