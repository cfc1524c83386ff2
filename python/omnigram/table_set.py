"""Table sets: the named tables of one model over a pack's modalities."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._array import I32, as_int, as_text, instance
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to
from .addressing import Column
from .config import Config, as_config
from .dtypes import dtype_name
from .errors import call, invalid
from .pack import Ids, Pack
from .pool import Pool, pool_pointer


class TableInfo(NamedTuple):
    """One table: which columns are its own, its store's rows and dim, and what its fingerprint stands for."""

    name: str
    first_column: int
    n_columns: int
    rows: int
    dim: int
    dtype: str
    fingerprint: str
    description: dict[str, Any]


def stencils() -> dict[str, str]:
    """Every stencil of this build: name -> one line."""
    found, i = {}, 0
    while lib.og_stencil_types[i] != ffi.NULL:
        found[text(lib.og_stencil_types[i].name)] = text(lib.og_stencil_types[i].summary)
        i += 1
    return found


class TableSet(Handle):
    """The tables that a config names, for an id map and the codebooks (fingerprints) their keys are made of.

    modalities: of each codebook (IMAGE, AUDIO; -1 unknown), as Packs.codebook_modalities gives them: a table's fingerprint
    then holds only those of the modalities in its keys. Without them it holds all, unless its keys are text alone."""

    def __init__(self, tables: Config | Mapping[str, Any], ids: Ids, codebooks: Sequence[str] = (), modalities: Sequence[int] | None = None):
        names = [ffi.new("char[]", as_text(c, f"codebooks[{i}]")) for i, c in enumerate(codebooks)]
        array = ffi.new("char *[]", names or [ffi.NULL])
        if modalities is not None and len(modalities) != len(names):
            raise invalid(f"modalities: {len(modalities)} for {len(names)} codebooks")
        of = ffi.NULL if modalities is None else ffi.new("int32_t[]", [*(as_int(m, f"modalities[{i}]", I32) for i, m in enumerate(modalities)), -1])
        out = ffi.new("og_table_set **")
        call(lib.og_table_set_new, as_config(tables).pointer, instance(ids, Ids, "ids").struct, array, of, len(names), out)
        self._own(out[0], lib.og_table_set_free)

    @property
    def tables(self) -> list[TableInfo]:
        infos = (lib.og_table_set_info(self.pointer, i) for i in range(lib.og_table_set_count(self.pointer)))
        return [TableInfo(text(t.name), t.first_column, t.n_columns, t.rows, t.dim, dtype_name(t.dtype),
                          text(t.fingerprint), json.loads(text(t.description) or "{}")) for t in infos]

    @property
    def columns(self) -> list[Column]:
        """base: within its table's store."""
        found = (lib.og_table_set_column(self.pointer, c) for c in range(lib.og_table_set_columns(self.pointer)))
        return [Column(c.order, c.head, c.rows, c.base) for c in found]

    @property
    def width(self) -> int:
        """Values of one position's concatenated rows."""
        return int(lib.og_table_set_width(self.pointer))

    def rows(self, pack: Pack, pool: Pool | None = None) -> np.ndarray:
        """int64 [T, C]; ROW_NONE (-1) where an n-gram does not exist."""
        instance(pack, Pack, "pack")
        rows = np.empty((len(pack.tokens), lib.og_table_set_columns(self.pointer)), np.int64)
        call(lib.og_table_set_rows, self.pointer, pack.struct, pool_pointer(pool), pointer_to(rows, "int64_t *"))
        return rows
