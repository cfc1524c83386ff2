// measure.cpp: bits a token of each modality on held-out packs, and the losses of each document.
#include <omnigram/eval.h>
#include <omnigram/internal/trainer.hpp>

#include <omnigram/file.h>

#include <jansson.h>

struct og_eval {
    og_trainer *trainer;
    const og_packs *train, *val;
};

namespace og {
namespace {

struct document {
    og_origin origin;
    double bits[OG_N_MODALITIES] = {0};
    int64_t tokens[OG_N_MODALITIES] = {0};
};

void measure_into(og_trainer *t, const og_packs *packs, int64_t number, og_bits *sum, std::vector<document> *documents, og_error *err) {
    og_pack pack;
    check(og_packs_get(packs, number, &pack, err));
    measured m = measure_pack(t, pack);
    size_t first = documents ? documents->size() : 0;
    if (documents) {
        documents->resize(first + (size_t)pack.n_docs);
        for (int64_t d = 0; d < pack.n_docs; d++) (*documents)[first + (size_t)d].origin = pack.origin[d];
    }
    for (size_t i = 0; i < m.nll.size(); i++) {
        double bits = m.nll[i] / std::log(2.0);
        int modality = m.targets.target_modality[i];
        sum->bits[modality] += bits;
        sum->tokens[modality]++;
        if (!documents) continue;
        document &d = (*documents)[first + (size_t)m.targets.target_doc[i]];
        d.bits[modality] += bits;
        d.tokens[modality]++;
    }
}

void write_documents(const std::vector<document> &documents, const char *path, og_error *err) {
    std::string text = "shard,index,offset,length";
    for (int m = 0; m < OG_N_MODALITIES; m++) text += std::string(",bits_") + og_modality_name(m) + ",tokens_" + og_modality_name(m);
    text += "\n";
    for (const document &d : documents) {
        char part[128];
        snprintf(part, sizeof part, "%lld,%lld,%lld,%lld", (long long)d.origin.shard, (long long)d.origin.index, (long long)d.origin.offset, (long long)d.origin.length);
        text += part;
        for (int m = 0; m < OG_N_MODALITIES; m++) {
            snprintf(part, sizeof part, ",%.9g,%lld", d.bits[m], (long long)d.tokens[m]);
            text += part;
        }
        text += "\n";
    }
    check(og_file_write(path, text.data(), (int64_t)text.size(), err));
}

json_t *bits_of(const og_bits &b) {
    json_t *o = json_object();
    for (int m = 0; m < OG_N_MODALITIES; m++)
        json_object_set_new(o, og_modality_name(m), b.tokens[m] ? json_real(b.bits[m] / (double)b.tokens[m]) : json_null());
    return o;
}

json_t *tokens_of(const og_bits &b) {
    json_t *o = json_object();
    for (int m = 0; m < OG_N_MODALITIES; m++) json_object_set_new(o, og_modality_name(m), json_integer(b.tokens[m]));
    return o;
}

// n packs that were trained on, spread evenly over the run.
og_bits measure_trained(og_eval *e, int64_t n, og_error *err) {
    og_bits sum{};
    int64_t done = og_trainer_done(e->trainer);
    std::vector<int64_t> seen;
    for (int64_t step = 0; step < done; step++) {
        std::vector<int64_t> packs((size_t)og_trainer_batch(e->trainer, step, nullptr, 0));
        og_trainer_batch(e->trainer, step, packs.data(), (int64_t)packs.size());
        seen.insert(seen.end(), packs.begin(), packs.end());
    }
    int64_t total = (int64_t)seen.size();
    n = std::min(n, total);
    for (int64_t i = 0; i < n; i++) measure_into(e->trainer, e->train, seen[(size_t)(i * total / n)], &sum, nullptr, err);
    return sum;
}

int64_t option(const og_trainer *t, const char *key, og_error *err) {
    int64_t v = 0;
    check(og_config_i64(og_config_get(og_trainer_config(t), key), &v, err));
    return v;
}

json_t *report(og_eval *e, bool final, og_error *err) {
    og_bits val{};
    std::string run = run_of(e->trainer), documents = run.empty() ? "" : run + "/eval_documents.csv";
    int32_t wants_documents = 0;
    check(og_config_bool(og_config_get(og_trainer_config(e->trainer), "eval.documents"), &wants_documents, err));
    int64_t n = option(e->trainer, final ? "eval.final_packs" : "eval.packs", err);
    check(og_eval_measure(e, n, final && wants_documents && !documents.empty() ? documents.c_str() : nullptr, &val, err));
    json_t *out = json_object();
    json_object_set_new(out, "val_bits", bits_of(val));
    if (!final) return out;
    json_object_set_new(out, "val_tokens", tokens_of(val));
    if (!e->train) return out;
    int64_t train_packs = option(e->trainer, "eval.train_packs", err);
    if (!train_packs) train_packs = n ? std::min(n, og_packs_count(e->val)) : og_packs_count(e->val);
    if (og_trainer_done(e->trainer) > 0) json_object_set_new(out, "train_bits", bits_of(measure_trained(e, train_packs, err)));
    og_bits unigram{};
    check(og_eval_unigram(e->train, e->val, &unigram, err));
    json_object_set_new(out, "controls", json_pack("{s:{s:o}}", "unigram", "val_bits", bits_of(unigram)));
    return out;
}

} // namespace
} // namespace og

og_status og_eval_new(og_trainer *trainer, const og_packs *train, const og_packs *val, og_eval **out, og_error *err) {
    const og_packs *own = og::packs_of(trainer);
    if (memcmp(og_packs_ids(own), og_packs_ids(val), sizeof(og_id_map)))
        return og_fail(err, OG_EINVAL, "the held-out packs have other id ranges (%d ids) than the training packs (%d)", (int)og_packs_ids(val)->size,
                       (int)og_packs_ids(own)->size);
    if (og_packs_capacity(val) > og_packs_capacity(own))
        return og_fail(err, OG_EINVAL, "the held-out packs hold %lld tokens, the model was made for %lld", (long long)og_packs_capacity(val),
                       (long long)og_packs_capacity(own));
    if (!og_packs_count(val)) return og_fail(err, OG_EINVAL, "there are no held-out packs");
    og_eval *e = (og_eval *)og_alloc(1, sizeof *e);
    if (!e) return og_fail(err, OG_ENOMEM, "eval: no memory");
    e->trainer = trainer;
    e->train = train;
    e->val = val;
    *out = e;
    return OG_OK;
}

void og_eval_free(og_eval *eval) { og_release(eval); }

og_status og_eval_measure(og_eval *e, int64_t n, const char *documents, og_bits *out, og_error *err) {
    return og::fence(err, [&] {
        og_bits sum{};
        std::vector<og::document> rows;
        int64_t count = og_packs_count(e->val);
        if (n > 0 && n < count) count = n;
        for (int64_t i = 0; i < count; i++) og::measure_into(e->trainer, e->val, i, &sum, documents ? &rows : nullptr, err);
        if (documents) og::write_documents(rows, documents, err);
        *out = sum;
    });
}

og_status og_eval_hook(void *context, og_trainer *trainer, int64_t step, int32_t final, char **json, og_error *err) {
    (void)trainer;
    (void)step;
    return og::fence(err, [&] {
        json_t *root = og::report((og_eval *)context, final != 0, err);
        char *text = json_dumps(root, JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
        json_decref(root);
        *json = text ? og_copy_string(text) : nullptr;
        free(text);
        if (!*json) og::check(og_fail(err, OG_ENOMEM, "eval: no memory"));
    });
}
