"""Interleaved measurements: every competitor runs once a round, and medians of CPU time are compared."""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path


def interleaved(competitors: dict[str, Callable[[int], object]], rounds: int, *, inner: int = 1,
                clock: Callable[[], int] = time.thread_time_ns) -> dict[str, float]:
    """Median seconds of one call of each competitor. They take turns, in another random order each round, so that neither what
    else runs on the machine nor what the one before leaves in the caches favours any. The first round warms up and does not
    count."""
    names = list(competitors)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        random.Random(number).shuffle(names)
        for name in names:
            call = competitors[name]
            began = clock()
            for repeat in range(inner):
                call(number * inner + repeat)
            if number:
                times[name].append((clock() - began) * 1e-9 / inner)
    return {name: statistics.median(times[name]) for name in competitors}


def records(name: str, times: dict[str, float], work: float, unit: str, *, ours: str = "omnigram", page_bytes: int = 0,
            threads: int = 1, **more) -> list[dict]:
    """One record a peer. ours and theirs are `work` over the time, in unit; ratio > 1 where omnigram is faster."""
    return [
        {"name": name, "peer": peer, "ratio": times[peer] / times[ours], "ours": work / times[ours],
         "theirs": work / times[peer], "unit": unit, "page_bytes": page_bytes, "threads": threads, **more}
        for peer in times if peer != ours
    ]


def write_json(path: str, found: list[dict]) -> None:
    """The records as one JSON list: the whole file or none of it; - is standard output."""
    text = json.dumps(found, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    partial = Path(f"{path}.tmp-{os.getpid()}")
    try:
        partial.write_text(text)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def why_not_writable(path: str | None) -> str | None:
    """Asked before minutes of measuring: what would keep write_json from its file."""
    if path in (None, "-"):
        return None
    folder = Path(path).parent
    if Path(path).is_dir():
        return f"--json {path}: is a folder, not a file"
    if not folder.is_dir():
        return f"--json {path}: there is no folder {folder}"
    return None if os.access(folder, os.W_OK) else f"--json {path}: cannot write in {folder}"


def distinct_note(distinct: float) -> dict:
    """The share of distinct rows, flagged where a benchmark would measure a few rows in the cache."""
    return {"distinct": round(distinct, 4), "flagged": bool(distinct < 0.01)}


def optional_torch():
    """torch on one thread, or None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch
