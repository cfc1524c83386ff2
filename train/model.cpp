// model.cpp: a decoder-only transformer (RMSNorm, rotary positions, attention inside documents) whose input is the
// token embedding joined with the rows that the n-gram tables give.
#include <omnigram/internal/model.hpp>

#include "functions.hpp"
#include "options.h"

#include <omnigram/digest.h>
#include <omnigram/internal/fence.hpp>
#include <omnigram/random.h>

#include <mutex>

namespace og {

struct model::block {
    at::Tensor attention_norm, qkv, out, mlp_norm, up, down;
};

struct model::impl {
    og_model_options o;
    int32_t fusion;
    at::ScalarType compute;
    at::Tensor embed, norm, head, memory_up;
    at::Tensor cosines, sines; // [positions][half a head]; grows to the furthest position that a batch has
    std::mutex reaching;       // the isolation audit's threads share a model
    std::vector<block> blocks;

    at::Tensor linear(const at::Tensor &x, const at::Tensor &w) const {
        return at::linear(x.to(compute), w.to(compute));
    }
    at::Tensor attention(const block &k, const at::Tensor &x, const batch &b, const at::Tensor &cosine,
                         const at::Tensor &sine) const;
    at::Tensor mlp(const block &k, const at::Tensor &x) const;
    void reach(int64_t positions);
    std::pair<at::Tensor, at::Tensor> rotations(const at::Tensor &pos); // cosines and sines of these positions
};

namespace {

// Initial weights are a pure function of (seed, name), so what other parameters exist changes nothing: the model
// without tables starts from the bits that the same model with tables starts from.
at::Tensor normal(uint64_t seed, const std::string &name, std::vector<int64_t> shape, double std, at::ScalarType type) {
    uint64_t key = og_splitmix64(seed ^ 0x77656967687473ull);
    for (char c : name) key = og_splitmix64(key ^ (uint8_t)c);
    at::Tensor t = at::empty(shape, at::kDouble);
    double *v = t.data_ptr<double>();
    for (int64_t i = 0; i < t.numel(); i++) v[i] = std * og_random_normal(key, (uint64_t)i);
    return t.to(at::kFloat).to(type); // the fp64 reference starts from the float32 weights
}

} // namespace

model::model(const og_model_options &o, const og_memory_options &memory, int64_t ids, int64_t positions,
             int64_t memory_width, const std::vector<int64_t> &memory_dims, uint64_t seed, at::ScalarType weights,
             at::ScalarType compute)
    : self(new impl) {
    impl &m = *self;
    m.o = o;
    m.fusion = memory.fusion;
    m.compute = compute;
    auto add = [&](const std::string &name, at::Tensor value, bool decays) {
        value.requires_grad_(true);
        parameters.push_back({name, value, decays});
        return value;
    };
    auto matrix = [&](const std::string &name, int64_t rows, int64_t columns, double std, bool decays = true) {
        return add(name, normal(seed, name, {rows, columns}, std, weights), decays);
    };
    auto ones = [&](const std::string &name) { return add(name, at::ones({o.width}, weights), false); };

    double std = o.init_std, out_std = std / std::sqrt(2.0 * (double)o.layers);
    int64_t gates = o.mlp == OG_MLP_SWIGLU ? 2 : 1;
    m.embed = matrix("embed.weight", ids, o.width, std, false);
    for (int64_t i = 0; i < o.layers; i++) {
        std::string at = "layers." + std::to_string(i) + ".";
        block k;
        k.attention_norm = ones(at + "attention.norm.weight");
        k.qkv = matrix(at + "attention.qkv.weight", 3 * o.width, o.width, std);
        k.out = matrix(at + "attention.out.weight", o.width, o.width, out_std);
        k.mlp_norm = ones(at + "mlp.norm.weight");
        k.up = matrix(at + "mlp.up.weight", gates * o.hidden, o.width, std);
        k.down = matrix(at + "mlp.down.weight", o.width, o.hidden, out_std);
        m.blocks.push_back(k);
    }
    m.norm = ones("norm.weight");
    m.head = o.tied ? m.embed : matrix("head.weight", ids, o.width, std);
    if (memory_width > 0) { // each row counts alike: its columns have the deviation of its own dim
        at::Tensor up = normal(seed, "memory.up.weight", {o.width, memory_width}, 1, weights);
        int64_t at = 0;
        for (int64_t dim : memory_dims) {
            up.narrow(1, at, dim).mul_(memory.up_std > 0 ? memory.up_std : 1 / std::sqrt((double)dim));
            at += dim;
        }
        m.memory_up = add("memory.up.weight", up, true);
    }

    m.cosines = m.sines = at::empty({0}, weights);
    m.reach(positions);
}
model::~model() = default;

// A carried fragment's positions are those of its document, which may be longer than a pack.
void model::impl::reach(int64_t positions) {
    if (positions <= cosines.size(0)) return;
    int64_t half = o.width / o.heads / 2;
    at::Tensor angles = at::empty({positions, half}, at::kDouble);
    for (int64_t p = 0; p < positions; p++)
        for (int64_t i = 0; i < half; i++)
            angles.data_ptr<double>()[p * half + i] = (double)p * std::pow(o.rope_base, -(double)i / (double)half);
    at::ScalarType type = cosines.scalar_type();
    cosines = angles.cos().to(type);
    sines = angles.sin().to(type);
}

std::pair<at::Tensor, at::Tensor> model::impl::rotations(const at::Tensor &pos) {
    std::lock_guard<std::mutex> lock(reaching);
    if (pos.numel()) reach(pos.max().item<int64_t>() + 1);
    return {cosines.index_select(0, pos), sines.index_select(0, pos)};
}

int64_t model::bytes() const {
    int64_t sum = 0;
    for (auto &p : parameters) sum += (int64_t)p.value.nbytes();
    return sum;
}

at::Tensor model::impl::attention(const block &k, const at::Tensor &x, const batch &b, const at::Tensor &cosine,
                                  const at::Tensor &sine) const {
    int64_t n = x.size(0), heads = o.heads, dim = o.width / heads;
    auto parts = linear(rms_norm(x, k.attention_norm, o.norm_eps), k.qkv).split_with_sizes({2 * o.width, o.width}, 1);
    at::Tensor qk = rotate(parts[0].to(x.scalar_type()), cosine, sine, 2 * heads).to(compute).view({n, 2, heads, dim});
    auto q_and_k = qk.unbind(1);
    at::Tensor v = parts[1].view({n, heads, dim});
    // One causal attention a document: a pack of D documents costs 1/D of attention over the whole pack, and nothing
    // crosses.
    auto qs = q_and_k[0].split_with_sizes(b.lengths), ks = q_and_k[1].split_with_sizes(b.lengths),
         vs = v.split_with_sizes(b.lengths);
    std::vector<at::Tensor> outs;
    outs.reserve(b.lengths.size());
    for (size_t d = 0; d < b.lengths.size(); d++) {
        auto head_first = [](const at::Tensor &t) { return t.transpose(0, 1).unsqueeze(0); };
        at::Tensor y =
            at::scaled_dot_product_attention(head_first(qs[d]), head_first(ks[d]), head_first(vs[d]), {}, 0.0, true);
        outs.push_back(y.squeeze(0).transpose(0, 1));
    }
    return linear(at::cat(outs).reshape({n, o.width}), k.out).to(x.scalar_type());
}

at::Tensor model::impl::mlp(const block &k, const at::Tensor &x) const {
    at::Tensor up = linear(rms_norm(x, k.mlp_norm, o.norm_eps), k.up);
    at::Tensor y = o.mlp == OG_MLP_SWIGLU ? swiglu(up) : at::gelu(up);
    return linear(y, k.down).to(x.scalar_type());
}

at::Tensor model::hidden(const batch &b, const at::Tensor &memory, std::vector<at::Tensor> *layers,
                         at::Tensor *input) const {
    const impl &m = *self;
    at::Tensor x = at::embedding(m.embed, b.tokens);
    if (input) {
        *input = x;
        x.requires_grad() ? x.retain_grad() : (void)x.requires_grad_(true); // frozen weights: x is where gradients end
    }
    x = x * (m.o.embed_scale > 0 ? m.o.embed_scale : std::sqrt((double)m.o.width));
    if (memory.defined()) {
        at::Tensor up = m.linear(memory.to(x.scalar_type()), m.memory_up).to(x.scalar_type());
        x = m.fusion == OG_FUSION_WELM_MEAN ? (x + up) * 0.5 : x + up;
    }
    if (layers) layers->push_back(x);
    auto [cosine, sine] = self->rotations(b.pos);
    for (const block &k : m.blocks) {
        x = x + m.attention(k, x, b, cosine, sine);
        x = x + m.mlp(k, x);
        if (layers) layers->push_back(x);
    }
    return rms_norm(x, m.norm, m.o.norm_eps);
}

at::Tensor model::loss(const at::Tensor &hidden, const batch &b, double denominator, at::Tensor *nll) const {
    const impl &m = *self;
    return chunked_cross_entropy(hidden.index_select(0, b.sources), m.head, b.targets, b.weights, denominator,
                                 m.o.loss_chunk, m.compute, nll);
}

at::Tensor model::logits(const at::Tensor &hidden) const {
    return self->linear(hidden, self->head).to(hidden.scalar_type());
}

} // namespace og
