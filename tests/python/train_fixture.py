"""Small packs and a small model for the tests of training."""

import json
import subprocess

import numpy as np
import pytest

import omnigram
from omnigram import AUDIO, IMAGE, TEXT
from omnigram.errors import UnsupportedError
from omnigram.program import find_program

try:
    from omnigram.trainer import Trainer, train_library  # noqa: F401 (tests take it from here)
    train_library()
except UnsupportedError as error:
    pytest.skip(str(error), allow_module_level=True)

IDS = omnigram.Ids.make(text=60, image=16, audio=8)
CAPACITY = 96

TABLES = {
    "text": {"stencil": "lags", "modality": "text", "orders": [2, 3], "addressing": {"scheme": "mix64", "rows": 257}, "dim": 8},
    "image": {"stencil": "grid", "cells": [["W"], ["N"], ["W", "N"]], "addressing": {"scheme": "mix64", "rows": 127}, "dim": 4},
    "text_image": {"stencil": "cross", "from": "text", "modality": "image", "orders": [2],
                   "addressing": {"scheme": "mix64", "rows": 131}, "dim": 8},
}


def config(**over):
    base = {"tables": TABLES, "memory": {"mode": "train", "lr": 0.05}, "model": {"width": 32, "layers": 2, "heads": 2, "loss_chunk": 37},
            "train": {"seed": 3, "batch": 3, "lr": 0.01, "warmup": 2, "threads": 1, "log_every": 1}, "eval": {"packs": 2}}
    for section, keys in over.items():
        base[section] = {**base.get(section, {}), **keys}
    return base


def documents(n, seed=0, codebooks=("0" * 64, "1" * 64)):
    rng = np.random.default_rng(seed)
    builder = omnigram.DocumentsBuilder(IDS)
    image, audio = map(builder.codebook, codebooks)
    for number in range(n):
        builder.begin(0, number)
        builder.item(TEXT, rng.integers(0, 60, rng.integers(2, 15)))
        builder.item(IMAGE, rng.integers(0, 16, (3, 4)), codebook=image)
        if number % 2:
            builder.item(AUDIO, rng.integers(0, 8, rng.integers(2, 9)), codebook=audio)
        builder.end()
    return builder.finish()


def packs(n=60, seed=0, **over):
    return omnigram.Packs.build(documents(n, seed, **over), capacity=CAPACITY)


@pytest.fixture(scope="session")
def train_packs():
    return packs()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Packs and a config on disk: (folder with train.safetensors, val.safetensors, config.yaml)."""
    folder = tmp_path_factory.mktemp("train")
    packs().save(folder / "train.safetensors")
    packs(12, seed=9).save(folder / "val.safetensors")
    (folder / "config.yaml").write_text(json.dumps(config()))
    return folder


def program(*words, ok=True, **more):
    done = subprocess.run([str(find_program()), *map(str, words)], capture_output=True, text=True, timeout=120, **more)
    assert (done.returncode == 0) == ok, done.stderr
    return done


def train_words(files, run, *more):
    words = {"--config": files / "config.yaml", "--packs": files / "train.safetensors", "--val": files / "val.safetensors", "--run": run}
    return ("train", *(word for option in words.items() if option[0] not in more for word in option), *more)
