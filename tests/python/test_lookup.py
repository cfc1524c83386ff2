import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram
from omnigram import lookup as lookup_module


@pytest.fixture
def tables():
    with omnigram.Table(101, 8) as small, omnigram.Table(1009, 16) as large:
        yield small.fill(1, 1.0), large.fill(2, 1.0)


def expected(tables, rows, base=(0, 0)):
    parts = []
    for table, ids, b in zip(tables, rows.T, base):
        values = table.tensor().numpy()
        part = values[np.where(ids < 0, 0, ids - b)].copy()
        part[ids < 0] = 0
        parts.append(part)
    return np.concatenate(parts, 1)


def random_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(-1, 101, n), rng.integers(-1, 1009, n)], 1)
    return rows


@given(st.integers(0, 300), st.integers(0, 1000), st.sampled_from([False, True, "always"]))
@settings(deadline=None, max_examples=30)
def test_equals_numpy(n, seed, dedupe):
    with omnigram.Table(101, 8) as small, omnigram.Table(1009, 16) as large:
        pair = small.fill(1, 1.0), large.fill(2, 1.0)
        rows = random_rows(n, seed)
        with omnigram.Lookup(pair, dedupe=dedupe) as lookup:
            assert lookup.width == 24
            np.testing.assert_array_equal(lookup(rows), expected(pair, rows))
            np.testing.assert_array_equal(lookup.submit(rows).wait(), expected(pair, rows))


def test_dedupe_of_another_name_is_refused(tables):
    with pytest.raises(omnigram.InvalidError, match="dedupe: 'allways' is none of True, False and 'always'"):
        omnigram.Lookup(tables, dedupe="allways")
    with pytest.raises(omnigram.InvalidError, match=r"dedupe: array\(\[1, 2\]\) is none of"):
        omnigram.Lookup(tables, dedupe=np.array([1, 2]))


def test_several_tickets_in_flight(tables):
    with omnigram.Lookup(tables, threads=2, in_flight=4) as lookup:
        batches = [random_rows(500, seed) for seed in range(4)]
        tickets = [lookup.submit(rows) for rows in batches]
        for ticket, rows in reversed(list(zip(tickets, batches))):
            np.testing.assert_array_equal(ticket.wait(), expected(tables, rows))
        stats = lookup.stats()
        assert stats["lookups"] == 4 and stats["ids"] == 4000 and stats["absent"] == sum((r < 0).sum() for r in batches)


def test_bases_and_columns_of_one_table(tables):
    table = tables[1]
    rows = np.array([[5, 500 + 7], [-1, 500]])
    with omnigram.Lookup(table, store=[0, 0], base=[0, 500]) as lookup:
        values = table.tensor().numpy()
        np.testing.assert_array_equal(lookup(rows), [np.r_[values[5], values[7]], np.r_[values[0] * 0, values[0]]])


def test_into_torch_without_a_copy(tables):
    torch = pytest.importorskip("torch")
    rows = random_rows(64)
    for dtype, kind in ((torch.float32, "f32"), (torch.bfloat16, "bf16"), (torch.float16, "f16")):
        out = torch.full((64, 24), 3.0, dtype=dtype)
        address = out.data_ptr()
        with omnigram.Lookup(tables, dtype=kind) as lookup:
            assert lookup.submit(torch.from_numpy(rows), into=out).wait() is out
            assert out.data_ptr() == address
            assert torch.equal(out, torch.from_numpy(expected(tables, rows)).to(dtype))
            fresh = lookup(rows)
            assert torch.equal(torch.from_dlpack(fresh), out)


def test_faults_are_named_and_nothing_is_queued(tables):
    with omnigram.Lookup(tables) as lookup:
        with pytest.raises(omnigram.InvalidError, match="1009"):
            lookup.submit([[1, 1009]])
        with pytest.raises(omnigram.InvalidError):
            lookup([[-2, 0]])
        with pytest.raises(ValueError, match=r"\(n, 2\)"):
            lookup([[1, 2, 3]])
        with pytest.raises(ValueError, match="into"):
            lookup([[1, 2]], into=np.empty((1, 23), np.float32))
        with pytest.raises(ValueError, match="into"):
            lookup([[1, 2]], into=np.empty((1, 24), np.float64))
        with pytest.raises(ValueError, match="compact"):
            lookup([[1, 2]], into=np.empty((1, 48), np.float32)[:, ::2])
        assert lookup.stats()["lookups"] == 0


def test_cancel_and_close_end_all_writing(tables):
    lookup = omnigram.Lookup(tables, in_flight=8)
    tickets = [lookup.submit(random_rows(20_000, s)) for s in range(6)]
    tickets[5].cancel()
    with pytest.raises(ValueError, match="cancelled"):
        tickets[5].wait()
    lookup.close()
    with pytest.raises(ValueError):
        tickets[4].wait()
    with pytest.raises(ValueError, match="closed"):
        lookup.submit([[1, 2]])


def test_a_forgotten_lookup_is_joined_before_its_outputs_go(tables):
    for seed in range(20):
        omnigram.Lookup(tables).submit(random_rows(5000, seed))
    assert not lookup_module._in_use


def test_a_lookup_in_a_cycle_is_joined_before_its_tables_go():
    for seed in range(20):
        pair = omnigram.Table(101, 8), omnigram.Table(1009, 16)
        lookup = omnigram.Lookup(pair)
        cycle = [lookup, lookup.submit(random_rows(5000, seed)), pair]
        cycle.append(cycle)
        del pair, lookup, cycle
        gc.collect()
    assert not lookup_module._in_use
