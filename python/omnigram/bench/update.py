"""Row-wise Adagrad on bf16 rows in place: the library against a plain loop and torch's sparse optimisers."""

from __future__ import annotations

import time

import numpy as np

from .._ffi import ffi, lib
from ..pool import Pool
from ..table import Table
from .measure import distinct_note, interleaved, optional_torch, records
from .raw import address, aligned, touch


class RawUpdate:
    def __init__(self, table: Table, pool: Pool | None = None):
        self._table, self._pool, self._step = table, pool, 0
        self._options = ffi.new("og_update_options *", lib.og_update_defaults(lib.OG_ADAGRAD_ROW))
        self._error = ffi.new("og_error *")

    def __call__(self, ids: np.ndarray, grads: np.ndarray) -> None:
        self._step += 1
        pool = ffi.NULL if self._pool is None else self._pool.pointer
        if lib.og_update_apply(self._table.pointer, self._options, ffi.cast("int64_t *", ids.ctypes.data), len(ids),
                               ffi.cast("float *", grads.ctypes.data), grads.shape[1], 1.0, self._step, pool, self._error):
            raise RuntimeError(ffi.string(self._error.message).decode())


def torch_sparse(torch, kind: str, rows: int, dim: int):
    """One step of torch's sparse Adagrad or SparseAdam (f32: it has no bf16 state rule) for given ids and gradients."""
    weight = torch.nn.Parameter(torch.zeros(rows, dim))
    rule = torch.optim.Adagrad([weight], lr=0.01) if kind == "Adagrad" else torch.optim.SparseAdam([weight], lr=0.01)

    def step(ids: np.ndarray, grads: np.ndarray) -> None:
        weight.grad = torch.sparse_coo_tensor(torch.from_numpy(ids)[None], torch.from_numpy(grads), (rows, dim), check_invariants=False)
        rule.step()
    return step


def run(gib: float, quick: bool) -> list[dict]:
    torch, found = optional_torch(), []
    random = np.random.default_rng(4)
    for dim in (256, 512):
        rows, n = int(gib * 2**30) // (dim * 2), 16384
        table, small = Table(rows, dim, "bf16", state=1), Table(rows, dim, "bf16", state=1, huge=False)
        touch(table)
        touch(small)
        grads = aligned(n, dim, np.float32)
        grads[:] = random.standard_normal((n, dim), np.float32)
        pools = [random.integers(0, rows, n) for _ in range(7)]
        update = RawUpdate(table)
        base, record = address(small), small.row_bytes
        at = ffi.cast("float *", grads.ctypes.data)
        competitors = {
            "omnigram": lambda i: update(pools[i % 7], grads),
            "plain C loop, 4 KiB pages": lambda i: lib.og_bench_adagrad_plain(
                base, record, dim * 2, ffi.cast("int64_t *", pools[i % 7].ctypes.data), n, at, dim, 0.01, 1e-8),
        }
        if torch:  # f32 tables of a quarter of the rows: Adagrad's state is as large as the weight
            fewer = rows // 4
            for kind in ("Adagrad", "SparseAdam"):
                step = torch_sparse(torch, kind, fewer, dim)
                competitors[f"torch {kind}, sparse gradients"] = lambda i, step=step: step(pools[i % 7] % fewer, grads)
        times = interleaved(competitors, 3 if quick else 9)
        page = table.report()["page_bytes"]
        share = len(np.unique(pools[0])) / n
        found += records(f"update adagrad_row bf16 x {dim}", times, n / 1e6, "M rows/s", page_bytes=page, **distinct_note(share))
        pool = Pool(2)
        both = RawUpdate(table, pool)
        times = interleaved({"omnigram": lambda i: both(pools[(2 * i + 1) % 7], grads), "one thread": lambda i: update(pools[2 * i % 7], grads)},
                            3 if quick else 31, clock=time.perf_counter_ns)
        found += records(f"update adagrad_row bf16 x {dim}, two threads", times, n / 1e6, "M rows/s", page_bytes=page, threads=2, **distinct_note(share))
    return found
