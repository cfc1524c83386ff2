"""`omnigram verify` against an oracle in plain integers, with random configs of every scheme."""

import json
import os
import random
import subprocess

import numpy as np
import oracle_addr
import pytest


@pytest.fixture(scope="module")
def program(root):
    path = os.environ.get("OMNIGRAM_PROGRAM", root / "build" / "omnigram")
    if not os.path.exists(path):
        pytest.skip(f"{path} is not built")
    return path


def verify(program, tmp_path, document, level=""):
    vectors, result = tmp_path / "vectors.json", tmp_path / "result.json"
    vectors.write_text(json.dumps(document))
    run = subprocess.run([program, "verify", vectors, "--json", result], capture_output=True, text=True, env=os.environ | {"OG_CPU": level})
    return run, json.loads(result.read_text()) if result.exists() else None


@pytest.mark.parametrize("seed, level", [(11, "c"), (12, "avx2"), (13, "avx512")])
def test_every_scheme_equals_plain_integers(program, tmp_path, seed, level):
    document = oracle_addr.document(seed, 40)
    run, counts = verify(program, tmp_path, document, level)
    assert run.returncode == 0, run.stderr
    assert counts["mismatches"] == 0 and counts["supported"] == counts["cases"] == len(document["cases"])
    assert counts["values"] > 10_000


def test_two_oracles_and_the_library_agree_on_edges(program, root, independent_cases):
    """independent.json was computed by a program that shares no line with oracle_addr; each must find what the others do."""
    got = json.loads(subprocess.run([program, "verify", root / "tests" / "vectors" / "independent.json", "--json", "-"], capture_output=True, check=True).stdout)
    assert got["cases"] == got["supported"] == len(independent_cases) and got["mismatches"] == 0
    for case in independent_cases:
        if "scheme" not in case:
            continue
        config, scheme = case["config"], case["scheme"]
        stream = oracle_addr.Case(case["ids"], case.get("doc_starts"), case.get("history_oldest_first", []))
        extra = {"engram_xor": oracle_addr.engram_constants, "qwen_xor": oracle_addr.qwen_constants}.get(scheme)
        extra = (extra(config),) if extra else ()
        of = lambda t: oracle_addr.ROWS[scheme](config, stream, t, *extra)  # noqa: E731
        assert [of(t) for t in range(len(case["ids"]))] == case["rows"], case["note"]
        if scheme == "engram_xor":
            assert list(extra[0]) == [case["multipliers"], case["primes"]], case["note"]
    for case in independent_cases:
        if "text" in case:
            assert oracle_addr.canonical(case["text"]) == case["key"]


def test_texts_may_hold_nul(program, tmp_path):
    """Byte-level vocabularies have a token of it; `tokenizers` keeps it, and trims nothing before it."""
    cases = [{"text": text, "key": oracle_addr.canonical(text)} for text in ("\0", "A\0B", " \0 ", "\0\u0301")]
    run, counts = verify(program, tmp_path, {"format": 2, "cases": [*cases, {"text": "A\0B", "key": "a"}]})
    assert counts["supported"] == 5 and counts["mismatches"] == 1 and "case 4" in run.stderr


def test_no_scheme_is_forgotten(program):
    """A new scheme has a formula here, and configs and tokens of its own: another's would test nothing."""
    told = subprocess.run([program, "verify", "--schemes"], capture_output=True, text=True, check=True).stdout
    schemes = {line.split(":")[0] for line in told.splitlines() if line and not line.startswith(" ")}
    forgotten = schemes - set(oracle_addr.ROWS) - {"random_row", "shuffled"}  # controls of ours: no published formula
    assert not forgotten, f"oracle_addr.py has no formula of {forgotten} (docs/addressing.md, 'Adding a scheme')"
    with pytest.raises(KeyError, match="draw_config has no configs of forgotten"):
        oracle_addr.draw_config(random.Random(1), "forgotten")


def test_one_changed_row_is_found(program, tmp_path):
    document = oracle_addr.document(5, 1)
    for case in document["cases"]:
        if case.get("scheme") == "qwen_xor":
            case["rows"][0][0] += 1
    run, counts = verify(program, tmp_path, document)
    assert run.returncode == 1 and counts["mismatches"] == 1
    assert "qwen_xor" in run.stderr and "rows[0][0]" in run.stderr


def test_numpy_draws_the_multipliers(program, tmp_path):
    """Spans on both sides of 2^32, where numpy changes from 64-bit to 32-bit draws, and seeds of more than 32 bits."""
    cases = []
    for vocab in [2, 3, 99092, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 5, 2**31 - 1]:
        for seed in [-20014, -1, 0, 1, 2**32 - 1, 2**32, 2**45 + 3]:
            config = {"variant": "v1", "compressed_vocab": vocab, "layer_id": 2, "all_layers": [2], "start_rows_per_order": [50] * 5, "heads": 1,
                      "max_order": 6, "pad": 1, "seed": seed}
            half = max(1, ((2**63 - 1) // vocab) // 2)
            drawn = np.random.default_rng(seed + 20014).integers(0, half, size=6, dtype=np.int64)
            case = oracle_addr.Case([1], None, [])
            constants = oracle_addr.engram_constants(config)
            assert constants[0] == [2 * int(r) + 1 for r in drawn]
            cases.append({"scheme": "engram_xor", "config": config, "ids": [1], "rows": [oracle_addr.engram(config, case, 0, constants)],
                          "multipliers": constants[0], "primes": constants[1]})
    run, counts = verify(program, tmp_path, {"format": 2, "cases": cases})
    assert run.returncode == 0 and counts["supported"] == len(cases), run.stderr


def test_primes_of_a_thousand_layers_are_refused_at_once(program, tmp_path):
    """Their search had no limit, and took minutes."""
    config = {"variant": "v1", "layer_id": 0, "all_layers": [*range(1, 1000), 0], "heads": 1024, "start_rows_per_order": [100]}
    run, _ = verify(program, tmp_path, {"format": 2, "cases": [{"scheme": "engram_xor", "config": config, "ids": [1], "rows": [[0]]}]})
    assert run.returncode == 1 and "after those of 999 layers of 2048; the limit is 65536" in run.stderr


def test_a_seed_below_numpys_is_refused(program, tmp_path):
    config = {"variant": "v1", "layer_id": 2, "all_layers": [2], "seed": -20015}
    run, _ = verify(program, tmp_path, {"format": 2, "cases": [{"scheme": "engram_xor", "config": config, "ids": [1], "rows": [[0] * 16]}]})
    assert run.returncode == 1 and "seed -20015 with layer_id 2" in run.stderr


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 2, "cases": 3}', '{"format": 3, "cases": []}',
                                  '{"format": 2, "cases": [{"scheme": "ott_mod"}]}'])
def test_a_malformed_file_is_named(program, tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    run = subprocess.run([program, "verify", path], capture_output=True, text=True)
    assert run.returncode == 1 and "broken.json" in run.stderr


def test_a_missing_file_is_named(program):
    run = subprocess.run([program, "verify", "/nowhere/vectors.json"], capture_output=True, text=True)
    assert run.returncode == 1 and "/nowhere/vectors.json" in run.stderr
