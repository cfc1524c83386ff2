"""Calls of the C library without the checks and conversions of the Python classes, so that the library is measured."""

from __future__ import annotations

import numpy as np

from .._ffi import ffi, lib
from ..errors import call
from ..table import Table


def address(table: Table):
    """Row 0 as a void pointer."""
    return lib.og_store_row(table.pointer, 0)


def touch(table: Table) -> None:
    """Writes to every page, so that no measurement pays for the first touch. Values are small and finite."""
    ffi.memmove(address(table), b"\0", 1)
    view = np.frombuffer(ffi.buffer(address(table), table.rows * table.row_bytes), np.uint8)
    view[:] = 1


def aligned(n: int, dim: int, dtype) -> np.ndarray:
    """Zeros [n, dim] that begin at a cache line, as torch's tensors do and numpy's need not."""
    bytes_ = n * dim * np.dtype(dtype).itemsize
    raw = np.zeros(bytes_ + 64, np.uint8)
    at = -raw.ctypes.data % 64
    return raw[at:at + bytes_].view(dtype).reshape(n, dim)


class RawLookup:
    """One column of one table; output of the table's type (f32, bf16 or f16), or of another."""

    def __init__(self, table: Table, *, threads: int = 1, in_flight: int = 2, dedupe: bool = True, out_dtype: int | None = None):
        self._stores = ffi.new("og_store *[1]", [table.pointer])
        self._store = ffi.new("int32_t[1]", [0])
        plan = ffi.new("og_lookup_plan *", {
            "stores": self._stores, "n_stores": 1, "store": self._store, "base": ffi.NULL, "n_columns": 1,
            "out_dtype": lib.og_store_dtype(table.pointer) if out_dtype is None else out_dtype, "threads": threads, "in_flight": in_flight, "dedupe": dedupe})
        out = ffi.new("og_lookup **")
        call(lib.og_lookup_new, plan, out)
        self.pointer, self._table = out[0], table
        self._error = ffi.new("og_error *")
        self._ticket = ffi.new("og_ticket *")

    def now(self, ids: np.ndarray, out: np.ndarray) -> None:
        if lib.og_lookup_now(self.pointer, ffi.cast("int64_t *", ids.ctypes.data), len(ids), ffi.cast("void *", out.ctypes.data), self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())

    def now_at(self, ids, n: int, out) -> None:
        """now() of C pointers: numpy takes two microseconds to say where its arrays are."""
        if lib.og_lookup_now(self.pointer, ids, n, out, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())

    def submit(self, ids: np.ndarray, out: np.ndarray) -> int:
        if lib.og_lookup_submit(self.pointer, ffi.cast("int64_t *", ids.ctypes.data), len(ids), ffi.cast("void *", out.ctypes.data),
                                self._ticket, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())
        return self._ticket[0]

    def wait(self, ticket: int) -> None:
        if lib.og_lookup_wait(self.pointer, ticket, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())

    def stats(self):
        out = ffi.new("og_lookup_stats *")
        lib.og_lookup_read_stats(self.pointer, out)
        return out

    def reset(self) -> None:
        lib.og_lookup_reset_stats(self.pointer)

    def close(self) -> None:
        if self.pointer:
            lib.og_lookup_free(self.pointer)
            self.pointer = None

    def __del__(self):
        self.close()
