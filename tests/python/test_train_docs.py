"""The examples of docs/python.md that stand alone: they run, and give what they say."""

import os
import re
import shutil

import numpy as np
import pytest
from train_fixture import Trainer, config, files, program, train_words  # noqa: F401

import omnigram
from omnigram._ffi import ffi, lib


def examples(root, heading):
    part = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", (root / "docs" / "python.md").read_text(), re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r"^```python\n(.*?)^```", part, re.DOTALL | re.MULTILINE)


def test_addresses_tables_and_lookups(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"torch": pytest.importorskip("torch")}
    segment = f"test-docs-{os.getpid()}"
    found = [example.replace("my-table", segment) for example in examples(root, "Addresses") + examples(root, "Tables and lookups")]
    assert len(found) == 5
    for example in found[:2]:
        exec(example, names)
    assert names["rows"].shape == (4, 2) and names["vectors"].shape == (4, 128)
    assert not np.intersect1d(*names["rows"].T).size  # columns lie one behind the other
    assert names["first"].tobytes() + names["draft"].tobytes() == names["addressing"].rows([5, 7, 9]).tobytes()
    moved = names["table"].read(names["rows"].ravel()).reshape(4, 128)
    assert (moved != names["vectors"]).any()
    exec(found[2], names)
    assert names["reopened"].read(names["rows"].ravel()).tobytes() == moved.tobytes()
    exec(found[3], names)
    assert (names["shared"][5] == 2).all()
    exec(found[4], names)
    assert names["out"].numpy().tobytes() == moved.tobytes()
    for name in ("lookup", "joined", "shared", "reopened"):
        names[name].close()


def test_rows_of_a_trained_run(root, files, tmp_path, monkeypatch):  # noqa: F811
    pytest.importorskip("safetensors")
    (tmp_path / "packs").mkdir()
    shutil.copy(files / "train.safetensors", tmp_path / "packs")
    monkeypatch.chdir(tmp_path)
    program(*train_words(files, "runs/mine", "--train.steps=4"))
    names = {"np": np, "omnigram": omnigram}
    (example,) = examples(root, "Rows of a trained run")
    exec(example, names)
    with Trainer(config(train={"steps": 4}), names["packs"], run="runs/mine") as trainer:  # it reads the checkpoint itself
        store = next(store for store in map(lambda i: trainer._lib.og_trainer_table(trainer.pointer, i), range(3))
                     if lib.og_store_rows(store) == names["info"].rows)
        wanted, rows = np.empty((names["info"].rows, names["info"].dim), np.float32), np.arange(names["info"].rows)
        assert lib.og_store_read(store, ffi.from_buffer("int64_t *", rows), len(rows), ffi.from_buffer("float *", wanted), ffi.NULL) == 0
    got = names["trained"][:]
    assert got.tobytes() == wanted.tobytes() and (got != 0).any()
