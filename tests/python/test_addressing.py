from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram

WELM = {"scheme": "welm_knuth32", "vocab": 97, "orders": [2, 3, 4], "rows": [101, 103, 107], "fill": "zero_id"}


def rows_of(case, columns):
    """null is the row of an n-gram that does not exist; a null position has no n-gram at all."""
    positions = [p if isinstance(p, list) else [p] * columns for p in case["rows"]]
    return np.array([[-1 if row is None else row for row in p] for p in positions], np.int64)


def addressing_of(case):
    config = {"scheme": case["scheme"], **case["config"]}
    if case["scheme"] == "lngram_direct":  # the vectors leave the number of routes to the codes' width
        config["routes"] = len(case["ids"][0])
    return omnigram.Addressing(config)


def assert_part(case, got, columns, begin, end):
    """A call's results are those of positions [begin, end) of the case."""
    np.testing.assert_array_equal(got.rows, rows_of(case, columns)[begin:end], err_msg=str(case["config"]))
    for name in ("live", "signs"):
        if name in case:
            np.testing.assert_array_equal(getattr(got, name), np.array(case[name])[begin:end].reshape(getattr(got, name).shape))


def part_of(case, begin, end):
    """Codes and document starts of [begin, end); a start at 0 is the past's, where there is one."""
    starts = case.get("doc_starts", [0])
    if case.get("history_oldest_first"):
        starts = [s for s in starts if s > 0]
    return np.array(case["ids"][begin:end], np.int32), [s - begin for s in starts if begin <= s < end]


def test_published_vectors_are_exact(address_cases):
    """Every case of every scheme this build has; a scheme that is absent is not counted as passed."""
    here, compared = omnigram.schemes(), 0
    for case in address_cases:
        if case["scheme"] not in here:
            continue
        with addressing_of(case) as addressing:
            history = addressing.history()
            history.push(np.array(case.get("history_oldest_first", np.empty((0, addressing.width))), np.int32))
            codes, starts = part_of(case, 0, len(case["ids"]))
            got = addressing.map(codes, starts, history=history)
            assert_part(case, got, len(addressing.columns), 0, len(case["ids"]))
            compared += got.rows.size
    assert "welm_knuth32" in here and compared > 0


@pytest.mark.parametrize("step", [1, 2, 7])
def test_streams_of_every_scheme_are_exact(address_cases, independent_cases, step):
    """1, 2 or 7 tokens a call, documents and the past included, against vectors and not against a whole call of ours."""
    for case in address_cases + [c for c in independent_cases if "scheme" in c]:
        with addressing_of(case) as addressing:
            history, columns = addressing.history(), len(addressing.columns)
            if case.get("history_oldest_first"):
                history.push(case["history_oldest_first"])
            for begin in range(0, len(case["ids"]), step):
                codes, starts = part_of(case, begin, begin + step)
                assert_part(case, addressing.map(codes, starts, history=history), columns, begin, begin + step)


def test_shards_of_every_scheme_are_exact(address_cases, independent_cases):
    """Any range of a stream, empty ones included, after its halo alone."""
    rng = np.random.default_rng(1)
    for case in address_cases + [c for c in independent_cases if "scheme" in c]:
        with addressing_of(case) as addressing:
            columns, n = addressing.columns, len(case["ids"])
            assert addressing.halo == max(c.order for c in columns) - (case["scheme"] != "bigram_xor32")  # which asks whether a pair is the first
            for _ in range(6):
                begin, end = np.sort(rng.integers(0, n + 1, 2))
                first, history = max(begin - addressing.halo, 0), addressing.history()
                if first == 0 and case.get("history_oldest_first"):
                    history.push(case["history_oldest_first"])
                codes, starts = part_of(case, first, begin)
                history.push(codes.reshape(-1, addressing.width), starts)
                codes, starts = part_of(case, begin, end)
                assert_part(case, addressing.map(codes.reshape(-1, addressing.width), starts, history=history), len(columns), begin, end)


@given(st.lists(st.integers(0, 96), min_size=1, max_size=40), st.data())
@settings(deadline=None)
def test_any_cut_of_a_stream_gives_the_same_rows(codes, data):
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(codes) - 1), max_size=3))})
    cuts = sorted({0, len(codes), *data.draw(st.lists(st.integers(0, len(codes)), max_size=4))})
    with omnigram.Addressing(WELM) as addressing:
        whole = addressing.rows(codes, starts)
        history, parts = addressing.history(), []
        for begin, end in zip(cuts, cuts[1:]):
            inside = [s - begin for s in starts if begin <= s < end]
            parts.append(addressing.rows(codes[begin:end], inside, history=history))
        np.testing.assert_array_equal(np.concatenate(parts), whole)


@given(st.integers(2, 12), st.integers(1, 12), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_a_poke_stays_in_its_document(n_before, n_after, random):
    """The last code of the first document changes; no row of the second may."""
    codes = [random.randrange(97) for _ in range(n_before + n_after)]
    poked = list(codes)
    poked[n_before - 1] = (poked[n_before - 1] + 1) % 97
    for scheme in (WELM, {"scheme": "mix64", "orders": [2, 3, 4], "rows": [101, 103, 107]}):
        with omnigram.Addressing(scheme) as addressing:
            before, after = (addressing.rows(c, [0, n_before]) for c in (codes, poked))
            np.testing.assert_array_equal(before[n_before:], after[n_before:])
    # The probe is able to find a leak: without the second start the same poke reaches over.
    with omnigram.Addressing({**WELM, "rows": [1009, 1013, 1019]}) as addressing:
        assert not np.array_equal(addressing.rows(codes)[n_before], addressing.rows(poked)[n_before])


def test_history_saves_and_rolls_back():
    with omnigram.Addressing(WELM) as addressing:
        history = addressing.history()
        addressing.rows([1, 2, 3], [0], history=history)
        saved = history.save()
        draft = addressing.rows([4, 5], history=history)
        addressing.rows([9], history=history)
        history.restore(saved)
        np.testing.assert_array_equal(addressing.rows([4, 5], history=history), draft)
        with pytest.raises(ValueError, match="bytes"):
            history.restore(saved[:-1])


def test_a_code_out_of_range_is_named_and_the_history_stays():
    with omnigram.Addressing(WELM) as addressing:
        history = addressing.history()
        addressing.rows([1, 2], [0], history=history)
        saved = history.save()
        with pytest.raises(omnigram.InvalidError, match="97"):
            addressing.rows([3, 97], history=history)
        assert history.save() == saved


def test_faults_are_exceptions():
    with pytest.raises(omnigram.InvalidError, match="welm_knuth32"):
        omnigram.Addressing("welm_knuth23", vocab=97)
    with pytest.raises(omnigram.InvalidError, match="orders"):
        omnigram.Addressing({**WELM, "orderz": 3})
    with omnigram.Addressing(WELM) as addressing:
        with pytest.raises(TypeError, match="float"):
            addressing.rows([0.5])
        with pytest.raises(ValueError, match="shape"):
            addressing.rows([[1, 2]])
        with pytest.raises(ValueError, match="does not fit"):
            addressing.rows(np.array([2**40]))


def test_columns_fingerprint_and_pool():
    with omnigram.Addressing(WELM) as addressing, omnigram.Pool(2) as pool:
        assert [(c.order, c.rows) for c in addressing.columns] == [(2, 101), (3, 103), (4, 107)]
        assert addressing.total_rows == 311 and len(addressing.fingerprint) == 64
        codes = np.random.default_rng(0).integers(0, 97, 5000)
        np.testing.assert_array_equal(addressing.rows(codes), addressing.rows(codes, pool=pool))
        with omnigram.Addressing({**WELM, "vocab": 98}) as other:
            assert other.fingerprint != addressing.fingerprint


def test_every_scheme_is_in_the_page_of_addressing():
    """Its boundary preset, its formula and, by name, its aliases' system: a scheme that is registered is documented."""
    page = (Path(__file__).parents[2] / "docs" / "addressing.md").read_text()
    presets, formulas = page.split("The published rules are presets:")[1].split("## Schemes")
    for scheme in omnigram.schemes():
        assert f"| `{scheme}` |" in formulas, scheme
        assert f"`{scheme}`" in presets or scheme in ("random_row", "shuffled"), scheme  # controls have no source's rule


@pytest.mark.parametrize("word, said", [("engram", "did you mean 'engram_xor'"), ("qwen", "did you mean 'qwen_xor'"),
                                        ("longcatt", "did you mean 'longcat'"), ("foo", "there are bigram_xor32, .*, welm_knuth32$")])
def test_an_unknown_scheme_is_told_of_those_there_are(word, said):
    with pytest.raises(omnigram.InvalidError, match=said):
        omnigram.Addressing(word)


def test_a_batch_is_one_stream_as_the_page_says(root):
    batch = np.arange(10).reshape(2, 5)
    with omnigram.Addressing(WELM) as addressing:
        with pytest.raises(omnigram.InvalidError, match=r"shape \(2, 5\) where \(T,\) is needed; a batch is one stream"):
            addressing.rows(batch)
        line = "addressing.rows(batch.ravel(), np.arange(0, batch.size, T)).reshape(B, T, -1)"
        assert line in (root / "docs" / "python.md").read_text()
        got = eval(line, {"np": np, "addressing": addressing, "batch": batch, "B": 2, "T": 5})
        np.testing.assert_array_equal(got, [addressing.rows(own) for own in batch])
