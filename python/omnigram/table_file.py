"""Tables on disk: safetensors with the table's identity, read in place or into memory."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ._array import I32, as_int, as_path, as_text, instance, one_of
from ._ffi import ffi, lib, text
from ._handle import Handle
from .addressing import Addressing
from .dtypes import dtype_name
from .errors import call, invalid
from .table import Table

_LAYOUTS = {"plain": lib.OG_LAYOUT_PLAIN, "packed": lib.OG_LAYOUT_PACKED}


class TableIdentity(NamedTuple):
    """What a table is: its name, and the fingerprint and description (canonical JSON) of what its rows are keyed by."""

    name: str
    fingerprint: str
    description: str

    @classmethod
    def of(cls, addressing: Addressing, name: str = "table") -> TableIdentity:
        instance(addressing, Addressing, "addressing")
        return cls(name, addressing.fingerprint, addressing.description_text)


class TableHeader(NamedTuple):
    """What a table file says of itself."""

    identity: TableIdentity
    rows: int
    dim: int
    dtype: str
    group: int
    state: int
    layout: str
    shards: int


def save_table(table: Table, path: str | os.PathLike[str], identity: TableIdentity, *, layout: str = "packed",
               shards: int = 1) -> None:
    """Writes all rows and their optimiser state; until the last step an earlier table at path stays whole.

    layout: "packed" (records as in memory) or "plain" (tensors as published systems have them). A path that ends in
    .json is an index over `shards` files beside it.
    """
    one_of(layout, list(_LAYOUTS), "layout")
    struct, _keep = _identity(identity, "identity")
    call(lib.og_table_save, as_path(path), instance(table, Table, "table").pointer, struct, _LAYOUTS[layout],
         as_int(shards, "shards", I32))


def open_table(path: str | os.PathLike[str], expected: TableIdentity | None = None, *, writable: bool = False) -> Table:
    """The table in its file's memory map, whatever its size. expected: see TableFile. writable writes into the file.

    An index of several files (.json) has no one map: TableFile(path).load() reads it into memory.
    """
    if str(path).endswith(".json"):
        raise invalid(f"{path} is an index of files, which no one map can show; TableFile(path).load() reads it")
    if expected is not None:
        TableFile(path, expected).close()
    return Table(0, 0, 0, backing="file", name=path, writable=writable)


class TableFile(Handle):
    """An open table file. expected: what the model needs; InvalidError has both fingerprints and the first key that differs."""

    def __init__(self, path: str | os.PathLike[str], expected: TableIdentity | None = None):
        struct, _keep = (ffi.NULL, None) if expected is None else _identity(expected, "expected")
        out = ffi.new("og_table_file **")
        call(lib.og_table_file_open, as_path(path), struct, out)
        self._own(out[0], lib.og_table_file_close)

    @property
    def header(self) -> TableHeader:
        h = lib.og_table_file_header(self.pointer)
        layout = next(name for name, code in _LAYOUTS.items() if code == h.layout)
        identity = TableIdentity(text(h.identity.name), text(h.identity.fingerprint), text(h.identity.description))
        return TableHeader(identity, h.rows, h.dim, dtype_name(h.dtype), h.group, h.state, layout, h.shards)

    @property
    def description(self) -> dict[str, Any]:
        return dict(json.loads(self.header.identity.description))

    def load(self, table: Table | None = None, *, first: int = 0) -> Table:
        """Rows [first, first + table.rows) into table (default: a new one that holds all), optimiser state included."""
        if table is None:
            h = self.header
            table = Table(h.rows, h.dim, h.dtype, group=h.group, state=h.state)
        instance(table, Table, "table")._check_writable()
        call(lib.og_table_file_load, self.pointer, as_int(first, "first"), table.pointer)
        return table


def _identity(identity: TableIdentity, name: str) -> tuple[Any, list[Any]]:
    instance(identity, TableIdentity, name)
    keep = [ffi.new("char[]", as_text(part, f"{name}.{field}")) for field, part in zip(identity._fields, identity)]
    return ffi.new("og_table_identity *", {"name": keep[0], "fingerprint": keep[1], "description": keep[2],
                                           "constants": ffi.NULL}), keep
