// loss.hpp: the head's projection and cross-entropy as one differentiable function.
#ifndef OMNIGRAM_TRAIN_LOSS_HPP
#define OMNIGRAM_TRAIN_LOSS_HPP

#include <torch/torch.h>

namespace og {

// sum(weights * nll) / denominator for h [P][C], w [V][C]; nll (may be null) receives [P]. Logits exist for `chunk` positions at a
// time: gradients are made in the forward pass, so neither the logits nor their gradients of a whole batch are ever kept.
at::Tensor chunked_cross_entropy(const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets, const at::Tensor &weights,
                                 double denominator, int64_t chunk, at::ScalarType compute, at::Tensor *nll);

} // namespace og
#endif
