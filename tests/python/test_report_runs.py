"""Reports of run folders of any name and number: roles come from configs, figures from what the runs recorded."""

import json
import re
import shutil

import numpy as np
import pytest
from report_fixture import ARMS, PACKS, UNIGRAM, arm_config, write_arm, write_run

from omnigram.report import ReportError, write_report
from omnigram.report.findings import cautions, findings, unlearned
from omnigram.report.folders import read_run
from omnigram.report.media import _items
from omnigram.report.passes import passes
from omnigram.report.roles import Roles, describe, roles
from omnigram.report.statistics import Difference
from omnigram.report.style import arm_colours


def text_of(page):
    """What a reader sees: no figures, style or marks."""
    page = re.sub(r"<(style|pre|svg).*?</\1>", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"</?(code|b|i|small)>", "", page))).replace("\u00a0", " ")


@pytest.fixture
def arms(tmp_path):
    """Five arms whose names say nothing and whose order is not the alphabet's: runs/NAME."""
    told = {"zebra": "off", "w1": "text", "anchor_next": "multimodal", "b": "multimodal", "a": "random_row"}
    for seed, (name, kind) in enumerate(told.items(), 1):
        write_arm(tmp_path / "runs" / name, name, ARMS[kind], seed, config=arm_config(kind))
    return tmp_path / "runs"


def test_one_run_is_reported_by_its_own_record(tmp_path):
    write_arm(tmp_path / "mine", "mine", ARMS["multimodal"], 1)
    before = (tmp_path / "mine/summary.json").read_text()
    result = write_report(tmp_path / "mine", elapsed=lambda: 1e6, peak_rss=lambda: 1 << 50)
    assert result["seconds"] == 104.5 and result["peak_rss_bytes"] == 700 * 2**20  # not the report's own
    assert list(result["arms"]) == ["mine"] and result["data"] is None
    assert result["controls"]["unigram"]["val_bits"]["image"] == UNIGRAM["image"]
    assert (tmp_path / "mine/summary.json").read_text() == before  # the trainer's
    assert json.loads((tmp_path / "mine/report.json").read_text())["arms"]["mine"]["passes"] == pytest.approx(200 / PACKS)
    said = text_of(tmp_path / "mine/report.html")
    for words in ("Over-Encoding: mine", "One run, 200 steps, 200 of 403 packs once, 49.6 % of a pass", "104 s training steps", "unigram 8.100 5.200",
                  "this is one run", "None was made of this run"):
        assert words in said, words
    assert "unknown" not in said and "models" not in said and "one pass" not in said and "random_row" not in said


def test_what_a_run_did_not_record_is_said(tmp_path):
    write_arm(tmp_path / "killed", "killed", ARMS["text"], 1)
    (tmp_path / "killed/summary.json").unlink()
    (tmp_path / "killed/eval_documents.csv").unlink()
    result = write_report(tmp_path / "killed")
    assert result["seconds"] is None and result["peak_rss_bytes"] is None
    said = text_of(tmp_path / "killed/report.html")
    for words in ("not recorded training steps", "not recorded peak memory", "not recorded tables in host memory", "made from was not recorded"):
        assert words in said, words


def test_the_data_set_is_that_of_the_config_where_nothing_else_says_it(tmp_path):
    config = arm_config("off") | {"prepare": {"dataset": {"name": "jsonl"}}}
    write_arm(tmp_path / "r", "r", ARMS["off"], 1, config=config)
    assert write_report(tmp_path / "r")["data"] == "jsonl"


def test_several_runs_stand_side_by_side(arms, tmp_path):
    with pytest.raises(ReportError, match="--out"):
        write_report([arms / "b", arms / "zebra"])
    result = write_report([arms / "b", arms / "zebra", arms / "b"], out=tmp_path / "both.html")
    assert list(result["arms"]) == ["b", "zebra"]  # as they were named
    assert result["reference"] == "zebra" and result["seconds"] == 209 and result["peak_rss_bytes"] == 700 * 2**20
    assert json.loads((tmp_path / "both.json").read_text()) == json.loads(json.dumps(result))
    assert "2 models, equal but for their n-gram tables, each trained for 200 steps" in text_of(tmp_path / "both.html")
    for out in (arms / "b/summary.html", tmp_path / "page.json"):
        with pytest.raises(ReportError, match="choose another name"):
            write_report([arms / "b", arms / "zebra"], out=out)


def test_runs_of_one_name_are_told_apart(arms, tmp_path):
    shutil.copytree(arms, tmp_path / "again")
    run = read_run([arms / "b", tmp_path / "again/b", arms / "zebra"])
    assert list(run.arms) == ["runs/b", "again/b", "zebra"]


def test_what_else_differs_is_said(arms, tmp_path):
    write_arm(tmp_path / "wide", "wide", ARMS["off"], 9, steps=150, config=arm_config("off", lr=0.1))
    write_report([arms / "b", tmp_path / "wide"], out=tmp_path / "p.html")
    said = text_of(tmp_path / "p.html")
    assert "2 runs." in said and "steps (b: 200, wide: 150) and train.lr (b: not recorded, wide: 0.1)" in said and "equal but" not in said


def test_other_documents_are_left_out_and_said(arms, tmp_path):
    write_arm(tmp_path / "other", "other", ARMS["text"], 5, documents=30)
    write_report([arms / "zebra", arms / "b", tmp_path / "other"], out=tmp_path / "p.html")
    assert "other and zebra were not evaluated on the same held-out documents" in text_of(tmp_path / "p.html")
    assert "b helps on" in text_of(tmp_path / "p.html")


def test_roles_come_from_configs(arms):
    run = read_run(arms)
    chosen = roles(run.arms)
    assert list(run.arms) == ["zebra", "anchor_next", "b", "w1", "a"]  # no order is recorded: plain first, controls last
    assert chosen == Roles(("zebra",), ("a",))
    assert chosen.against("b") == ["zebra", "a"] and chosen.against("a") == ["zebra"] and chosen.against("zebra") == []
    assert describe(run.arms, chosen) == [("a", "rows that ignore context; 88.0\u00a0MiB of tables, as many as anchor_next, b and w1")]
    assert roles(run.arms, ["w1"]).baselines == ("w1",)
    with pytest.raises(ReportError, match="--baseline anchor: no such arm.*zebra"):
        roles(run.arms, ["anchor"])
    del run.arms["zebra"], run.arms["a"]
    assert roles(run.arms) == Roles(("anchor_next",), ())  # nothing plain: the first


def test_an_off_that_yaml_reads_as_false_is_off(arms):
    path = arms / "zebra/config.yaml"
    path.write_text(path.read_text().replace('"mode": "off"', '"mode": off'))
    assert not read_run(arms / "zebra").arms["zebra"].has_tables


def test_the_page_speaks_of_the_arms_there_are(arms):
    result = write_report(arms, baselines=["w1", "zebra"])
    page, said = (arms / "report.html").read_text(), text_of(arms / "report.html")
    assert result["reference"] == "w1" and "difference from w1" in said and "in bits a token against w1" in said
    assert page.count("<figure><svg") >= 3 and "random_row:" not in said and "a: rows that ignore context" in said
    assert not re.search(r"\boff\b", said)
    assert {f"b · {m}" for m in ("text", "image", "audio")} <= set(re.findall(r">([^<>]* · [^<>]*)</text>", page))


def test_arms_come_in_the_manifest_s_order_and_strangers_are_left_out(tmp_path):
    names = {name: ARMS["multimodal"] for name in ("zz", "m", "off", "aa")}
    write_run(tmp_path, names)
    write_arm(tmp_path / "arms/stale", "stale", ARMS["text"], 7)
    manifest = json.loads((tmp_path / "quickstart.json").read_text())
    manifest["arms"].append("later")
    (tmp_path / "quickstart.json").write_text(json.dumps(manifest))
    assert list(write_report(tmp_path)["arms"]) == list(names)
    said = text_of(tmp_path / "report.html")
    assert "Left out, arms/stale: no arm of this quickstart" in said and "Left out, arm later: it has not been trained" in said


def test_each_arm_has_a_colour_of_its_own(arms):
    names = [f"arm{i}" for i in range(40)]
    colours = arm_colours(names, "arm7")
    assert len(set(colours.values())) == 40 and all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours.values())
    assert arm_colours(names[:3], None) == {f"arm{i}": colours[f"arm{i}"] for i in range(3)}
    write_report(arms)
    dots = dict(re.findall(r'class="dot" style="background:(#\w+)"></i>(\w+)', (arms / "report.html").read_text()))
    assert len(dots) == 5 and len(set(dots.values())) == 5


@pytest.mark.parametrize(("steps", "train", "said"), [
    (201, {"batch": 1, "epochs": 1}, "201 of 297 packs once, 67.7\u00a0% of a pass over the data"),
    (297, {"batch": 1, "epochs": 1}, "one pass: each of 297 packs once"),
    (75, {"batch": 4, "epochs": 1}, "one pass: each of 297 packs once"),  # the last batch is short
    (891, {"batch": 1, "epochs": 9}, "3 passes over 297 packs"),
    (9, {"batch": 1, "overfit_one_batch": True}, "one batch again and again")])
def test_passes_are_counted_in_packs(steps, train, said):
    assert str(passes(steps, {"train": train}, 297)) == said


def test_passes_end_where_packs_come_again(tmp_path):
    found = passes(900, {"train": {"batch": 2, "epochs": 9}}, 600)
    assert found.repeats and found.ends == [300, 600] and found.share == 3
    assert passes(3, {}, 297) is None and passes(3, {"train": {"batch": 1}}, None) is None
    write_arm(tmp_path / "r", "r", ARMS["text"], 1, steps=1000, config=arm_config("text", epochs=3))
    write_report(tmp_path / "r")
    assert "2.48 passes over 403 packs" in text_of(tmp_path / "r/report.html") and "seen before" in text_of(tmp_path / "r/report.html")


def test_a_control_that_helps_is_a_caution(tmp_path):
    better, same = Difference(-0.05, -0.06, -0.04, 10), Difference(-0.01, -0.05, 0.04, 10)
    chosen = Roles(("plain",), ("noise",))
    line, = cautions({"noise": {"plain": {"image": better, "text": same}}}, ("text", "image"), chosen)
    assert line.startswith("noise ignores context and is still better than plain on image (\u22120.050).") and "not context" in line
    assert cautions({"noise": {"plain": {"image": same}}}, ("image",), chosen) == []
    (_, said), = findings({"x": {"plain": {"image": better}, "noise": {"image": same}}}, ("image",), chosen)
    assert "not better than noise" in said
    write_run(tmp_path, {"off": ARMS["off"], "multimodal": ARMS["multimodal"], "random_row": (6.9, 2.3, 4.06, 0.4)})
    write_report(tmp_path)
    assert "random_row ignores context and is still better than off on image" in text_of(tmp_path / "report.html")


def test_models_that_know_less_than_frequencies_are_a_caution():
    class Model:
        def __init__(self, **bits):
            self.val_bits = bits.get

    arms = {"off": Model(text=8.4, image=5.1), "tables": Model(text=8.3, image=5.3)}
    line, = unlearned(arms, {"text": 6.5, "image": 5.2, "audio": 4.0}, ("text", "image", "audio"))
    assert line.startswith("No arm is better than the unigram control on text (best arm 8.300, unigram 6.500).") and "image" not in line
    assert unlearned(arms, {"text": 8.35, "image": None}, ("text", "image")) == []


def test_there_is_one_minus_sign(arms):
    write_report(arms)
    assert "\u2212" in text_of(arms / "report.html")
    assert re.findall(r"(?<![\w.-])-\d[\d.]*", text_of(arms / "report.html")) == []
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", (arms / "report.html").read_text())
    assert labels and not [label for label in labels if re.match(r"-\d", label)]


def test_previews_are_of_different_groups():
    """Documents 0 and 1 are a picture and its mirror, 2 holds the bytes of 3."""
    from omnigram.media import Document, Item

    class Shelf:
        groups, items = ["cat", "cat", "dog", "bird", "fish"], [0, 1, 2, 2, 4]

        def count(self, split):
            return len(self.groups)

        def document(self, split, i):
            picture = Item("image", np.zeros((2, 2, 3), np.uint8), 0, self.items[i])
            return Document(f"d{i}", self.groups[i], 0, i, [Item("text", "x", 0, 100 + i), picture])

    assert [document.id for document, _ in _items(Shelf(), "image", 8)] == ["d0", "d2", "d4"]
    assert _items(Shelf(), "audio", 8) == []


def test_the_user_s_paths_must_be_there(arms, tmp_path):
    with pytest.raises(ReportError, match="--packs .*nowhere: no such file"):
        write_report(arms, named={"packs": tmp_path / "nowhere"})
    (tmp_path / "bad").write_text("no packs")
    with pytest.raises(ReportError, match="bad"):
        write_report(arms, named={"packs": tmp_path / "bad"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReportError, match="--codes .*empty: holds no codebooks"):
        write_report(arms, named={"codes": tmp_path / "empty"})
    with pytest.raises(ReportError, match="--out .*: there is no folder .*nodir"):
        write_report(arms, out=tmp_path / "nodir" / "page.html")
    assert not (arms / "report.html").exists() and not (tmp_path / "nodir").exists()
