/* options.c: every key of training, its default and its limits. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#define M(field) offsetof(og_model_options, field)
static const og_key model_keys[] = {
    {"width", OG_KEY_I64, M(width), "128", 8, 65536, NULL, "values of a token's vector; a multiple of 2 * heads"},
    {"layers", OG_KEY_I64, M(layers), "4", 1, 1024, NULL, "transformer blocks"},
    {"heads", OG_KEY_I64, M(heads), "4", 1, 1024, NULL, "attention heads"},
    {"mlp", OG_KEY_CHOICE, M(mlp), "swiglu", 0, 0, "swiglu|gelu", "feed-forward kind (Shazeer 2020)"},
    {"hidden", OG_KEY_I64, M(hidden), "0", 0, 1048576, NULL,
     "feed-forward values; 0: 8/3 width (swiglu) or 4 width (gelu), to a multiple of 16"},
    {"tied", OG_KEY_BOOL, M(tied), "true", 0, 0, NULL, "the head is the embedding"},
    {"rope_base", OG_KEY_F64, M(rope_base), "10000", 1, 1e12, NULL, "base of the rotary angles (Su et al. 2021)"},
    {"norm_eps", OG_KEY_F64, M(norm_eps), "1e-5", 1e-12, 1, NULL, "epsilon of RMSNorm"},
    {"init_std", OG_KEY_F64, M(init_std), "0.02", 0, 10, NULL,
     "standard deviation of the initial weights; outputs of blocks: over sqrt(2 layers)"},
    {"embed_scale", OG_KEY_F64, M(embed_scale), "0", 0, 1000, NULL,
     "factor on token embeddings; 0: sqrt(width), so that blocks do not drown them (Gemma; LongCat 2601.21204)"},
    {"loss_chunk", OG_KEY_I64, M(loss_chunk), "1024", 1, 1048576, NULL, "positions whose logits exist at once"},
    {NULL, 0, 0, NULL, 0, 0, NULL, NULL},
};
#undef M

#define E(field) offsetof(og_memory_options, field)
static const og_key memory_keys[] = {
    {"mode", OG_KEY_CHOICE, E(mode), "train", 0, 0, "off|frozen|train", "tables unused, read only, or trained"},
    {"fusion", OG_KEY_CHOICE, E(fusion), "welm_mean", 0, 0, "welm_mean|add",
     "(embedding + up) / 2 as WeLM, or embedding + up"},
    {"use", OG_KEY_NODE, E(use), "", 0, 0, NULL, "list of table names; absent: all of section tables"},
    {"dropout", OG_KEY_F64, E(dropout), "0", 0, 1, NULL,
     "share of n-grams dropped whole in training (0.5 helps when documents repeat)"},
    {"rows", OG_KEY_CHOICE, E(rows), "zero", 0, 0, "zero|normal",
     "rows at the start; zero: an unseen n-gram adds nothing"},
    {"rows_std", OG_KEY_F64, E(rows_std), "0.02", 0, 100, NULL, "of rows: normal"},
    {"up_std", OG_KEY_F64, E(up_std), "0", 0, 10, NULL, "initial up-projection; 0: 1 / sqrt(dim of a row)"},
    {"load", OG_KEY_STRING, E(load), "", 0, 4096, NULL, "checkpoint folder whose table rows are taken"},
    {"optimiser", OG_KEY_CHOICE, E(optimiser), "adagrad", 0, 0, "sgd|adagrad|adam|rmsprop",
     "of rows; adagrad is row-wise"},
    {"lr", OG_KEY_F64, E(lr), "0.02", 0, 1000, NULL, "learning rate of rows, times the schedule"},
    {"decay", OG_KEY_F64, E(decay), "0", 0, 1, NULL, "lazy decoupled weight decay of rows"},
    {"beta1", OG_KEY_F64, E(beta1), "0.9", 0, 0.999999, NULL, "of adam"},
    {"beta2", OG_KEY_F64, E(beta2), "0.99", 0, 0.999999, NULL, "of adam and rmsprop"},
    {"eps", OG_KEY_F64, E(eps), "1e-8", 0, 1, NULL, "of adagrad, adam and rmsprop"},
    {"rounding", OG_KEY_CHOICE, E(rounding), "stochastic", 0, 0, "nearest|stochastic", "of rows below 32 bits"},
    {"workers", OG_KEY_I64, E(workers), "1", 1, 64, NULL, "threads that gather rows"},
    {"dedupe", OG_KEY_BOOL, E(dedupe), "true", 0, 0, NULL, "gather each distinct row once where sorting pays"},
    {"huge", OG_KEY_BOOL, E(huge), "true", 0, 0, NULL, "ask for huge pages"},
    {NULL, 0, 0, NULL, 0, 0, NULL, NULL},
};
#undef E

#define T(field) offsetof(og_train_options, field)
static const og_key train_keys[] = {
    {"seed", OG_KEY_I64, T(seed), "1", 0, 9e15, NULL, "of initial weights, order of packs and dropout"},
    {"steps", OG_KEY_I64, T(steps), "0", 0, 1e15, NULL, "optimiser steps; 0: all that the epochs give"},
    {"epochs", OG_KEY_I64, T(epochs), "1", 1, 1e9, NULL,
     "passes over the packs at most; tables memorise repeated data"},
    {"batch", OG_KEY_I64, T(batch), "8", 1, 1048576, NULL, "packs of a step"},
    {"micro_batch", OG_KEY_I64, T(micro_batch), "0", 0, 1048576, NULL, "packs computed at once; 0: the whole batch"},
    {"lr", OG_KEY_F64, T(lr), "0.003", 0, 1000, NULL, "peak learning rate of dense weights"},
    {"lr_end", OG_KEY_F64, T(lr_end), "0.1", 0, 1, NULL, "last learning rate as a share of lr"},
    {"schedule", OG_KEY_CHOICE, T(schedule), "cosine", 0, 0, "cosine|constant|wsd|linear", "after the warm-up"},
    {"warmup", OG_KEY_I64, T(warmup), "20", 0, 1e15, NULL, "steps of linear warm-up"},
    {"cooldown", OG_KEY_F64, T(cooldown), "0.2", 0, 1, NULL, "share of the steps in which wsd goes down"},
    {"weight_decay", OG_KEY_F64, T(weight_decay), "0.1", 0, 10, NULL,
     "decoupled; of matrices only, not of norms, embeddings or tables"},
    {"beta1", OG_KEY_F64, T(beta1), "0.9", 0, 0.999999, NULL, "of AdamW (Loshchilov, Hutter 2019)"},
    {"beta2", OG_KEY_F64, T(beta2), "0.95", 0, 0.999999, NULL, "of AdamW"},
    {"eps", OG_KEY_F64, T(eps), "1e-8", 0, 1, NULL, "of AdamW"},
    {"clip", OG_KEY_F64, T(clip), "1", 0, 1e9, NULL, "global gradient norm, table rows included; 0: off"},
    {"device", OG_KEY_CHOICE, T(device), "cpu", 0, 0, "cpu|cuda", "where the model computes; this version: cpu alone"},
    {"precision", OG_KEY_CHOICE, T(precision), "fp32", 0, 0, "fp32|bf16|fp64",
     "bf16: autocast with float32 weights; fp64: reference for tests"},
    {"threads", OG_KEY_I64, T(threads), "0", 0, 1024, NULL,
     "of torch, OpenMP, BLAS and updates together; 0: the cores this process may use"},
    {"nan", OG_KEY_CHOICE, T(nan), "abort", 0, 0, "abort|skip|log", "when loss or gradient is not finite"},
    {"log_every", OG_KEY_I64, T(log_every), "10", 1, 1e15, NULL, "steps between progress lines"},
    {"save_every", OG_KEY_I64, T(save_every), "0", 0, 1e15, NULL, "steps between checkpoints; 0: by time alone"},
    {"save_seconds", OG_KEY_F64, T(save_seconds), "30", 0, 1e9, NULL,
     "a checkpoint also when so long none was made (rarer where saving would take over 2 % of the time); 0: never"},
    {"save_last", OG_KEY_BOOL, T(save_last), "true", 0, 0, NULL, "a checkpoint at the end"},
    {"keep", OG_KEY_I64, T(keep), "2", 1, 1e6, NULL, "checkpoints kept"},
    {"resume", OG_KEY_CHOICE, T(resume), "auto", 0, 0, "auto|never|must",
     "from the newest whole checkpoint of the run folder"},
    {"overfit_one_batch", OG_KEY_BOOL, T(overfit_one_batch), "false", 0, 0, NULL,
     "every step sees the first batch (a check that the model learns)"},
    {NULL, 0, 0, NULL, 0, 0, NULL, NULL},
};
#undef T

#define V(field) offsetof(og_eval_options, field)
static const og_key eval_keys[] = {
    {"every", OG_KEY_I64, V(every), "0", 0, 1e15, NULL, "steps between measures on held-out packs; 0: only at the end"},
    {"packs", OG_KEY_I64, V(packs), "8", 1, 1e15, NULL, "held-out packs of a measure during training"},
    {"final_packs", OG_KEY_I64, V(final_packs), "0", 0, 1e15, NULL, "held-out packs at the end; 0: all"},
    {"train_packs", OG_KEY_I64, V(train_packs), "0", 0, 1e15, NULL,
     "training packs measured at the end, for the gap; 0: as many as held-out"},
    {"documents", OG_KEY_BOOL, V(documents), "true", 0, 0, NULL, "write the losses of each held-out document"},
    {NULL, 0, 0, NULL, 0, 0, NULL, NULL},
};
#undef V

static const og_train_section sections[] = {
    {"model", "the transformer", model_keys},
    {"memory", "the n-gram tables in the model", memory_keys},
    {"train", "the optimiser, the data order and the run", train_keys},
    {"eval", "measures on held-out packs", eval_keys},
    {NULL, NULL, NULL},
};
const og_train_section *og_train_sections(void) { return sections; }

/* The sections of a file that steers all stages: ours, the table set's, and those that other verbs and the quickstart
 * read. */
static const char *const roots[] = {"model",    "memory",  "train",    "eval", "tables",
                                    "datasets", "prepare", "quantize", "pack", "quickstart"};

static og_status check_roots(const og_config *user, og_error *err) {
    int64_t n = (int64_t)(sizeof roots / sizeof *roots);
    for (int64_t i = 0; i < og_config_size(user); i++) {
        const char *key = og_config_key_at(user, i);
        int known = 0;
        for (int64_t k = 0; k < n && !known; k++) known = !strcmp(key, roots[k]);
        if (known) continue;
        const char *near = og_config_nearest(key, roots, n);
        return og_fail(err, OG_EINVAL, "%s: unknown key%s%s%s", OG_WHERE(og_config_at(user, i)),
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return OG_OK;
}

static og_status set_default(og_config *root, const char *section, const og_key *key, og_error *err) {
    if (!key->fallback || (!key->fallback[0] && key->type != OG_KEY_STRING)) return OG_OK;
    char text[256];
    snprintf(text, sizeof text, "%s.%s=%s", section, key->name, key->fallback[0] ? key->fallback : "\"\"");
    return og_config_override(root, text, err);
}

og_status og_train_config(const og_config *user, og_config **out, og_error *err) {
    if (user && og_config_kind(user) != OG_CONFIG_MAP && og_config_kind(user) != OG_CONFIG_NULL)
        return og_fail(err, OG_EINVAL, "%s: the config is not a map of sections", OG_WHERE(user));
    OG_TRY(check_roots(user, err));
    og_config *root = NULL;
    OG_TRY(og_config_from_yaml("", 0, "defaults", &root, err));
    og_status status = OG_OK;
    for (int s = 0; sections[s].name && status == OG_OK; s++)
        for (const og_key *k = sections[s].keys; k->name && status == OG_OK; k++)
            status = set_default(root, sections[s].name, k, err);
    if (status == OG_OK && user && og_config_kind(user) == OG_CONFIG_MAP) status = og_config_merge(root, user, err);
    for (int s = 0; sections[s].name && status == OG_OK; s++) /* what the user set to null has its default again */
        for (const og_key *k = sections[s].keys; k->name && status == OG_OK; k++)
            if (!og_config_get(og_config_get(root, sections[s].name), k->name))
                status = set_default(root, sections[s].name, k, err);
    og_all_options checked;
    if (status == OG_OK) status = og_options_read(root, &checked, err);
    if (status != OG_OK) {
        og_config_free(root);
        return status;
    }
    *out = root;
    return OG_OK;
}

static og_status check(og_all_options *o, og_error *err) {
    if (o->model.width % (2 * o->model.heads))
        return og_fail(err, OG_EINVAL, "model.width %lld is not a multiple of 2 * model.heads (%lld)",
                       (long long)o->model.width, (long long)(2 * o->model.heads));
    if (o->train.micro_batch > o->train.batch)
        return og_fail(err, OG_EINVAL, "train.micro_batch %lld is more than train.batch %lld",
                       (long long)o->train.micro_batch, (long long)o->train.batch);
    if (o->train.device != OG_DEVICE_CPU)
        return og_fail(err, OG_ENOTSUP,
                       "train.device: cuda: this version trains on the CPU alone, also where torch has CUDA; leave the "
                       "key out or say cpu");
    if (!o->model.hidden) {
        int64_t hidden = o->model.mlp == OG_MLP_SWIGLU ? o->model.width * 8 / 3 : o->model.width * 4;
        o->model.hidden = (hidden + 15) / 16 * 16;
    }
    const og_config *use = o->memory.use;
    if (use && og_config_kind(use) != OG_CONFIG_LIST && og_config_kind(use) != OG_CONFIG_NULL)
        return og_fail(err, OG_EINVAL, "%s: is a list of table names", OG_WHERE(use));
    if (o->memory.mode == OG_MEMORY_FROZEN && o->memory.rows == OG_ROWS_ZERO && !(o->memory.load && o->memory.load[0]))
        return og_fail(err, OG_EINVAL,
                       "memory.mode: frozen with rows of zero and no memory.load can learn nothing; give memory.load "
                       "or memory.rows: normal");
    return OG_OK;
}

og_status og_options_read(const og_config *merged, og_all_options *out, og_error *err) {
    og_all_options o;
    memset(&o, 0, sizeof o);
    void *targets[] = {&o.model, &o.memory, &o.train, &o.eval};
    for (int s = 0; sections[s].name; s++) {
        og_status status = og_config_read(og_config_get(merged, sections[s].name), sections[s].keys, targets[s], err);
        if (status != OG_OK) return og_fail_at(err, status, "section %s", sections[s].name);
    }
    OG_TRY(check(&o, err));
    *out = o;
    return OG_OK;
}
