"""Arguments: anything numpy or DLPack understands, checked and without a copy where none is needed."""

from __future__ import annotations

import numpy as np


def as_array(value, dtype, name: str, ndim: int | None = None) -> np.ndarray:
    """A compact array of exactly dtype. Integers are converted only where no value changes."""
    dtype = np.dtype(dtype)
    array = value if isinstance(value, np.ndarray) else _from_any(value)
    if array.size == 0 and array.dtype != dtype:
        array = array.astype(dtype)
    if array.dtype != dtype:
        if dtype.kind in "iu" and array.dtype.kind not in "iub":
            raise TypeError(f"{name}: {array.dtype} values where {dtype} is needed")
        converted = array.astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(converted, array):
            worst = array[converted != array].flat[0]
            raise ValueError(f"{name}: {worst} does not fit {dtype}")
        array = converted
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name}: {array.ndim} dimensions where {ndim} are needed (shape {array.shape})")
    return np.ascontiguousarray(array)


def _from_any(value) -> np.ndarray:
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def optional(value, dtype, name: str, length: int | None = None) -> np.ndarray | None:
    """as_array of one dimension, or None; length is checked when given."""
    if value is None:
        return None
    array = as_array(value, dtype, name, 1)
    if length is not None and array.shape[0] != length:
        raise ValueError(f"{name}: {array.shape[0]} values for {length} positions")
    return array
