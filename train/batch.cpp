// batch.cpp: packs to tensors. Boundaries come from cu_seqlens and doc_id and are never inferred.
#include <omnigram/internal/model.hpp>

namespace og {

static at::Tensor tensor_of(const std::vector<int64_t> &v) {
    return at::from_blob(const_cast<int64_t *>(v.data()), {(int64_t)v.size()}, at::kLong).clone();
}

batch make_batch(const og_pack *packs, int64_t n_packs, const guards &up) {
    batch b;
    std::vector<int64_t> tokens, pos, sources, targets;
    std::vector<double> weights;
    int64_t docs = 0;
    for (int64_t p = 0; p < n_packs; p++) {
        const og_pack &k = packs[p];
        int64_t first = (int64_t)tokens.size();
        for (int64_t t = 0; t < k.n_valid; t++) {
            tokens.push_back(k.tokens[t]);
            pos.push_back(up.positions ? k.pos[t] : t);
            double weight = k.loss_weight[t];
            bool starts = t == 0 || k.doc_id[t] != k.doc_id[t - 1];
            if (!up.targets && starts && t > 0) weight = 1;
            if (!(weight > 0) || (starts && up.targets) || t == 0) continue;
            sources.push_back(first + t - 1);
            targets.push_back(k.tokens[t]);
            weights.push_back(weight);
            b.weight += weight;
            b.target_modality.push_back(k.modality[t]);
            b.target_doc.push_back(docs + k.doc_id[t]);
        }
        if (up.attention) {
            for (int64_t d = 0; d < k.n_docs; d++) b.lengths.push_back(k.cu_seqlens[d + 1] - k.cu_seqlens[d]);
        } else if (k.n_valid) {
            b.lengths.push_back(k.n_valid);
        }
        docs += k.n_docs;
        b.n_padded += k.n_tokens;
    }
    b.n = (int64_t)tokens.size();
    b.tokens = tensor_of(tokens);
    b.pos = tensor_of(pos);
    b.sources = tensor_of(sources);
    b.targets = tensor_of(targets);
    b.weights = at::from_blob(weights.data(), {(int64_t)weights.size()}, at::kDouble).clone();
    return b;
}

} // namespace og
