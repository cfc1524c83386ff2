import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_fixture import ARMS, UNIGRAM, write_arm, write_run

from omnigram.program import find_program
from omnigram.report import ReportError, write_report
from omnigram.report.__main__ import main
from omnigram.report.findings import findings
from omnigram.report.folders import read_run
from omnigram.report.read import read_metrics
from omnigram.report.roles import Roles
from omnigram.report.statistics import Difference, DocumentBits, paired_difference


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("run") / "quickstart")


@pytest.fixture(scope="module")
def result(run):
    return write_report(run)


def test_summary_has_what_scripts_rely_on(run, result):
    assert json.loads((run / "summary.json").read_text()) == json.loads(json.dumps(result))
    assert set(result) >= {"data", "seconds", "peak_rss_bytes", "arms", "controls", "tables", "packing", "isolation", "hash", "overhead"}
    assert list(result["arms"]) == list(ARMS)
    for name, arm in result["arms"].items():
        assert set(arm["val_bits"]) == {"text", "image", "audio"}
        assert arm["tokens_per_s"] > 0
        assert (arm["lookup_hidden"] is None) == (name == "off")
        for bits, expected in zip(arm["val_bits"].values(), ARMS[name]):
            assert bits == pytest.approx(expected, abs=0.25)
    assert result["controls"]["unigram"]["val_bits"] == {m: UNIGRAM[m] for m in ("text", "image", "audio")}
    assert result["tables"]["host_bytes"] == 88 * 2**20
    assert result["packing"] == {"fill": 0.9871, "bins": 403, "lower_bound": 401}
    assert result["isolation"] == {"leaks": 0, "twin_leaks": 7312}
    for table in result["hash"].values():
        for lag in table["lags"]:
            assert set(lag) >= {"lag", "changed", "distinct", "ideal"}
    assert result["seconds"] >= 12.5 * 10 and result["peak_rss_bytes"] == 900 * 2**20


def test_page_is_whole_and_self_contained(run, result):
    page = (run / "report.html").read_text()
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#|data:)[^"']*""", page)
    assert not re.findall(r"url\((?!#)[^)]*\)|@import", page)
    for word in (*ARMS, "unigram", "one seed is one seed", "Read, kept, dropped", "Isolation", "omnigram prepare"):
        assert word in page
    assert "<b>welm_knuth32/131072</b>" in page and "order 5: lags 2, 3, 4 are dropped" in page
    assert "<b>welm_knuth32/131071</b>" not in page
    for label in ("text n=2", "text n=3", "image #1", "image #3", "cell 0"):
        assert label in page
    for word in ("image, dropped: truncated", "noted: clipped"):
        assert word in page
    assert "rotated" not in page  # a cause that never came up is no news
    assert page.count("<svg") >= 5 and "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def test_the_verb_writes_the_same(run, result, tmp_path):
    """`omnigram report` finds Python, package and library by itself, and passes exit statuses on."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"OMNIGRAM_PYTHON": sys.executable}
    command = [find_program(), "report", run, "--out", tmp_path / "page.html", "--json", "-"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["arms"] == json.loads(json.dumps(result["arms"]))
    assert (tmp_path / "page.html").stat().st_size > 50_000
    failed = subprocess.run([find_program(), "report", tmp_path / "nowhere"], cwd=tmp_path, env=environment,
                            capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "nowhere: no such folder" in failed.stderr


def test_bits_are_token_weighted_over_documents(run):
    arm = read_run(run).arms["off"]
    lines = [line.split(",") for line in (run / "arms/off/eval_documents.csv").read_text().splitlines()[1:]]
    image = [(float(row[5]), float(row[6])) for row in lines if row[4] == "image"]
    assert arm.val_bits("image") == pytest.approx(sum(b for _, b in image) / sum(t for t, _ in image))


def documents(deltas, tokens=None, base=None):
    n = len(deltas)
    tokens = np.full(n, 10.0) if tokens is None else np.asarray(tokens, float)
    base = np.zeros(n) if base is None else base
    return DocumentBits(tuple(range(n)), tokens, tokens * (base + np.asarray(deltas)))


def test_an_equal_arm_has_no_difference():
    bits = documents(np.random.default_rng(0).standard_normal(50))
    found = paired_difference(bits, bits)
    assert (found.value, found.low, found.high, found.verdict) == (0, 0, 0, "unclear")


def test_interval_agrees_with_theory():
    """For equal lengths the bootstrap of a mean is nearly normal: value -+ 1.96 s / sqrt(n)."""
    deltas = np.random.default_rng(1).normal(-0.05, 0.2, 400)
    found = paired_difference(documents(deltas), documents(np.zeros(400)))
    error = deltas.std() / 20
    assert found.value == pytest.approx(deltas.mean())
    assert found.low == pytest.approx(deltas.mean() - 1.96 * error, abs=0.15 * error)
    assert found.high == pytest.approx(deltas.mean() + 1.96 * error, abs=0.15 * error)
    assert found.verdict == "better"


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_pairing_removes_what_documents_share(deltas, seed):
    """However hard a document is, only what the arms differ by counts."""
    shared = np.random.default_rng(seed).normal(0, 100, len(deltas))
    plain = paired_difference(documents(deltas), documents(np.zeros(len(deltas))), resamples=500)
    hard = paired_difference(documents(deltas, base=shared), documents(np.zeros(len(deltas)), base=shared), resamples=500)
    assert (hard.value, hard.low, hard.high) == pytest.approx((plain.value, plain.low, plain.high), abs=1e-9)


def test_other_documents_are_refused():
    with pytest.raises(ValueError, match="same documents"):
        paired_difference(documents([1, 2]), documents([1, 2, 3]))


def test_words_follow_the_numbers():
    better, worse, unclear = Difference(-0.04, -0.06, -0.02, 10), Difference(0.3, 0.1, 0.5, 10), Difference(-0.01, -0.05, 0.04, 10)
    roles = Roles(("off",), ("random_row",))
    (arm, line), = findings({"text": {"off": {"text": worse, "image": unclear, "audio": worse}}}, ("text", "image", "audio"), roles)
    assert arm == "text" and line == ("does not help: it hurts on text (+0.300) and audio (+0.300); shows no difference on image "
                                      "(\u22120.010), in bits a token against off.")
    (_, line), = findings({"multimodal": {"off": {"image": better, "text": worse}, "random_row": {"image": unclear}}}, ("text", "image"), roles)
    assert line.startswith("helps on image (\u22120.040); hurts on text (+0.300), in bits") and "On image it is not better than random_row" in line
    (_, line), = findings({"multimodal": {"off": {"image": better}, "random_row": {"image": better}}}, ("image",), roles)
    assert line.endswith("better than random_row, whose tables ignore context, on image (\u22120.040).")
    (_, line), = findings({"multimodal": {"off": {"image": worse}, "random_row": {"image": worse}}}, ("image",), roles)
    assert line.startswith("does not help") and "nowhere better than random_row" in line
    few = Difference(-0.04, -0.06, -0.02, 9)
    (_, line), = findings({"text": {"off": {"text": few}, "random_row": {"text": few}}}, ("text",), roles)
    assert line == "has too few held-out documents (below 10) to tell on text (\u22120.040), in bits a token against off."
    nothing = Difference(float("nan"), float("nan"), float("nan"), 0)
    assert findings({"text": {"off": {"audio": nothing}}, "random_row": {}}, ("audio",), roles) == []


def test_overhead_comes_from_the_measurement_in_turns(run, result):
    assert result["overhead"] == {"frozen": 0.04, "trained": 0.08, "frozen_cpu": 0.05, "trained_cpu": 0.07}
    page = (run / "report.html").read_text()
    assert "+8.0\u00a0%" in page and "+4.0\u00a0%" in page and "97.0\u00a0%" in page and "followed one another" in page
    assert "+52" not in page  # of the arms' own runs, one after another, no ratio is made


def test_the_last_measure_is_no_point_of_the_curve(run):
    arm = read_run(run).arms["off"]
    steps, bits = arm.held_out_curve("image")
    assert steps.tolist() == list(range(20, 200, 20)) and len(bits) == 9  # step 200 was measured on all packs
    arm.documents = {}  # a run that was stopped has no last measure
    assert arm.held_out_curve("image")[0].tolist() == list(range(20, 201, 20))


def test_a_line_cut_short_is_left_out_and_a_broken_one_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "val_bits": {"text": 3.0}}\n{"step": 2, "loss": null}\n{"step": 3, "lo')
    metrics = read_metrics(path, warnings := [])
    assert len(warnings) == 1 and "metrics.jsonl:3: the line is cut short" in warnings[0]
    assert metrics["step"].tolist() == [1, 2] and metrics["val_bits_text"][0] == 3 and np.isnan(metrics["loss"]).all()
    for line in ("nonsense", "[]", '{"loss": 1}', '{"step": 2, "loss": "low"}'):
        path.write_text(f'{{"step": 1}}\n{line}\n{{"step": 3}}\n')
        with pytest.raises(ReportError, match="metrics.jsonl:2"):
            read_metrics(path, [])
    path.write_text('{"step": 1}\n{"step": 2}\n{"step": 2}\n')
    read_metrics(path, warnings := [])
    assert len(warnings) == 1 and "metrics.jsonl:3: step 2 stands after step 2" in warnings[0]


def test_damaged_files_of_a_run_are_named(tmp_path, capsys):
    run = tmp_path / "run"
    write_arm(run, "off", ARMS["off"], seed=1, steps=40, documents=8)

    def told(leaf, text):
        kept = (run / leaf).read_text()
        (run / leaf).write_text(text(kept))
        status = main([str(run), "--out", str(tmp_path / "page.html")])
        (run / leaf).write_text(kept)
        return status, capsys.readouterr().err

    assert told("metrics.jsonl", lambda kept: kept) == (0, "")
    status, said = told("metrics.jsonl", lambda kept: "".join(kept.splitlines(keepends=True)[:30]))
    assert status == 0 and "metrics.jsonl: ends at step 30, but summary.json is of 40" in said
    assert "ends at step 30" in (tmp_path / "page.html").read_text()
    for leaf, text, message in (("summary.json", "[1]", "summary.json: not a JSON object"),
                                ("summary.json", '{"table_bytes": "many"}', "summary.json: table_bytes is 'many', not a number"),
                                ("environment.json", "3", "environment.json: not a JSON object"),
                                ("config.yaml", "- model", "config.yaml: not a map"),
                                ("eval_documents.csv", "shard,modality,tokens,bits\n0,text,3,1\n0,text,4\n", "eval_documents.csv:3")):
        status, said = told(leaf, lambda kept, text=text: text)
        assert status == 1 and message in said, said


def test_a_folder_without_runs_is_named(tmp_path):
    with pytest.raises(ReportError, match="no run folder"):
        write_report(tmp_path)
    with pytest.raises(ReportError, match="no such folder"):
        write_report(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
