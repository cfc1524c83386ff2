import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnigram

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | \
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
KEYS = st.text("abcdefgh_", min_size=1, max_size=6)
TREES = st.dictionaries(KEYS, st.recursive(SCALARS, lambda t: st.lists(t, max_size=4) | st.dictionaries(KEYS, t, max_size=4),
                                           max_leaves=12), max_size=5)


@given(TREES)
def test_a_tree_survives_the_library(tree):
    assert omnigram.Config(tree).to_dict() == tree


@given(TREES)
def test_yaml_text_reads_back_equal(tree):
    assert omnigram.Config.from_yaml(omnigram.Config(tree).to_yaml()).to_dict() == tree


def test_canonical_json_does_not_depend_on_the_order_of_keys():
    assert omnigram.Config({"b": 1, "a": [1.5, True]}).to_json() == omnigram.Config({"a": [1.5, True], "b": 1}).to_json()
    assert omnigram.Config({"b": 1, "a": 2}).to_json() == '{"a":2,"b":1}'


def test_override_and_merge():
    config = omnigram.Config({"train": {"lr": 0.1}}).override("train.steps=300").merge({"train": {"lr": 0.2}})
    assert config.to_dict() == {"train": {"lr": 0.2, "steps": 300}}
    assert config["train.steps"] == 300
    with pytest.raises(KeyError):
        config["train.stepz"]


def test_a_fault_names_the_line():
    with pytest.raises(omnigram.FormatError, match="plan.yaml:[23]"):
        omnigram.Config.from_yaml("a: 1\nb: [1, 2\n", "plan.yaml")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(omnigram.FileError, match="nowhere.yaml") as caught:
        omnigram.Config.from_file(tmp_path / "nowhere.yaml")
    assert caught.value.name == "OG_EIO" or caught.value.name == "EIO"
    assert isinstance(caught.value, OSError)


def test_files(tmp_path):
    (tmp_path / "a.yaml").write_text("x: {y: [1, 2]}\n")
    (tmp_path / "a.json").write_text(json.dumps({"x": {"y": [1, 2]}}))
    assert omnigram.Config.from_file(tmp_path / "a.yaml").to_json() == omnigram.Config.from_file(tmp_path / "a.json").to_json()


def test_use_after_close_is_an_error():
    with omnigram.Config({"a": 1}) as config:
        pass
    config.close()
    with pytest.raises(ValueError, match="closed"):
        config.to_json()
