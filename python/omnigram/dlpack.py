"""DLPack both ways for host memory, bfloat16 included (which numpy does not know)."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ._ffi import ffi, lib
from .dtypes import NUMPY, bf16_to_f32, dtype_code, dtype_name
from .errors import invalid, wrong_type

# DLPack 1.0's managed tensor; tensor.h has the rest.
ffi.cdef("""
typedef struct DLPackVersion { uint32_t major, minor; } DLPackVersion;
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
""")
_READ_ONLY = 1
_CPU = (1, 0)
_HOST_DEVICES = (1, 3)  # CPU and CUDA's pinned host memory

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python))

_CODES = {"i": 0, "u": 1, "f": 2}
_OF_TYPE = {  # (code, bits) -> our dtype
    (2, 32): lib.OG_F32, (2, 16): lib.OG_F16, (4, 16): lib.OG_BF16, (2, 64): lib.OG_F64, (0, 64): lib.OG_I64,
    (0, 32): lib.OG_I32, (0, 16): lib.OG_I16, (0, 8): lib.OG_INT8, (1, 8): lib.OG_U8,
}
_TYPE_OF = {code: key for key, code in _OF_TYPE.items()}

_exported: dict[int, tuple[Any, ...]] = {}  # managed tensors that a consumer holds, by address


def _forget(managed: Any) -> None:
    _exported.pop(int(ffi.cast("uintptr_t", managed)), None)


_delete = ffi.callback("void(DLManagedTensor *)", _forget)
_delete_versioned = ffi.callback("void(DLManagedTensorVersioned *)", _forget)


def _drop(capsule: Any, python: Any = _python, pointer_of: Any = _capsule_pointer,
          exported: dict[int, tuple[Any, ...]] = _exported) -> None:
    """An unused capsule (still with its first name) gives its tensor back."""
    for name in (b"dltensor", b"dltensor_versioned"):
        if python.PyCapsule_IsValid(capsule, name):
            exported.pop(pointer_of(capsule, name), None)


_drop_capsule = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)

_python.Py_IncRef.argtypes = [ctypes.py_object]
_python.Py_IncRef(_drop_capsule)  # a capsule may outlive this module's names


@atexit.register
def _let_go() -> None:
    """What consumers still hold when the interpreter ends stays as it is: no deleter is called that would be gone by then."""
    for managed, *memory in list(_exported.values()):
        managed.deleter = ffi.NULL
        _python.Py_IncRef((managed, *memory))


class Tensor:
    """Host memory with a dtype: hands out DLPack without a copy (`torch.from_dlpack(tensor)`), and numpy.

    shape: ints; dtype: "f32", "bf16" ...; strides are numpy's, in bytes.
    """

    def __init__(self, array: np.ndarray, dtype: int | str):
        self._code = dtype_code(dtype)
        if not isinstance(array, np.ndarray):
            raise wrong_type(f"array: {type(array).__name__} where a numpy array is needed")
        if self._code not in NUMPY or array.dtype != NUMPY[self._code]:
            held = NUMPY.get(self._code, "nothing")
            raise wrong_type(f"array: {dtype_name(self._code)} is held as {held}, not {array.dtype}")
        self._array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def dtype(self) -> str:
        return dtype_name(self._code)

    @property
    def bits(self) -> np.ndarray:
        """The memory itself as numpy has it: bfloat16 as uint16 patterns. No copy."""
        return self._array

    def numpy(self) -> np.ndarray:
        """Values as numpy: no copy, except bfloat16, which becomes float32."""
        return bf16_to_f32(self._array) if self._code == lib.OG_BF16 else self._array

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=bool(copy))

    def __len__(self) -> int:
        if not self.shape:
            raise wrong_type("a Tensor without dimensions has no length")
        return int(self._array.shape[0])

    def __repr__(self) -> str:
        return f"Tensor(shape={self.shape}, dtype={self.dtype})"

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule over this memory; the versioned one when max_version allows. The memory lives as long as its reader."""
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise BufferError(f"host memory cannot be handed out as device {tuple(dl_device)}")
        array = self._array.copy() if copy else self._array
        if self._code not in _TYPE_OF:
            raise BufferError(f"DLPack has no type for {self.dtype}")
        if not array.flags.aligned or any(s < 0 or s % array.itemsize for s in array.strides):
            raise BufferError(f"memory with strides of {array.strides} bytes cannot be handed out; copy it first")
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and not array.flags.writeable:
            raise BufferError("read-only memory needs a reader of DLPack 1.0 (max_version)")
        managed = ffi.new("DLManagedTensorVersioned *" if versioned else "DLManagedTensor *")
        shape = ffi.new("int64_t[]", list(array.shape) or [1])
        strides = ffi.new("int64_t[]", [s // array.itemsize for s in array.strides] or [1])
        code, bits = _TYPE_OF[self._code]
        tensor = managed.dl_tensor
        tensor.data = ffi.cast("void *", array.ctypes.data)
        tensor.device.device_type, tensor.device.device_id = _CPU
        tensor.ndim = array.ndim
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = code, bits, 1
        tensor.shape, tensor.strides, tensor.byte_offset = shape, strides, 0
        managed.deleter = _delete_versioned if versioned else _delete
        if versioned:
            managed.version.major, managed.version.minor = 1, 0
            managed.flags = 0 if array.flags.writeable else _READ_ONLY
        address = int(ffi.cast("uintptr_t", managed))
        _exported[address] = (managed, shape, strides, array)
        name = b"dltensor_versioned" if versioned else b"dltensor"
        return _python.PyCapsule_New(address, name, ctypes.cast(_drop_capsule, ctypes.c_void_p))


@dataclass
class Memory:
    """Memory that a caller lends: a C pointer, its shape, our dtype code, and what keeps it alive."""

    pointer: Any
    shape: tuple[int, ...]
    dtype: int
    keep: Any


def borrow(value: Any, name: str, *, writable: bool = False) -> Memory:
    """A numpy array, Tensor, or anything with __dlpack__ in host memory (a torch tensor), compact, without a copy.

    InvalidTypeError for other objects and unknown types; InvalidError when the memory is not compact, aligned and in this
    machine's byte order, is read-only or on a device.
    """
    if isinstance(value, Tensor):
        return _of_numpy(value.bits, name, writable, value._code)
    if isinstance(value, np.ndarray):
        return _of_numpy(value, name, writable, None)
    if not hasattr(value, "__dlpack__"):
        raise wrong_type(f"{name}: a numpy array or an object with __dlpack__ is needed, not {type(value).__name__}")
    capsule = pointer = None
    try:
        device = tuple(int(part) for part in value.__dlpack_device__())
        if device[0] in _HOST_DEVICES:
            capsule = value.__dlpack__()
            pointer = _python.PyCapsule_GetPointer(capsule, b"dltensor")
    except Exception as error:  # of a foreign object, which may raise anything
        raise invalid(f"{name}: {type(value).__name__} gives no memory by DLPack: {error}") from error
    if pointer is None:
        raise invalid(f"{name}: on DLPack device {device}; host memory is needed")
    tensor = ffi.cast("DLManagedTensor *", pointer).dl_tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides != ffi.NULL and not _compact(shape, [tensor.strides[i] for i in range(tensor.ndim)]):
        raise invalid(f"{name}: memory of shape {shape} is not row-major and compact")
    code = _OF_TYPE.get((tensor.dtype.code, tensor.dtype.bits))
    if code is None or tensor.dtype.lanes != 1:
        raise wrong_type(f"{name}: no dtype for DLPack type ({tensor.dtype.code}, {tensor.dtype.bits} bits)")
    data = ffi.cast("char *", tensor.data) + tensor.byte_offset
    if int(ffi.cast("uintptr_t", data)) % (tensor.dtype.bits // 8):
        raise invalid(f"{name}: memory is not aligned to its {tensor.dtype.bits // 8} bytes a value")
    # The capsule is not consumed: its producer's memory lives as long as the capsule, and that as long as `keep`.
    return Memory(data, shape, code, (capsule, value))


def _of_numpy(array: np.ndarray, name: str, writable: bool, code: int | None) -> Memory:
    if not array.flags.c_contiguous:
        raise invalid(f"{name}: an array of shape {array.shape} is not row-major and compact")
    if not array.flags.aligned or not array.dtype.isnative:
        raise invalid(f"{name}: an array of {array.dtype.str} at {array.ctypes.data:#x} is not aligned and in native byte order")
    if writable and not array.flags.writeable:
        raise invalid(f"{name}: the array is read-only")
    if code is None:
        code = _OF_TYPE.get((_CODES.get(array.dtype.kind, -1), array.dtype.itemsize * 8))
    if code is None:
        raise wrong_type(f"{name}: no dtype for numpy's {array.dtype}")
    return Memory(ffi.cast("char *", array.ctypes.data), array.shape, code, array)


def _compact(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
