// loss.cpp: chunked cross-entropy.
#include "loss.hpp"

#include <ATen/Parallel.h>

namespace og {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// exps [n][V] = exp(logit - most) become d(loss)/d(logits) in place (when wanted). nll holds target - most and becomes the nll.
template <class T>
void softmax_rows(T *exps, int64_t n, int64_t ids, const int64_t *targets, const double *weights, double denominator, double *nll, bool gradient) {
    at::parallel_for(0, n, 16, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            T *row = exps + i * ids;
            double lane[8] = {0}, sum = 0; // eight sums at once, added in a fixed order
            int64_t j = 0;
            for (; j + 8 <= ids; j += 8)
                for (int k = 0; k < 8; k++) lane[k] += (double)row[j + k];
            for (; j < ids; j++) sum += (double)row[j];
            for (int k = 0; k < 8; k++) sum += lane[k];
            nll[i] = std::log(sum) - nll[i];
            if (!gradient) continue;
            double weight = weights[i] / denominator;
            T scale = (T)(weight / sum);
            for (j = 0; j < ids; j++) row[j] *= scale;
            row[targets[i]] -= (T)weight;
        }
    });
}

struct cross_entropy : torch::autograd::Function<cross_entropy> {
    static at::Tensor forward(AutogradContext *ctx, const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets, const at::Tensor &weights,
                              double denominator, int64_t chunk, int64_t compute_type, at::Tensor nll, bool gradient) {
        auto compute = (at::ScalarType)compute_type;
        at::Tensor wc = w.to(compute), hc = h.to(compute);
        at::Tensor dh, dw;
        if (gradient) {
            dh = at::empty_like(h);
            dw = at::zeros_like(w);
        }
        int64_t n = h.size(0), ids = w.size(0);
        for (int64_t begin = 0; begin < n; begin += chunk) {
            int64_t size = std::min(chunk, n - begin);
            at::Tensor part = hc.narrow(0, begin, size);
            at::Tensor logits = at::linear(part, wc).to(h.scalar_type());
            double *out = nll.data_ptr<double>() + begin;
            logits.sub_(logits.amax(1, true));
            at::Tensor aim = targets.narrow(0, begin, size).unsqueeze(1);
            nll.narrow(0, begin, size).copy_(logits.gather(1, aim).squeeze(1));
            logits.exp_();
            const int64_t *target = targets.data_ptr<int64_t>() + begin;
            const double *weight = weights.data_ptr<double>() + begin;
            if (h.scalar_type() == at::kDouble)
                softmax_rows(logits.data_ptr<double>(), size, ids, target, weight, denominator, out, gradient);
            else
                softmax_rows(logits.data_ptr<float>(), size, ids, target, weight, denominator, out, gradient);
            if (!gradient) continue;
            at::Tensor d = logits.to(compute);
            at::Tensor slice = dh.narrow(0, begin, size);
            if (compute == h.scalar_type()) {
                at::mm_out(slice, d, wc);
                dw.addmm_(d.t(), part);
            } else {
                slice.copy_(at::mm(d, wc));
                dw.add_(at::mm(d.t(), part));
            }
        }
        if (gradient) ctx->save_for_backward({dh, dw});
        double sum = 0; // in order: the same bits for any chunk
        const double *a = nll.data_ptr<double>(), *b = weights.data_ptr<double>();
        for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
        return at::scalar_tensor(sum / denominator, at::kDouble);
    }

    static variable_list backward(AutogradContext *ctx, variable_list grads) {
        auto saved = ctx->get_saved_variables();
        at::Tensor dh = saved[0], dw = saved[1];
        double scale = grads[0].item<double>();
        if (scale != 1) {
            dh = dh * scale;
            dw = dw * scale;
        }
        return {dh, dw, {}, {}, {}, {}, {}, {}, {}};
    }
};

} // namespace

at::Tensor chunked_cross_entropy(const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets, const at::Tensor &weights,
                                 double denominator, int64_t chunk, at::ScalarType compute, at::Tensor *nll) {
    at::Tensor each = at::empty({h.size(0)}, at::kDouble);
    bool gradient = at::GradMode::is_enabled() && (h.requires_grad() || w.requires_grad());
    at::Tensor loss = cross_entropy::apply(h, w, targets, weights, denominator, chunk, (int64_t)compute, each, gradient);
    if (nll) *nll = each;
    return loss;
}

} // namespace og
