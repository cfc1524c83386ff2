"""`omnigram quantize` on a small synthetic data set: what it writes, that it is reproducible, and what it refuses."""

import json
import math
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import omnigram
from omnigram._ffi import ffi, lib
from omnigram.config import as_config
from omnigram.errors import call
from omnigram.pack import MODALITIES
from omnigram.program import find_program

KEYS = ["--text.vocab=400", "--image.size=32", "--audio.size=16", "--image.iterations=5", "--audio.iterations=5"]


def prepare(folder: Path, **config) -> Path:
    config.setdefault("dataset", {"name": "synthetic", "documents": 60, "size": 32})
    config.setdefault("image", {"size": 32})
    call(lib.og_prepare, as_config(config).pointer, str(folder).encode(), ffi.NULL, ffi.NULL, ffi.NULL)
    return folder


def run(*arguments, status=0):
    done = subprocess.run([find_program(), "quantize", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def quantize(prepared, out, *more, keys=KEYS):
    return json.loads(run("--prepared", prepared, "--out", out, *keys, *more, "--json", "-").stdout)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("prepared") / "shards")


@pytest.fixture(scope="module")
def codes(prepared, tmp_path_factory):
    """(folder, result) of one run."""
    out = tmp_path_factory.mktemp("codes") / "out"
    try:
        return out, quantize(prepared, out, "--threads=2")
    except AssertionError as error:
        if "built without" in str(error):
            pytest.skip(str(error))
        raise


def test_files_and_figures(codes):
    out, result = codes
    assert sorted(p.name for p in out.iterdir()) == [
        "audio.codebook.safetensors", "image.codebook.safetensors", "preview.safetensors", "quantize.json",
        "test.documents.safetensors", "tokenizer.model", "train.documents.safetensors", "val.documents.safetensors"]
    assert not result["cached"] and not list(out.parent.glob("out.*"))
    for kind, size in (("image", 32), ("audio", 16)):
        with omnigram.Codebook.load(out / f"{kind}.codebook.safetensors") as codebook:
            assert (codebook.size, codebook.levels, codebook.modality) == (size, 1, kind)
            assert codebook.fingerprint == result[kind]["fingerprint"]
            assert codebook.health == result[kind]["health"]
            for split in ("train", "val"):
                health = codebook.health[split]
                assert 1 <= health["perplexity"] <= health["used"] <= size
                assert 0 < health["relative_mse"] < 0.5 and health["not_finite"] == 0
                assert health["perplexity"] <= health["perplexity_corrected"] and 0 <= health["gini"] < 1
                assert 0 < health["used_tenth"] <= health["used"] and 0 < health["top_percent"] <= 1
                assert health["snr_db"] == pytest.approx(-10 * math.log10(health["relative_mse"]))
                assert len(health["levels"]) == 1 and health["levels"][0]["relative_mse"] == health["relative_mse"]


def test_documents_hold_the_codes_of_their_items(codes, prepared):
    """Every code by hand from prepared item, modality and codebook; every text back from its tokens."""
    out, result = codes
    codebooks = {k: omnigram.Codebook.load(out / f"{k}.codebook.safetensors") for k in ("image", "audio")}
    tokenizer = omnigram.Tokenizer(out / "tokenizer.model")
    shards = omnigram.Prepared(prepared)
    modalities = {k: omnigram.Modality(k, shards.index["config"].get(k)) for k in codebooks}
    for split in ("train", "val", "test"):
        documents = omnigram.Documents.load(out / f"{split}.documents.safetensors")
        documents.check()
        assert documents.counters["prepare"] == shards.index["counters"] and documents.counters["dataset"] == shards.index["dataset"]
        assert len(documents) == shards.count(split) == result["splits"][split]["documents"]
        assert set(documents.codebooks) == {c.fingerprint for c in codebooks.values()}
        segments, base = documents.segments, documents.ids.base
        for d in range(0, len(documents), 7):
            document = shards.document(split, d)
            own = segments[documents.segment_offsets[d] : documents.segment_offsets[d + 1]]
            assert [MODALITIES[s["modality"]] for s in own] == [item.modality for item in document.items]
            assert (documents.origins[d]["shard"], documents.origins[d]["index"]) == (document.shard, document.index)
            for segment, item in zip(own, document.items):
                start = documents.offsets[d] + segment["start"]
                tokens = documents.tokens[start : start + segment["length"]]
                tokens = tokens[documents.modality[start : start + segment["length"]] == segment["modality"]]
                local = tokens - base[segment["modality"]]
                if item.modality == "text":
                    assert tokenizer.decode(local) == item.value
                    continue
                vectors = modalities[item.modality].vectors(item.value, item.rate_hz)
                assert vectors.shape[:2] == (segment["rows"], segment["columns"])
                flat = vectors.reshape(-1, vectors.shape[-1])
                np.testing.assert_array_equal(local, codebooks[item.modality].encode(flat)[:, 0])


def test_previews_differ_by_the_codes_alone(codes):
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = safetensors.load_file(codes[0] / "preview.safetensors")
    for kind, dtype in (("image", np.uint8), ("audio", np.float32)):
        names = [n for n in arrays if n.startswith(kind) and n.endswith("original")]
        assert names
        for name in names:
            a, b = arrays[name], arrays[name.replace("original", "restored")]
            assert a.dtype == b.dtype == dtype and a.shape == b.shape and (a != b).any()
            a, b = a.astype(float), b.astype(float)
            assert ((a - b) ** 2).mean() < 0.7 * ((a - a.mean()) ** 2).mean()


@pytest.mark.parametrize("level", ["c", "avx2", "avx512"])
def test_same_bytes_for_any_threads_and_instruction_set(codes, prepared, tmp_path, level, monkeypatch):
    monkeypatch.setenv("OG_CPU", level)
    quantize(prepared, tmp_path / "one", "--threads=1")
    for path in sorted(codes[0].iterdir()):
        if path.name != "quantize.json":
            assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes(), path.name


def test_nothing_is_done_twice(codes, prepared, tmp_path):
    out, first = codes
    before = {p.name: p.stat().st_mtime_ns for p in out.iterdir()}
    again = quantize(prepared, out, "--threads=1")
    assert again.pop("cached") and not first["cached"]
    assert again == {k: v for k, v in first.items() if k != "cached"}
    assert {p.name: p.stat().st_mtime_ns for p in out.iterdir()} == before
    copy = shutil.copytree(out, tmp_path / "copy")
    (copy / "val.documents.safetensors").unlink()  # a damaged result is made again, whole
    assert not quantize(prepared, copy, "--threads=2")["cached"]
    assert (copy / "val.documents.safetensors").read_bytes() == (out / "val.documents.safetensors").read_bytes()
    changed = quantize(prepared, tmp_path / "changed", "--threads=2", "--audio.seed=5")
    assert not changed["cached"] and changed["audio"]["fingerprint"] != first["audio"]["fingerprint"]
    assert changed["image"]["fingerprint"] == first["image"]["fingerprint"]


def test_codes_of_other_settings_are_not_replaced(codes, prepared, tmp_path):
    out = shutil.copytree(codes[0], tmp_path / "out")
    other = prepare(tmp_path / "other", split={"seed": 5})
    kept = {path.name: path.read_bytes() for path in out.iterdir()}
    for key, words in (("audio", ("--prepared", prepared, *KEYS, "--audio.seed=5")), ("previews", ("--prepared", prepared, *KEYS, "--previews=2")),
                       ("text", ("--prepared", prepared, *KEYS[1:])), ("--prepared", ("--prepared", other, *KEYS)),
                       ("--codebooks", ("--prepared", prepared, *KEYS, "--encode-only", "--codebooks", codes[0]))):
        told = run(*words, "--out", out, status=1).stderr
        assert f"{out} was made with other settings ({key}); remove it or name another folder" in told
        assert f"; {key} is " in told and " there and " in told and " here" in told
    assert {path.name: path.read_bytes() for path in out.iterdir()} == kept
    index = json.loads((prepared / "index.json").read_text())
    anew = shutil.copytree(prepared, tmp_path / "anew")
    (anew / "index.json").write_text(json.dumps(index, indent=3))  # prepared again from the same config
    assert "is made anew" in run("--prepared", anew, "--out", out, *KEYS).stderr


def test_a_sample_is_bounded_and_reported(prepared, tmp_path):
    result = quantize(prepared, tmp_path / "a", "--image.sample=100")
    assert result["image"]["health"]["train"]["vectors"] == 100 < result["image"]["health"]["train"]["of"]
    other = quantize(prepared, tmp_path / "b", "--image.sample=100", "--threads=1")
    assert other["image"]["fingerprint"] == result["image"]["fingerprint"]


def test_residual_levels(prepared, tmp_path):
    result = quantize(prepared, tmp_path / "out", "--audio.quantizer=rvq", "--audio.levels=3")
    assert result["audio"]["levels"] == 3
    documents = omnigram.Documents.load(tmp_path / "out" / "train.documents.safetensors")
    documents.check()
    audio = documents.modality == 2
    assert set(np.unique(documents.level[audio])) == {0, 1, 2}


def test_encode_only_uses_the_codebooks(codes, prepared, tmp_path):
    out, first = codes
    result = quantize(prepared, tmp_path / "again", "--encode-only", "--codebooks", out, keys=["--threads=2"])
    assert result["image"]["fingerprint"] == first["image"]["fingerprint"]
    for name in ("train.documents.safetensors", "tokenizer.model", "image.codebook.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def test_a_codebook_of_other_preprocessing_is_refused(codes, tmp_path):
    other = prepare(tmp_path / "other", image={"size": 32, "patch": 4})
    error = run("--prepared", other, "--out", tmp_path / "x", "--encode-only", "--codebooks", codes[0], status=1).stderr
    assert "image.codebook.safetensors: the codebook was fitted to vectors with" in error
    assert "patch: 8" in error and "the prepared data have patch: 4" in error
    assert not list(tmp_path.glob("x*"))


def test_a_damaged_codebook_is_refused(codes, prepared, tmp_path):
    broken = shutil.copytree(codes[0], tmp_path / "broken")
    path = broken / "audio.codebook.safetensors"
    whole = path.read_bytes()
    for bytes_, word in ((whole[:-5], "audio.codebook.safetensors"), (whole[:-1] + b"\x7e", "fingerprint is stored as"), (b"", "audio.codebook")):
        path.write_bytes(bytes_)
        error = run("--prepared", prepared, "--out", tmp_path / "x", "--encode-only", "--codebooks", broken, status=1).stderr
        assert word in error and not list(tmp_path.glob("x*"))


def test_a_config_of_all_stages_has_a_section(codes, prepared, tmp_path):
    config = tmp_path / "all.yaml"
    config.write_text("pack: {capacity: 512}\nquantize:\n  threads: 2\n  text: {vocab: 400}\n"
                      "  image: {size: 32, iterations: 5}\n  audio: {size: 16, iterations: 5}\n")
    result = quantize(prepared, tmp_path / "out", "--config", config, keys=[])
    assert result["image"]["fingerprint"] == codes[1]["image"]["fingerprint"]
    config.write_text("quantize:\n  image:\n    sizze: 3\n")
    assert "size" in run("--config", config, "--prepared", prepared, "--out", tmp_path / "x", status=1).stderr


def test_bad_usage_says_what(prepared, tmp_path):
    out = tmp_path / "x"
    cases = [
        (["--prepared", prepared], 2, "--out FOLDER is needed"),
        (["--prepared", prepared, "--out", out, "--encode-only"], 2, "go together"),
        (["--prepared", prepared, "--outt", out], 2, "did you mean '--out'"),
        (["--prepared", tmp_path / "none", "--out", out], 1, "none"),
        (["--prepared", prepared, "--out", out, "--imaje.size=3"], 1, "image"),
        (["--prepared", prepared, "--out", out, "--image.sise=3"], 1, "size"),
        (["--prepared", prepared, "--out", out, "--image.size=0"], 1, "size"),
        (["--prepared", prepared, "--out", out, "--image.sample=0"], 1, "image.sample: is 0"),
        (["--prepared", prepared, "--out", out, "--image.quantizer=kmean"], 1, "there are kmeans, rvq"),
        (["--prepared", prepared, "--out", out, "--text.vocab=1"], 1, "vocab"),
    ]
    for arguments, status, word in cases:
        error = run(*arguments, status=status).stderr
        assert word in error, (arguments, error)
        assert not list(tmp_path.glob("x*")), arguments


def test_a_folder_of_somebody_else_is_not_replaced(prepared, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    error = run("--prepared", prepared, "--out", tmp_path / "mine", *KEYS, status=1).stderr
    assert "holds files and no quantize.json" in error
    assert [p.name for p in tmp_path.iterdir()] == ["mine"] and (tmp_path / "mine" / "thesis.tex").exists()


def test_leftovers_of_a_killed_run_are_removed(prepared, tmp_path):
    orphan = tmp_path / "out.tmp-999999999"
    orphan.mkdir()
    (orphan / "tokenizer.model").write_text("half")
    quantize(prepared, tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_a_full_disk_leaves_nothing(prepared, tmp_path):
    """A limit on file sizes stands for it: the write that does not fit fails, wherever it is."""
    for limit in (3000, 12_000, 40_000):
        def limited(limit=limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run([find_program(), "quantize", "--prepared", prepared, "--out", tmp_path / "out", *KEYS],
                              preexec_fn=limited, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and "File too large" in done.stderr and "out.tmp-" in done.stderr
        assert not list(tmp_path.iterdir())


def test_killed_at_any_time_the_old_result_stands(codes, prepared, tmp_path):
    out = shutil.copytree(codes[0], tmp_path / "out")
    record = json.loads((out / "quantize.json").read_text())
    del record["settings"]  # an earlier build's: it does not say what it was made with, and is made anew
    (out / "quantize.json").write_text(json.dumps(record))
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    for seconds in (0.02, 0.1, 0.3):
        child = subprocess.Popen([find_program(), "quantize", "--prepared", prepared, "--out", out, *KEYS, "--image.seed=9",
                                  "--image.iterations=10000"], stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        assert child.poll() is None
        child.kill()
        child.wait()
        assert {p.name: p.read_bytes() for p in out.iterdir()} == before
    quantize(prepared, out, "--image.seed=9")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
