"""How much of a lookup hides behind a compute step of equal length that leaves one core free.

hidden: 1 - time that wait() slept / time that the worker worked, by the lookup's own clock. added: what a step takes longer than
compute alone, as a share of the lookup's time; it also has what hidden cannot see (submit, and compute slowed by the worker's
memory traffic or by a core that is not free). 1 - added is the honest figure, hidden says how much of it was waiting.
Steps with a lookup and bare ones take turns; medians of wall time."""

from __future__ import annotations

import statistics
import time

import numpy as np

from .._ffi import lib
from ..table import Table
from .measure import distinct_note
from .raw import RawLookup, aligned, touch


def run(gib: float, quick: bool) -> list[dict]:
    dim, n, steps = 512, 32768, 10 if quick else 40
    rows = int(gib * 2**30) // (dim * 2)
    table = Table(rows, dim, "bf16")
    touch(table)
    random = np.random.default_rng(5)
    ids = [random.integers(0, rows, n) for _ in range(4)]
    out = [aligned(n, dim, np.uint16) for _ in range(2)]
    lookup = RawLookup(table, in_flight=2)

    def alone(i: int) -> float:
        began = time.perf_counter()
        lookup.wait(lookup.submit(ids[i % 4], out[i % 2]))
        return time.perf_counter() - began

    def compute(rounds: int) -> float:
        began = time.perf_counter()
        lib.og_bench_compute(rounds)
        return time.perf_counter() - began

    gather = statistics.median(alone(i) for i in range(9))
    rounds = 100000
    for _ in range(4):  # a compute step as long as the lookup
        rounds = max(1, int(rounds * gather / compute(rounds)))
    both, only = [], []
    lookup.reset()
    ticket = lookup.submit(ids[0], out[0])
    for i in range(1, steps + 1):
        began = time.perf_counter()
        following = lookup.submit(ids[i % 4], out[i % 2])
        lib.og_bench_compute(rounds)
        lookup.wait(ticket)
        ticket = following
        both.append(time.perf_counter() - began)
        only.append(compute(rounds))
    lookup.wait(ticket)
    stats = lookup.stats()
    hidden = 1 - stats.waited_ns / max(1, stats.work_ns)
    step, bare = statistics.median(both), statistics.median(only)
    return [{"name": f"overlap {dim * 2} B x {n}", "peer": "lookup, then compute", "ratio": (gather + bare) / step, "ours": step * 1e3,
             "theirs": (gather + bare) * 1e3, "unit": "ms a step", "page_bytes": table.report()["page_bytes"], "threads": 1,
             **distinct_note(len(np.unique(ids[0])) / n),
             "hidden": round(hidden, 4), "added": round((step - bare) / gather, 4)}]
