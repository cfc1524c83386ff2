// functions.hpp: differentiable functions that the model is made of, each one pass over memory with a gradient of its
// own.
#ifndef OMNIGRAM_TRAIN_FUNCTIONS_HPP
#define OMNIGRAM_TRAIN_FUNCTIONS_HPP

#include <torch/torch.h>

namespace og {

// x [N][C] / rms(x) * w [C]; Zhang, Sennrich 2019.
at::Tensor rms_norm(const at::Tensor &x, const at::Tensor &w, double eps);
// Rotary positions over x [N][heads * D]: value i and i + D/2 of each head are a pair (the halves convention); cosine,
// sine [N][D/2].
at::Tensor rotate(const at::Tensor &x, const at::Tensor &cosine, const at::Tensor &sine, int64_t heads);
// silu(a) * b of x = [a | b] [N][2F]; Shazeer 2020.
at::Tensor swiglu(const at::Tensor &x);

// sum(weights * nll) / denominator for h [P][C], w [V][C]; nll (may be null) receives [P]. Logits exist for `chunk`
// positions at a time: gradients are made in the forward pass, so neither the logits nor their gradients of a whole
// batch are ever kept.
at::Tensor chunked_cross_entropy(const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets,
                                 const at::Tensor &weights, double denominator, int64_t chunk, at::ScalarType compute,
                                 at::Tensor *nll);

} // namespace og
#endif
