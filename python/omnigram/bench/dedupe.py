"""Sort-unique with inverse: og_dedupe against torch.unique and numpy.unique."""

from __future__ import annotations

import numpy as np

from .._ffi import ffi, lib
from .measure import distinct_note, interleaved, optional_torch, records


def run(gib: float, quick: bool) -> list[dict]:
    torch, found = optional_torch(), []
    random = np.random.default_rng(3)
    for n, limit in ((16384, 1 << 21), (131072, 1 << 17), (131072, 1 << 21), (131072, 1 << 26)):
        pools = [random.integers(0, limit, n) for _ in range(5)]
        distinct, inverse = np.empty(n, np.int64), np.empty(n, np.int64)
        scratch = np.empty(lib.og_dedupe_bytes(n), np.uint8)
        long, void = "int64_t *", ffi.cast("void *", scratch.ctypes.data)
        to, back = ffi.cast(long, distinct.ctypes.data), ffi.cast(long, inverse.ctypes.data)
        for name, inner in ((f"dedupe {n} of {limit}", 4), (f"dedupe {n} of {limit}, cold", 1)):
            # Ids come warm from addressing: a round's calls have the same ids, and the first of four finds them cold.
            competitors = {"omnigram": lambda i, inner=inner: lib.og_dedupe(ffi.cast(long, pools[i // inner % 5].ctypes.data), n, to, back, void)}
            if torch:
                competitors["torch.unique(return_inverse)"] = lambda i, inner=inner: torch.unique(torch.from_numpy(pools[i // inner % 5]), return_inverse=True)
            competitors["numpy.unique(return_inverse)"] = lambda i, inner=inner: np.unique(pools[i // inner % 5], return_inverse=True)
            times = interleaved(competitors, 5 if quick else 15, inner=inner)
            count = lib.og_dedupe(ffi.cast(long, pools[0].ctypes.data), n, to, back, void)
            found += records(name, times, n / 1e6, "M ids/s", **distinct_note(count / n))
    return found
