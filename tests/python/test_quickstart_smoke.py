"""The whole path at toy size: every stage, four arms, the report; then again from its cache."""

import json
import math
import os
import subprocess
import sys
import time

import pytest
from oracle_unigram import unigram_bits

import omnigram
from omnigram.program import find_program
from omnigram.report import write_report

ARMS = ["off", "text", "multimodal", "random_row"]


def quickstart(root, out, *more):
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "omnigram.quickstart", "--smoke", "--out", out, *more], cwd=root, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(root / "python")})
    return done, time.monotonic() - began


@pytest.fixture(scope="module")
def run(root, tmp_path_factory):
    program = find_program()
    if not list((program.parent / "lib").glob("libomnigram_train.so")):
        pytest.skip("this build has no libomnigram_train (torch was not found)")
    out = tmp_path_factory.mktemp("quickstart")
    done, _ = quickstart(root, out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out, done


def numbers(tree, *path):
    """Every value of a sub-tree that must be a finite number."""
    for key in path:
        tree = tree[key]
    values = list(tree.values()) if isinstance(tree, dict) else [tree]
    assert values and all(isinstance(v, int | float) and math.isfinite(v) for v in values), (path, values)
    return values


def test_it_leaves_a_summary_with_every_promised_key(run):
    """docs/report.md lists them; scripts rely on them."""
    summary = json.loads((run[0] / "summary.json").read_text())
    assert summary["data"] == "synthetic"
    assert numbers(summary, "seconds")[0] > 0 and numbers(summary, "peak_rss_bytes")[0] > 50 * 2**20
    assert list(summary["arms"]) == ARMS
    for name, arm in summary["arms"].items():
        assert arm["steps"] == summary["steps"] >= 4
        assert set(arm["val_bits"]) == {"text", "image", "audio"} and all(0 < bits < 20 for bits in numbers(arm, "val_bits"))
        assert numbers(arm, "tokens_per_s")[0] > 0 and numbers(arm, "marker_bits")[0] > 0
        if name == "off":
            assert arm["lookup_hidden"] is None
        else:
            assert 0 <= numbers(arm, "lookup_hidden")[0] <= 1
    assert set(summary["controls"]["unigram"]["val_bits"]) == {"text", "image", "audio"}
    assert all(bits > 0 for bits in numbers(summary, "controls", "unigram", "val_bits"))
    assert numbers(summary, "tables", "host_bytes")[0] > 2**20
    assert set(summary["packing"]) == {"fill", "bins", "lower_bound"} and len(numbers(summary, "packing")) == 3
    assert 0 < summary["packing"]["fill"] <= 1 and summary["packing"]["bins"] >= summary["packing"]["lower_bound"] > 0
    assert numbers(summary, "isolation", "leaks") == [0] and numbers(summary, "isolation", "twin_leaks")[0] > 0
    for table in summary["hash"].values():
        assert table["lags"]
        for lag in table["lags"]:
            assert all(math.isfinite(lag[key]) for key in ("lag", "changed", "distinct", "ideal")) and 0 <= lag["changed"] <= 1
    assert {"trained", "frozen"} <= set(summary["overhead"]) and numbers(summary, "overhead")


def test_it_leaves_a_whole_report(run):
    page = (run[0] / "report.html").read_text()
    assert "synthetic" in page and "Left out" not in page and page.count("data:image/png") >= 4
    assert "in turn in one process" in page


def test_the_hash_audit_shows_what_welm_drops(run):
    found = json.loads((run[0] / "summary.json").read_text())["hash"]
    even = {lag["lag"]: lag["changed"] for lag in found["welm_knuth32/131072"]["lags"]}
    odd = {lag["lag"]: lag["changed"] for lag in found["welm_knuth32/131071"]["lags"]}
    assert min(even.values()) < 0.01 and min(odd.values()) > 0.99
    assert {"text", "image", "audio", "text_image", "image_text"} <= set(found)
    for name in ("text", "image", "audio", "text_image", "image_text"):
        assert min(lag["changed"] for lag in found[name]["lags"]) > 0.99


def test_arms_saw_the_same_data(run):
    seen = set()
    for arm in ARMS:
        lines = [json.loads(line) for line in (run[0] / "arms" / arm / "metrics.jsonl").read_text().splitlines()]
        seen.add(tuple((line["step"], line["tokens"]) for line in lines))
        documents = (run[0] / "arms" / arm / "eval_documents.csv").read_text().splitlines()
        seen.add(tuple(line.rsplit(",", 1)[0] for line in documents))  # all but the bits
    assert len(seen) == 2


def test_the_unigram_control_is_that_of_a_count_by_hand(run):
    """The report takes it from the trainer, which is held to numpy's count of the same packs."""
    train, val = (omnigram.Packs.load(run[0] / "packs" / f"{split}.safetensors") for split in ("train", "val"))
    counted = unigram_bits(train, val, train.ids)
    found = json.loads((run[0] / "summary.json").read_text())["controls"]["unigram"]
    for modality, bits in {**found["val_bits"], "marker": found["marker_bits"]}.items():
        assert bits == pytest.approx(counted[modality], abs=1e-6)


def test_an_arm_alone_is_reported_as_in_the_quickstart(run):
    """Its packs, their data set and its figures are found from what the run recorded."""
    out = run[0]
    whole = json.loads((out / "summary.json").read_text())
    own = json.loads((out / "arms/text/summary.json").read_text())
    found = write_report(out / "arms" / "text", out=out / "text.html")
    assert found["data"] == "synthetic" and found["packing"] == whole["packing"] and found["controls"] == whole["controls"]
    assert found["arms"]["text"] == whole["arms"]["text"]
    assert (found["seconds"], found["peak_rss_bytes"]) == (own["seconds"], own["peak_rss_bytes"])
    page = (out / "text.html").read_text()
    assert "Over-Encoding on synthetic" in page and 'class="pack"' in page and "pass" in page.split("<nav>")[0]
    assert json.loads((out / "arms/text/summary.json").read_text()) == own
    write_report(out / "arms" / "text", out=out / "text.html", named={"codes": out / "codes", "prepared": out / "prepared"})
    assert (out / "text.html").read_text().count("data:image/png") >= 4


def test_nothing_is_done_twice(run, root):
    out, first = run
    before = json.loads((out / "summary.json").read_text())
    done, seconds = quickstart(root, out)
    assert done.returncode == 0 and done.stdout.count("done before") == 10 + len(ARMS), done.stdout
    after = json.loads((out / "summary.json").read_text())
    assert after["arms"] == before["arms"]
    assert seconds < before["seconds"] and after["seconds"] > 0.5 * before["seconds"]  # still counts what it cost


def test_faults_are_named(root, tmp_path):
    done, _ = quickstart(root, tmp_path, "--config", tmp_path / "nowhere.yaml")
    assert done.returncode != 0 and "nowhere.yaml" in done.stderr
