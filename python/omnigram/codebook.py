"""Codebooks: vectors to codes and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._array import as_array, as_path, as_text, one_of
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to, view
from .config import as_config, node_value
from .errors import UnsupportedError, call, invalid
from .pack import MODALITIES
from .pool import Pool, pool_pointer


def quantizers() -> dict[str, str]:
    """Every quantizer of this build: name -> one line."""
    found, i = {}, 0
    while lib.og_quantizer_types[i] != ffi.NULL:
        found[text(lib.og_quantizer_types[i].name)] = text(lib.og_quantizer_types[i].summary)
        i += 1
    return found


class Codebook(Handle):
    """codes float32 [levels, size, dim] with what made the vectors and a fingerprint of both."""

    def __init__(self, quantizer: str, modality: str, codes: ArrayLike, preprocess: Mapping[str, Any] | None = None):
        codes = as_array(codes, np.float32, "codes", 3)
        named, number = as_text(quantizer, "quantizer"), one_of(modality, MODALITIES, "modality")
        tree = ffi.new("og_config **")
        call(lib.og_config_copy, as_config(preprocess).pointer, tree)
        out = ffi.new("og_codebook **")
        try:
            call(lib.og_codebook_new, named, number, *codes.shape, pointer_to(codes, "float *"), tree[0], ffi.NULL, out)
        except BaseException:
            lib.og_config_free(tree[0])  # og_codebook_new takes it only when it succeeds
            raise
        self._own(out[0], lib.og_codebook_free)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codebook:
        """FormatError when the stored fingerprint is not that of the contents."""
        out = ffi.new("og_codebook **")
        call(lib.og_codebook_load, as_path(path), out)
        self = cls.__new__(cls)
        self._own(out[0], lib.og_codebook_free)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        call(lib.og_codebook_save, self.pointer, as_path(path))

    @property
    def modality(self) -> str:
        return MODALITIES[int(self.pointer.modality)]

    @property
    def quantizer(self) -> str:
        return str(ffi.string(self.pointer.quantizer).decode())

    @property
    def fingerprint(self) -> str:
        return str(ffi.string(self.pointer.fingerprint).decode())

    @property
    def codes(self) -> np.ndarray:
        """float32 [levels, size, dim], in place."""
        p = self.pointer
        return view(p, p.codes, (p.levels, p.size, p.dim), "<f4")

    @property
    def levels(self) -> int:
        return int(self.pointer.levels)

    @property
    def size(self) -> int:
        return int(self.pointer.size)

    @property
    def dim(self) -> int:
        return int(self.pointer.dim)

    @property
    def preprocess(self) -> dict[str, Any]:
        return node_value(self.pointer.preprocess) or {}

    @property
    def health(self) -> dict[str, Any]:
        return node_value(self.pointer.health) or {}

    def encode(self, vectors: ArrayLike, pool: Pool | None = None) -> np.ndarray:
        """Codes int32 [n, levels] of vectors float32 [n, dim]; the same for any batch and pool; -1 for what is not finite."""
        vectors = as_array(vectors, np.float32, "vectors", 2)
        self._check_dim(vectors.shape[1])
        codes = np.empty((vectors.shape[0], self.levels), np.int32)
        call(self._kind().encode, self.pointer, pointer_to(vectors, "float *"), vectors.shape[0],
             pointer_to(codes, "int32_t *"), ffi.NULL, pool_pointer(pool))
        return codes

    def decode(self, codes: ArrayLike) -> np.ndarray:
        """Vectors float32 [n, dim] of codes int32 [n, levels]."""
        codes = as_array(codes, np.int32, "codes")
        codes = codes[:, None] if codes.ndim == 1 and self.levels == 1 else codes
        if codes.ndim != 2 or codes.shape[1] != self.levels:
            raise invalid(f"codes: shape {codes.shape} where (n, {self.levels}) is needed")
        vectors = np.empty((codes.shape[0], self.dim), np.float32)
        call(self._kind().decode, self.pointer, pointer_to(codes, "int32_t *"), codes.shape[0],
             pointer_to(vectors, "float *"))
        return vectors

    def _check_dim(self, dim: int) -> None:
        if dim != self.dim:
            raise invalid(f"vectors: {dim} values each where the codebook has {self.dim}")

    def _kind(self) -> Any:
        kind = lib.og_quantizer_find(self.pointer.quantizer)
        if kind == ffi.NULL:
            raise UnsupportedError(lib.OG_ENOTSUP, f"this build has no quantizer {self.quantizer!r}; "
                                                   f"it has {', '.join(quantizers())}")
        return kind
