"""Gather: rows of 512 B and 1 KiB from tables of at least 1 GiB, batches of 1 k, 16 k and 128 k rows."""

from __future__ import annotations

import functools
import logging
import sys
import time

import numpy as np

from .._ffi import ffi, lib
from ..table import Table
from .measure import distinct_note, interleaved, optional_torch, records
from .raw import RawLookup, address, aligned, touch


@functools.cache
def say_once(line: str) -> None:
    """Each size asks for the same peers. Standard output may be JSON."""
    print(line, file=sys.stderr)


def fbgemm_table(torch, rows: int, dim: int):
    """FBGEMM's CPU table, f16 rows (it has no bf16 there), one row a bag; None with a reason where it does not run."""
    try:
        logging.disable(logging.WARNING)  # it warns of every version of torch it does not list
        from fbgemm_gpu.split_embedding_configs import SparseType
        from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
        from fbgemm_gpu.split_table_batched_embeddings_ops_inference import IntNBitTableBatchedEmbeddingBagsCodegen
        table = IntNBitTableBatchedEmbeddingBagsCodegen(
            [("t", rows, dim, SparseType.FP16, EmbeddingLocation.HOST)], pooling_mode=PoolingMode.NONE,
            output_dtype=SparseType.FP16, device="cpu")
        table.initialize_weights()
        return table
    except Exception as problem:  # a peer that does not load is left out, and said
        say_once(f"FBGEMM is left out: {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''} (`make bench` installs it)")
        return None
    finally:
        logging.disable(logging.NOTSET)


def one_size(row_bytes: int, gib: float, quick: bool) -> list[dict]:
    dim, rows = row_bytes // 2, int(gib * 2**30) // row_bytes
    table = Table(rows, dim, "bf16")
    touch(table)
    page = table.report()["page_bytes"]
    torch, found = optional_torch(), []
    weight = torch.zeros(rows, dim, dtype=torch.bfloat16) if torch else None
    if torch:
        weight.fill_(1)  # every page touched
    shared = None
    if torch and table.row_bytes == row_bytes:
        shared = torch.frombuffer(ffi.buffer(address(table), rows * row_bytes), dtype=torch.bfloat16).view(rows, dim)
    fbgemm = fbgemm_table(torch, rows, dim) if torch else None
    random = np.random.default_rng(1)
    pool = random.integers(0, rows, 1 << 22)
    for n, rounds in ((1024, 60), (16384, 24), (131072, 9)):
        if quick:
            rounds = max(3, rounds // 4)
        out = aligned(n, dim, np.uint16)
        lookup = RawLookup(table)

        def ids(i: int, slot: int = 0, n: int = n) -> np.ndarray:
            """A batch that no other competitor (slot) reads soon before or after: its rows are in no cache."""
            batches = len(pool) // n
            at = (i * 9 + slot) % batches * n
            return pool[at:at + n]

        base, record = address(table), table.row_bytes
        void = ffi.cast("void *", out.ctypes.data)
        start = ffi.cast("int64_t *", pool.ctypes.data)
        inner = 8 if n == 1024 else 1
        competitors = {
            "omnigram": lambda i: lookup.now_at(start + (i * 9 % (len(pool) // n)) * n, n, void),
            "plain C loop": lambda i: lib.og_bench_gather_plain(base, record, start + ((i * 9 + 1) % (len(pool) // n)) * n, n, row_bytes, void),
        }
        none, ceilings = ffi.NULL, ("ceiling", "ceiling that reads ids")
        for past in (0, 1):
            competitors[f"{ceilings[0]} {past}"] = lambda i, past=past: lib.og_bench_gather_ceiling(
                base, record, rows, none, i, n, row_bytes, past, void)
            competitors[f"{ceilings[1]} {past}"] = lambda i, past=past: lib.og_bench_gather_ceiling(
                base, record, rows, start + ((i * 9 + 6) % (len(pool) // n)) * n, 0, n, row_bytes, past, void)
        if torch:
            result = torch.zeros(n, dim, dtype=torch.bfloat16)
            competitors["torch.index_select(out=)"] = lambda i: torch.index_select(weight, 0, torch.from_numpy(ids(i, 2)), out=result)
            competitors["torch.nn.functional.embedding"] = lambda i: torch.nn.functional.embedding(torch.from_numpy(ids(i, 3)), weight)
            if shared is not None:
                competitors["torch.index_select(out=) on omnigram's memory"] = lambda i: torch.index_select(
                    shared, 0, torch.from_numpy(ids(i, 4)), out=result)
        if fbgemm:
            offsets = torch.arange(n + 1, dtype=torch.int32)
            competitors["FBGEMM CPU table (f16)"] = lambda i: fbgemm(torch.from_numpy(ids(i, 5)).int(), offsets)
        times = interleaved(competitors, rounds, inner=inner)
        for name in ceilings:  # the better of usual stores and those past the caches
            times[name] = min(times.pop(f"{name} {past}") for past in (0, 1))
        share = len(np.unique(ids(1))) / n
        found += records(f"lookup {row_bytes} B x {n}", times, n / 1e6, "M rows/s", page_bytes=page,
                         gb_per_s=n * row_bytes / times["omnigram"] / 1e9, **distinct_note(share))
        lookup.close()
    found += converted(table, torch, weight, row_bytes, pool, page, quick)
    found += repeated(table, row_bytes, rows, page, quick)
    found += two_threads(table, row_bytes, pool, page, quick)
    return found


def converted(table: Table, torch, weight, row_bytes: int, pool: np.ndarray, page: int, quick: bool) -> list[dict]:
    """Rows of bf16 into an output of f32."""
    n, dim = 131072, row_bytes // 2
    out = aligned(n, dim, np.float32)
    lookup = RawLookup(table, out_dtype=lib.OG_F32)
    ids = lambda i, k: pool[(2 * i + k) % 32 * n:][:n]  # noqa: E731
    competitors = {"omnigram": lambda i: lookup.now(ids(i, 0), out)}
    if torch:
        result = torch.zeros(n, dim)
        competitors["torch.index_select, copied to f32"] = lambda i: result.copy_(torch.index_select(weight, 0, torch.from_numpy(ids(i, 1))))
    times = interleaved(competitors, 3 if quick else 9)
    return records(f"lookup {row_bytes} B x {n}, to f32", times, n / 1e6, "M rows/s", page_bytes=page, **distinct_note(len(np.unique(ids(0, 0))) / n))


def repeated(table: Table, row_bytes: int, rows: int, page: int, quick: bool) -> list[dict]:
    """A batch of 128 k rows in which each distinct row comes about four times: with dedupe against without."""
    n = 131072
    out = aligned(n, row_bytes // 2, np.uint16)
    random = np.random.default_rng(2)
    pool = [random.choice(random.integers(0, rows, n // 4), n) for _ in range(8)]
    dedupe, plain = RawLookup(table), RawLookup(table, dedupe=False)
    times = interleaved({"omnigram": lambda i: dedupe.now(pool[2 * i % 8], out), "omnigram without dedupe": lambda i: plain.now(pool[(2 * i + 1) % 8], out)},
                        3 if quick else 9)
    return records(f"lookup {row_bytes} B x {n}, repeated", times, n / 1e6, "M rows/s", page_bytes=page,
                   **distinct_note(len(np.unique(pool[0])) / n))


def two_threads(table: Table, row_bytes: int, pool: np.ndarray, page: int, quick: bool) -> list[dict]:
    """Wall time of two workers against one; says something only where the second core is free."""
    n = 131072
    out = aligned(n, row_bytes // 2, np.uint16)
    one, two = RawLookup(table, threads=1), RawLookup(table, threads=2)
    times = interleaved({"omnigram": lambda i: two.wait(two.submit(pool[2 * i % 32 * n:][:n], out)),
                         "one thread": lambda i: one.wait(one.submit(pool[(2 * i + 1) % 32 * n:][:n], out))},
                        5 if quick else 15, clock=time.perf_counter_ns)
    return records(f"lookup {row_bytes} B x {n}, two threads", times, n / 1e6, "M rows/s", page_bytes=page, threads=2,
                   **distinct_note(len(np.unique(pool[:n])) / n))


def run(gib: float, quick: bool) -> list[dict]:
    return one_size(512, gib, quick) + one_size(1024, gib, quick)
