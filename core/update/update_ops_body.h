/* update_ops_body.h: the kernels of update_internal.h, compiled once for each instruction set. Only elementwise IEEE
 * arithmetic and one fixed order of summing, so that all levels give the same bits. The including file defines OG_OPS
 * and OG_OPS_NAME. */
#include "store/numbers.h"
#include "update/update_internal.h"

#include <math.h>

typedef float lanes16 __attribute__((vector_size(64), aligned(4), may_alias));

static float square_sum(const float *grad, float grad_scale, int64_t dim) {
    lanes16 a = {0}, b = {0}, c = {0}, d = {0}, scale;
    for (int j = 0; j < 16; j++) scale[j] = grad_scale;
    int64_t i = 0;
    for (; i + 64 <= dim; i += 64) {
        const lanes16 *g = (const lanes16 *)(const void *)(grad + i);
        lanes16 x = g[0] * scale, y = g[1] * scale, z = g[2] * scale, w = g[3] * scale;
        a += x * x;
        b += y * y;
        c += z * z;
        d += w * w;
    }
    float lane[64];
    memcpy(lane, &a, 64);
    memcpy(lane + 16, &b, 64);
    memcpy(lane + 32, &c, 64);
    memcpy(lane + 48, &d, 64);
    for (int j = 0; i < dim; i++, j++) {
        float x = grad[i] * grad_scale;
        lane[j] += x * x;
    }
    for (int half = 32; half; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

static void add(float *restrict sum, const float *restrict grad, int64_t dim) {
    for (int64_t i = 0; i < dim; i++) sum[i] += grad[i];
}

/* One pass over the row for each rule; read and write convert the store's type. */
#define OG_APPLY(name, type, read, write)                                                                              \
    static void name(const og_step *restrict s, void *restrict values, float *restrict state,                          \
                     const float *restrict grad, float grad_scale, int64_t dim, uint64_t key) {                        \
        type *restrict w = values;                                                                                     \
        const float rate = s->rate, eps = s->eps, keep = s->keep, rest1 = s->rest1;                                    \
        const float beta2 = s->beta2, rest2 = s->rest2, root2 = s->root2;                                              \
        (void)key;                                                                                                     \
        if (s->kind == OG_SGD || s->kind == OG_ADAGRAD_ROW) {                                                          \
            float step = rate;                                                                                         \
            if (s->kind == OG_ADAGRAD_ROW) {                                                                           \
                state[0] += square_sum(grad, grad_scale, dim) / (float)dim;                                            \
                step = rate / (sqrtf(state[0]) + eps);                                                                 \
            }                                                                                                          \
            for (int64_t i = 0; i < dim; i++) {                                                                        \
                float x = read(w[i]) * keep - step * (grad[i] * grad_scale);                                           \
                w[i] = write(x, key, i);                                                                               \
            }                                                                                                          \
        } else if (s->kind == OG_RMSPROP) {                                                                            \
            for (int64_t i = 0; i < dim; i++) {                                                                        \
                float g = grad[i] * grad_scale;                                                                        \
                float v = beta2 * state[i] + rest2 * (g * g);                                                          \
                state[i] = v;                                                                                          \
                float x = read(w[i]) * keep - rate * (g / (sqrtf(v) + eps));                                           \
                w[i] = write(x, key, i);                                                                               \
            }                                                                                                          \
        } else {                                                                                                       \
            float *restrict first = state, *restrict second = state + dim;                                             \
            for (int64_t i = 0; i < dim; i++) {                                                                        \
                float g = grad[i] * grad_scale;                                                                        \
                float m = first[i] + rest1 * (g - first[i]);                                                           \
                float v = beta2 * second[i] + rest2 * (g * g);                                                         \
                first[i] = m;                                                                                          \
                second[i] = v;                                                                                         \
                float x = read(w[i]) * keep - rate * (m / (sqrtf(v) * root2 + eps));                                   \
                w[i] = write(x, key, i);                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
#define OG_SAME(x)                (x)
#define OG_KEEP_F32(x, key, i)    (x)
#define OG_NEAR_BF16(x, key, i)   og_narrow_bf16(x)
#define OG_RANDOM_BF16(x, key, i) og_narrow_bf16_stochastic(x, og_channel_random(key, (uint32_t)(i)))
#define OG_NEAR_F16(x, key, i)    og_narrow_f16(x)
#define OG_RANDOM_F16(x, key, i)  og_narrow_f16_stochastic(x, og_channel_random(key, (uint32_t)(i)))
OG_APPLY(apply_f32, float, OG_SAME, OG_KEEP_F32)
OG_APPLY(apply_bf16_near, uint16_t, og_widen_bf16, OG_NEAR_BF16)
OG_APPLY(apply_bf16_random, uint16_t, og_widen_bf16, OG_RANDOM_BF16)
OG_APPLY(apply_f16_near, uint16_t, og_widen_f16, OG_NEAR_F16)
OG_APPLY(apply_f16_random, uint16_t, og_widen_f16, OG_RANDOM_F16)

static void apply_bf16(const og_step *s, void *values, float *state, const float *grad, float grad_scale, int64_t dim,
                       uint64_t key) {
    (key ? apply_bf16_random : apply_bf16_near)(s, values, state, grad, grad_scale, dim, key);
}

static void apply_f16(const og_step *s, void *values, float *state, const float *grad, float grad_scale, int64_t dim,
                      uint64_t key) {
    (key ? apply_f16_random : apply_f16_near)(s, values, state, grad, grad_scale, dim, key);
}

const og_update_ops OG_OPS = {OG_OPS_NAME, {apply_f32, apply_bf16, apply_f16}, square_sum, add};
