"""The real data: Debian's tuxpaint-stamps-default through tools/fetch-data.sh and `omnigram prepare`. Minima, not exact counts: a
later release of the package has others. Skipped only where no package archive can be reached."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file


@pytest.fixture(scope="module")
def package(root: Path) -> Path:
    folder = root / "data" / "tuxpaint"
    done = subprocess.run([root / "tools" / "fetch-data.sh", folder], capture_output=True, text=True, timeout=600)
    if done.returncode == 3:
        pytest.skip(f"no package archive can be reached: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert (folder / ".complete").is_file()
    return folder


@pytest.fixture(scope="module")
def program(root: Path) -> Path:
    for candidate in (os.environ.get("OG_PROGRAM"), root / "build" / "omnigram", root / "build" / "bin" / "omnigram"):
        if candidate and Path(candidate).exists():
            return Path(candidate)
    pytest.skip("build/omnigram is not built")


def prepare(program: Path, out: Path, *options: str) -> dict:
    done = subprocess.run([program, "prepare", "--out", out, "--json", "-", *options], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "libpng" not in done.stderr  # libraries keep quiet
    return json.loads(done.stdout)


class Prepared:
    """Reads a prepared folder with the safetensors package, so that the format is checked by another reader."""

    def __init__(self, folder: Path):
        self.index = json.loads((folder / "index.json").read_text())
        self.items, self.documents = [], []
        for shard in self.index["shards"]:
            path = folder / shard["file"]
            assert hashlib.sha256(path.read_bytes()).hexdigest() == shard["sha256"]
            arrays = load_file(path)
            data = [arrays["text"], arrays["image"], arrays["audio"]]
            for modality, start, shape in zip(arrays["item.modality"], arrays["item.start"], arrays["item.shape"]):
                self.items.append((int(modality), data[modality][start : start + int(np.prod(shape))].reshape(shape)))
            names, at = arrays["document.names"].tobytes(), arrays["document.name_start"]

            def text(i):
                return names[at[i] : names.index(b"\0", at[i])].decode()

            for d, split in enumerate(arrays["document.split"]):
                refs = arrays["document.items"][arrays["document.start"][d] : arrays["document.start"][d + 1]]
                self.documents.append((text(2 * d), text(2 * d + 1), int(split), refs))


@pytest.fixture(scope="module")
def prepared(package: Path, program: Path, tmp_path_factory) -> Prepared:
    out = tmp_path_factory.mktemp("tuxpaint") / "prepared"
    prepare(program, out, "--dataset.name=tuxpaint", f"--dataset.path={package}")
    again = prepare(program, out, "--dataset.name=tuxpaint", f"--dataset.path={package}")
    assert again["cached"] is True
    return Prepared(out)


def test_counts(prepared: Prepared):
    counts = prepared.index["dataset_counters"]
    assert counts["stamps"] >= 900 and counts["groups"] >= 500
    assert counts["captions_read"] >= 55_000 and counts["captions_used"] >= 12_000
    assert counts["clips_used"] >= 3_500 and counts["sounds_used"] >= 100
    assert counts["cards"] >= 1_400 and counts["pages"] >= 200
    assert counts["captions_read"] == sum(
        counts[k] for k in ("captions_used", "captions_of_no_picture", "captions_other_language", "captions_same_text")
    )
    items = prepared.index["counters"]["items"]
    for row in items.values():
        assert row["read"] == row["kept"] and not row["dropped"]
    assert items["image"]["distinct"] >= 1_800
    splits = prepared.index["counters"]["splits"]
    assert sum(s["documents"] for s in splits.values()) == len(prepared.documents)
    assert splits["train"]["documents"] > 5 * splits["val"]["documents"]
    assert splits["val"]["documents"] > 80 and splits["test"]["documents"] > 80
    assert splits["train"]["audio_samples"] / 16_000 > 4_000  # seconds of sound


def test_split_rule(prepared: Prepared):
    for _, group, split, _ in prepared.documents:
        side = int.from_bytes(hashlib.sha256(b"split-1:" + group.encode()).digest()[:8], "big") % 1000
        assert split == (2 if side < 100 else 1 if side < 200 else 0)


def test_nothing_crosses(prepared: Prepared, package: Path):
    """No stamp, picture (also mirrored), recording or English caption is on two sides, by the files and not by the program's groups."""
    stamps = package / "usr" / "share" / "tuxpaint" / "stamps"
    side: dict[str, int] = {}
    for name, _, split, _ in prepared.documents:
        kind, rest = name.split("/", 1)
        if kind == "card":
            stem = rest.rsplit("/", 1)[0]
            assert side.setdefault(stem, split) == split
    assert len(side) >= 750
    seen: dict[str, int] = {}

    def meet(key: str, stem: str):
        assert seen.setdefault(key, side[stem]) == side[stem], f"{key} of {stem} is on two sides"

    for stem in side:
        meet("picture " + hashlib.sha256((stamps / f"{stem}.png").read_bytes()).hexdigest(), stem)
        text = stamps / f"{stem}.txt"
        if text.exists():
            english = text.read_bytes().split(b"\n")[0].decode("utf-8", "replace").strip().lower().rstrip(".! ")
            if english:
                meet("english " + english, stem)
        for plain in ("_mirror", "_flip"):
            if stem.endswith(plain) and stem[: -len(plain)] in side:
                assert side[stem] == side[stem[: -len(plain)]]
        for clip in (stamps / stem).parent.glob(Path(stem).name + "_desc*.ogg"):
            if clip.name[len(Path(stem).name) :].startswith("_desc"):
                meet("recording " + hashlib.sha256(clip.read_bytes()).hexdigest(), stem)
    # whole pictures, as stored, also mirrored
    images: dict[bytes, int] = {}
    for name, _, split, refs in prepared.documents:
        for modality, value in (prepared.items[r] for r in refs):
            if modality == 1:
                for view in (value, value[:, ::-1]):
                    key = hashlib.sha256(np.ascontiguousarray(view).tobytes()).digest()
                    assert images.setdefault(key, split) == split, name
    sounds: dict[bytes, int] = {}
    for name, _, split, refs in prepared.documents:
        for modality, value in (prepared.items[r] for r in refs):
            if modality == 2:
                assert sounds.setdefault(hashlib.sha256(value.tobytes()).digest(), split) == split, name


def test_contents(prepared: Prepared):
    """Items are what they should be, and no picture or sound stands in two documents (tables memorise what repeats)."""
    used: dict[int, str] = {}
    for name, _, _, refs in prepared.documents:
        for r in refs:
            if prepared.items[r][0] != 0:
                assert used.setdefault(int(r), name) == name
    for modality, value in prepared.items:
        if modality == 0:
            value.tobytes().decode("utf-8")
        elif modality == 1:
            assert value.shape == (96, 96, 3) and value.dtype == np.uint8
        else:
            assert value.dtype == np.int16 and value.size >= 640
    orders = {tuple(prepared.items[r][0] for r in refs[:3]) for name, _, _, refs in prepared.documents if name.startswith("page")}
    assert len(orders) == 6  # every order of text, picture and clip occurs


def test_documents_limit(package: Path, program: Path, tmp_path: Path):
    result = prepare(program, tmp_path / "few", "--dataset.name=tuxpaint", f"--dataset.path={package}", "--dataset.documents=20", "--threads=1")
    assert result["counters"]["documents"]["kept"] == 20
    more = prepare(program, tmp_path / "two", "--dataset.name=tuxpaint", f"--dataset.path={package}", "--dataset.documents=20", "--threads=2")
    assert more["counters"] == result["counters"]
    for name in os.listdir(tmp_path / "few"):
        assert (tmp_path / "few" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    refused = subprocess.run(
        [program, "prepare", "--out", tmp_path / "few", "--dataset.name=synthetic"], capture_output=True, text=True
    )
    assert refused.returncode == 1 and "another config" in refused.stderr
