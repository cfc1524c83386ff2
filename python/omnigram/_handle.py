"""Owned C handles and numpy views into their memory."""

from __future__ import annotations

import math

import numpy as np

from ._ffi import ffi


class Handle:
    """An owned C object. close() drops this hold; its memory goes when the last array that views it goes too."""

    _pointer = None

    def _own(self, pointer, free) -> None:
        self._pointer = ffi.gc(pointer, free)

    @property
    def pointer(self):
        """The C pointer; ValueError after close()."""
        if self._pointer is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def close(self) -> None:
        """Frees the object now, or, while arrays still view its memory, as soon as they are gone. Twice is fine."""
        self._pointer = None

    def __enter__(self):
        _ = self.pointer  # a closed handle cannot be entered
        return self

    def __exit__(self, *_) -> None:
        self.close()


class _Window:
    """What numpy holds as a view's base: it keeps the owner's memory alive."""

    def __init__(self, owner, address: int, shape, typestr: str, strides, readonly: bool):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, readonly), "shape": shape, "typestr": typestr, "strides": strides,
        }


def view(owner, pointer, shape, dtype, *, strides=None, readonly: bool = True) -> np.ndarray:
    """Borrowed C memory as an array, without a copy; owner (a cdata from ffi.gc) lives as long as the array."""
    shape = tuple(int(n) for n in shape)
    dtype = np.dtype(dtype)
    if pointer == ffi.NULL or math.prod(shape) == 0:
        return np.empty(shape, dtype)
    address = int(ffi.cast("uintptr_t", pointer))
    array = np.asarray(_Window(owner, address, shape, dtype.str, strides, readonly))
    return array.view(dtype) if dtype.names else array


def pointer_to(array: np.ndarray, ctype: str):
    """The C pointer of a compact array, which must outlive its use."""
    return ffi.cast(ctype, array.ctypes.data) if array.size else ffi.cast(ctype, 0)
