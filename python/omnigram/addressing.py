"""Addressing: windows of codes to row ids (n-gram hashing), and the history a stream carries between calls."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._array import as_array, instance, optional
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to
from .config import Config, as_config, take_text
from .errors import call, invalid, wrong_type
from .pool import Pool, pool_pointer

ROW_NONE = -1
"""The row of an n-gram that does not exist; its vector is exactly zero. Nothing else is ever negative."""


class Column(NamedTuple):
    """A column of row ids: its n-gram's order, its number among that order's, its ids' range [base, base + rows)."""

    order: int
    head: int
    rows: int
    base: int


class AddressResult(NamedTuple):
    """rows int64 [T, C]; live uint8 [T, C] and signs int32 [T] where the scheme has them, else None."""

    rows: np.ndarray
    live: np.ndarray | None
    signs: np.ndarray | None


def schemes() -> dict[str, str]:
    """Every addressing scheme of this build: name -> one line."""
    found, i = {}, 0
    while lib.og_addr_types[i] != ffi.NULL:
        found[text(lib.og_addr_types[i].name)] = text(lib.og_addr_types[i].summary)
        i += 1
    return found


class Stream:
    """Codes in reading order with the marks that windows look at, checked; keeps what the C struct points to."""

    def __init__(self, codes: ArrayLike, width: int, doc_starts: ArrayLike | None, marks: ArrayLike | None,
                 modality: ArrayLike | None, continues: bool):
        codes = as_array(codes, np.int32, "codes")
        if codes.ndim == 1 and width == 1:
            codes = codes[:, None]
        if codes.ndim != 2 or codes.shape[1] != width:
            batch = "; a batch is one stream, flattened, with a document start for each of its rows" if width == 1 else ""
            raise invalid(f"codes: shape {codes.shape} where {f'(T, {width})' if width > 1 else '(T,)'} is needed{batch}")
        self.n = codes.shape[0]
        if doc_starts is None:
            doc_starts = [] if continues else [0]
        starts = as_array(doc_starts, np.int64, "doc_starts", 1)
        marks = optional(marks, np.uint16, "marks", self.n)
        modality = optional(modality, np.int8, "modality", self.n)
        self.keep = (codes, starts, marks, modality)
        self.struct = ffi.new("og_stream *", {
            "codes": pointer_to(codes, "int32_t *"), "n": self.n, "width": width,
            "doc_starts": pointer_to(starts, "int64_t *"), "n_docs": starts.shape[0],
            "marks": ffi.NULL if marks is None else pointer_to(marks, "uint16_t *"),
            "modality": ffi.NULL if modality is None else pointer_to(modality, "int8_t *"),
        })


class Addressing(Handle):
    """A scheme and its config: Addressing("welm_knuth32", vocab=131072, orders=[2, 3], rows=[65537, 65537]).

    Or a whole config (mapping, Config or file) with the key `scheme`. InvalidError names an unknown scheme's or key's
    nearest. Pure: the same codes give the same rows, for any pool and any way to cut a stream into calls.
    """

    def __init__(self, scheme: str | Mapping[str, Any] | Config, **keys: Any):
        if isinstance(scheme, str):
            scheme = {"scheme": scheme, **keys}
        elif keys:
            raise wrong_type("keys go into the config when a whole config is given")
        config = as_config(scheme)
        out = ffi.new("og_addr **")
        call(lib.og_addr_new, config.pointer, out)
        self._own(out[0], lib.og_addr_free)

    @property
    def _layout(self) -> Any:
        return lib.og_addr_layout_of(self.pointer)

    @property
    def scheme(self) -> str:
        return text(lib.og_addr_type_of(self.pointer).name)

    @property
    def source(self) -> str:
        """The paper or code it is exact with."""
        return text(lib.og_addr_type_of(self.pointer).source)

    @property
    def width(self) -> int:
        """Codes of one position: 1, or heads or routes."""
        return int(self._layout.width)

    @property
    def columns(self) -> list[Column]:
        layout = self._layout
        return [Column(c.order, c.head, c.rows, c.base) for c in (layout.columns[i] for i in range(layout.n_columns))]

    @property
    def halo(self) -> int:
        """Positions before a shard that its windows look at: push them into a history() first. Not enough for the window
        mode `skip`, which looks back any distance, and for random_row, which counts places from the start."""
        return int(self._layout.window.max_order) - 1

    @property
    def total_rows(self) -> int:
        return int(lib.og_addr_total_rows(self.pointer))

    @property
    def description_text(self) -> str:
        """Config and constants as canonical JSON: what the fingerprint is of."""
        out = ffi.new("char **")
        call(lib.og_addr_describe, self.pointer, out)
        return take_text(out[0])

    @property
    def description(self) -> dict[str, Any]:
        return dict(json.loads(self.description_text))

    @property
    def constants(self) -> dict[str, Any]:
        """What a checkpoint must carry (multipliers, primes); {} when the scheme has none."""
        kind = lib.og_addr_type_of(self.pointer)
        if kind.constants == ffi.NULL:
            return {}
        return dict(self.description.get("constants", {}))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the description, 64 hexadecimal digits."""
        return text(lib.og_addr_fingerprint(self.pointer))

    def rows(self, codes: ArrayLike, doc_starts: ArrayLike | None = None, *, marks: ArrayLike | None = None,
             modality: ArrayLike | None = None, history: History | None = None,
             pool: Pool | None = None) -> np.ndarray:
        """Row ids int64 [T, C] of codes [T] or [T, width]; ROW_NONE (-1) where an n-gram does not exist.

        doc_starts: ascending positions where documents begin; default [0] without and none with a history.
        marks: uint16 [T], bit 1 << OG_AT_* each; modality: int8 [T]. history is read first and moved to the end of
        the stream. InvalidError names code, limit, position and scheme; then the history is unchanged.
        """
        return self._map(codes, doc_starts, marks, modality, history, pool, False).rows

    def map(self, codes: ArrayLike, doc_starts: ArrayLike | None = None, *, marks: ArrayLike | None = None,
             modality: ArrayLike | None = None, history: History | None = None,
            pool: Pool | None = None) -> AddressResult:
        """As rows(), with live flags (LongCat) and sign rows (modded-nanogpt) where the scheme has them."""
        return self._map(codes, doc_starts, marks, modality, history, pool, True)

    def _map(self, codes: ArrayLike, doc_starts: ArrayLike | None, marks: ArrayLike | None, modality: ArrayLike | None,
             history: History | None, pool: Pool | None, extras: bool) -> AddressResult:
        kind, n_columns = lib.og_addr_type_of(self.pointer), self._layout.n_columns
        stream = Stream(codes, self.width, doc_starts, marks, modality, history is not None)
        rows = np.empty((stream.n, n_columns), np.int64)
        live = np.empty((stream.n, n_columns), np.uint8) if extras and kind.live != ffi.NULL else None
        signs = np.empty(stream.n, np.int32) if extras and kind.signs != ffi.NULL else None
        if history is not None and instance(history, History, "history").addressing is not self:
            raise invalid("history: it belongs to another Addressing")
        with nullcontext() if history is None else history.lock:
            call(lib.og_addr_map, self.pointer, stream.struct, ffi.NULL if history is None else history.pointer,
                 pool_pointer(pool), pointer_to(rows, "int64_t *"),
                 ffi.NULL if live is None else pointer_to(live, "uint8_t *"),
                 ffi.NULL if signs is None else pointer_to(signs, "int32_t *"))
        return AddressResult(rows, live, signs)

    def history(self) -> History:
        """A new stream's history, for decoding and chunked prefill."""
        return History(self)


class History:
    """What a stream has seen and windows may still look at. Save it before a draft, restore it when the draft is refused.

    One stream's: threads that use it at once take turns, in no order.
    """

    def __init__(self, addressing: Addressing):
        self.addressing = instance(addressing, Addressing, "addressing")
        self.lock = threading.RLock()
        window = ffi.addressof(addressing._layout.window)
        size = lib.og_history_bytes(window, addressing.width)
        self._memory = ffi.new("int64_t[]", (size + 7) // 8)
        self._bytes = size
        self.reset()

    @property
    def pointer(self) -> Any:
        return self._history

    def reset(self) -> None:
        """To the start of a stream."""
        window = ffi.addressof(self.addressing._layout.window)
        with self.lock:
            self._history = lib.og_history_reset(self._memory, window, self.addressing.width)

    def push(self, codes: ArrayLike, doc_starts: ArrayLike | None = None, *, marks: ArrayLike | None = None,
             modality: ArrayLike | None = None) -> None:
        """Puts codes into the past without computing anything (oldest first)."""
        stream = Stream(codes, self.addressing.width, doc_starts, marks, modality, True)
        with self.lock:
            call(lib.og_history_push, self._history, ffi.addressof(self.addressing._layout.window), stream.struct)

    def save(self) -> bytes:
        """The state with a digest of it and of what the addressing is, for restore() here or in another process."""
        with self.lock:
            state = bytes(ffi.buffer(self._memory, self._bytes))
        return self._digest(state) + state

    def restore(self, saved: bytes) -> None:
        """InvalidError for bytes that save() of a History of the same addressing did not give."""
        saved = bytes(instance(saved, (bytes, bytearray, memoryview), "saved"))
        digest, state = saved[:32], saved[32:]
        if len(state) != self._bytes:
            raise invalid(f"saved: {len(saved)} bytes where {32 + self._bytes} are needed")
        if digest != self._digest(state):
            raise invalid("saved: these bytes were changed, or are of another addressing than "
                          f"{self.addressing.scheme} {self.addressing.fingerprint}")
        with self.lock:
            ffi.memmove(self._memory, state, self._bytes)

    def _digest(self, state: bytes) -> bytes:
        return hashlib.sha256(self.addressing.fingerprint.encode() + state).digest()
