"""Lookup: row ids to vectors, submit -> ticket -> wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._array import I32, as_array, as_int, instance
from ._ffi import ffi, lib
from ._handle import Handle, pointer_to
from .dlpack import Memory, Tensor, borrow
from .dtypes import NUMPY, dtype_code, dtype_name
from .errors import OmnigramError, call, invalid
from .table import Table

# What each living lookup's workers read and write, by the lookup's address. A root of its own: were it reachable from the
# Lookup alone, the garbage collector might finalise the tables of a cycle before the workers are joined.
_in_use: dict[int, tuple[Any, ...]] = {}


def _free(pointer: Any, free: Any = lib.og_lookup_free, in_use: dict[int, tuple[Any, ...]] = _in_use,
          address: Callable[[Any], int] = lambda p: int(ffi.cast("uintptr_t", p))) -> None:
    free(pointer)
    in_use.pop(address(pointer), None)


class _InFlight:
    """What workers may read and write: of tickets, by number, and of calls that have not yet got theirs."""

    def __init__(self) -> None:
        self.tickets: dict[int, tuple[Any, ...]] = {}
        self.begun: dict[int, tuple[Any, ...]] = {}


class Ticket:
    """A lookup on its way. wait() gives the vectors; cancel() ends it: nothing writes to its output afterwards."""

    def __init__(self, lookup: Lookup, number: int, result: Any):
        self._lookup, self._number, self._result, self._done = lookup, number, result, False

    def wait(self) -> Any:
        """The output [n, width]: what `into` was, else a numpy array (f32, f16) or a Tensor (bf16)."""
        if not self._done:
            self._lookup._call(lib.og_lookup_wait, self._number)
            self._finish()
        if self._result is None:
            raise invalid(f"ticket {self._number} was cancelled")
        return self._result

    def cancel(self) -> None:
        if not self._done:
            self._lookup._call(lib.og_lookup_cancel, self._number)
            self._result = None
            self._finish()

    def _finish(self) -> None:
        self._done = True
        self._lookup._in_flight.tickets.pop(self._number, None)


def _dedupe_code(dedupe: Any) -> int:
    if isinstance(dedupe, (bool, np.bool_)):
        return int(lib.OG_DEDUPE_AUTO if dedupe else lib.OG_DEDUPE_NEVER)
    if isinstance(dedupe, str) and dedupe == "always":
        return int(lib.OG_DEDUPE_ALWAYS)
    raise invalid(f"dedupe: {dedupe!r} is none of True, False and 'always'")


class Lookup(Handle):
    """Gathers rows of tables into [n, width] on worker threads.

    Column c of the ids reads tables[store[c]] at id - base[c]; by default one column a table and bases of zero.
    dtype of the output: f32, bf16 or f16. dedupe: read each distinct row once where sorting pays (True), always or
    never (False); values are the same. in_flight tickets may be out at once; submit blocks beyond that.
    """

    def __init__(self, tables: Table | Sequence[Table], *, store: Sequence[int] | None = None,
                 base: Sequence[int] | None = None, dtype: str = "f32", threads: int = 1, in_flight: int = 2,
                 dedupe: bool | Literal["always"] = True):
        tables = [tables] if isinstance(tables, Table) else list(instance(tables, Iterable, "tables"))
        pointers = [instance(table, Table, f"tables[{i}]").pointer for i, table in enumerate(tables)]
        store_ids = as_array(range(len(tables)) if store is None else store, np.int32, "store", 1)
        bases = None if base is None else as_array(base, np.int64, "base", 1)
        if bases is not None and bases.shape != store_ids.shape:
            raise invalid(f"base: {bases.shape[0]} values for {store_ids.shape[0]} columns")
        self._dtype = dtype_code(dtype)
        self.columns = int(store_ids.shape[0])
        self._depth = as_int(in_flight, "in_flight", I32)
        stores = ffi.new("og_store *[]", pointers)
        plan = ffi.new("og_lookup_plan *", {
            "stores": stores, "n_stores": len(tables), "store": pointer_to(store_ids, "int32_t *"),
            "base": ffi.NULL if bases is None else pointer_to(bases, "int64_t *"), "n_columns": self.columns,
            "out_dtype": self._dtype, "threads": as_int(threads, "threads", I32), "in_flight": self._depth,
            "dedupe": _dedupe_code(dedupe),
        })
        out = ffi.new("og_lookup **")
        call(lib.og_lookup_new, plan, out)
        self._in_flight, self._inside, self._left = _InFlight(), 0, threading.Condition()
        _in_use[int(ffi.cast("uintptr_t", out[0]))] = (pointers, stores, store_ids, bases, self._in_flight)
        self._own(out[0], _free, threads=True)
        self._width = lib.og_lookup_width(out[0])

    @property
    def width(self) -> int:
        """Values of one output row: the sum over the columns of their tables' dim."""
        return int(self._width)

    def submit(self, rows: ArrayLike, into: Any = None) -> Ticket:
        """Starts a lookup of row ids int64 [n, columns] ([n] for one column); ROW_NONE gives exact zeros.

        into: caller's memory [n, width] of the output's dtype (numpy, Tensor, torch; host, compact), written without a
        copy. Ids are checked now: InvalidError names id, column, table rows and position, and nothing is queued; they
        are copied too, so the caller's array is free at once.
        """
        rows = self._rows(rows).copy()  # workers trust what was checked
        result, memory = self._output(rows.shape[0], into)
        ticket, held, flight = ffi.new("og_ticket *"), (rows, memory), self._in_flight
        flight.begun[id(held)] = held  # an interrupt after the call must not free what workers write
        try:
            self._call(lib.og_lookup_submit, pointer_to(rows, "int64_t *"), rows.shape[0],
                       ffi.cast("void *", memory.pointer), ticket)
        except OmnigramError:
            del flight.begun[id(held)]
            raise
        number = int(ticket[0])
        flight.tickets[number] = held
        del flight.begun[id(held)]
        for old in [t for t in list(flight.tickets) if t <= number - self._depth]:  # ended, though nobody waited
            flight.tickets.pop(old, None)
        return Ticket(self, number, result)

    def __call__(self, rows: ArrayLike, into: Any = None) -> Any:
        """The same on this thread, at once: the output."""
        rows = self._rows(rows)
        result, memory = self._output(rows.shape[0], into)
        self._call(lib.og_lookup_now, pointer_to(rows, "int64_t *"), rows.shape[0], ffi.cast("void *", memory.pointer))
        return result

    def stats(self) -> dict[str, int]:
        """lookups, ids, distinct, absent, work_ns, waited_ns. Hidden share = 1 - waited_ns / work_ns."""
        out = ffi.new("og_lookup_stats *")
        with self._entered() as pointer:
            lib.og_lookup_read_stats(pointer, out)
        return {field: int(getattr(out, field)) for field, _ in ffi.typeof("og_lookup_stats").fields}

    def reset_stats(self) -> None:
        with self._entered() as pointer:
            lib.og_lookup_reset_stats(pointer)

    def close(self) -> None:
        """Waits for running lookups and for calls of other threads, drops waiting ones, joins the workers."""
        if not self._is_here():
            self._pointer = None
            return
        with self._left:
            pointer, self._pointer = self._pointer, None
            while self._inside:
                self._left.wait()
            if pointer is not None:
                ffi.release(pointer)  # now, not at the last reference: no write to any output may follow
        self._in_flight.tickets.clear()

    @contextmanager
    def _entered(self) -> Iterator[Any]:
        """The C pointer, which close() in another thread leaves alone until it is given back."""
        _ = self.pointer  # in a forked child the condition may be held for ever
        with self._left:
            pointer = self.pointer
            self._inside += 1
        try:
            yield pointer
        finally:
            with self._left:
                self._inside -= 1
                self._left.notify_all()

    def _call(self, function: Any, *arguments: Any) -> None:
        with self._entered() as pointer:
            call(function, pointer, *arguments)

    def _rows(self, ids: ArrayLike) -> np.ndarray:
        rows = as_array(ids, np.int64, "rows")
        if rows.ndim == 1 and self.columns == 1:
            rows = rows[:, None]
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            raise invalid(f"rows: shape {rows.shape} where (n, {self.columns}) is needed")
        return rows

    def _output(self, n: int, into: Any) -> tuple[Any, Memory]:
        shape = (n, self.width)
        if into is None:
            array = np.empty(shape, NUMPY[self._dtype])
            into = Tensor(array, self._dtype) if self._dtype == lib.OG_BF16 else array
        memory = borrow(into, "into", writable=True)
        if memory.shape != shape or memory.dtype != self._dtype:
            raise invalid(f"into: {dtype_name(memory.dtype)} {memory.shape} where "
                             f"{dtype_name(self._dtype)} {shape} is needed")
        return into, memory
