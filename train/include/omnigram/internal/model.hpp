// model.hpp: packs as tensors, the transformer, and its loss. Between train and eval; never installed.
#ifndef OMNIGRAM_INTERNAL_MODEL_HPP
#define OMNIGRAM_INTERNAL_MODEL_HPP

#include <omnigram/train.h>

#include <torch/torch.h>

#include <string>
#include <vector>

struct og_model_options;
struct og_memory_options;

namespace og {

// Which of the guards between documents are up. All of them, except where the isolation audit takes one down.
struct guards {
    bool attention = true; // a token sees its own document only
    bool positions = true; // positions restart at each document
    bool targets = true;   // the first token of a document is not predicted from the one before it
};

// The valid tokens of some packs, one after another; pads are left out. N tokens, P of them are targets.
struct batch {
    at::Tensor tokens;                   // int64 [N]
    at::Tensor pos;                      // int64 [N]
    at::Tensor sources;                  // int64 [P]: the position a target is predicted from (the one before it)
    at::Tensor targets;                  // int64 [P]: ids
    at::Tensor weights;                  // float64 [P]
    std::vector<int64_t> lengths;        // tokens of each document, in order
    std::vector<int8_t> target_modality; // [P]
    std::vector<int64_t> target_doc;     // [P]: index into lengths' documents
    double weight = 0;                   // sum of weights
    int64_t n = 0, n_padded = 0;
};
batch make_batch(const og_pack *packs, int64_t n, const guards &up = {});

struct parameter {
    std::string name;
    at::Tensor value; // a leaf that wants gradients
    bool decays;
};

struct model {
    model(const og_model_options &options, const og_memory_options &memory, int64_t ids, int64_t positions,
          int64_t memory_width, const std::vector<int64_t> &memory_dims, uint64_t seed, at::ScalarType weights,
          at::ScalarType compute);
    ~model();
    model(const model &) = delete;
    model &operator=(const model &) = delete;

    // [N][width] after the last norm. memory: looked-up vectors [N][memory width], undefined without tables.
    // layers (may be null): the residual stream after the fusion and after every block. input (may be null): where to
    // put the token embeddings' tensor, which then keeps its gradient.
    at::Tensor hidden(const batch &b, const at::Tensor &memory, std::vector<at::Tensor> *layers = nullptr,
                      at::Tensor *input = nullptr) const;
    // sum(weight * nll) / denominator, and the nll of each target [P] without gradients.
    at::Tensor loss(const at::Tensor &hidden, const batch &b, double denominator, at::Tensor *nll) const;
    at::Tensor logits(const at::Tensor &hidden) const;

    std::vector<parameter> parameters;
    int64_t bytes() const;

  private:
    struct block;
    struct impl;
    std::unique_ptr<impl> self;
};

} // namespace og
#endif
