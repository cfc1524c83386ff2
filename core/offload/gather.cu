/* gather.cu: rows of a table, in pinned host or device memory, into device memory. */
#include "offload/gather.h"

#include <cuda_runtime.h>

namespace {

constexpr int kThreads = OG_GATHER_THREADS;

/* bf16 as bits, so that NaNs and ties come out as in dtype.c. */
__device__ float widen(uint16_t bits) { return __uint_as_float((uint32_t)bits << 16); }

__device__ uint16_t narrow(float value) {
    uint32_t bits = __float_as_uint(value), high = bits >> 16;
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return (uint16_t)(high & 0x7F ? high : high | 0x40);
    return (uint16_t)((bits + 0x7FFF + (high & 1)) >> 16);
}

struct copy_op {
    template <class unit> static __device__ unit apply(unit value) { return value; }
};
struct widen_op {
    static __device__ float apply(uint16_t value) { return widen(value); }
};
struct narrow_op {
    static __device__ uint16_t apply(float value) { return narrow(value); }
};

template <class unit> __device__ unit nothing() { return unit{}; }

/* `lanes` threads (a power of two, at most a warp) share a row: lane l moves units l, l + lanes, ... Four loads are in
 * flight before the first store, because a row in host memory is a bus away. */
template <class from, class to, class op>
__global__ void gather(const char *__restrict__ table, int64_t row_stride, const int64_t *__restrict__ rows, int64_t n,
                       int64_t units, int lanes, char *__restrict__ out, int64_t out_stride) {
    int64_t rows_at_once = (int64_t)gridDim.x * (kThreads / lanes);
    int lane = (int)threadIdx.x & (lanes - 1);
    for (int64_t i = (int64_t)blockIdx.x * (kThreads / lanes) + threadIdx.x / lanes; i < n; i += rows_at_once) {
        int64_t id = rows[i];
        to *target = reinterpret_cast<to *>(out + i * out_stride);
        if (id < 0) {
            for (int64_t u = lane; u < units; u += lanes) target[u] = nothing<to>();
            continue;
        }
        const from *source = reinterpret_cast<const from *>(table + id * row_stride);
        int64_t u = lane;
        for (; u + 3 * lanes < units; u += 4 * lanes) {
            from a = source[u], b = source[u + lanes], c = source[u + 2 * lanes], d = source[u + 3 * lanes];
            target[u] = op::apply(a);
            target[u + lanes] = op::apply(b);
            target[u + 2 * lanes] = op::apply(c);
            target[u + 3 * lanes] = op::apply(d);
        }
        for (; u < units; u += lanes) target[u] = op::apply(source[u]);
    }
}

template <class from, class to, class op>
int launch(const void *table, int64_t row_stride, const int64_t *rows, int64_t n, int64_t units, void *out,
           int64_t out_stride, void *stream) {
    if (n == 0) return cudaSuccess;
    og_gather_grid grid = og_gather_grid_of(n, units);
    gather<from, to, op><<<(unsigned)grid.blocks, kThreads, 0, (cudaStream_t)stream>>>(
        (const char *)table, row_stride, rows, n, units, grid.lanes, (char *)out, out_stride);
    return cudaGetLastError();
}

} // namespace

extern "C" int og_launch_gather_copy(const void *table, int64_t row_stride, const int64_t *rows, int64_t n,
                                     int64_t row_bytes, int64_t unit, void *out, int64_t out_stride, void *stream) {
    int64_t units = row_bytes / unit;
    switch (unit) {
    case 16: return launch<uint4, uint4, copy_op>(table, row_stride, rows, n, units, out, out_stride, stream);
    case 8: return launch<uint2, uint2, copy_op>(table, row_stride, rows, n, units, out, out_stride, stream);
    case 4: return launch<uint32_t, uint32_t, copy_op>(table, row_stride, rows, n, units, out, out_stride, stream);
    default: return launch<uint16_t, uint16_t, copy_op>(table, row_stride, rows, n, units, out, out_stride, stream);
    }
}

extern "C" int og_launch_gather_convert(const void *table, int64_t row_stride, const int64_t *rows, int64_t n,
                                        int64_t dim, int32_t to_f32, void *out, int64_t out_stride, void *stream) {
    if (to_f32) return launch<uint16_t, float, widen_op>(table, row_stride, rows, n, dim, out, out_stride, stream);
    return launch<float, uint16_t, narrow_op>(table, row_stride, rows, n, dim, out, out_stride, stream);
}
