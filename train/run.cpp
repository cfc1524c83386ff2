// run.cpp: the loop around the steps: metrics, progress, measures, checkpoints, and the summary.
#include "trainer_impl.hpp"

#include <omnigram/file.h>

#include <jansson.h>

namespace og {
namespace {

using json = std::unique_ptr<json_t, void (*)(json_t *)>;
json owned(json_t *j) {
    return json(j, [](json_t *p) { json_decref(p); });
}

json_t *number(double v) { return std::isfinite(v) ? json_real(v) : json_null(); }

double hidden_share(double waited, double work) { return work > 0 ? std::max(0.0, 1 - waited / work) : NAN; }

// Asks the hook; val holds bits of each modality (NaN without). Keeps the JSON of the last one.
void measure(og_trainer *t, bool final, double *val, og_error *err) {
    char *text = nullptr;
    check(t->eval(t->eval_context, t, t->done, final, &text, err));
    std::string kept = text ? text : "{}";
    og_release(text);
    json_error_t where;
    json root = owned(json_loads(kept.c_str(), 0, &where));
    if (!root) check(og_fail(err, OG_EINTERNAL, "the measure's JSON: %s", where.text));
    json_t *bits = json_object_get(root.get(), "val_bits");
    std::string line = "step " + std::to_string(t->done) + "  held-out bits";
    for (int m = 0; m < OG_N_MODALITIES; m++) {
        json_t *v = json_object_get(bits, og_modality_name(m));
        val[m] = json_is_number(v) ? json_number_value(v) : NAN;
        char part[64];
        snprintf(part, sizeof part, "  %s %.4f", og_modality_name(m), val[m]);
        if (std::isfinite(val[m])) line += part;
    }
    say(t, OG_LOG_NOTE, line);
    if (final) t->eval_json = kept;
}

void row(og_trainer *t, const og_step &s, const double *val, og_error *err) {
    if (!t->metrics) return;
    double v[OG_N_METRICS];
    v[OG_METRIC_STEP] = (double)s.step;
    v[OG_METRIC_LOSS] = s.loss;
    v[OG_METRIC_LR] = s.lr;
    v[OG_METRIC_TABLE_LR] = s.table_lr;
    v[OG_METRIC_GRAD_NORM] = s.grad_norm;
    v[OG_METRIC_TOKENS_PER_S] = (double)s.tokens / s.seconds;
    v[OG_METRIC_USEFUL_PER_S] = (double)s.useful / s.seconds;
    v[OG_METRIC_FILL] = s.tokens ? (double)s.useful / (double)s.tokens : NAN;
    v[OG_METRIC_SECONDS] = s.seconds;
    v[OG_METRIC_LOOKUP_HIDDEN] = hidden_share(s.lookup_waited_seconds, s.lookup_work_seconds);
    v[OG_METRIC_TOKENS] = (double)t->totals.useful;
    v[OG_METRIC_SKIPPED] = (double)t->totals.skipped;
    for (int m = 0; m < OG_N_MODALITIES; m++) {
        v[OG_METRIC_TRAIN_BITS + m] = s.bits[m];
        v[OG_METRIC_VAL_BITS + m] = val[m];
    }
    check(og_metrics_row(t->metrics, v, err));
}

void write_summary(og_trainer *t, og_error *err) {
    if (t->run.empty()) return;
    char *text = nullptr;
    check(og_trainer_summary(t, &text, err));
    og_status status = og_file_write((t->run + "/summary.json").c_str(), text, (int64_t)strlen(text), err);
    t->finished = text; // what is asked for after the end is what the file says
    og_release(text);
    check(status);
}

// Whether the run had ended before; then its summary is the file's, and nothing is measured or written again.
bool had_ended(og_trainer *t) {
    if (t->run.empty() || t->done < t->planned) return false;
    char *text = nullptr;
    int64_t bytes = 0;
    if (og_file_read((t->run + "/summary.json").c_str(), INT64_C(1) << 26, &text, &bytes, nullptr) != OG_OK)
        return false; // stopped between the last checkpoint and the summary
    std::string kept(text, (size_t)bytes);
    og_release(text);
    json root = owned(json_loads(kept.c_str(), 0, nullptr));
    if (json_integer_value(json_object_get(root.get(), "steps")) != t->done) return false;
    if (t->eval && !json_object_get(root.get(), "val_bits")) return false; // held-out packs were not there then
    t->finished = kept;
    return true;
}

// When a checkpoint is due by time: every save_seconds at most, and so rarely that saving takes 2 % of the time.
struct save_clock {
    double every, cost, last = og_seconds();
    explicit save_clock(const og_trainer *t)
        : every(t->o.train.save_seconds), // weights and two moments; hashed, written and flushed at 200 MB/s, say
          cost(((double)t->model->bytes() * 3 + (double)t->table_bytes) / 2e8) {}
    bool due() const { return every > 0 && og_seconds() - last >= std::max(every, 50 * cost); }
};

void save(og_trainer *t, save_clock &clock, og_error *err) {
    double began = og_seconds();
    check(og_trainer_save(t, err));
    clock.last = og_seconds();
    clock.cost = clock.last - began;
}

void run(og_trainer *t, og_error *err) {
    const og_train_options &o = t->o.train;
    if (had_ended(t)) {
        say(t, OG_LOG_NOTE,
            t->run + ": already finished (" + std::to_string(t->done) + " steps); raise " +
                (o.steps ? "train.steps" : "train.epochs") + " to go on");
        return;
    }
    save_clock clock(t);
    double no_val[OG_N_MODALITIES], val[OG_N_MODALITIES];
    std::fill(no_val, no_val + OG_N_MODALITIES, NAN);
    bool saved = t->done > 0;
    for (;;) {
        og_step s;
        int32_t done = 0;
        check(og_trainer_step(t, &s, &done, err));
        if (done) break;
        saved = false;
        bool last = t->done >= t->planned;
        bool measures = t->eval && !last && t->o.eval.every && t->done % t->o.eval.every == 0;
        if (measures) measure(t, false, val, err);
        if (t->eval && last) measure(t, true, val, err);
        row(t, s, measures || (t->eval && last) ? val : no_val, err);
        if (t->log && (last || t->done % o.log_every == 0 || t->done == 1)) {
            char line[512];
            og_run_progress_line(&s, t->planned, og_run_median_seconds(&t->totals), line, sizeof line);
            say(t, OG_LOG_PROGRESS, line);
        }
        if (!t->run.empty() && ((o.save_every && t->done % o.save_every == 0) || (!last && clock.due()))) {
            save(t, clock, err);
            saved = true;
        }
        if (!last && t->stop.exchange(false)) { // obeyed once: the trainer can be run again
            if (!t->run.empty() && !saved) save(t, clock, err);
            say(t, OG_LOG_NOTE,
                "stopped after step " + std::to_string(t->done) + " of " + std::to_string(t->planned) +
                    (t->run.empty() ? "" : "; its checkpoint is saved, and the same command goes on from it"));
            return;
        }
    }
    if (t->eval && t->eval_json.empty()) measure(t, true, val, err); // resumed after the last step
    if (!t->run.empty() && o.save_last && !saved) save(t, clock, err);
    write_summary(t, err);
}

} // namespace
} // namespace og

void og_trainer_stop(og_trainer *t) {
    static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may store it");
    t->stop = true;
}

og_status og_trainer_run(og_trainer *t, og_error *err) {
    return og::fence(err, [&] { og::run(t, err); });
}

// What the run was trained on: the data set's name where the packs know it, and how much of it was seen.
static void put_data(const og_trainer *t, json_t *root) {
    int64_t packs = og_packs_count(t->packs), batch = t->o.train.batch, seen = t->done * batch;
    if (!t->o.train.overfit_one_batch) seen = std::min(seen, packs * t->o.train.epochs); // the last batch may be short
    const char *name = nullptr;
    const og_config *dataset = og_config_get(og_packs_counters(t->packs), "dataset");
    bool known = dataset && og_config_string(dataset, &name, nullptr) == OG_OK;
    json_object_set_new(root, "data", known ? json_string(name) : json_null());
    json_object_set_new(root, "packs", json_integer((json_int_t)packs));
    json_object_set_new(root, "packs_seen", json_integer((json_int_t)seen));
    json_object_set_new(root, "epochs", json_real((double)seen / (double)packs));
    json_object_set_new(root, "run_seconds", json_real(og::run_seconds(t)));
    json_object_set_new(root, "seed", json_integer((json_int_t)t->o.train.seed));
}

og_status og_trainer_summary(const og_trainer *t, char **out, og_error *err) {
    using namespace og;
    if (!t->finished.empty()) {
        *out = og_copy_string(t->finished.c_str());
        return *out ? OG_OK : og_fail(err, OG_ENOMEM, "summary: no memory");
    }
    const og_run_totals &r = t->totals;
    double median = og_run_median_seconds(&r);
    double per_step = t->done ? (double)r.tokens / (double)t->done : 0;
    json root = owned(json_pack(
        "{s:I,s:I,s:f,s:o,s:f,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "steps", (json_int_t)t->done, "planned",
        (json_int_t)t->planned, "seconds", r.seconds, "tokens_per_s", number(median > 0 ? per_step / median : NAN),
        "step_seconds", median, "lookup_hidden", number(t->memory ? hidden_share(r.lookup_waited, r.lookup_work) : NAN),
        "fill", number(r.tokens ? (double)r.useful / (double)r.tokens : NAN), "model_bytes",
        (json_int_t)t->model->bytes(), "table_bytes", (json_int_t)t->table_bytes, "peak_rss_bytes",
        (json_int_t)og_run_peak_rss_bytes(), "tokens", (json_int_t)r.tokens, "useful_tokens", (json_int_t)r.useful,
        "skipped", (json_int_t)r.skipped, "threads", (json_int_t)t->threads));
    if (!root) return og_fail(err, OG_ENOMEM, "summary: no memory");
    json_t *trained = json_object(); // while it was learnt, over the last tenth of the steps
    for (int m = 0; m < OG_N_MODALITIES; m++)
        json_object_set_new(trained, og_modality_name(m),
                            number(r.train_count[m] > 0 ? r.train_nll[m] / r.train_count[m] / std::log(2.0) : NAN));
    json_object_set_new(root.get(), "online_bits", trained);
    put_data(t, root.get());
    if (!t->eval_json.empty()) {
        json measured = owned(json_loads(t->eval_json.c_str(), 0, nullptr));
        if (measured) json_object_update(root.get(), measured.get());
    }
    char *text = json_dumps(root.get(), JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
    char *copy = text ? og_copy_string(text) : nullptr;
    free(text);
    if (!copy) return og_fail(err, OG_ENOMEM, "summary: no memory");
    *out = copy;
    return OG_OK;
}
