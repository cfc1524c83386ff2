import re

import pytest

from omnigram.quickstart import settings
from omnigram.quickstart.budget import choose


def test_steps_fill_the_budget():
    choice = choose([0.5] * 9, 10, left_seconds=240, arms=4, one_pass=1000, least=20)
    assert choice.steps == 100 and choice.fixed_seconds == 10  # (60 - 10) / 0.5
    assert "100 steps" in choice.reason and "0.500 s" in choice.reason


def test_slack_leaves_room():
    choice = choose([0.5] * 9, 10, left_seconds=240, arms=4, one_pass=1000, least=20, slack=1.25)
    assert choice.steps == 80 and choice.steps * 0.5 * 1.25 + 10 <= 60 and "1.25 times" in choice.reason


def test_steps_never_exceed_one_pass():
    assert choose([0.01], 1, left_seconds=240, arms=4, one_pass=70, least=20).steps == 70
    assert choose([100.0], 1, left_seconds=240, arms=4, one_pass=10, least=20).steps == 10


def test_a_slow_machine_still_trains():
    choice = choose([100.0], 1, left_seconds=240, arms=4, one_pass=1000, least=20)
    assert choice.steps == 20 and "the least" in choice.reason


def test_the_mean_counts():
    """Batches differ in cost, and all of them have to be paid."""
    assert choose([1.0, 1.0, 4.0], 0, left_seconds=100, arms=1, one_pass=10**6, least=1).steps == 50
    with pytest.raises(ValueError, match="no steps"):
        choose([], 1, left_seconds=100, arms=1, one_pass=10, least=1)


def test_the_shipped_config(root):
    path = root / "train" / "configs" / "quickstart.yaml"
    full = settings.load(path, smoke=False, dataset={"name": "synthetic"})
    assert tuple(full.arms) == settings.ARMS
    assert full.arm("off")["memory"]["mode"] == "off"
    tables = full.arm("multimodal")["tables"]
    control = full.arm("random_row")["tables"]
    for name, table in tables.items():  # tables of the same size, whose rows ignore context
        assert control[name]["addressing"]["scheme"] == "random_row"
        assert control[name]["addressing"]["rows"] == table["addressing"]["rows"] and control[name]["dim"] == table["dim"]
    for name in settings.ARMS:  # the same seed and data order
        assert full.arm(name)["train"] == full.shared["train"]
    assert full.shared["memory"]["rows"] == "zero" and full.shared["train"]["epochs"] == 1
    small = settings.load(path, smoke=True, dataset={"name": "synthetic"})
    assert small.budget_seconds < full.budget_seconds


def test_an_unknown_key_is_named(tmp_path):
    (tmp_path / "a.yaml").write_text("quickstart: {budget_secs: 3}\n")
    with pytest.raises(settings.SettingsError, match="budget_secs"):
        settings.load(tmp_path / "a.yaml", smoke=False, dataset={"name": "synthetic"})


def test_merging_shares_nothing():
    base, over = {"a": {"b": [1]}}, {"a": {"c": {"d": 1}}}
    result = settings.merged(base, over)
    result["a"]["b"].append(2), result["a"]["c"].update(e=1)
    assert base == {"a": {"b": [1]}} and over == {"a": {"c": {"d": 1}}}


def test_null_takes_a_key_away():
    base = {"image": {"stencil": "grid", "cells": [["W"]], "dim": 32}}
    over = {"image": {"stencil": "lags", "cells": None, "cellz": None}}
    assert settings.merged(base, over) == {"image": {"stencil": "lags", "dim": 32, "cellz": None}}  # a typo must be seen later
    from omnigram import Config  # the verbs merge alike
    assert Config(base).merge(over).to_dict() == settings.merged(base, over)


def load(folder, text, *overrides, **more):
    (folder / "a.yaml").write_text(text)
    return settings.load(folder / "a.yaml", **{"dataset": {"name": "synthetic"}, "overrides": overrides, **more})


def test_a_short_config_of_own_arms_is_enough(tmp_path):
    text = "tables: {t: {orders: [2]}}\nquickstart:\n  arms:\n    off: {memory: {mode: off}}\n    on: {}\n"
    found = load(tmp_path, text, "--quickstart.budget_seconds=3600", "tables.t.dim=8", "quickstart.arms.more={memory: {lr: 0.1}}")
    assert list(found.arms) == ["off", "on", "more"] and found.budget_seconds == 3600 and found.slowest is None
    assert found.arm("off")["memory"] == {"mode": "off"}  # YAML 1.2: words, no booleans
    assert found.arm("more")["tables"] == {"t": {"orders": [2], "dim": 8}} and found.arm("more")["memory"] == {"lr": 0.1}
    assert found.shared["prepare"] == {"dataset": {"name": "synthetic"}}
    own = load(tmp_path, "prepare: {dataset: {name: jsonl, path: x, bad_line: skip}}\n" + text, dataset={"name": "config"})
    assert own.shared["prepare"]["dataset"]["bad_line"] == "skip"


@pytest.mark.parametrize("text, overrides, message", [
    ("quickstart: {arms: {}}\n", (), "no arms"),
    ("quickstart: {arms: {a/b: {}}}\n", (), "a/b"),
    ("quickstart: {arms: {a: {quantize: {}}}}\n", (), "quickstart.arms.a.quantize: unknown key"),
    ("quickstart: {arms: {a: {memroy: {}}}}\n", (), "did you mean 'memory'"),
    ("quickstart: {arms: {a: {}}, slowest: b}\n", (), "'b', no arm; there are a"),
    ("quickstart: {arms: {a: {}}, slack: fast}\n", (), "quickstart.slack: wants a number"),
    ("quickstart: {arms: {a: {}}, min_steps: 1.5}\n", (), "wants an integer"),
    ("quickstart: {arms: {a: {}}}\ntabels: {}\n", (), "did you mean 'tables'"),
    ("quickstart: {arms: {a: {}}}\n", ("--quickstart.slackk=2",), "did you mean 'slack'"),
    ("quickstart: {arms: {a: {}, a: {}}}\n", (), "a.yaml:1"),
    ("quickstart: [1\n", (), "a.yaml"),
])
def test_faults_are_named(tmp_path, text, overrides, message):
    with pytest.raises(settings.SettingsError, match=re.escape(message)):
        load(tmp_path, text, *overrides)


def test_tables_of_an_absent_modality_go_from_every_arm(root):
    full = settings.load(root / "train/configs/quickstart.yaml", dataset={"name": "synthetic"})
    left, gone = settings.without(full, ["audio"])
    assert gone == ["audio"] and set(left.arm("random_row")["tables"]) == {"text", "image", "text_image", "image_text"}
    assert settings.without(full, ["image"])[1] == ["image", "text_image", "image_text"]
    assert set(settings.without(full, ["text", "audio"])[0].arm("multimodal")["tables"]) == {"image"}
