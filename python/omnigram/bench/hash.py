"""Addressing: n-gram ids a second of the library's schemes, against a numpy implementation of Engram's hash."""

from __future__ import annotations

import numpy as np

from .._ffi import ffi, lib
from ..addressing import Addressing
from ..pack import IMAGE, DocumentsBuilder, Ids, Packs
from ..table_set import TableSet
from .measure import interleaved, records


class NumpyEngram:
    """Engram v1's hash as its reference has it: products of ids and odd multipliers XORed over the window, modulo a prime
    a head; int64 vectors over the whole sequence."""

    def __init__(self, orders: list[int], primes: list[list[int]], multipliers: np.ndarray, pad: int):
        self._orders, self._primes, self._multipliers, self._pad = orders, primes, multipliers, pad

    def __call__(self, tokens: np.ndarray) -> np.ndarray:
        shifted = [tokens]
        for k in range(1, max(self._orders)):
            moved = np.full_like(tokens, self._pad)
            moved[k:] = tokens[:-k]
            shifted.append(moved)
        columns = []
        for order, primes in zip(self._orders, self._primes, strict=True):
            mixed = shifted[0] * self._multipliers[0]
            for k in range(1, order):
                mixed = np.bitwise_xor(mixed, shifted[k] * self._multipliers[k])
            columns += [mixed % prime for prime in primes]
        return np.stack(columns, axis=1)


class RawAddressing:
    """og_addr_map into one array that is written again each time."""

    def __init__(self, config: dict, codes: np.ndarray):
        self.addressing = Addressing(config)
        self.rows = np.empty((len(codes), len(self.addressing.columns)), np.int64)
        starts = ffi.new("int64_t[1]", [0])
        self._keep = codes, starts
        self._stream = ffi.new("og_stream *", {"codes": ffi.cast("int32_t *", codes.ctypes.data), "n": len(codes), "width": 1,
                                               "doc_starts": starts, "n_docs": 1})
        self._to, self._error = ffi.cast("int64_t *", self.rows.ctypes.data), ffi.new("og_error *")

    def __call__(self) -> None:
        if lib.og_addr_map(self.addressing.pointer, self._stream, ffi.NULL, ffi.NULL, self._to, ffi.NULL, ffi.NULL, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())


class RawCorner:
    """og_table_set_rows of a pack of pictures of 32 x 32 codes: W, N and NW of each, hashed by mix64."""

    def __init__(self, codes: np.ndarray):
        ids, side = Ids.make(text=1, image=VOCABULARY), 32
        builder = DocumentsBuilder(ids, row_end=False)
        codebook = builder.codebook("0" * 32)
        for number, picture in enumerate(codes.reshape(-1, side, side)):
            builder.begin(0, number)
            builder.item(IMAGE, picture, codebook=codebook)
            builder.end()
        self.pack = Packs.build(builder.finish(), capacity=len(codes))[0]
        self._struct = self.pack.struct
        self._set = TableSet({"corner": {"stencil": "grid", "cells": ["corner"], "addressing": {"scheme": "mix64", "heads": 1}}}, ids)
        self.rows = np.empty((len(codes), 1), np.int64)
        self._to, self._error = ffi.cast("int64_t *", self.rows.ctypes.data), ffi.new("og_error *")

    def __call__(self) -> None:
        if lib.og_table_set_rows(self._set.pointer, self._struct, ffi.NULL, self._to, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())


# A config of each scheme of n-grams of text; the rows of its published model where it has one.
VOCABULARY = 65536
SCHEMES = {
    "mix64": {"orders": [2, 3, 4, 5], "heads": 1, "rows": [1000003, 1000033, 1000037, 1000039]},
    "engram_xor": {"compressed_vocab": VOCABULARY},
    "engram_xor v41": {"variant": "v41", "compressed_vocab": VOCABULARY},
    "qwen_xor": {"vocab": VOCABULARY, "eos": 0},
    "welm_knuth32": {"vocab": VOCABULARY},
    "ott_mod": {"vocab": VOCABULARY},
    "longcat_mod": {"vocab": VOCABULARY},
    "mojo_mod": {"vocab": VOCABULARY},
    "bigram_xor32": {},
    "blt_poly": {},
}


def run(gib: float, quick: bool) -> list[dict]:
    """A step's tokens, whose ids fit the second-level cache, and eight times as many, whose ids do not."""
    return [record for n in (1 << 14, 1 << 17) for record in of_tokens(n, quick)]


def of_tokens(n: int, quick: bool) -> list[dict]:
    codes = np.random.default_rng(6).integers(0, VOCABULARY, n).astype(np.int32)
    wide = codes.astype(np.int64)
    same = RawAddressing({"scheme": "engram_xor", **SCHEMES["engram_xor"]}, codes)
    constants = same.addressing.constants
    engram = NumpyEngram([2, 3], constants["primes"], np.array(constants["multipliers"]), 2)
    same()
    if not np.array_equal(same.rows, engram(wide)):  # the peer computes what engram_xor does, or the comparison says nothing
        raise RuntimeError("numpy's Engram gives other rows than engram_xor")
    found = []
    schemes = {name: RawAddressing({"scheme": name.split()[0], **config}, codes) for name, config in SCHEMES.items()}
    for name, ours in {**schemes, "mix64 of a picture's corner": RawCorner(codes)}.items():
        times = interleaved({"omnigram": lambda i, ours=ours: ours(), "numpy Engram": lambda i: engram(wide)}, 5 if quick else 15, inner=(1 << 17) // n)
        times["numpy Engram"] *= ours.rows.size / same.rows.size  # its time for as many ids
        peer = {"omnigram": times["omnigram"], "numpy Engram" if name == "engram_xor" else "numpy Engram (its own hash)": times["numpy Engram"]}
        found += records(f"hash {name} x {ours.rows.shape[1]} columns, {n} tokens", peer, ours.rows.size / 1e6, "M ids/s")
    return found
