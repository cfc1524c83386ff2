"""The program itself: what every verb says to no words, to --help, to wrong words and to files it cannot read; verify's results."""

import json
import os
import re
import subprocess

import pytest

from omnigram.program import find_program

PROGRAM = find_program()
VERBS = [line.split()[0] for line in subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout.splitlines() if line.startswith("  ")]


def run(*words, status=0, env=None):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def test_help_lists_the_verbs():
    assert {"prepare", "quantize", "pack", "inspect", "table", "audit", "train", "eval", "verify", "bench", "report"} <= set(VERBS)
    assert "usage" in run(status=2).stderr
    assert "did you mean 'inspect'" in run("inspcet", status=2).stderr
    assert "omnigram --help" in run("zzzzzzzzz", status=2).stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_explains_itself(verb):
    for flag in ("--help", "-h"):
        told = run(verb, flag).stdout
        assert told.startswith(f"usage: omnigram {verb}") and "--json FILE" in told
    nothing = run(verb, status=2).stderr
    assert nothing and "--help" in nothing or "usage" in nothing
    wrong = run(verb, *({"bench": ["hash"], "audit": ["hash"], "report": ["x"]}.get(verb, [])), "--no-such-flag", status=2).stderr
    assert "--no-such-flag" in wrong


def test_bench_names_every_benchmark():
    assert "{lookup,hash,dedupe,update,overlap,train}" in run("bench", status=2).stderr


def test_a_peer_that_is_absent_is_told_once(capsys, monkeypatch):
    import sys

    from omnigram.bench import lookup
    monkeypatch.setitem(sys.modules, "fbgemm_gpu", None)  # as where it is not installed
    monkeypatch.setitem(sys.modules, "fbgemm_gpu.split_embedding_configs", None)
    for _ in range(2):
        assert lookup.fbgemm_table(None, 1, 1) is None
    out, err = capsys.readouterr()
    assert not out and err.count("FBGEMM is left out") == 1 and "make bench" in err


def test_a_wrong_instruction_set_is_refused(root):
    vectors = root / "tests" / "vectors" / "blocks.json"
    for level in ("c", "avx2", "avx512", ""):
        run("verify", vectors, env={"OG_CPU": level})
    for level in ("avx3", "C", "avx512 "):
        said = run("verify", vectors, status=2, env={"OG_CPU": level}).stderr
        assert f"OG_CPU is '{level}'" in said and "c, avx2 or avx512" in said
    import sys
    done = subprocess.run([sys.executable, "-c", "import omnigram"], capture_output=True, text=True,
                          env={**os.environ, "OG_CPU": "sse9", "PYTHONPATH": str(root / "python")})
    assert done.returncode == 1 and "ImportError: the environment variable OG_CPU is 'sse9'" in done.stderr


# ---- verify ----------------------------------------------------------------------------------------------------


def case(row, scheme="welm_knuth32"):
    return {"scheme": scheme, "config": {"vocab": 17, "orders": [2, 4], "rows": [11, 13], "fill": "zero_id"},
            "history_oldest_first": [5, 4, 9], "ids": [1], "rows": [row]}


def verify(tmp_path, *cases, status=0):
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"format": 2, "cases": cases}))
    told = run("verify", path, status=status)
    got = json.loads(run("verify", path, "--json", "-", status=status).stdout)
    for key in ("cases", "supported", "values", "mismatches"):
        assert got[key] == sum(row[key] for row in got["by_system"])
    return told, got


def test_verify_tells_by_system(tmp_path):
    told, got = verify(tmp_path, case([5, 6]), case([5, 6]), {"block": "engram_v1"}, {"text": "A", "key": "a"})
    assert got["by_system"] == [{"system": "welm_knuth32", "cases": 2, "supported": 2, "values": 4, "mismatches": 0},
                                {"system": "engram_v1", "cases": 1, "supported": 0, "values": 0, "mismatches": 0},
                                {"system": "canonical", "cases": 1, "supported": 1, "values": 1, "mismatches": 0}]
    (missing,) = got["unsupported"]
    assert (missing["system"], missing["cases"], missing["first_case"]) == ("engram_v1", 1, 2) and missing["path"].endswith("vectors.json")
    lines = told.stdout.splitlines()
    assert lines[0].split() == ["system", "cases", "supported", "values", "mismatches"] and lines[1].split() == ["welm_knuth32", "2", "2", "4", "0"]
    assert lines[-1] == "verified: 3 of 4 cases replayed, 5 values compared, 0 mismatches"
    assert next(i for i, line in enumerate(lines) if "not supported" in line) > 3 and not told.stderr


def test_verify_fails_where_a_value_differs_or_nothing_was_replayed(tmp_path):
    told, got = verify(tmp_path, case([5, 7]), status=1)
    assert got["mismatches"] == 1 and "MISMATCH" in told.stderr and told.stdout.splitlines()[-1].startswith("FAILED: 1 of 1")
    told, got = verify(tmp_path, {"block": "engram_v1"}, {"block": "ple_gemma4"}, status=1)
    assert told.stdout.splitlines()[-1] == "FAILED: 0 of 2 cases could be replayed"
    told, got = verify(tmp_path, case([5, 6], "welm_knuth23"), status=1)
    assert "unknown scheme 'welm_knuth23', did you mean 'welm_knuth32'?" in told.stdout == told.stdout and got["supported"] == 0
    verify(tmp_path, status=1)


def test_verify_goes_on_after_a_case_or_a_file_that_cannot_be_read(tmp_path):
    told, got = verify(tmp_path, {"scheme": "welm_knuth32", "ids": [2**40], "rows": [[1]]}, {"text": 3, "key": "a"}, case([5, 6]), status=1)
    assert (got["cases"], got["supported"], got["values"], got["mismatches"]) == (3, 3, 2, 2)
    assert "case 0 (welm_knuth32)" in told.stderr and "case 1 (canonical)" in told.stderr
    good, broken = tmp_path / "vectors.json", tmp_path / "broken.json"
    good.write_text(json.dumps({"format": 2, "cases": [case([5, 6])]}))
    broken.write_text('{"format": 2, "cases": [')
    told = run("verify", broken, tmp_path / "absent.json", good, "--json", tmp_path / "result.json", status=1)
    got = json.loads((tmp_path / "result.json").read_text())
    assert (got["files_not_read"], got["supported"], got["mismatches"]) == (2, 1, 0)
    assert "broken.json:1" in told.stderr and "absent.json" in told.stderr
    assert told.stdout.splitlines()[-1] == "FAILED: 2 files could not be read, 1 of 1 cases replayed, 2 values compared, 0 mismatches"


def test_verify_does_not_count_a_case_without_values_as_passed(tmp_path):
    nothing = {**case([5, 6]), "ids": [], "rows": []}
    told, got = verify(tmp_path, case([5, 6]), nothing)
    assert got["supported"] == 1 and "no value to compare" in told.stdout
    verify(tmp_path, nothing, status=1)


def test_the_published_vectors_pass(root):
    got = json.loads(run("verify", *(root / "tests" / "vectors" / f"{name}.json" for name in ("addresses", "blocks", "canonical")), "--json", "-").stdout)
    assert got["cases"] == 147 and got["supported"] >= 139 and got["mismatches"] == 0 and len(got["by_system"]) == 18


# ---- key paths -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, says", [
    ("prepare --prepare.dataset.name=jsonl --out o", "prepare: prepare.dataset.path: missing"),
    ("prepare --config CONFIG --prepare.dataset.name=folder --prepare.dataset.path=/no/such --out o", "--prepare.dataset.path: '/no/such' is not a folder"),
    ("prepare --config CONFIG --image.size=30 --out o", "prepare.image: size 30 is not a multiple of patch 8"),
    ("table --config CONFIG --ids 2000,256 --tables.near.cells=[[E]]", "--tables.near.cells[0]: cell \"E\" looks ahead"),
    ("table --config CONFIG --ids 2000,256 --tables.near.cells=W", "--tables.near.cells: is a list of n-grams"),
    ("table --config CONFIG --ids 2000,256 --tables.near.dim=0", "--tables.near.dim: the integer 0 is out of limits"),
    ("table --config CONFIG --ids 2000,256 --tables.text.addressing.rows=[1,2,3]", ": tables.text.addressing: rows has 3 values for 2 columns"),
    ("table --config CONFIG --ids 2000,256 --tables.text.addressing.scheme=mix63", "--tables.text.addressing.scheme: unknown addressing scheme 'mix63'"),
    ("table --config CONFIG --ids 2000,256 --tables.near.addressing.window={fill: pad_id}", "tables.near.addressing.window: fill pad_id needs fill_id"),
    ("table --config CONFIG --ids 2000,256 --tables.text.addressing={heads: x}", "tables.text.addressing.heads: wants an integer"),
])
def test_a_message_names_the_whole_key(tmp_path, words, says):
    config = tmp_path / "config.yaml"
    config.write_text("prepare:\n  dataset: {name: synthetic, documents: 3}\n  image: {size: 32, patch: 8}\n"
                      "tables:\n  text: {orders: [2, 3], dim: 8}\n  near: {stencil: grid, cells: [[W]], dim: 8}\n")
    line = [word.replace("CONFIG", str(config)) for word in words.replace("{fill: pad_id}", "{fill:\0pad_id}").replace("{heads: x}", "{heads:\0x}").split()]
    assert says in run(*(word.replace("\0", " ") for word in line), status=1).stderr
    assert not os.path.exists("o")


# ---- the keys that the program knows, against the documentation ------------------------------------------------------


def test_every_key_of_every_scheme_is_documented(root):
    page = (root / "docs" / "addressing.md").read_text()
    documented = {row.split("|")[1].strip(" `"): set(re.findall("`([a-z0-9_]+)`", row.split("|")[2]))
                  for row in page[page.index("### Keys"):page.index("### mix64")].splitlines() if row.startswith("| `")}
    known, scheme = {}, None
    for line in run("verify", "--schemes").stdout.splitlines():
        if line and line[0] != " ":
            known[scheme := line.split(":")[0]] = set()
        elif line and not line.startswith("  source"):
            known[scheme].add(line.split()[0])
    assert len(known) > 10
    assert {name: keys - {"window", "global_rows"} for name, keys in known.items()} == documented
    for name in known:
        assert page.count(f"`{name}`") >= 2, name


def test_every_key_of_every_stencil_is_documented(root):
    page = (root / "docs" / "tables.md").read_text()
    stencils = sorted(path.stem.removeprefix("stencil_") for path in (root / "tables").glob("stencil_*.c"))
    assert len(stencils) >= 5
    for stencil in stencils:
        told = run("table", "--ids", "10,10,10x2", f"--tables.x.stencil={stencil}", "--tables.x.cells=[[W]]", "--tables.x.zqzqzqzq=1", status=1).stderr
        if "zqzqzqzq" not in told:  # it has no cells, which is said first
            told = run("table", "--ids", "10,10,10x2", f"--tables.x.stencil={stencil}", "--tables.x.zqzqzqzq=1", status=1).stderr
        keys = told.strip().split("known are: ")[1].split(", ")
        assert "dim" in keys and not keys[-1].endswith("...")
        missing = [key for key in keys if not re.search(rf"`{key}[`:]", page)]
        assert (f"**{stencil}**" in page, missing) == (True, []), f"docs/tables.md has no **{stencil}**, or not its keys {missing}"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("line", ["--help", "--version", "pack --help", "audit hash --vocab 64 --rows 97"])
def test_what_cannot_be_printed_is_a_failure(line):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, *line.split()], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "standard output: No space left" in done.stderr
