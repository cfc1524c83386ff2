import subprocess
import sys
import textwrap

import numpy as np
import pytest

import omnigram


def test_rows_written_are_rows_read():
    values = np.random.default_rng(1).standard_normal((5, 12), dtype=np.float32)
    with omnigram.Table(1000, 12) as table:
        table.write([3, 999, 0, 7, 8], values)
        np.testing.assert_array_equal(table.read([8, 3, 999]), values[[4, 0, 1]])
        np.testing.assert_array_equal(table[7:9], values[3:])
        assert not table[1].any() and table.shape == (1000, 12)


def test_bf16_rounds_to_nearest_even():
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(2).standard_normal((64, 32), dtype=np.float32)
    with omnigram.Table(64, 32, "bf16") as table:
        table.write(range(64), values)
        expected = torch.from_numpy(values).to(torch.bfloat16)
        assert torch.equal(torch.from_dlpack(table.tensor()), expected)
        np.testing.assert_array_equal(table.read(range(64)), expected.float().numpy())


def test_a_view_is_the_table_and_outlives_close():
    table = omnigram.Table(10, 4)
    values = table.tensor().numpy()
    values[2] = 5
    np.testing.assert_array_equal(table[2], [5, 5, 5, 5])
    table.close()
    assert values[2, 0] == 5  # the memory goes with its last view
    with pytest.raises(ValueError, match="closed"):
        _ = table.rows


def test_fill_depends_on_seed_and_row_only():
    with omnigram.Table(300, 16) as a, omnigram.Table(300, 16) as b, omnigram.Pool(2) as pool:
        a.fill(7, 0.5)
        b.fill(7, 0.5, pool)
        np.testing.assert_array_equal(a[:], b[:])
        assert abs(a[:].std() - 0.5) < 0.02
        assert not np.array_equal(a[:], b.fill(8, 0.5)[:])


def test_faults_name_value_and_limit():
    with omnigram.Table(10, 4) as table:
        with pytest.raises(omnigram.InvalidError, match="10"):
            table.read([1, 10])
        with pytest.raises(ValueError, match=r"\(1, 3\)"):
            table.write([0], [[1, 2, 3]])
    with pytest.raises(ValueError, match="no dtype 'f33'"):
        omnigram.Table(10, 4, "f33")
    with pytest.raises(omnigram.InvalidError):
        omnigram.Table(0, 4)
    with pytest.raises(omnigram.OutOfMemoryError):
        omnigram.Table(2**40, 256)


def test_report_asks_the_kernel():
    with omnigram.Table(50_000, 64) as table:
        table.fill(0, 1.0)
        report = table.report()
        assert report["bytes"] >= 50_000 * table.row_bytes and report["page_bytes"] >= 4096
        assert report["resident_bytes"] >= 50_000 * table.row_bytes // 2


def test_optimiser_equals_a_dense_one_on_touched_rows():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    start = rng.standard_normal((20, 8), dtype=np.float32)
    adam = omnigram.RowOptimizer("adam", lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8)
    with omnigram.Table(20, 8, state=adam.state(8)) as table:
        table.write(range(20), start)
        dense = torch.nn.Parameter(torch.from_numpy(start.copy()))
        peer = torch.optim.Adam([dense], lr=0.01, betas=(0.9, 0.999), eps=1e-8)
        for step in range(1, 4):
            rows = np.array([4, 9, 4, omnigram.ROW_NONE], np.int64)
            grads = rng.standard_normal((4, 8), dtype=np.float32)
            adam.apply(table, rows, grads, step=step)
            dense.grad = torch.zeros(20, 8)
            for row, grad in zip(rows[:3], grads):
                dense.grad[row] += torch.from_numpy(grad)
            peer.step()
        np.testing.assert_allclose(table.read([4, 9]), dense.detach().numpy()[[4, 9]], rtol=2e-5, atol=2e-6)
        untouched = [r for r in range(20) if r not in (4, 9)]
        np.testing.assert_array_equal(table.read(untouched), start[untouched])
    with pytest.raises(TypeError, match="no option 'lrr'"):
        omnigram.RowOptimizer("adam", lrr=1)


def test_shared_tables_are_one_memory(tmp_path):
    name = f"omnigram-test-{tmp_path.name}"
    with omnigram.Table(100, 4, backing="shared", name=name) as table:
        table.write([42], [[1, 2, 3, 4]])
        code = textwrap.dedent(f"""
            import omnigram
            with omnigram.Table.attach({name!r}) as table:
                assert table[42].tolist() == [1, 2, 3, 4], table[42]
                try: table.write([0], [[0, 0, 0, 0]])
                except ValueError as error: assert "read-only" in str(error)
                else: raise SystemExit("a read-only table was written")
        """)
        subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def test_decay_has_its_place_in_the_state():
    sgd = omnigram.RowOptimizer("sgd", lr=0.5, decay=0.5)
    with omnigram.Table(3, 4, state=sgd.state(4)) as table:
        table.write([1], np.ones((1, 4), np.float32))
        sgd.apply(table, [1], np.zeros((1, 4), np.float32), step=2)
        np.testing.assert_array_equal(table[1], np.full(4, 0.75 ** 2, np.float32))
    assert omnigram.RowOptimizer("adam", decay=0.5).state(4) == 9


def test_the_norm_is_of_summed_rows():
    with omnigram.Table(5, 2) as table:
        assert table.norm2([3, 3, -1, 4], [[1, 2], [3, 4], [50, 50], [1, 0]]) == 4**2 + 6**2 + 1
        with pytest.raises(omnigram.InvalidError, match="row id 5 at position 0: the table has 5 rows, ids 0..4"):
            table.norm2([5], [[1, 2]])


def test_two_processes_add_and_step_together(tmp_path):
    """Neither loses an addition; an exact step has the bits of one process with both batches."""
    name = f"omnigram-two-{tmp_path.name}"
    code = textwrap.dedent(f"""
        import sys, numpy as np, omnigram
        rank = int(sys.argv[1])
        with omnigram.Table.attach({name!r}, writable=True) as table:
            for _ in range(500):
                table.add([7, -1], np.ones((2, 4), np.float32))
            with omnigram.Exchange({name + "-x"!r}, rank, 2, capacity=3, dim=4) as both:
                adagrad = omnigram.RowOptimizer("adagrad_row", lr=0.1)
                for step in (1, 2, 3):
                    both.apply(adagrad, table, [rank, 2, 99][: 2 + rank], np.full((2 + rank, 4), 0.1 + rank, np.float32), step=step)
                try: both.apply(adagrad, table, [100 * (1 - rank)], np.ones((1, 4), np.float32), step=4)
                except omnigram.InvalidError as error: assert ("row id 100" if rank == 0 else "rank 0 refused") in str(error), error
                else: raise SystemExit("an id out of range was taken")
    """)
    with omnigram.Table(100, 4, backing="shared", name=name, state=1) as table, omnigram.Table(100, 4, state=1) as alone:
        ranks = [subprocess.Popen([sys.executable, "-c", code, str(rank)], env=_environment()) for rank in (0, 1)]
        assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
        alone.add([7], np.full((1, 4), 1000, np.float32))
        adagrad = omnigram.RowOptimizer("adagrad_row", lr=0.1)
        grads = np.repeat(np.array([0.1, 0.1, 1.1, 1.1, 1.1], np.float32)[:, None], 4, 1)
        for step in (1, 2, 3):
            adagrad.apply(alone, [0, 2, 1, 2, 99], grads, step=step)
        np.testing.assert_array_equal(table[:], alone[:])



def _environment():
    import os
    from pathlib import Path
    return {**os.environ, "PYTHONPATH": str(Path(omnigram.__file__).parents[1])}


def test_messages_name_things_by_their_words_and_not_by_numbers():
    with omnigram.Table(10, 8) as table:
        with pytest.raises(omnigram.InvalidError, match="^row-wise Adagrad needs 1 state values a row, the store was made with 0"):
            omnigram.RowOptimizer("adagrad_row").apply(table, [1], np.ones((1, 8), np.float32), step=1)
        with pytest.raises(omnigram.InvalidError, match="column 1 reads store 1, there are 1, counted from 0"):
            omnigram.Lookup(table, store=[0, 1])
    with pytest.raises(omnigram.InvalidError, match="a shared store needs a name"):
        omnigram.Table(10, 8, backing="shared")
