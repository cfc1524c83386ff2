"""The quickstart on one's own data and arms, and going on with an arm that was killed."""

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

from omnigram.program import find_program

SMALL = ("--quickstart.evaluations=1", "--quickstart.budget_seconds=1", "--quickstart.min_steps=8")


def png(path, pixels):
    """RGB [h][w][3], written by hand: the readers under test must not make their own truth."""
    height, width, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of captioned pictures, without sound."""
    if not list((find_program().parent / "lib").glob("libomnigram_train.so")):
        pytest.skip("this build has no libomnigram_train (torch was not found)")
    folder = tmp_path_factory.mktemp("own") / "photos"
    folder.mkdir()
    rng = np.random.default_rng(4)
    colours = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (40, 60, 210), "white": (240, 240, 240)}
    for number in range(90):
        name = list(colours)[number % 4]
        pixels = np.full((32, 32, 3), colours[name], np.int64) + rng.integers(-20, 20, (32, 32, 3))
        pixels[8:20, 4 + number % 9:14 + number % 9] = rng.integers(0, 255, 3)
        png(folder / f"{number:03}.png", np.clip(pixels, 0, 255).astype(np.uint8))
        (folder / f"{number:03}.txt").write_text(f"a {name} field with a patch, number {number}, seen from {rng.integers(2, 90)} metres")
    return folder


def words(out, *more):
    return [sys.executable, "-m", "omnigram.quickstart", "--smoke", "--out", out, *SMALL, *more]


def quickstart(root, out, *more, ok=True):
    done = subprocess.run(words(out, *more), cwd=root, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def own(root, photos):
    out = photos.parent / "run"
    more = ("--data", "folder", "--path", photos, "--train.save_every=1", "--train.batch=1", "--pack.capacity=256")
    return out, more, quickstart(root, out, *more)


def test_a_folder_of_pictures_and_captions_goes_all_the_way(own):
    out, _, done = own
    summary = json.loads((out / "summary.json").read_text())
    assert summary["data"] == "folder" and list(summary["arms"]) == ["off", "text", "multimodal", "random_row"]
    for arm in summary["arms"].values():
        assert 0 < arm["val_bits"]["text"] < 20 and 0 < arm["val_bits"]["image"] < 20 and arm["val_bits"]["audio"] is None
    assert "no audio" in done.stdout and "tables are left out of every arm: audio" in done.stdout
    assert "multimodal is the arm that is timed" in done.stdout
    assert json.loads((out / "arms" / "off" / "summary.json").read_text())["data"] == "folder"
    assert "no audio" in json.loads((out / "quickstart.json").read_text())["data_note"]


def state_of(arm):
    newest = max((arm / "ckpt").glob("step-*"), key=lambda p: int(p.name[5:]))
    return newest.name, {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in newest.glob("*.safetensors")}


def test_a_killed_arm_goes_on_with_the_same_bits(own, root):
    out, more, _ = own
    arm = out / "arms" / "multimodal"
    wanted, losses = state_of(arm), [json.loads(line)["loss"] for line in (arm / "metrics.jsonl").read_text().splitlines()]
    shutil.rmtree(arm)
    (out / "cache" / "train-multimodal.json").unlink()
    process = subprocess.Popen(words(out, *more), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, "PYTHONPATH": str(root / "python")})
    deadline = time.monotonic() + 60
    while not (arm / "ckpt" / "latest").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (arm / "summary.json").exists()  # it was in the middle
    done = quickstart(root, out, *more)
    assert "train multimodal ... (was stopped; it goes on from what it left)" in done.stdout
    assert "resumed from" in done.stderr and "multimodal/ckpt/step-" in done.stderr
    assert state_of(arm) == wanted
    assert [json.loads(line)["loss"] for line in (arm / "metrics.jsonl").read_text().splitlines()] == losses


def test_arms_of_another_config_are_not_mixed_in(own, root):
    out, _, _ = own
    done = quickstart(root, out, "--config", root / "train/configs/stencils.yaml", ok=False)
    assert "multimodal" in done.stderr and "another --out" in done.stderr


def test_the_example_of_stencils(root, tmp_path, own):
    out = tmp_path / "stencils"
    quickstart(root, out, "--config", root / "train/configs/stencils.yaml")
    found = json.loads((out / "stages" / "check.json").read_text())
    tables = {name: found[str(out / "configs" / f"{name}.yaml")]["tables"] for name in ("off", "next", "raster")}
    assert tables["off"] == {} and tables["next"] == tables["raster"] and tables["next"]["image"]["columns"] == 3
    summary = json.loads((out / "summary.json").read_text())
    assert list(summary["arms"]) == ["off", "next", "raster"]
    rows = json.loads((out / "arms" / "raster" / "summary.json").read_text())
    assert rows["table_bytes"] == found[str(out / "configs" / "raster.yaml")]["table_bytes"] > 0


def test_a_fault_of_the_last_arm_shows_before_anything_is_made(root, tmp_path, photos):
    (tmp_path / "own.yaml").write_text("tables:\n  text: {orders: [2], addressing: {rows: 257}, dim: 8}\n"
                                       "quickstart:\n  arms:\n    off: {memory: {mode: off}}\n    one: {}\n"
                                       "    last: {memory: {use: [texxt]}}\n  smoke: {model: {width: 32}}\n")
    done = quickstart(root, tmp_path / "run", "--config", tmp_path / "own.yaml", ok=False)
    assert "'texxt', which section tables does not have; did you mean 'text'?" in done.stderr and "last.yaml" in done.stderr
    assert not (tmp_path / "run" / "prepared").exists()
    for more, text in ((("--data", "folder"), "needs --path"), (("--path", tmp_path / "none"), "no such file or folder"),
                       (("--data", "jsonl", "--path", photos), "wants a file"), (("--data", "synthetic", "--path", photos), "goes with"),
                       (("--config", tmp_path / "own.yaml", "--quickstart.slowest=most"), "'most', no arm"),
                       (("--config", tmp_path / "own.yaml", "--quickstart.evaluatoins=3"), "did you mean 'evaluations'"),
                       (("--ouput", "x"), "unknown option")):
        assert text in quickstart(root, tmp_path / "run", *more, ok=False).stderr, more
