"""Arguments: numbers, names, and anything numpy or DLPack understands, checked, without a copy where none is needed."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ._handle import view
from .dlpack import borrow
from .dtypes import bf16_to_f32
from .errors import OmnigramError, invalid, wrong_type

_T = TypeVar("_T")
I32 = (-(1 << 31), (1 << 31) - 1)
I64 = (-(1 << 63), (1 << 63) - 1)
U64 = (0, (1 << 64) - 1)
_HOST_DEVICES = (1, 3)  # DLPack's CPU and CUDA's pinned host memory


def as_int(value: Any, name: str, limits: tuple[int, int] = I64) -> int:
    """An int within limits (what the C argument holds; the library knows the narrower ones)."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(type(value), "__index__"):
        raise wrong_type(f"{name}: {value!r:.80} where an integer is needed")
    try:
        number = operator.index(value)
    except TypeError as error:
        raise wrong_type(f"{name}: {error}") from None
    if not limits[0] <= number <= limits[1]:
        raise invalid(f"{name}: {number} is not in {limits[0]} .. {limits[1]}")
    return number


def as_float(value: Any, name: str) -> float:
    """A float; the library knows its limits."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or not hasattr(type(value), "__float__"):
        raise wrong_type(f"{name}: {value!r:.80} where a number is needed")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid(f"{name}: {value!r:.80}: {error}") from None


def as_text(value: Any, name: str) -> bytes:
    """UTF-8 of a str, for C: without a NUL, which would end it early."""
    if not isinstance(value, str):
        raise wrong_type(f"{name}: {type(value).__name__} where a str is needed")
    try:
        return _whole(value.encode(), name)
    except UnicodeEncodeError as error:
        raise invalid(f"{name}: {error}") from None


def as_path(value: Any, name: str = "path") -> bytes:
    """The bytes of a path, without a NUL."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise wrong_type(f"{name}: {type(value).__name__} where a path is needed")
    return _whole(os.fsencode(value), name)


def _whole(data: bytes, name: str) -> bytes:
    at = data.find(b"\0")
    if at >= 0:
        raise invalid(f"{name}: {data!r:.200} has a NUL at byte {at}")
    return data


def one_of(value: str, names: Sequence[str], name: str) -> int:
    """The position of a name among those there are."""
    if value not in names:
        raise invalid(f"{name}: {value!r:.80}; there are {', '.join(names)}")
    return names.index(value)


def instance(value: Any, kind: type[_T] | tuple[type[_T], ...], name: str) -> _T:
    """value, which is one of `kind`."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise wrong_type(f"{name}: {type(value).__name__} where {' or '.join(k.__name__ for k in kinds)} is needed")
    return value


def as_array(value: Any, dtype: DTypeLike, name: str, ndim: int | None = None) -> np.ndarray:
    """A compact array of exactly dtype, from numbers only: integers where no value changes, floats where none overflows.

    InvalidTypeError for other kinds (bool masks too: an id of True is no row), InvalidError for values, shapes, devices.
    """
    dtype = np.dtype(dtype)
    array = value if isinstance(value, np.ndarray) else _from_any(value, name)
    if array.size == 0 and array.dtype != dtype:
        array = np.empty(array.shape, dtype)
    if array.dtype != dtype:
        array = _convert(array, dtype, name)
    if ndim is not None and array.ndim != ndim:
        raise invalid(f"{name}: {array.ndim} dimensions where {ndim} are needed (shape {array.shape})")
    compact = np.ascontiguousarray(array)
    return compact if compact.flags.aligned else compact.copy()


def _convert(array: np.ndarray, dtype: np.dtype[Any], name: str) -> np.ndarray:
    if array.dtype.kind not in ("iu" if dtype.kind in "iu" else "iuf"):
        raise wrong_type(f"{name}: {array.dtype} values where {dtype} is needed")
    with np.errstate(over="ignore", invalid="ignore"):
        converted = array.astype(dtype)
    changed = converted != array if dtype.kind in "iu" else np.isinf(converted) & np.isfinite(array)
    if changed.any():
        raise invalid(f"{name}: {array[changed].flat[0]} does not fit {dtype}")
    return converted


def _from_any(value: Any, name: str) -> np.ndarray:
    try:
        device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (_HOST_DEVICES[0], 0)
        if device[0] in _HOST_DEVICES:
            widened = _bf16(value, name)
            if widened is not None:
                return widened
            foreign = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
            return np.from_dlpack(value) if foreign else np.asarray(value)
    except OmnigramError:
        raise
    except Exception as error:  # of a foreign object, which may raise anything
        raise wrong_type(f"{name}: {type(value).__name__} is no array of numbers: {error}") from error
    raise invalid(f"{name}: on DLPack device {tuple(map(int, device))}; host memory is needed")


def _bf16(value: Any, name: str) -> np.ndarray | None:
    """A foreign tensor of bfloat16, which numpy does not know, as float32; None for anything else."""
    if "bfloat16" not in str(getattr(value, "dtype", "")) or not hasattr(value, "__dlpack__") or isinstance(value, np.ndarray):
        return None
    memory = borrow(value, name)
    return bf16_to_f32(view(memory.keep, memory.pointer, memory.shape, np.uint16))


def optional(value: Any, dtype: DTypeLike, name: str, length: int | None = None) -> np.ndarray | None:
    """as_array of one dimension, or None; length is checked when given."""
    if value is None:
        return None
    array = as_array(value, dtype, name, 1)
    if length is not None and array.shape[0] != length:
        raise invalid(f"{name}: {array.shape[0]} values for {length} positions")
    return array
