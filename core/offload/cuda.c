/* cuda.c: devices, pinned memory and the checked gather; in a build without CUDA, the same calls with the reason. */
#include <omnigram/offload.h>

#if defined(OG_HAVE_CUDA)
#include "offload/gather.h"

#include <cuda_runtime_api.h>
#include <string.h>

og_status og_cuda_available(og_error *err) {
    int devices = 0;
    cudaError_t fault = cudaGetDeviceCount(&devices);
    if (fault == cudaSuccess && devices > 0) return OG_OK;
    (void)cudaGetLastError(); /* it would be the answer of the next call too */
    return og_fail(err, OG_ENOTSUP, "no CUDA device: %s",
                   fault == cudaSuccess ? "the driver lists none" : cudaGetErrorString(fault));
}

static og_status check(cudaError_t fault, const char *what, int64_t bytes, og_error *err) {
    if (fault == cudaSuccess) return OG_OK;
    (void)cudaGetLastError();
    og_status status =
        fault == cudaErrorMemoryAllocation || fault == cudaErrorHostMemoryAlreadyRegistered ? OG_ENOMEM : OG_EDEVICE;
    return og_fail(err, status, "CUDA: %s %lld bytes: %s", what, (long long)bytes, cudaGetErrorString(fault));
}

static og_status check_bytes(int64_t bytes, og_error *err) {
    OG_TRY(og_cuda_available(err));
    if (bytes < 0) return og_fail(err, OG_EINVAL, "%lld bytes", (long long)bytes);
    return OG_OK;
}

og_status og_cuda_pinned_new(int64_t bytes, void **out, og_error *err) {
    OG_TRY(check_bytes(bytes, err));
    void *memory;
    OG_TRY(check(cudaHostAlloc(&memory, (size_t)(bytes ? bytes : 1), cudaHostAllocPortable | cudaHostAllocMapped),
                 "pinning", bytes, err));
    memset(memory, 0, (size_t)bytes);
    *out = memory;
    return OG_OK;
}

void og_cuda_pinned_free(void *memory) {
    if (memory) (void)cudaFreeHost(memory);
}

og_status og_cuda_pin(void *memory, int64_t bytes, og_error *err) {
    OG_TRY(check_bytes(bytes, err));
    return check(cudaHostRegister(memory, (size_t)bytes, cudaHostRegisterPortable | cudaHostRegisterMapped), "pinning",
                 bytes, err);
}

void og_cuda_unpin(void *memory) {
    if (memory && cudaHostUnregister(memory) != cudaSuccess) (void)cudaGetLastError();
}

og_status og_cuda_device_new(int64_t bytes, void **out, og_error *err) {
    OG_TRY(check_bytes(bytes, err));
    void *memory;
    OG_TRY(check(cudaMalloc(&memory, (size_t)(bytes ? bytes : 1)), "allocating on the device", bytes, err));
    *out = memory;
    return OG_OK;
}

void og_cuda_device_free(void *memory) {
    if (memory) (void)cudaFree(memory);
}

og_status og_cuda_copy(void *to, const void *from, int64_t bytes, void *stream, og_error *err) {
    OG_TRY(check_bytes(bytes, err));
    return check(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, (cudaStream_t)stream), "copying", bytes,
                 err);
}

og_status og_cuda_sync(void *stream, og_error *err) {
    OG_TRY(og_cuda_available(err));
    cudaError_t fault = cudaStreamSynchronize((cudaStream_t)stream);
    if (fault == cudaSuccess) return OG_OK;
    (void)cudaGetLastError();
    return og_fail(err, OG_EDEVICE, "CUDA: the stream failed: %s", cudaGetErrorString(fault));
}

/* The address a kernel may use for memory of any kind; what it cannot reach is an error here and not a fault there. */
static og_status reach(const void *memory, const char *what, const void **out, og_error *err) {
    struct cudaPointerAttributes facts;
    int device = 0, pageable = 0;
    cudaError_t fault = cudaPointerGetAttributes(&facts, memory);
    if (fault != cudaSuccess) return check(fault, "asking about", 0, err);
    if (facts.type == cudaMemoryTypeUnregistered) {
        if (cudaGetDevice(&device) == cudaSuccess)
            (void)cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device);
        if (!pageable)
            return og_fail(
                err, OG_EINVAL,
                "og_gather_cuda: %s is ordinary host memory, which this device cannot read; pin it (og_cuda_pin)",
                what);
        *out = memory;
        return OG_OK;
    }
    *out = facts.devicePointer ? facts.devicePointer : memory;
    return OG_OK;
}

static og_status check_job(const og_cuda_gather *job, og_error *err) {
    if ((job->row_dtype != OG_F32 && job->row_dtype != OG_BF16) ||
        (job->out_dtype != OG_F32 && job->out_dtype != OG_BF16))
        return og_fail(err, OG_ENOTSUP, "og_gather_cuda: dtypes %d to %d; F32 and BF16 are supported",
                       (int)job->row_dtype, (int)job->out_dtype);
    int64_t row = og_dtype_bits(job->row_dtype) / 8, out = og_dtype_bits(job->out_dtype) / 8;
    if (job->dim < 1 || job->dim > 65536 || job->n < 0)
        return og_fail(err, OG_EINVAL, "og_gather_cuda: dim %lld (1 to 65536), n %lld (0 or more)", (long long)job->dim,
                       (long long)job->n);
    if (job->row_stride < job->dim * row || job->row_stride % row || job->out_stride < job->dim * out ||
        job->out_stride % out)
        return og_fail(err, OG_EINVAL, "og_gather_cuda: strides %lld and %lld for rows of %lld and %lld bytes",
                       (long long)job->row_stride, (long long)job->out_stride, (long long)(job->dim * row),
                       (long long)(job->dim * out));
    if (!job->table || !job->rows || !job->out) return og_fail(err, OG_EINVAL, "og_gather_cuda: a pointer is NULL");
    return OG_OK;
}

/* The widest unit that every address of the job is a multiple of. */
static int64_t widest(uint64_t table, uint64_t out, const og_cuda_gather *job, int64_t row_bytes) {
    uint64_t all = table | out | (uint64_t)job->row_stride | (uint64_t)job->out_stride | (uint64_t)row_bytes | 16;
    return (int64_t)(all & -all);
}

og_status og_gather_cuda(const og_cuda_gather *job, void *stream, og_error *err) {
    OG_TRY(og_cuda_available(err));
    OG_TRY(check_job(job, err));
    if (job->n == 0) return OG_OK;
    const void *table, *rows, *out;
    OG_TRY(reach(job->table, "the table", &table, err));
    OG_TRY(reach(job->rows, "the row ids", &rows, err));
    OG_TRY(reach(job->out, "the output", &out, err));
    uint64_t row = (uint64_t)og_dtype_bits(job->row_dtype) / 8, value = (uint64_t)og_dtype_bits(job->out_dtype) / 8;
    if ((uintptr_t)table % row || (uintptr_t)out % value || (uintptr_t)rows % 8)
        return og_fail(err, OG_EINVAL, "og_gather_cuda: table %p, rows %p or out %p is not aligned to its elements",
                       table, rows, out);
    void *target = (void *)(uintptr_t)out;
    int fault;
    if (job->row_dtype == job->out_dtype) {
        int64_t bytes = job->dim * (int64_t)row;
        fault = og_launch_gather_copy(table, job->row_stride, rows, job->n, bytes,
                                      widest((uintptr_t)table, (uintptr_t)out, job, bytes), target, job->out_stride,
                                      stream);
    } else {
        fault = og_launch_gather_convert(table, job->row_stride, rows, job->n, job->dim, job->out_dtype == OG_F32,
                                         target, job->out_stride, stream);
    }
    if (fault == (int)cudaSuccess) return OG_OK;
    return og_fail(err, OG_EDEVICE, "CUDA: gathering %lld rows of %lld values: %s", (long long)job->n,
                   (long long)job->dim, cudaGetErrorString((cudaError_t)fault));
}

#else

static og_status absent(og_error *err) {
    return og_fail(err, OG_ENOTSUP,
                   "built without CUDA; install the CUDA Toolkit (nvcc) and configure with -DOG_CUDA=ON");
}

og_status og_cuda_available(og_error *err) { return absent(err); }

og_status og_cuda_pinned_new(int64_t bytes, void **out, og_error *err) {
    (void)bytes;
    (void)out;
    return absent(err);
}

void og_cuda_pinned_free(void *memory) { (void)memory; }

og_status og_cuda_pin(void *memory, int64_t bytes, og_error *err) {
    (void)memory;
    (void)bytes;
    return absent(err);
}

void og_cuda_unpin(void *memory) { (void)memory; }

og_status og_cuda_device_new(int64_t bytes, void **out, og_error *err) {
    (void)bytes;
    (void)out;
    return absent(err);
}

void og_cuda_device_free(void *memory) { (void)memory; }

og_status og_cuda_copy(void *to, const void *from, int64_t bytes, void *stream, og_error *err) {
    (void)to;
    (void)from;
    (void)bytes;
    (void)stream;
    return absent(err);
}

og_status og_cuda_sync(void *stream, og_error *err) {
    (void)stream;
    return absent(err);
}

og_status og_gather_cuda(const og_cuda_gather *job, void *stream, og_error *err) {
    (void)job;
    (void)stream;
    return absent(err);
}

#endif
