// functions.cpp: RMSNorm, rotary positions, SwiGLU and chunked cross-entropy. Every sum has a fixed order, so threads
// change no bit.
#include "functions.hpp"

#include <ATen/Parallel.h>

namespace og {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t grain = 64; // rows; gradients of weights are summed by blocks of this many

template <class T> T dot(const T *a, const T *b, int64_t n) {
    T lane[16] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++) lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum += a[i] * b[i];
    for (int k = 0; k < 16; k++) sum += lane[k];
    return sum;
}

template <class F> void by_type(at::ScalarType type, F &&f) {
    if (type == at::kDouble)
        f(double{});
    else
        f(float{});
}

struct rms_norm_function : torch::autograd::Function<rms_norm_function> {
    static at::Tensor forward(AutogradContext *ctx, const at::Tensor &input, const at::Tensor &w, double eps) {
        at::Tensor x = input.contiguous(), y = at::empty_like(x), scale = at::empty({x.size(0)}, x.options());
        int64_t n = x.size(0), width = x.size(1);
        by_type(x.scalar_type(), [&](auto zero) {
            using T = decltype(zero);
            const T *xs = x.const_data_ptr<T>(), *ws = w.const_data_ptr<T>();
            T *ys = y.data_ptr<T>(), *scales = scale.data_ptr<T>();
            at::parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; i++) {
                    const T *row = xs + i * width;
                    T s = (T)(1 / std::sqrt((double)(dot(row, row, width) / (T)width) + eps));
                    for (int64_t j = 0; j < width; j++) ys[i * width + j] = row[j] * s * ws[j];
                    scales[i] = s;
                }
            });
        });
        ctx->save_for_backward({x, w, scale});
        return y;
    }

    static variable_list backward(AutogradContext *ctx, variable_list grads) {
        auto saved = ctx->get_saved_variables();
        at::Tensor x = saved[0], w = saved[1], scale = saved[2], g = grads[0].contiguous();
        int64_t n = x.size(0), width = x.size(1), blocks = (n + grain - 1) / grain;
        at::Tensor dx = at::empty_like(x), partial = at::zeros({blocks, width}, x.options()), dw = at::zeros_like(w);
        by_type(x.scalar_type(), [&](auto zero) {
            using T = decltype(zero);
            const T *xs = x.const_data_ptr<T>(), *ws = w.const_data_ptr<T>(), *scales = scale.const_data_ptr<T>(),
                    *gs = g.const_data_ptr<T>();
            T *dxs = dx.data_ptr<T>(), *parts = partial.data_ptr<T>();
            at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
                std::vector<T> gw((size_t)width);
                for (int64_t b = first; b < last; b++)
                    for (int64_t i = b * grain; i < std::min(n, (b + 1) * grain); i++) {
                        const T *row = xs + i * width, *gr = gs + i * width;
                        T s = scales[i], *part = parts + b * width;
                        for (int64_t j = 0; j < width; j++) {
                            gw[(size_t)j] = gr[j] * ws[j];
                            part[j] += gr[j] * row[j] * s;
                        }
                        T c = dot(gw.data(), row, width) / (T)width * s * s * s;
                        for (int64_t j = 0; j < width; j++) dxs[i * width + j] = gw[(size_t)j] * s - row[j] * c;
                    }
            });
            T *sums = dw.data_ptr<T>();
            for (int64_t b = 0; b < blocks; b++)
                for (int64_t j = 0; j < width; j++) sums[j] += parts[b * width + j];
        });
        return {dx, dw, {}};
    }
};

// y = x rotated by sign * angle.
at::Tensor turn(const at::Tensor &input, const at::Tensor &cosine, const at::Tensor &sine, int64_t heads, int sign) {
    at::Tensor x = input.contiguous(), y = at::empty_like(x);
    int64_t n = x.size(0), width = x.size(1), dim = width / heads, half = dim / 2;
    by_type(x.scalar_type(), [&](auto zero) {
        using T = decltype(zero);
        const T *xs = x.const_data_ptr<T>(), *cs = cosine.const_data_ptr<T>(), *ss = sine.const_data_ptr<T>();
        T *ys = y.data_ptr<T>(), turned = (T)sign;
        at::parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++)
                for (int64_t h = 0; h < heads; h++) {
                    const T *a = xs + i * width + h * dim, *b = a + half, *c = cs + i * half, *s = ss + i * half;
                    T *out = ys + i * width + h * dim;
                    for (int64_t j = 0; j < half; j++) {
                        out[j] = a[j] * c[j] - b[j] * (turned * s[j]);
                        out[j + half] = b[j] * c[j] + a[j] * (turned * s[j]);
                    }
                }
        });
    });
    return y;
}

struct rotate_function : torch::autograd::Function<rotate_function> {
    static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const at::Tensor &cosine,
                              const at::Tensor &sine, int64_t heads) {
        ctx->save_for_backward({cosine, sine});
        ctx->saved_data["heads"] = heads;
        return turn(x, cosine, sine, heads, 1);
    }
    static variable_list backward(AutogradContext *ctx, variable_list grads) {
        auto saved = ctx->get_saved_variables();
        return {turn(grads[0], saved[0], saved[1], ctx->saved_data["heads"].toInt(), -1), {}, {}, {}};
    }
};

// exps [n][V] = exp(logit - most) become d(loss)/d(logits) in place (when wanted). nll holds target - most and becomes
// the nll.
template <class T>
void softmax_rows(T *exps, int64_t n, int64_t ids, const int64_t *targets, const double *weights, double denominator,
                  double *nll, bool gradient) {
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
    static at::Tensor forward(AutogradContext *ctx, const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets,
                              const at::Tensor &weights, double denominator, int64_t chunk, int64_t compute_type,
                              at::Tensor nll, bool gradient) {
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

at::Tensor rms_norm(const at::Tensor &x, const at::Tensor &w, double eps) {
    return rms_norm_function::apply(x, w, eps);
}
at::Tensor rotate(const at::Tensor &x, const at::Tensor &cosine, const at::Tensor &sine, int64_t heads) {
    return rotate_function::apply(x, cosine, sine, heads);
}
at::Tensor swiglu(const at::Tensor &x) {
    auto halves = x.chunk(2, 1);
    return at::silu(halves[0]) * halves[1];
}

at::Tensor chunked_cross_entropy(const at::Tensor &h, const at::Tensor &w, const at::Tensor &targets,
                                 const at::Tensor &weights, double denominator, int64_t chunk, at::ScalarType compute,
                                 at::Tensor *nll) {
    at::Tensor each = at::empty({h.size(0)}, at::kDouble);
    bool gradient = at::GradMode::is_enabled() && (h.requires_grad() || w.requires_grad());
    at::Tensor loss =
        cross_entropy::apply(h, w, targets, weights, denominator, chunk, (int64_t)compute, each, gradient);
    if (nll) *nll = each;
    return loss;
}

} // namespace og
