// audit_isolation.cpp: no document sees another, and the probe that says so can see a leak.
#include <omnigram/eval.h>

#include "probe.hpp"

#include <jansson.h>

namespace og {
namespace {

struct trainer_guard {
    og_trainer *t = nullptr;
    ~trainer_guard() { og_trainer_free(t); }
};

// leak_window: every table's windows run over all boundaries.
void make_trainer(const og_isolation_options &o, bool leak_window, trainer_guard &out, og_error *err) {
    og_config *config = nullptr;
    check(og_config_copy(o.config, &config, err));
    std::vector<std::string> set = {"memory.rows=normal", "memory.dropout=0",    "train.threads=1",
                                    "train.batch=1",      "train.micro_batch=0", "train.resume=never"};
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
}

struct channel {
    const char *name;
    bool shifts; // found by taking a document out; the others by poking one
    guards down; // with its guard down
    leak_count leaks, twin;
};

struct audit {
    const og_isolation_options &o;
    og_error *err;
    int64_t packs = 0, documents = 0, compared = 0;

    // What is looked at: packs of one batch. Documents of the first are changed.
    struct scene {
        std::vector<og_pack> packs;
        std::vector<sight> before;
    };

    void others(og_trainer *t, const scene &seen, const guards &up, bool shifts, int64_t doc, leak_count *into) {
        pack_copy changed(seen.packs[0]);
        if (shifts)
            changed.remove(doc);
        else
            changed.poke(doc, *og_packs_ids(o.packs));
        std::vector<og_pack> now = seen.packs;
        now[0] = changed.view;
        std::vector<sight> after = look(t, now, up);
        for (int64_t d = 0; d < (int64_t)seen.before.size(); d++)
            if (d != doc)
                into->add(differences(seen.before[(size_t)d], after[(size_t)(shifts && d > doc ? d - 1 : d)]));
    }

    void run(std::vector<channel> &channels, og_trainer *whole, og_trainer *leaking) {
        int64_t most_packs = o.n_packs ? o.n_packs : 4, most_docs = o.n_docs ? o.n_docs : 8,
                all = og_packs_count(o.packs);
        for (int64_t i = 0; i < all && packs < most_packs; i++) {
            // Poked, a pack stands beside the next one in a batch. Taking a document out is looked at in its pack
            // alone: it changes how many rows matrix products have, and a few of those sizes round differently.
            scene alone, joined;
            joined.packs.resize(all > 1 ? 2 : 1);
            for (size_t k = 0; k < joined.packs.size(); k++)
                check(og_packs_get(o.packs, (i + (int64_t)k) % all, &joined.packs[k], err));
            alone.packs.assign(1, joined.packs[0]);
            int64_t docs = alone.packs[0].n_docs;
            if (docs < 2) continue;
            packs++;
            std::vector<scene> twins;
            for (const channel &c : channels) twins.push_back(c.shifts ? alone : joined);
            auto trainer_of = [&](const channel &c) { return !strcmp(c.name, "window") ? leaking : whole; };
            alone.before = look(whole, alone.packs, {});
            joined.before = look(whole, joined.packs, {});
            for (size_t c = 0; c < channels.size(); c++)
                twins[c].before = look(trainer_of(channels[c]), twins[c].packs, channels[c].down);
            int64_t n = std::min(most_docs, docs);
            for (int64_t k = 0; k < n; k++) {
                int64_t doc = k * docs / n;
                documents++;
                compared += (int64_t)joined.before.size() - 1;
                leak_count poked, moved;
                others(whole, joined, {}, false, doc, &poked);
                others(whole, alone, {}, true, doc, &moved);
                for (size_t c = 0; c < channels.size(); c++) {
                    channels[c].leaks.add(channels[c].shifts ? moved : poked);
                    others(trainer_of(channels[c]), twins[c], channels[c].down, channels[c].shifts, doc,
                           &channels[c].twin);
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
        og::audit a{*options, err};
        a.run(channels, whole.t, leaking.t);
        char *text = og::report(a, channels);
        if (!text) og::check(og_fail(err, OG_ENOMEM, "audit: no memory"));
        *json = text;
    });
}
