// fused.hpp: the element-wise parts of the model as single passes over memory, forward and backward.
#ifndef OMNIGRAM_TRAIN_FUSED_HPP
#define OMNIGRAM_TRAIN_FUSED_HPP

#include <torch/torch.h>

namespace og {

// x [N][C] / rms(x) * w [C]; Zhang, Sennrich 2019.
at::Tensor rms_norm(const at::Tensor &x, const at::Tensor &w, double eps);
// Rotary positions over x [N][heads * D]: value i and i + D/2 of each head are a pair (the halves convention); cosine, sine [N][D/2].
at::Tensor rotate(const at::Tensor &x, const at::Tensor &cosine, const at::Tensor &sine, int64_t heads);
// silu(a) * b of x = [a | b] [N][2F]; Shazeer 2020.
at::Tensor swiglu(const at::Tensor &x);

} // namespace og
#endif
