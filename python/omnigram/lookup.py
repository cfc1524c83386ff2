"""Lookup: row ids to vectors, submit -> ticket -> wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._array import as_array
from ._ffi import ffi, lib
from ._handle import Handle, pointer_to
from .dlpack import Tensor, borrow
from .dtypes import NUMPY, dtype_code, dtype_name
from .errors import call
from .table import Table

# What each living lookup's workers read and write, by the lookup's address. A root of its own: were it reachable from the
# Lookup alone, the garbage collector might finalise the tables of a cycle before the workers are joined.
_in_use: dict[int, tuple] = {}


def _free(pointer, free=lib.og_lookup_free, in_use=_in_use, address=lambda p: int(ffi.cast("uintptr_t", p))) -> None:
    free(pointer)
    in_use.pop(address(pointer), None)


class Ticket:
    """A lookup on its way. wait() gives the vectors; cancel() ends it: nothing writes to its output afterwards."""

    def __init__(self, lookup: Lookup, number: int, result):
        self._lookup, self._number, self._result, self._done = lookup, number, result, False

    def wait(self):
        """The output [n, width]: what `into` was, else a numpy array (f32, f16) or a Tensor (bf16)."""
        if not self._done:
            call(lib.og_lookup_wait, self._lookup.pointer, self._number)
            self._finish()
        if self._result is None:
            raise ValueError("this ticket was cancelled")
        return self._result

    def cancel(self) -> None:
        if not self._done:
            call(lib.og_lookup_cancel, self._lookup.pointer, self._number)
            self._result = None
            self._finish()

    def _finish(self) -> None:
        self._done = True
        self._lookup._outputs.pop(self._number, None)


class Lookup(Handle):
    """Gathers rows of tables into [n, width] on worker threads.

    Column c of the ids reads tables[store[c]] at id - base[c]; by default one column a table and bases of zero.
    dtype of the output: f32, bf16 or f16. in_flight tickets may be out at once; submit blocks beyond that.
    """

    def __init__(self, tables: Table | Sequence[Table], *, store: Sequence[int] | None = None,
                 base: Sequence[int] | None = None, dtype: str = "f32", threads: int = 1, in_flight: int = 2,
                 dedupe: bool = True):
        tables = [tables] if isinstance(tables, Table) else list(tables)
        store_ids = as_array(range(len(tables)) if store is None else store, np.int32, "store", 1)
        bases = None if base is None else as_array(base, np.int64, "base", 1)
        if bases is not None and bases.shape != store_ids.shape:
            raise ValueError(f"base: {bases.shape[0]} values for {store_ids.shape[0]} columns")
        self._dtype = dtype_code(dtype)
        self.columns = int(store_ids.shape[0])
        stores = ffi.new("og_store *[]", [table.pointer for table in tables])
        plan = ffi.new("og_lookup_plan *", {
            "stores": stores, "n_stores": len(tables), "store": pointer_to(store_ids, "int32_t *"),
            "base": ffi.NULL if bases is None else pointer_to(bases, "int64_t *"), "n_columns": self.columns,
            "out_dtype": self._dtype, "threads": threads, "in_flight": in_flight, "dedupe": dedupe,
        })
        out = ffi.new("og_lookup **")
        call(lib.og_lookup_new, plan, out)
        self._own(out[0], _free)
        self._outputs: dict[int, tuple] = {}  # by ticket: what workers may read and write
        _in_use[int(ffi.cast("uintptr_t", out[0]))] = ([table.pointer for table in tables], stores, store_ids, bases,
                                                       self._outputs)

    @property
    def width(self) -> int:
        """Values of one output row: the sum over the columns of their tables' dim."""
        return lib.og_lookup_width(self.pointer)

    def submit(self, rows, into=None) -> Ticket:
        """Starts a lookup of row ids int64 [n, columns] ([n] for one column); ROW_NONE gives exact zeros.

        into: caller's memory [n, width] of the output's dtype (numpy, Tensor, torch; host, compact), written without a
        copy. Ids are checked now: InvalidError names id, column, table rows and position, and nothing is queued.
        """
        rows = self._rows(rows)
        result, memory = self._output(rows.shape[0], into)
        ticket = ffi.new("og_ticket *")
        call(lib.og_lookup_submit, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0],
             ffi.cast("void *", memory.pointer), ticket)
        self._outputs[int(ticket[0])] = (rows, memory)
        return Ticket(self, int(ticket[0]), result)

    def __call__(self, rows, into=None):
        """The same on this thread, at once: the output."""
        rows = self._rows(rows)
        result, memory = self._output(rows.shape[0], into)
        call(lib.og_lookup_now, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0],
             ffi.cast("void *", memory.pointer))
        return result

    def stats(self) -> dict[str, int]:
        """lookups, ids, distinct, absent, work_ns, waited_ns. Hidden share = 1 - waited_ns / work_ns."""
        out = ffi.new("og_lookup_stats *")
        lib.og_lookup_read_stats(self.pointer, out)
        return {field: int(getattr(out, field)) for field, _ in ffi.typeof("og_lookup_stats").fields}

    def reset_stats(self) -> None:
        lib.og_lookup_reset_stats(self.pointer)

    def close(self) -> None:
        """Waits for running lookups, drops waiting ones, joins the workers."""
        if self._pointer is not None:
            ffi.release(self._pointer)  # now, not at the last reference: no write to any output may follow
        super().close()
        self._outputs.clear()

    def _rows(self, rows) -> np.ndarray:
        rows = as_array(rows, np.int64, "rows")
        if rows.ndim == 1 and self.columns == 1:
            rows = rows[:, None]
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            raise ValueError(f"rows: shape {rows.shape} where (n, {self.columns}) is needed")
        return rows

    def _output(self, n: int, into):
        shape = (n, self.width)
        if into is None:
            array = np.empty(shape, NUMPY[self._dtype])
            into = Tensor(array, self._dtype) if self._dtype == lib.OG_BF16 else array
        memory = borrow(into, "into", writable=True)
        if memory.shape != shape or memory.dtype != self._dtype:
            raise ValueError(f"into: {dtype_name(memory.dtype)} {memory.shape} where "
                             f"{dtype_name(self._dtype)} {shape} is needed")
        return into, memory
