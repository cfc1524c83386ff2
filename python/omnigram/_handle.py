"""Owned C handles and numpy views into their memory."""

from __future__ import annotations

import atexit
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ._ffi import ffi
from .errors import invalid

_Free = Callable[[Any], object]
_H = TypeVar("_H", bound="Handle")


class Handle:
    """An owned C object. close() drops this hold; its memory goes when the last array that views it goes too.

    _lock: for what threads must not do to one object at once. An object with threads of its own (_own(..., threads=True))
    serves the process that made it: after a fork its threads are not in the child, where using it raises and where
    nothing frees it; it is closed before the interpreter ends.
    """

    _pointer: Any = None
    _process: int | None = None

    def _own(self, pointer: Any, free: _Free, *, threads: bool = False) -> None:
        if threads:
            self._process = os.getpid()
            free = _in_this_process(free)
        self._lock = threading.RLock()
        self._pointer = ffi.gc(pointer, free)
        if threads:
            _with_threads.add(self)

    @property
    def pointer(self) -> Any:
        """The C pointer; InvalidError after close(), and in a forked child for what has threads."""
        if self._pointer is None:
            raise invalid(f"this {type(self).__name__} is closed")
        if not self._is_here():
            raise invalid(f"this {type(self).__name__} belongs to process {self._process}: its threads are not in process "
                          f"{os.getpid()}, which was forked from it; make one here")
        return self._pointer

    def _is_here(self) -> bool:
        return self._process is None or self._process == os.getpid()

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def close(self) -> None:
        """Frees the object now, or, while arrays still view its memory, as soon as they are gone. Twice is fine."""
        self._pointer = None

    def __enter__(self: _H) -> _H:
        _ = self.pointer  # a closed handle cannot be entered
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_with_threads: weakref.WeakSet[Handle] = weakref.WeakSet()


def _in_this_process(free: _Free) -> _Free:
    def of_process(pointer: Any, free: _Free = free, process: int = os.getpid(), now: Callable[[], int] = os.getpid) -> None:
        if now() == process:
            free(pointer)
    return of_process


@atexit.register
def _close_all() -> None:
    """Joins threads while what they read and write still exists: the interpreter clears modules in no useful order."""
    for handle in list(_with_threads):
        if handle._is_here():
            handle.close()


class _Window:
    """What numpy holds as a view's base: it keeps the owner's memory alive."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], typestr: str, strides: tuple[int, ...] | None,
                 readonly: bool):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, readonly), "shape": shape, "typestr": typestr, "strides": strides,
        }


def view(owner: Any, pointer: Any, shape: Iterable[int], dtype: DTypeLike, *, strides: tuple[int, ...] | None = None,
         readonly: bool = True) -> np.ndarray:
    """Borrowed C memory as an array, without a copy; owner (a cdata from ffi.gc) lives as long as the array."""
    shape = tuple(int(n) for n in shape)
    dtype = np.dtype(dtype)
    if pointer == ffi.NULL or math.prod(shape) == 0:
        return np.empty(shape, dtype)
    address = int(ffi.cast("uintptr_t", pointer))
    array = np.asarray(_Window(owner, address, shape, dtype.str, strides, readonly))
    return array.view(dtype) if dtype.names else array


def pointer_to(array: np.ndarray, ctype: str) -> Any:
    """The C pointer of a compact array, which must outlive its use."""
    return ffi.cast(ctype, array.ctypes.data) if array.size else ffi.cast(ctype, 0)
