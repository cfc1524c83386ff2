"""The texts of config trees against two other writers and readers: Python's json and PyYAML."""

import json
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import omnigram

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
    | st.sampled_from(["yes", "No", "null", "~", "1e5", "1_000", "0x1F", "010", "1:30", "2026-11-29", ".inf", "=", "<<", "- x", "a: b", "#"])
)
trees = st.dictionaries(
    words, st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4), max_leaves=12)
)


def equal(a, b):
    """Equal with kinds: 1 is not 1.0 and not True, 0.0 is not -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b


@settings(max_examples=500, deadline=None)
@given(trees)
def test_canonical_json_is_pythons(tree):
    wanted = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert omnigram.Config(tree).to_json() == wanted


@settings(max_examples=500, deadline=None)
@given(trees)
def test_yaml_is_read_back_by_us_and_by_pyyaml(tree):
    text = omnigram.Config(tree).to_yaml()
    assert equal(json.loads(omnigram.Config.from_yaml(text).to_json()), tree)
    assert equal(yaml.safe_load(text), tree)


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_the_shortest_that_read_back(value):
    assert omnigram.Config({"x": value}).to_json() == '{"x":' + repr(value) + "}"


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a: [1", "a: &x [*x]", "a: 9223372036854775808", "a: !py 1", "--- 1"])
def test_what_is_refused_says_where(text):
    with pytest.raises(omnigram.OmnigramError, match=r"^here:\d+: "):
        omnigram.Config.from_yaml(text, "here")
