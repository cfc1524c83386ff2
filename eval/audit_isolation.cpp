// audit_isolation.cpp: no document sees another, and the probe that says so can see a leak.
#include <omnigram/eval.h>

#include "probe.hpp"

#include <ATen/Parallel.h>

#include <jansson.h>

namespace og {
namespace {

struct trainer_guard {
    og_trainer *t = nullptr;
    ~trainer_guard() { og_trainer_free(t); }
};

int64_t threads_of(const og_isolation_options &o, og_error *err) {
    int64_t n = 0;
    const og_config *node = og_config_get(o.config, "train.threads");
    if (node) check(og_config_i64(node, &n, err));
    return n > 0 ? n : at::get_num_threads();
}

// Calls fn(0) .. fn(n - 1), each on one thread that computes as the trainer's own does, so that no bit depends on how
// many there are. Throws the first failure in this order.
template <class F> void each(og_pool *pool, int64_t n, og_error *err, F &&fn) {
    struct job {
        F &fn;
        std::vector<og_status> status;
        std::vector<og_error> errors;
    } all{fn, std::vector<og_status>((size_t)n), std::vector<og_error>((size_t)n)};
    auto part = [](void *context, int64_t i, int64_t, int32_t) {
        thread_local bool alike = false;
        if (!alike) {
            at::set_num_threads(1);
            alike = true;
        }
        job &j = *static_cast<job *>(context);
        j.status[(size_t)i] = fence(&j.errors[(size_t)i], [&] { j.fn(i); });
    };
    og_pool_for(pool, n, 1, part, &all);
    for (size_t i = 0; i < (size_t)n; i++)
        if (all.status[i] != OG_OK) check(og_fail(err, all.status[i], "%s", all.errors[i].message));
}

// leak_window: every table's windows run over all boundaries.
void make_trainer(const og_isolation_options &o, bool leak_window, trainer_guard &out, og_error *err) {
    og_config *config = nullptr;
    check(og_config_copy(o.config, &config, err));
    std::vector<std::string> set = {"memory.rows=normal",
                                    "memory.dropout=0",
                                    "train.threads=1",
                                    "train.batch=1",
                                    "train.micro_batch=0",
                                    "train.resume=never",
                                    "model.loss_chunk=" + std::to_string(PRODUCT_ROWS)};
    const og_config *tables = og_config_get(config, "tables");
    for (int64_t i = 0; leak_window && i < og_config_size(tables); i++)
        set.push_back(std::string("tables.") + og_config_key_at(tables, i) + ".leak=true");
    og_status status = OG_OK;
    for (auto &assignment : set)
        if (status == OG_OK) status = og_config_override(config, assignment.c_str(), err);
    og_trainer_options options{config, o.packs, nullptr, nullptr, nullptr};
    if (status == OG_OK) status = og_trainer_new(&options, &out.t, err);
    og_config_free(config);
    check(status);
    for (auto &p : model_of(out.t).parameters) p.value.requires_grad_(false); // what is looked at lies at the inputs
}

struct channel {
    const char *name;
    bool shifts; // found by taking a document out; the others by poking one
    guards down; // with its guard down
    leak_count leaks, twin;
};

// What is looked at: packs of one batch. Documents of the first are changed.
struct scene {
    og_trainer *trainer;
    std::vector<og_pack> packs;
    guards up;
    std::vector<sight> before;
};

struct audit {
    const og_isolation_options &o;
    og_pool *pool;
    og_error *err;
    int64_t packs = 0, documents = 0, compared = 0;

    leak_count others(const scene &seen, bool shifts, int64_t doc) const {
        pack_copy changed(seen.packs[0]);
        if (shifts)
            changed.remove(doc);
        else
            changed.poke(doc, *og_packs_ids(o.packs));
        std::vector<og_pack> now = seen.packs;
        now[0] = changed.view;
        std::vector<sight> after = look(seen.trainer, now, seen.up);
        leak_count sum;
        for (int64_t d = 0; d < (int64_t)seen.before.size(); d++)
            if (d != doc) sum.add(differences(seen.before[(size_t)d], after[(size_t)(shifts && d > doc ? d - 1 : d)]));
        return sum;
    }

    void run(std::vector<channel> &channels, og_trainer *whole, og_trainer *leaking) {
        int64_t most_packs = o.n_packs ? o.n_packs : 4, most_docs = o.n_docs ? o.n_docs : 8,
                all = og_packs_count(o.packs);
        for (int64_t i = 0; i < all && packs < most_packs; i++) {
            std::vector<og_pack> seen(all > 1 ? 2 : 1); // the pack beside the next one
            for (size_t k = 0; k < seen.size(); k++)
                check(og_packs_get(o.packs, (i + (int64_t)k) % all, &seen[k], err));
            int64_t docs = seen[0].n_docs;
            if (docs < 2) continue;
            packs++;
            std::vector<scene> scenes(2, {whole, seen, {}, {}}); // to poke and to take out of; then a twin a channel
            for (const channel &c : channels)
                scenes.push_back({!strcmp(c.name, "window") ? leaking : whole, seen, c.down, {}});
            auto shifts = [&](int64_t s) { return s < 2 ? s == 1 : channels[(size_t)s - 2].shifts; };
            int64_t n = std::min(most_docs, docs), n_scenes = (int64_t)scenes.size();
            each(pool, n_scenes, err, [&](int64_t s) {
                scene &at = scenes[(size_t)s];
                at.before = look(at.trainer, at.packs, at.up);
            });
            std::vector<leak_count> found((size_t)(n * n_scenes));
            each(pool, n * n_scenes, err, [&](int64_t k) {
                int64_t s = k % n_scenes;
                found[(size_t)k] = others(scenes[(size_t)s], shifts(s), k / n_scenes * docs / n);
            });
            for (int64_t k = 0; k < n; k++) {
                const leak_count *f = &found[(size_t)(k * n_scenes)];
                documents++;
                compared += (int64_t)scenes[0].before.size() - 1;
                for (size_t c = 0; c < channels.size(); c++) {
                    channels[c].leaks.add(f[channels[c].shifts]);
                    channels[c].twin.add(f[c + 2]);
                }
            }
        }
        if (!packs)
            check(og_fail(err, OG_EINVAL, "no pack of %lld holds two documents; there is nothing to audit",
                          (long long)og_packs_count(o.packs)));
    }
};

json_t *counts(const leak_count &n) {
    return json_pack("{s:I,s:I,s:I,s:I}", "rows", (json_int_t)n.rows, "activations", (json_int_t)n.activations, "loss",
                     (json_int_t)n.loss, "gradients", (json_int_t)n.gradients);
}

char *report(const audit &a, const std::vector<channel> &channels) {
    json_t *each = json_object();
    leak_count poked, moved, twin;
    for (const channel &c : channels) {
        json_object_set_new(each, c.name,
                            json_pack("{s:I,s:I,s:o,s:o}", "leaks", (json_int_t)c.leaks.total(), "twin_leaks",
                                      (json_int_t)c.twin.total(), "seen", counts(c.leaks), "twin_seen",
                                      counts(c.twin)));
        (c.shifts ? moved : poked) = c.leaks; // channels of one kind share one probe with all guards up
        twin.add(c.twin);
    }
    json_t *root = json_pack("{s:I,s:I,s:I,s:I,s:I,s:o}", "leaks", (json_int_t)(poked.total() + moved.total()),
                             "twin_leaks", (json_int_t)twin.total(), "packs", (json_int_t)a.packs, "documents",
                             (json_int_t)a.documents, "compared", (json_int_t)a.compared, "channels", each);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS), *copy = text ? og_copy_string(text) : nullptr;
    free(text);
    json_decref(root);
    return copy;
}

} // namespace
} // namespace og

og_status og_audit_isolation(const og_isolation_options *options, char **json, og_error *err) {
    return og::fence(err, [&] {
        og::trainer_guard whole, leaking;
        og_pool *threads = nullptr;
        og::check(og_pool_new((int32_t)og::threads_of(*options, err), &threads, err));
        std::unique_ptr<og_pool, void (*)(og_pool *)> pool(threads, og_pool_free);
        og::make_trainer(*options, false, whole, err);
        bool tables = og::columns_of(whole.t) > 0;
        if (tables) og::make_trainer(*options, true, leaking, err);
        og::guards no_mask, no_restart, all_targets;
        no_mask.attention = false;
        no_restart.positions = false;
        all_targets.targets = false;
        std::vector<og::channel> channels = {{"attention", false, no_mask, {}, {}},
                                             {"positions", true, no_restart, {}, {}},
                                             {"targets", false, all_targets, {}, {}}};
        if (tables) channels.push_back({"window", false, {}, {}, {}});
        og::audit a{*options, pool.get(), err};
        a.run(channels, whole.t, leaking.t);
        char *text = og::report(a, channels);
        if (!text) og::check(og_fail(err, OG_ENOMEM, "audit: no memory"));
        *json = text;
    });
}
