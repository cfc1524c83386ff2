/* DLPack's structs (dmlc/dlpack, dlpack.h, ABI 1.0), declared once under DLPack's own include guard. */
#ifndef OMNIGRAM_TENSOR_H
#define OMNIGRAM_TENSOR_H

#include <omnigram/status.h>

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
typedef struct DLDevice {
    int32_t device_type; /* 1 CPU, 2 CUDA, 3 CUDA host */
    int32_t device_id;
} DLDevice;
typedef struct DLDataType {
    uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major and compact */
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif

#endif
