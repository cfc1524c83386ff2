"""Addressing: n-gram ids a second of the library's schemes, against a numpy implementation of Engram's hash."""

from __future__ import annotations

import numpy as np

from .._ffi import ffi, lib
from ..addressing import Addressing
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
    def __init__(self, config: dict, n: int):
        self.addressing = Addressing(config)
        self.columns = len(self.addressing.columns)
        self._rows = np.empty((n, self.columns), np.int64)
        self._starts = ffi.new("int64_t[1]", [0])
        self._error = ffi.new("og_error *")

    def __call__(self, codes: np.ndarray) -> None:
        stream = ffi.new("og_stream *", {"codes": ffi.cast("int32_t *", codes.ctypes.data), "n": len(codes), "width": 1,
                                         "doc_starts": self._starts, "n_docs": 1})
        if lib.og_addr_map(self.addressing.pointer, stream, ffi.NULL, ffi.NULL, ffi.cast("int64_t *", self._rows.ctypes.data), ffi.NULL,
                           ffi.NULL, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())


def primes_from(start: int, count: int) -> list[int]:
    found, value = [], start | 1
    while len(found) < count:
        if all(value % p for p in range(3, int(value**0.5) + 1, 2)):
            found.append(value)
        value += 2
    return found


# A config of each scheme; `orders` where the scheme has them.
SCHEMES = {
    "mix64": {"scheme": "mix64", "orders": [2, 3, 4, 5], "heads": 1, "rows": [1000003, 1000033, 1000037, 1000039]},
}


def run(gib: float, quick: bool) -> list[dict]:
    n, vocabulary = 1 << 17, 65536
    random = np.random.default_rng(6)
    codes = random.integers(0, vocabulary, n).astype(np.int32)
    wide = codes.astype(np.int64)
    primes = [primes_from(1000003 + 1000 * order, 8) for order in (2, 3)]
    engram = NumpyEngram([2, 3], primes, random.integers(1, 2**46, 3) * 2 + 1, 2)
    found = []
    numpy_ids = n * 16
    schemes = {name: config for name, config in SCHEMES.items()}
    for name, config in schemes.items():
        ours = RawAddressing(config, n)
        ids = n * ours.columns
        times = interleaved({"omnigram": lambda i, ours=ours: ours(codes), "numpy Engram": lambda i: engram(wide)}, 5 if quick else 15)
        times["numpy Engram"] *= ids / numpy_ids  # time for as many ids
        found += records(f"hash {name}", times, ids / 1e6, "M ids/s")
    return found
