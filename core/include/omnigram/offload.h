/* Offload to CUDA: tables stay in pinned host memory and a kernel reads their rows over the bus. Every call exists in
 * every build: OG_ENOTSUP says "built without CUDA" or "no CUDA device: ..." with what to do. A device call enqueues on
 * the caller's stream (a cudaStream_t; NULL: the default stream) and returns. */
#ifndef OMNIGRAM_OFFLOAD_H
#define OMNIGRAM_OFFLOAD_H

#include <omnigram/dtype.h>
#include <omnigram/status.h>

OG_BEGIN

/* OG_OK when this build has CUDA and a device answers, else OG_ENOTSUP with the driver's reason. */
OG_API og_status og_cuda_available(og_error *err) OG_MUST_USE;

/* Page-locked host memory that every device can read; zeroed. Free with og_cuda_pinned_free (NULL is fine). */
OG_API og_status og_cuda_pinned_new(int64_t bytes, void **out, og_error *err) OG_MUST_USE;
OG_API void og_cuda_pinned_free(void *memory);
/* Page-locks memory that exists (a row store) until og_cuda_unpin; OG_ENOMEM names the bytes and the
 * system's reason. */
OG_API og_status og_cuda_pin(void *memory, int64_t bytes, og_error *err) OG_MUST_USE;
OG_API void og_cuda_unpin(void *memory);

/* Memory of the current device. */
OG_API og_status og_cuda_device_new(int64_t bytes, void **out, og_error *err) OG_MUST_USE;
OG_API void og_cuda_device_free(void *memory);
/* Between any two of host, pinned and device memory; in the order of the stream. */
OG_API og_status og_cuda_copy(void *to, const void *from, int64_t bytes, void *stream, og_error *err) OG_MUST_USE;
/* Waits for the stream and gives what failed in it (OG_EDEVICE). */
OG_API og_status og_cuda_sync(void *stream, og_error *err) OG_MUST_USE;

typedef struct og_cuda_gather {
    const void *table;  /* pinned host or device memory: row r is at table + r * row_stride */
    int64_t row_stride; /* bytes, >= those of dim values */
    int64_t dim;        /* values of a row, >= 1 */
    int32_t row_dtype;  /* OG_F32 or OG_BF16 */
    int32_t out_dtype;  /* OG_F32 or OG_BF16; f32 to bf16 rounds as og_bf16_from_f32 does */
    const int64_t *
        rows; /* [n], pinned or device: trusted (ids are checked where a batch is submitted); OG_ROW_NONE gives zeros */
    int64_t n;
    void *out;          /* pinned or device: output i is at out + i * out_stride */
    int64_t out_stride; /* bytes, >= those of dim values: a column of (n, columns, dim) has columns * dim values */
} og_cuda_gather;

/* Values are those of the plain C gather, bit for bit. Rows, strides and bases that are multiples of 16 bytes move 16
 * bytes a load. Borrows all pointers until the stream reaches this point. OG_EINVAL names a field that
 * is not allowed. */
OG_API og_status og_gather_cuda(const og_cuda_gather *job, void *stream, og_error *err) OG_MUST_USE;

OG_END
#endif
