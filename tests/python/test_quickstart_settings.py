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
