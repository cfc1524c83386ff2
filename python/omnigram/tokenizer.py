"""The text tokenizer: SentencePiece BPE."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ._array import as_array, as_int, as_path, instance
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to, view
from .errors import call, invalid


class Tokenizer(Handle):
    """A SentencePiece model file. Text that looks like a marker stays text."""

    def __init__(self, path: str | os.PathLike[str]):
        out = ffi.new("og_tokenizer **")
        call(lib.og_tokenizer_open, as_path(path), out)
        self._own(out[0], lib.og_tokenizer_free)

    @classmethod
    def train(cls, texts: Iterable[str], vocab: int, path: str | os.PathLike[str]) -> Tokenizer:
        """Fits BPE to texts, writes path atomically and opens it; the same file for the same texts."""
        encoded = [ffi.new("char[]", _utf8(t, f"texts[{i}]")) for i, t in enumerate(texts)]
        array = ffi.new("char *[]", encoded or [ffi.NULL])
        lengths = ffi.new("int64_t[]", [len(t) - 1 for t in encoded] or [0])
        call(lib.og_tokenizer_train, array, lengths, len(encoded), as_int(vocab, "vocab"), as_path(path))
        return cls(path)

    @property
    def vocab(self) -> int:
        return int(lib.og_tokenizer_vocab(self.pointer))

    @property
    def fingerprint(self) -> str:
        return text(lib.og_tokenizer_fingerprint(self.pointer))

    def encode(self, value: str) -> np.ndarray:
        """Ids int32 [n]."""
        data = _utf8(value, "value")
        ids, n = ffi.new("int32_t **"), ffi.new("int64_t *")
        call(lib.og_tokenizer_encode, self.pointer, data, len(data), ids, n)
        owner = ffi.gc(ids[0], lib.og_release)
        return view(owner, owner, (n[0],), "<i4").copy()

    def decode(self, ids: ArrayLike) -> str:
        """Text of ids int32 [n]; InvalidError names an id out of range."""
        ids = as_array(ids, np.int32, "ids", 1)
        out = ffi.new("char **")
        call(lib.og_tokenizer_decode, self.pointer, pointer_to(ids, "int32_t *"), ids.shape[0], out)
        try:
            return str(ffi.string(out[0]).decode(errors="replace"))
        finally:
            lib.og_release(out[0])


def _utf8(value: str, name: str) -> bytes:
    try:
        return instance(value, str, name).encode()
    except UnicodeEncodeError as error:
        raise invalid(f"{name}: {error}") from None
