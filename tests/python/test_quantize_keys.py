"""The keys of `omnigram quantize`: refused before the work, kept in its record, and refused beside codebooks that were made with others; and what
it says where the train split has nothing to fit on."""

import hashlib
import json
import shutil
import subprocess

import pytest
from media_fixture import png, sound

from omnigram.program import find_program

KEYS = ["--text.vocab=400", "--image.size=8", "--audio.size=4", "--image.iterations=3", "--audio.iterations=3"]


def run(*words, status=0):
    done = subprocess.run([find_program(), *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with prepared shards and the codebooks of a run."""
    at = tmp_path_factory.mktemp("made")
    run("prepare", "--dataset.name=synthetic", "--dataset.documents=30", "--image.size=16", "--out", at / "prepared")
    run("quantize", "--prepared", at / "prepared", "--out", at / "codes", *KEYS)
    return at


def again(made, out, *keys, codebooks="codes", status=0):
    return run("quantize", "--prepared", made / "prepared", "--encode-only", "--codebooks", made / codebooks, "--out", out, *keys, status=status)


def test_the_record_has_every_key_that_decided_a_fit(made):
    record = json.loads((made / "codes" / "quantize.json").read_text())["config"]
    assert record["text"] == {"vocab": 400}
    assert record["image"] == {"quantizer": "kmeans", "size": 8, "iterations": 3, "seed": 0, "few": "pad", "sample": 131072}
    assert record["audio"] == {**record["image"], "size": 4}


OTHER = [("text.vocab=500", "500", "text.vocab 400"), ("image.size=16", "16", "image.size 8"), ("audio.size=8", "8", "audio.size 4"),
         ("image.seed=1", "1", "image.seed 0"), ("image.iterations=4", "4", "image.iterations 3"), ("audio.few=error", '"error"', 'audio.few "pad"'),
         ("image.sample=9", "9", "image.sample 131072"), ("image.quantizer=rvq", '"rvq"', 'image.quantizer "kmeans"')]


@pytest.mark.parametrize("key, given, was", OTHER)
def test_other_keys_than_the_codebooks_were_made_with_are_refused(made, tmp_path, key, given, was):
    error = again(made, tmp_path / "o", f"--{key}", status=1)
    file = "tokenizer.model" if key.startswith("text") else f"{key[:5]}.codebook.safetensors"
    assert f"--{key.split('=')[0]}: is {given}, but {made}/codes/{file} was made with {was}" in error, error
    assert not list(tmp_path.iterdir())


def test_other_keys_in_a_config_are_named_with_their_line(made, tmp_path):
    (tmp_path / "all.yaml").write_text("quantize:\n  text: {vocab: 400}\n  image:\n    size: 9\n")
    error = again(made, tmp_path / "o", "--config", tmp_path / "all.yaml", status=1)
    assert "all.yaml:4: quantize.image.size: is 9" in error and "image.size 8" in error


def test_the_same_keys_and_those_of_the_encoding_are_taken(made, tmp_path):
    error = again(made, tmp_path / "one", *KEYS, "--image.few=pad", "--image.quantizer=null", "--previews=1", "--row_end=0", "--threads=1")
    assert "not compared" not in error
    assert json.loads((tmp_path / "one" / "quantize.json").read_text())["config"] == json.loads((made / "codes" / "quantize.json").read_text())["config"]
    error = again(made, tmp_path / "o", "--image.seed=1", codebooks=tmp_path / "one", status=1)
    assert "one/image.codebook.safetensors was made with image.seed 0" in error  # the record goes from folder to folder


def test_without_a_record_the_files_speak_for_themselves(made, tmp_path):
    bare = shutil.copytree(made / "codes", tmp_path / "bare")
    (bare / "quantize.json").unlink()
    pieces = json.loads((made / "codes" / "quantize.json").read_text())["text"]["vocab"]
    for key, was in (("text.vocab=500", f"text.vocab {pieces}"), ("image.size=16", "image.size 8"), ("image.quantizer=rvq", "kmeans")):
        assert was in again(made, tmp_path / "o", f"--{key}", codebooks=bare, status=1)
    assert "levels: unknown key" in again(made, tmp_path / "o", "--image.levels=2", codebooks=bare, status=1)  # of k-means
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bare"]
    error = again(made, tmp_path / "o", f"--text.vocab={pieces}", "--image.size=8", "--image.seed=0", codebooks=bare)
    assert error.count("not compared") == 1 and "--image.seed: not compared" in error
    assert "config" not in json.loads((tmp_path / "o" / "quantize.json").read_text())


def test_a_record_of_other_files_is_no_witness(made, tmp_path):
    """The codebook was replaced since: what the record says of its seed is said of another."""
    run("quantize", "--prepared", made / "prepared", "--out", tmp_path / "other", *KEYS, "--image.seed=5")
    mixed = shutil.copytree(made / "codes", tmp_path / "mixed")
    shutil.copy(tmp_path / "other" / "image.codebook.safetensors", mixed)
    error = again(made, tmp_path / "o", "--image.seed=0", "--audio.seed=0", codebooks=mixed)
    assert error.count("not compared") == 1 and "--image.seed: not compared" in error
    (mixed / "quantize.json").write_text("{")
    assert "mixed/quantize.json" in again(made, tmp_path / "p", codebooks=mixed, status=1)


@pytest.mark.parametrize("key, says", [
    ("image.patch=4", "image.patch: is 4, and a key of prepare, not of quantize"), ("image.sise=8", "image.sise: unknown key; did you mean 'size'"),
    ("image.size=0", "1 .. 1048576"), ("image=5", "wants a map"), ("image=[8]", "wants a map"), ("audio.few=none", "pad|shrink|error"),
    ("image.quantizer=kmean", "there are kmeans, rvq"),
])
def test_wrong_keys_are_refused_with_and_without_codebooks(made, tmp_path, key, says):
    error = again(made, tmp_path / "o", f"--{key}", status=1)
    assert says in error, error
    assert "patch" not in key or "was fitted to vectors with patch 8" in error
    error = run("quantize", "--prepared", made / "prepared", "--out", tmp_path / "o", f"--{key}", status=1)
    assert says.partition(": is 4")[0] in error and "tokenizer of" not in error  # before anything was fitted
    assert not list(tmp_path.iterdir())


def names_of(side, n):
    """Names whose groups the default split puts on a side, by its rule."""
    found = []
    for i in range(10000):
        at = int.from_bytes(hashlib.sha256(f"split-1:doc{i}".encode()).digest()[:8], "big") % 1000
        if {"test": at < 100, "val": 100 <= at < 200, "train": at >= 200}[side] and len(found) < n:
            found.append(f"doc{i}")
    return found


def put(at, side, n, *kinds):
    for i, name in enumerate(names_of(side, n)):
        for kind in kinds:
            if kind == "text":
                (at / f"{name}.txt").write_text(f"This is {name}.")
            elif kind == "image":
                png(at / f"{name}.png", i)
            else:
                sound(at / f"{name}.wav", 3 + i)


@pytest.mark.parametrize("absent, file, what", [("text", "tokenizer", "text"), ("image", "codebook", "image"), ("audio", "codebook", "audio")])
def test_nothing_to_fit_on_is_said_with_counts_and_ways_out(made, tmp_path, absent, file, what):
    at, kinds = tmp_path / "items", ("text", "image", "audio")
    at.mkdir()
    put(at, "train", 4, *(kind for kind in kinds if kind != absent))
    put(at, "val", 2, *kinds)
    put(at, "test", 1, *kinds)
    words = ["prepare", "--dataset.name=folder", f"--dataset.path={at}", "--image.size=16"]
    run(*words, "--split.cover=false", "--out", tmp_path / "prepared")
    quantize = ["quantize", "--text.vocab=300", "--image.size=4", "--audio.size=4", "--out", tmp_path / "codes", "--prepared"]
    error = run(*quantize, tmp_path / "prepared", status=1)
    assert f"{tmp_path}/prepared: no {what} in the train split to fit a {file} to; {what} items: train 0, val 2, test 1" in error, error
    assert "split.cover: true" in error and "--encode-only --codebooks" in error and not (tmp_path / "codes").exists()
    # each way out works
    run(*words, "--out", tmp_path / "covered")
    run(*quantize, tmp_path / "covered")
    again(tmp_path, tmp_path / "encoded", codebooks=made / "codes")
    if absent == "text":
        assert "modalities:" not in error  # a tokenizer is always needed
    else:
        left = {"image": "[text, audio]", "audio": "[text, image]"}[absent]
        assert f"modalities: {left}" in error
        run(*words, "--split.cover=false", f"--modalities={left}", "--out", tmp_path / "left")
        run(*quantize[:-2], tmp_path / "codes of two", "--prepared", tmp_path / "left")


def test_data_without_any_text_are_told_to_have_some(tmp_path):
    at = tmp_path / "items"
    at.mkdir()
    put(at, "train", 4, "image")
    run("prepare", "--dataset.name=folder", f"--dataset.path={at}", "--image.size=16", "--out", tmp_path / "prepared")
    error = run("quantize", "--prepared", tmp_path / "prepared", "--out", tmp_path / "codes", status=1)
    assert "text items: train 0, val 0, test 0. The data need some, or" in error and not (tmp_path / "codes").exists()
