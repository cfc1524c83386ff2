"""Threads. Nothing in the library starts one by itself."""

from __future__ import annotations

from typing import Any

from ._array import I32, as_int, instance
from ._ffi import ffi, lib
from ._handle import Handle
from .errors import call


class Pool(Handle):
    """A pool of 1 to 1024 threads, the calling one included; results never depend on it. Not for use in a
    forked child (InvalidError)."""

    def __init__(self, threads: int):
        out = ffi.new("og_pool **")
        call(lib.og_pool_new, as_int(threads, "threads", I32), out)
        self._own(out[0], lib.og_pool_free, threads=True)

    @property
    def threads(self) -> int:
        return int(lib.og_pool_threads(self.pointer))


def pool_pointer(pool: Pool | None) -> Any:
    """NULL (this thread) for None."""
    return ffi.NULL if pool is None else instance(pool, Pool, "pool").pointer
