"""One bad item among good ones, by the folder and the jsonl data set: named with value and limit, or skipped by a key and counted; and what
the stages behind it make of limits."""

import json
import os
import resource
import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from media_fixture import png, sound

from omnigram.program import find_program


def float_wav(path: Path, samples):
    data = struct.pack(f"<{len(samples)}f", *samples)
    chunks = struct.pack("<4sIHHIIHH", b"fmt ", 16, 3, 1, 16000, 64000, 4, 32) + struct.pack("<4sI", b"data", len(data)) + data
    path.write_bytes(struct.pack("<4sI4s", b"RIFF", 4 + len(chunks), b"WAVE") + chunks)


def cut(path: Path):
    png(path, 3)
    path.write_bytes(path.read_bytes()[:60])


# suffix, maker, what the message says besides the file's name, cause
BAD = {
    "zero bytes": (".png", Path.touch, "0 bytes", "damaged"),
    "truncated": (".png", cut, "60 bytes, but its data reach to", "damaged"),
    "huge": (".png", lambda path: png(path, 3, (4294967295, 4294967295)), "4294967295 x 4294967295 pixels is over the limit of 64000000", "damaged"),
    "too wide": (".png", lambda path: png(path, 3, (1048577, 1)), "1048577 x 1 pixels; OpenCV decodes sides of at most 1048576", "damaged"),
    "no pixel": (".png", lambda path: png(path, 3, (0, 16)), "0 x 16 pixels; each side must be at least 1", "damaged"),
    "text in a picture": (".jpg", lambda path: path.write_text("hello"), "not a picture", "damaged"),
    "no frame": (".wav", lambda path: float_wav(path, []), "0 frames", "damaged"),
    "no sound byte": (".ogg", Path.touch, "0 bytes", "damaged"),
    "NaN": (".wav", lambda path: float_wav(path, [0.5, float("nan"), 0]), "sample 1 of 3 is NaN", "damaged"),
    "latin-1": (".txt", lambda path: path.write_bytes(b"caf\xe9 au lait"), "offset 3 of 12", "damaged"),
    "no letter": (".txt", Path.touch, "0 bytes", "damaged"),
    "link to nothing": (".png", lambda path: path.symlink_to("gone.png"), "No such file", "missing"),
    "link to itself": (".wav", lambda path: path.symlink_to(path.name), "Too many levels of symbolic links", "missing"),
}
MODALITY = {".png": "image", ".jpg": "image", ".wav": "audio", ".ogg": "audio", ".txt": "text"}


def omnigram(*words, status=0, **more):
    done = subprocess.run([find_program(), *map(str, words)], capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


@pytest.fixture(params=["folder", "jsonl"])
def prepare(request, tmp_path):
    """(folder of the items, function of options): one good document, and whatever else lies in the folder."""
    at = tmp_path / "items"
    at.mkdir()
    (at / "good.txt").write_text("All is well.")
    png(at / "good.png", 7)
    sound(at / "good.wav", 5)

    def call(*more, status=0):
        path = at
        if request.param == "jsonl":
            path = tmp_path / "documents.jsonl"
            kinds = [{MODALITY[p.suffix]: f"items/{p.name}"} for p in sorted(at.iterdir()) if p.suffix != ".txt"]
            path.write_text("\n".join(json.dumps([{"text": "All is well."}, kind]) for kind in kinds))
        before = sorted(tmp_path.iterdir())
        error = omnigram("prepare", f"--dataset.name={request.param}", f"--dataset.path={path}", "--image.size=16", "--out", tmp_path / "out", *more, status=status)
        assert status == 0 or sorted(tmp_path.iterdir()) == before
        return error

    call.name = request.param
    return at, call


# A jsonl holds its texts itself; test_a_bad_line_is_named_or_skipped_and_counted has them.
@pytest.mark.parametrize("prepare, kind", [(form, kind) for form in ("folder", "jsonl") for kind in BAD if form == "folder" or BAD[kind][0] != ".txt"],
                         indirect=["prepare"])
def test_a_bad_item_is_named_or_skipped_and_counted(prepare, kind):
    at, call = prepare
    suffix, make, says, cause = BAD[kind]
    make(at / f"bad{suffix}")
    error = call(status=1)
    assert f"items/bad{suffix}" in error and says in error, error
    call("--bad_item=skip")
    index = json.loads((at.parent / "out" / "index.json").read_text())
    counted = index["counters"]["items"][MODALITY[suffix]]
    assert counted["dropped"] == {cause: 1} and counted["read"] == counted["kept"] + 1
    assert [entry["item"].endswith(f"items/bad{suffix}") and says in entry["message"] for entry in index["log"]] == [True]
    assert index["counters"]["documents"]["dropped"]["no_item_left"] == (call.name == "folder")


@pytest.mark.parametrize("line, says", [
    ('[{"text": "a", "image": "items/good.png"}]', "item 0 has both 'text' and 'image'"), ('[{"text": "caf\udce9"}]', "UTF-8"), ('[{"text": "a"}', "not JSON"),
    ("[]", "0 items"), ('{"id": "", "items": [{"text": "a"}]}', "'id' is empty"),
    (json.dumps([{"image": "x" * 4095}]), "bytes; at most 4095"), ('[{"text": "a\\u0000b"}]', "U+0000"), ("{}", "items"),
])
def test_a_bad_line_is_named_or_skipped_and_counted(tmp_path, line, says):
    path, good = tmp_path / "documents.jsonl", '[{"text": "All is well."}]'
    path.write_bytes(f"{good}\n\n \t\r\n{line}\n".encode(errors="surrogateescape"))
    words = ("prepare", "--dataset.name=jsonl", f"--dataset.path={path}", "--out", tmp_path / "out")
    error = omnigram(*words, status=1)
    assert f"{path}:4" in error and says in error and [p.name for p in tmp_path.iterdir()] == [path.name]
    omnigram(*words, "--dataset.bad_line=skip")
    counted = json.loads((tmp_path / "out" / "index.json").read_text())["dataset_counters"]
    assert counted == {"lines": 4, "documents": 1, "passed_over_blank_line": 2, "passed_over_bad_line": 1, "passed_over_documents_limit": 0}


@pytest.mark.parametrize("lines, says", [
    ('[{"text": "good"}]\n[{"text": ""}]', "document 'line-2' item 0: empty text (0 bytes)"), ("\n \n", "0 documents read, none kept"),
    ('{"id": "a", "items": [{"text": "x"}]}\n\n{"id": "a", "items": [{"text": "y"}]}', "document id 'a' occurs twice (documents 0 and 1, from 0)"),
])
def test_what_is_wrong_with_a_document_names_the_file(tmp_path, lines, says):
    path = tmp_path / "documents.jsonl"
    path.write_text(lines)
    error = omnigram("prepare", "--dataset.name=jsonl", f"--dataset.path={path}", "--out", tmp_path / "out", status=1)
    assert str(path) in error and says in error and [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text('[{"text": "a"}]\n', encoding="utf-8-sig")
    omnigram("prepare", "--dataset.name=jsonl", f"--dataset.path={path}", "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "index.json").read_text())["dataset_counters"]["documents"] == 1


def test_an_item_that_is_a_folder(prepare):
    """A folder called x.png is walked as any other; a jsonl that names it names no picture."""
    at, call = prepare
    (at / "x.png").mkdir()
    (at / "x.png" / "inner.txt").write_text("Inside.")
    if call.name == "folder":
        call()
        assert json.loads((at.parent / "out" / "index.json").read_text())["counters"]["items"]["text"]["kept"] == 2
    else:
        error = call(status=1)
        assert "items/x.png" in error and "is a folder, not a file" in error
        call("--bad_item=skip")
        assert json.loads((at.parent / "out" / "index.json").read_text())["counters"]["items"]["image"]["dropped"] == {"missing": 1}


def test_folders_that_loop_are_not_followed(tmp_path):
    at = tmp_path / "items"
    at.mkdir()
    (at / "loop").symlink_to("../items")
    os.mkfifo(at / "pipe.wav")
    words = ("prepare", "--dataset.name=folder", "--out", tmp_path / "out")
    error = omnigram(*words, f"--dataset.path={at}", status=1)
    assert "0 other files, 0 hidden, 2 links to folders and special files" in error
    (at / "good.txt").write_text("All is well.")
    omnigram(*words, f"--dataset.path={at}")
    assert json.loads((tmp_path / "out" / "index.json").read_text())["dataset_counters"]["passed_over_irregular"] == 2
    (tmp_path / "round").symlink_to("round")
    assert "'round' is not a folder: Too many levels of symbolic links" in omnigram(*words[:-1], "new", "--dataset.path=round", status=1, cwd=tmp_path)


@pytest.fixture(scope="module")
def codes(tmp_path_factory):
    at = tmp_path_factory.mktemp("codes")
    omnigram("prepare", "--dataset.name=synthetic", "--dataset.documents=30", "--image.size=16", "--out", at / "prepared")
    omnigram("quantize", "--prepared", at / "prepared", "--out", at / "codes", "--text.vocab=400", "--image.size=16", "--audio.size=16")
    return at / "codes" / "train.documents.safetensors"


@pytest.mark.parametrize("keys, says", [(["--pack.capacity=8"], ["the pack holds 8", "pack.long_doc"]),
                                        (["--pack.capacity=5", "--pack.long_doc=truncate"], ["2 x 2 codes", "the pack holds 5", "pack.image"])])
def test_a_document_longer_than_the_pack(codes, tmp_path, keys, says):
    error = omnigram("pack", "--documents", codes, "--out", tmp_path / "packs", *keys, status=1)
    assert str(codes) in error and "document 0:" in error and all(word in error for word in says), error
    assert not list(tmp_path.iterdir())


def test_packs_on_a_full_disk_leave_nothing(codes, tmp_path):
    old = tmp_path / "packs"
    omnigram("pack", "--documents", codes, "--out", old, "--pack.capacity=512", "--pack.long_doc=truncate")
    whole = old.read_bytes()

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    for out in (old, tmp_path / "new"):
        error = omnigram("pack", "--documents", codes, "--out", out, "--pack.capacity=256", "--pack.long_doc=truncate", status=1, preexec_fn=limited)
        assert "File too large" in error and str(out) in error
        assert [p.name for p in tmp_path.iterdir()] == ["packs"] and old.read_bytes() == whole


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="needs root, who mounts a small file system")
def test_a_disk_that_is_full_in_earnest(codes, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        prepared = codes.parent.parent / "prepared"
        for words in (["prepare", "--dataset.name=synthetic", "--dataset.documents=200", "--out", small / "out"],
                      ["quantize", "--prepared", prepared, "--out", small / "out", "--text.vocab=400", "--image.size=16", "--audio.size=16"],
                      ["pack", "--documents", codes, "--out", small / "out", "--pack.capacity=2048"]):
            error = omnigram(*words, status=1)
            assert "No space left on device" in error and str(small / "out") in error, error
            assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)
