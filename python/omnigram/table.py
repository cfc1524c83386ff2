"""Row stores: rows x dim in host memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._array import I32, U64, as_array, as_float, as_int, as_path, as_text, instance, one_of
from ._ffi import ffi, lib
from ._handle import Handle, pointer_to, view
from .dlpack import Tensor
from .dtypes import NUMPY, dtype_code, dtype_name
from .errors import call, invalid, wrong_type
from .pool import Pool, pool_pointer

_BACKINGS = {"anonymous": lib.OG_BACK_ANONYMOUS, "shared": lib.OG_BACK_SHARED, "file": lib.OG_BACK_FILE}


class Table(Handle):
    """rows x dim values in host memory, zero at first.

    dtype: f32, bf16, f16, fp8_e4m3 (ue8m0 scale a group), int8 or nf4 (f32 scale a group of `group` values).
    state: f32 values of optimiser state beside each row (see RowOptimizer). backing: anonymous, shared (name: the
    segment) or file (name: a table file, or path#tensor; rows, dim and dtype 0: as the file has them). huge asks for huge pages, lock for mlock; report() says what was granted.
    OutOfMemoryError, before memory is touched, names request and limit.
    """

    def __init__(self, rows: int, dim: int, dtype: str | int = "f32", *, group: int = 0, state: int = 0,
                 backing: str = "anonymous", name: str | os.PathLike[str] | None = None, huge: bool = True,
                 lock: bool = False, numa: int = -1, writable: bool = True):
        place = list(_BACKINGS.values())[one_of(backing, list(_BACKINGS), "backing")]
        if name is not None and place == lib.OG_BACK_ANONYMOUS:
            raise invalid(f"name: {name!r:.200} of an anonymous table; backing 'shared' or 'file' has a name")
        options = ffi.new("og_store_options *",
                          lib.og_store_defaults(as_int(rows, "rows"), as_int(dim, "dim"), dtype_code(dtype)))
        held = ffi.NULL if name is None else ffi.new("char[]", as_path(name, "name"))
        options.group, options.state = as_int(group, "group", I32), as_int(state, "state", I32)
        options.backing, options.name, options.numa = place, held, as_int(numa, "numa", I32)
        options.huge, options.lock, options.writable = bool(huge), bool(lock), bool(writable)
        out = ffi.new("og_store **")
        call(lib.og_store_new, options, out)
        self._own(out[0], lib.og_store_free)
        self._writable = writable

    @classmethod
    def attach(cls, name: str, *, writable: bool = False) -> Table:
        """Joins a shared table that another process made."""
        out = ffi.new("og_store **")
        call(lib.og_store_attach, as_text(name, "name"), bool(writable), out)
        self = cls.__new__(cls)
        self._own(out[0], lib.og_store_free)
        self._writable = writable
        return self

    @property
    def rows(self) -> int:
        return int(lib.og_store_rows(self.pointer))

    @property
    def dim(self) -> int:
        return int(lib.og_store_dim(self.pointer))

    @property
    def dtype(self) -> str:
        return dtype_name(lib.og_store_dtype(self.pointer))

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.dim

    @property
    def row_bytes(self) -> int:
        """One record: values, scales, optimiser state, padding to 64 bytes."""
        return int(lib.og_store_row_bytes(self.pointer))

    def __len__(self) -> int:
        return self.rows

    def read(self, rows: ArrayLike) -> np.ndarray:
        """float32 [n, dim] of rows [n]. InvalidError names an id out of range and its position."""
        rows = as_array(rows, np.int64, "rows", 1)
        values = np.empty((rows.shape[0], self.dim), np.float32)
        call(lib.og_store_read, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0], pointer_to(values, "float *"))
        return values

    def write(self, rows: ArrayLike, values: ArrayLike) -> None:
        """Rounds values float32 [n, dim] into rows [n]."""
        rows, values = _batch(self, rows, values, "values")
        self._check_writable()
        call(lib.og_store_write, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0], pointer_to(values, "float *"))

    def __getitem__(self, row: int | slice | ArrayLike) -> np.ndarray:
        """table[i] -> float32 [dim]; table[a:b] or table[ids] -> [n, dim]."""
        if isinstance(row, slice):
            return self.read(np.arange(*row.indices(self.rows), dtype=np.int64))
        if isinstance(row, (list, tuple, range)) or getattr(row, "ndim", False):
            return self.read(row)
        return self.read([as_int(row, "row")]).reshape(self.dim)

    def fill(self, seed: int = 0, scale: float = 0.02, pool: Pool | None = None) -> Table:
        """Every row normal(0, scale) from (seed, row, channel), zeros for scale 0; returns self."""
        self._check_writable()
        call(lib.og_store_fill, self.pointer, as_int(seed, "seed", U64), as_float(scale, "scale"), pool_pointer(pool))
        return self

    def add(self, rows: ArrayLike, deltas: ArrayLike, pool: Pool | None = None) -> None:
        """Adds deltas float32 [n, dim] to rows [n] (ROW_NONE is skipped), each value atomically: of processes that share
        the table and do this at once none loses an addition; their order is free. Types without scales only."""
        rows, deltas = _batch(self, rows, deltas, "deltas")
        self._check_writable()
        call(lib.og_update_delta, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0],
             pointer_to(deltas, "float *"), self.dim, pool_pointer(pool))

    def norm2(self, rows: ArrayLike, grads: ArrayLike, pool: Pool | None = None) -> float:
        """Sum of squares of the gradients float32 [n, dim], summed per row [n] first: this table's part of a global norm.
        RowOptimizer.apply's grad_scale then clips. The same bits for any pool."""
        rows, grads = _batch(self, rows, grads, "grads")
        out = ffi.new("double *")
        call(lib.og_update_norm2, self.pointer, pointer_to(rows, "int64_t *"), rows.shape[0], pointer_to(grads, "float *"),
             self.dim, pool_pointer(pool), out)
        return float(out[0])

    def tensor(self) -> Tensor:
        """The values [rows, dim] in place (strided by row_bytes), for f32, bf16 and f16; DLPack without a copy."""
        code = lib.og_store_dtype(self.pointer)
        if code not in (lib.OG_F32, lib.OG_BF16, lib.OG_F16):
            raise wrong_type(f"rows of {dtype_name(code)} carry scales and have no view; use read()")
        stride = self._address(min(1, self.rows - 1)) - self._address(0)  # a plain file has no padding between rows
        return Tensor(view(self.pointer, lib.og_store_row(self.pointer, 0), self.shape, NUMPY[code],
                           strides=(stride or self.row_bytes, NUMPY[code].itemsize), readonly=not self._writable), code)

    def __dlpack__(self, **options: Any) -> Any:
        """As tensor(): torch.from_dlpack(table) is the rows in place."""
        return self.tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor().__dlpack_device__()

    def _address(self, row: int) -> int:
        return int(ffi.cast("uintptr_t", lib.og_store_row(self.pointer, row)))

    def report(self) -> dict[str, int]:
        """What the kernel says it got: bytes, resident_bytes, huge_bytes, locked_bytes, page_bytes, nodes ..."""
        out = ffi.new("og_store_report *")
        call(lib.og_store_inspect, self.pointer, out)
        return {field: int(getattr(out, field)) for field, _ in ffi.typeof("og_store_report").fields}

    def _check_writable(self) -> None:
        if not self._writable:
            raise invalid("this table was opened read-only")

    def __repr__(self) -> str:
        return "Table(closed)" if self.closed else f"Table(rows={self.rows}, dim={self.dim}, dtype={self.dtype})"


def _batch(table: Table, rows: ArrayLike, values: ArrayLike, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows [n] and float32 values [n, dim] of a table, checked."""
    instance(table, Table, "table")
    rows, values = as_array(rows, np.int64, "rows", 1), as_array(values, np.float32, name, 2)
    if values.shape != (rows.shape[0], table.dim):
        raise invalid(f"{name}: shape {values.shape} where {(rows.shape[0], table.dim)} is needed")
    return rows, values


class RowOptimizer:
    """A row-sparse optimiser: kind sgd, adagrad_row, adam or rmsprop; options are og_update_options' (lr, eps ...)."""

    _KINDS = {"sgd": lib.OG_SGD, "adagrad_row": lib.OG_ADAGRAD_ROW, "adam": lib.OG_ADAM, "rmsprop": lib.OG_RMSPROP}

    def __init__(self, kind: str = "adagrad_row", *, stochastic_rounding: bool = False, **options: float):
        one_of(kind, list(self._KINDS), "kind")
        self.kind = kind
        self._options = ffi.new("og_update_options *", lib.og_update_defaults(self._KINDS[kind]))
        self._options.rounding = lib.OG_ROUND_STOCHASTIC if stochastic_rounding else lib.OG_ROUND_NEAREST
        known = {field for field, _ in ffi.typeof("og_update_options").fields} - {"kind", "rounding"}
        for key, value in options.items():
            if key not in known:
                raise wrong_type(f"no option {key!r}; there are {', '.join(sorted(known))}")
            whole = isinstance(getattr(self._options, key), int)
            setattr(self._options, key, as_int(value, key, U64) if whole else as_float(value, key))

    def state(self, dim: int) -> int:
        """f32 values of state that a row of dim values needs (Table's `state`), with the step that decay keeps."""
        kept = self._options.decay > 0 and self.kind != "adam"
        return int(lib.og_update_state(self._KINDS[self.kind], as_int(dim, "dim"))) + kept

    def apply(self, table: Table, rows: ArrayLike, grads: ArrayLike, *, step: int, grad_scale: float = 1.0, pool: Pool | None = None) -> None:
        """grads float32 [n, dim] of rows [n] (ROW_NONE is skipped) are summed per row in order and applied once.

        step counts from 1. Other rows do not change by a bit; the same bits for any pool.
        """
        rows, grads = _batch(table, rows, grads, "grads")
        table._check_writable()
        call(lib.og_update_apply, table.pointer, self._options, pointer_to(rows, "int64_t *"), rows.shape[0],
             pointer_to(grads, "float *"), table.dim, as_float(grad_scale, "grad_scale"), as_int(step, "step"),
             pool_pointer(pool))


class Exchange(Handle):
    """Exact updates of one shared table by the `world` processes of a machine that step together.

    Rank 0 makes the meeting place of this name, the others wait for it up to a minute, and it for them. capacity: most
    rows of one batch; dim: the table's. Every rank calls apply() once a step with an optimizer of equal options.
    """

    def __init__(self, name: str, rank: int, world: int, *, capacity: int, dim: int):
        out = ffi.new("og_exchange **")
        call(lib.og_exchange_new, as_text(name, "name"), as_int(rank, "rank", I32), as_int(world, "world", I32),
             as_int(capacity, "capacity"), as_int(dim, "dim"), out)
        self._own(out[0], lib.og_exchange_free)

    def apply(self, optimizer: RowOptimizer, table: Table, rows: ArrayLike, grads: ArrayLike, *, step: int,
              grad_scale: float = 1.0, pool: Pool | None = None) -> None:
        """As RowOptimizer.apply with the batches of rank 0, 1 ... one after the other: the same bits, on every rank.

        A batch that one rank may not give is an InvalidError on all and changes nothing. FileError when a rank has ended,
        saying what the table holds; then the exchange is over.
        """
        instance(optimizer, RowOptimizer, "optimizer")
        rows, grads = _batch(table, rows, grads, "grads")
        with self._lock:
            call(lib.og_exchange_apply, self.pointer, table.pointer, optimizer._options, pointer_to(rows, "int64_t *"),
                 rows.shape[0], pointer_to(grads, "float *"), table.dim, as_float(grad_scale, "grad_scale"),
                 as_int(step, "step"), pool_pointer(pool))
