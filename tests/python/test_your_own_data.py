"""Runs docs/your-own-data.md: its settings, its commands in their order, and what it says that they print."""

import json
import os
import re
import shlex
import struct
import subprocess
import sys
import wave
import zlib

import numpy as np
import pytest

from omnigram.program import find_program

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NEEDS_TORCH = re.compile(r"omnigram (train|report)\b|-m omnigram\.quickstart")
DOCUMENTS = 48


def png(path, pixels):
    """RGB [h][w][3], written by hand: the readers under test must not make their own truth."""
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks))


def make_data(at):
    """photos: 48 captioned pictures, every other with a sound, one picture torn, one file of no known kind; corpus.jsonl over them."""
    photos, rng, lines = at / "photos", np.random.default_rng(5), []
    (photos / "birds").mkdir(parents=True)
    colours = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (40, 60, 210), "white": (240, 240, 240)}
    for number in range(DOCUMENTS):
        colour = list(colours)[number % 4]
        name = f"{'birds/' if number % 3 == 0 else ''}{number:03}"
        pixels = np.full((32, 32, 3), colours[colour], np.int64) + rng.integers(-20, 20, (32, 32, 3))
        pixels[8:20, 4 + number % 9:14 + number % 9] = rng.integers(0, 255, 3)
        png(photos / f"{name}.png", np.clip(pixels, 0, 255).astype(np.uint8))
        (photos / f"{name}.txt").write_text(f"a {colour} field with a patch, number {number}, seen from {rng.integers(2, 90)} metres")
        items = [{"text": "This is the picture:"}, {"image": f"photos/{name}.png"}, {"text": f"and it is {colour}."}]
        if number % 2:
            with wave.open(str(photos / f"{name}.wav"), "wb") as file:
                file.setparams((1, 2, 16000, 0, "NONE", ""))
                file.writeframes((8000 * np.sin(np.arange(6400) * (0.02 + 0.01 * (number % 7)))).astype("<i2").tobytes())
            items.append({"audio": f"photos/{name}.wav"})
        lines.append(items if number % 4 == 0 else {"id": name, "items": items})
    (photos / "004.png").write_bytes((photos / "004.png").read_bytes()[:-20])
    (photos / "notes.md").write_text("not read")
    del lines[4]
    (at / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")


def pattern(shown):
    """What the page shows as a regular expression: figures, quoted names, `...` and the space between words may differ."""
    text = re.escape(" ".join(shown.split()))
    for differs, by in ((r"\d+", r"\d+"), (r"'[^']+'", "'[^']+'"), (r"\\\.\\\.\\\.", ".+"), (r"\\ ", r"\s+")):
        text = re.sub(differs, lambda _, by=by: by, text)
    return text


class Walk:
    """The page, and the folder that its blocks run in: a source tree as its reader has it, by links."""

    def __init__(self, root, at):
        self.at, self.page = at, (root / "docs" / "your-own-data.md").read_text()
        self.torch = any((find_program().parent / "lib").glob("libomnigram_train.so"))
        for name in ("train", "python"):
            (at / name).symlink_to(root / name)
        (at / "build").symlink_to(find_program().parent)
        (at / ".venv" / "bin").mkdir(parents=True)
        (at / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (at / ".venv" / "bin" / "python").chmod(0o755)
        make_data(at)

    def shell(self, command, status=0):
        done = subprocess.run(["bash", "-euc", command], cwd=self.at, text=True, capture_output=True, timeout=600, env={
            **os.environ, "OMNIGRAM_PROGRAM": str(find_program()), "OMNIGRAM_PYTHON": sys.executable,
            "OMP_WAIT_POLICY": "passive"})  # threads that spin starve one another where tests run beside other work
        assert done.returncode == status, command + "\n" + done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self):
        """Every block in the order of the page, those of training where the build has it."""
        said = None
        for kind, text in FENCE.findall(self.page):
            assert kind in ("sh", "yaml", "text", "json", "python"), kind
            if kind == "yaml":
                assert text.startswith("# own.yaml")
                with (self.at / "own.yaml").open("a") as file:
                    file.write(text)
            elif kind == "sh":
                said = self.shell(text) if self.torch or not NEEDS_TORCH.search(text) else None
            elif kind == "python":
                (self.at / "block.py").write_text(text)
                said = self.shell("PYTHONPATH=python .venv/bin/python block.py")
            elif kind == "text" and said is not None:
                for line in text.splitlines():
                    assert re.search(pattern(line), said), f"the page shows {line!r}, which was not printed:\n{said}"


@pytest.fixture(scope="module")
def data(root, tmp_path_factory):
    walk = Walk(root, tmp_path_factory.mktemp("own"))
    walk.run()
    return walk


@pytest.fixture(scope="module")
def trained(data):
    if not data.torch:
        pytest.skip("this build has no libomnigram_train (torch was not found)")
    return data


def index(folder):
    return json.loads((folder / "index.json").read_text())


def test_a_folder_and_a_jsonl_become_prepared_shards(data):
    found = index(data.at / "data/prepared")
    items = found["counters"]["items"]
    assert (items["text"]["kept"], items["image"]["kept"], items["audio"]["kept"]) == (DOCUMENTS, DOCUMENTS - 1, DOCUMENTS // 2)
    assert items["image"]["dropped"] == {"damaged": 1} and "004.png" in json.dumps(found["log"])
    assert found["dataset_counters"]["passed_over_unknown_extension"] == 1
    assert found["counters"]["splits"]["val"]["documents"] > 0 == found["counters"]["splits"]["test"]["documents"]
    silent = index(data.at / "data/silent")["counters"]["items"]
    assert silent["audio"] == {"read": DOCUMENTS // 2, "kept": 0, "dropped": {"left_out": DOCUMENTS // 2}, "distinct": 0}
    corpus = index(data.at / "data/corpus")
    assert corpus["dataset"] == "jsonl" and corpus["counters"]["documents"]["kept"] == DOCUMENTS - 1
    assert corpus["counters"]["items"]["text"]["kept"] == 2 * (DOCUMENTS - 1)


def test_the_settings_fit_the_set(data):
    """No document is cut, val has packs, and there is a step for each train pack."""
    for side, least in (("train", 6), ("val", 1)):
        out = data.shell(f"build/omnigram pack --config own.yaml --documents data/codes/{side}.documents.safetensors --out again.safetensors --json -")
        got = json.JSONDecoder().raw_decode(out)[0]
        assert got["bins"] >= least and got["counters"]["packing"]["documents"]["cut"] == 0
        assert (data.at / "again.safetensors").read_bytes() == (data.at / f"data/{side}.packs.safetensors").read_bytes()


def test_the_messages_of_the_tables_are_those_of_the_program(data):
    """Each is provoked; figures and names may differ."""
    (data.at / "copy").mkdir()
    for name in ("001.png", "001.txt", "002.txt"):
        (data.at / "copy" / name).write_bytes((data.at / "photos" / name).read_bytes())
    prepare, pack = "build/omnigram prepare --config own.yaml ", "build/omnigram pack --config own.yaml --out none --documents data/codes/"
    copy = prepare + "--prepare.dataset.path=copy --out data/copy"
    said = data.shell(prepare + "--out data/prepared") + data.shell(prepare + "--out data/prepared --prepare.image.size=16", status=1)
    said += data.shell(prepare + "'--prepare.split={val: 0, test: 0.999}' --out data/few") + data.shell(copy)
    (data.at / "copy" / "002.txt").write_text("another text")
    (data.at / "copy" / "003.txt").write_text("a new text")
    data.shell(prepare + "'--prepare.split={val: 0, test: 0.999, cover: false}' --out data/none")
    said += data.shell("build/omnigram quantize --config own.yaml --prepared data/none --out data/no", status=1)
    said += data.shell(copy) + data.shell(pack + "test.documents.safetensors", status=1)
    said += data.shell(pack + "train.documents.safetensors --pack.long_doc=error --pack.capacity=48", status=1)
    said += data.shell("build/omnigram quantize --config own.yaml --quantize.text.vocab=5000 --prepared data/prepared --out data/wide")
    shown = [message for cell in re.findall(r"^\| (`.+?) \| ", data.page, re.M) for message in re.findall(r"`([^`]+)`", cell)]
    assert len(shown) >= 7
    for message in shown:
        assert re.search(pattern(message), said), f"the page shows {message!r}, which was not printed:\n{said}"


def test_a_damaged_file_stops_where_that_is_asked(data):
    torn = data.shell("build/omnigram prepare --config own.yaml --prepare.bad_item=error --out data/strict", status=1)
    assert "004.png" in torn and not (data.at / "data/strict").exists()


def test_two_runs_and_their_report(trained):
    runs = trained.at / "runs/own"
    assert (runs / "report.html").stat().st_size > 10000
    summary = json.loads((runs / "summary.json").read_text())
    assert set(summary["arms"]) == {"off", "tables"} and summary["data"] == "folder" and summary["reference"] == "off"
    for arm in summary["arms"].values():
        assert all(0 < arm["val_bits"][modality] < 20 for modality in ("text", "image", "audio"))
    assert summary["steps"] == json.loads((runs / "off/summary.json").read_text())["packs"]  # one pass


def test_a_table_of_a_modality_that_the_data_lack_is_named(trained):
    words = "build/omnigram train --check own.yaml --packs data/silent.packs.safetensors"
    assert "tables.audio" in trained.shell(words, status=1)
    assert "own.yaml: fine" in trained.shell(words + " --tables.audio=")


def test_one_command_with_the_shipped_arms_and_with_own_ones(trained):
    for out, arms in (("try", ["off", "text", "multimodal", "random_row"]), ("arms", ["off", "next", "raster"])):
        folder = trained.at / "runs" / out
        assert (folder / "report.html").stat().st_size > 10000
        summary = json.loads((folder / "summary.json").read_text())
        assert list(summary["arms"]) == arms and summary["data"] == "folder"
    check = json.loads((trained.at / "runs/arms/stages/check.json").read_text())
    columns = {arm: check[str(trained.at / "runs/arms/configs" / f"{arm}.yaml")]["tables"]["image"]["columns"] for arm in ("next", "raster")}
    assert columns == {"next": 2, "raster": 2}
