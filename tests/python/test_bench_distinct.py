"""A benchmark of few rows measures the cache: every one that looks rows up says how many were distinct, and flags a share under 1 %."""

import numpy as np
import pytest

import omnigram
from omnigram.bench.__main__ import notes_of
from omnigram.bench.lookup import two_threads
from omnigram.bench.measure import distinct_note


@pytest.mark.parametrize("distinct, total, flagged", [(1, 10000, True), (99, 10000, True), (100, 10000, False), (10000, 10000, False)])
def test_a_share_under_one_percent_is_flagged(distinct, total, flagged):
    ids = np.arange(total) % distinct
    note = distinct_note(len(np.unique(ids)) / total)
    assert note == {"distinct": distinct / total, "flagged": flagged}
    line = ", ".join(notes_of({"page_bytes": 4096, **note}))
    assert f"distinct {distinct / total:.4f}" in line and ("FLAGGED" in line) == flagged


@pytest.mark.parametrize("rows, flagged", [(1000, True), (20000, False)])
def test_a_benchmark_of_a_small_table_is_flagged(rows, flagged):
    """1,000 rows in batches of 131,072 are 0.8 % distinct; 20,000 are 15 %."""
    pool = np.random.default_rng(1).integers(0, rows, 32 * 131072)
    with omnigram.Table(rows, 16, "bf16") as table:
        found = two_threads(table, 32, pool, 4096, quick=True)
    assert found and all(r["flagged"] == flagged and ("FLAGGED" in ", ".join(notes_of(r))) == flagged for r in found)
    assert found[0]["distinct"] == pytest.approx(rows / 131072, rel=0.01)
