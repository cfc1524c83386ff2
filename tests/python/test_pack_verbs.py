"""The verbs pack, inspect, table and audit hash: figures, messages, JSON, and that nothing half-written remains."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from omnigram._ffi import ffi, lib
from omnigram.config import as_config
from omnigram.errors import call
from omnigram.program import find_program

TABLES = """
tables:
  text:  {modality: text, orders: [2, 3], addressing: {rows: 4099}, dim: 16}
  image: {stencil: grid, cells: [[W], [N, NE]], anchor: next, addressing: {rows: 4099}, dim: 8, dtype: f32}
"""


def run(*arguments, status=0):
    done = subprocess.run([find_program(), *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents of a small synthetic data set, packed, and a config of tables."""
    out = tmp_path_factory.mktemp("packs")
    config = {"dataset": {"name": "synthetic", "documents": 40, "size": 32}, "image": {"size": 32}}
    call(lib.og_prepare, as_config(config).pointer, str(out / "prepared").encode(), ffi.NULL, ffi.NULL, ffi.NULL)
    run("quantize", "--prepared", out / "prepared", "--out", out / "codes", "--text.vocab=400", "--image.size=32",
        "--audio.size=16", "--image.iterations=3", "--audio.iterations=3")
    run("pack", "--documents", out / "codes" / "train.documents.safetensors", "--out", out / "train.packs.safetensors",
        "--pack.capacity=512")
    (out / "tables.yaml").write_text(TABLES)
    return out


# ---- pack ------------------------------------------------------------------------------------------------------


def lengths(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "lengths.txt"
    path.write_text(text)
    return path


def test_lengths(tmp_path):
    rng = random.Random(1)
    values = [min(2048, max(1, int(rng.lognormvariate(4.6, 0.9)))) for _ in range(10000)]
    path = lengths(tmp_path, "".join(f"{v}\n" for v in values))
    got = json.loads(run("pack", "--lengths", path, "--capacity", 2048, "--json", "-").stdout)
    assert got["lower_bound"] <= got["bins"] <= got["lower_bound"] + 1 and got["fill"] >= 0.998
    assert got["fill"] == pytest.approx(sum(values) / (got["bins"] * 2048)) and got["documents_per_s"] > 1e5


@pytest.mark.parametrize("text", ["3\n0\n2\n", "0\n3\n2\n", "3\n2\n0", "3\r\n 0\n\t2 \n"])
def test_lengths_of_nothing_are_counted(tmp_path, text):
    got = json.loads(run("pack", "--lengths", lengths(tmp_path, text), "--capacity", 5, "--json", "-").stdout)
    assert (got["bins"], got["lower_bound"], got["empty"], got["documents"], got["fill"]) == (1, 1, 1, 2, 1.0)


def test_bad_lengths_are_named(tmp_path):
    path = lengths(tmp_path, "3\n9\n")
    message = run("pack", "--lengths", path, "--capacity", 4, status=1).stderr
    assert f"{path}:2: length 9, the pack holds 4" in message
    for policy, bins, lost in (("drop", 1, 9), ("truncate", 2, 5), ("fragment", 3, 0)):
        got = json.loads(run("pack", "--lengths", path, "--capacity", 4, f"--pack.long_doc={policy}", "--json", "-").stdout)
        assert (got["bins"], got["tokens_lost"], got["tokens"]) == (bins, lost, 12)
    for text, word in (("3\n-1\n", ":2: '-1' is no length"), ("3\n\n4\n", ":2: '' is no length"), ("3.5\n", "'3.5'"), ("", "no lengths"),
                       ("99999999999999999999\n", "is no length")):
        assert word in run("pack", "--lengths", lengths(tmp_path, text), "--capacity", 4, status=1).stderr
    assert "1 .. 16777216" in run("pack", "--lengths", path, "--capacity", 0, status=1).stderr
    assert "missing.txt" in run("pack", "--lengths", tmp_path / "missing.txt", "--capacity", 4, status=1).stderr


def test_usage():
    for arguments, word in ((["pack"], "give --documents"), (["pack", "--lengths", "x", "--documents", "y"], "give --documents"),
                            (["pack", "--documents", "x"], "--out"), (["pack", "--lengths", "x", "--capasity", "3"], "--capacity"),
                            (["pack", "--lengths", "x", "--pak.capacity=3"], "--pack.capacity"), (["inspect"], "one file"),
                            (["table"], "--packs"), (["audit", "hsah"], "did you mean 'hash'")):
        assert word in run(*arguments, status=2).stderr
    for verb in ("pack", "inspect", "table", "audit"):
        assert "usage" in run(verb, "--help").stdout


def test_documents(folder, tmp_path):
    out = tmp_path / "packs.safetensors"
    documents = folder / "codes" / "train.documents.safetensors"
    got = json.loads(run("pack", "--documents", documents, "--out", out, "--pack.capacity=512", "--json", "-").stdout)
    packing = got["counters"]["packing"]
    for what in ("documents", "tokens", "images"):
        row = packing[what]
        assert row["read"] == row["kept"] + row["cut"] + sum(row["dropped"].values())
    assert got["bins"] == packing["bins"] >= got["lower_bound"] and 0 < got["fill"] <= 1
    again = tmp_path / "again.safetensors"
    run("pack", "--documents", documents, "--out", again, "--capacity", 512)
    assert out.read_bytes() == again.read_bytes()
    # a document too long for the pack is an error that names it, and no file appears
    message = run("pack", "--documents", documents, "--out", tmp_path / "no.safetensors", "--pack.capacity=64", status=1).stderr
    assert "document 0:" in message and "64" in message
    assert not list(tmp_path.glob("no*"))
    torn = tmp_path / "torn.safetensors"
    torn.write_bytes(out.read_bytes()[:-7])
    assert "torn.safetensors" in run("inspect", torn, status=1).stderr


def test_an_empty_split_says_why(tmp_path):
    config = {"dataset": {"name": "synthetic", "documents": 3, "size": 32}, "image": {"size": 32}}
    call(lib.og_prepare, as_config(config).pointer, str(tmp_path / "prepared").encode(), ffi.NULL, ffi.NULL, ffi.NULL)
    told = run("quantize", "--prepared", tmp_path / "prepared", "--out", tmp_path / "codes", "--text.vocab=2000", "--image.size=16", "--audio.size=16",
               "--json", tmp_path / "quantize.json").stderr
    text = json.loads((tmp_path / "quantize.json").read_text())["text"]  # three texts do not fill a vocabulary of 2000
    assert text["asked"] == 2000 > text["got"] == text["vocab"] and f"{text['got']} pieces" in told and "text.vocab" in told
    counted = json.loads((tmp_path / "prepared" / "index.json").read_text())["counters"]["splits"]
    empty = [split for split in ("train", "val", "test") if not counted[split]["documents"]]
    assert empty
    for split in empty:
        said = run("pack", "--documents", tmp_path / "codes" / f"{split}.documents.safetensors", "--out", tmp_path / "packs", status=1).stderr
        assert f"{split}.documents.safetensors: the split is empty" in said and f"train {counted['train']['documents']}, val" in said
    dropped = run("pack", "--documents", tmp_path / "codes" / "train.documents.safetensors", "--out", tmp_path / "packs", "--capacity", 8,
                  "--pack.long_doc=drop", "--pack.image=drop_doc", status=1).stderr
    assert "were dropped" in dropped and "8" in dropped and not (tmp_path / "packs").exists()


# ---- inspect ---------------------------------------------------------------------------------------------------


def test_inspect(folder):
    packs = folder / "train.packs.safetensors"
    text = run("inspect", packs, "--tables", folder / "tables.yaml").stdout
    assert "\033" not in text and max(map(len, text.splitlines())) <= 120
    assert "document 0" in text and "image-begin" in text and "row-end" in text and "2:\u00b7" in text
    got = json.loads(run("inspect", packs, "--tables", folder / "tables.yaml", "--json", "-").stdout)
    assert got["n_tokens"] == 512 == len(got["tokens"])
    images = [s for s in got["segments"] if s["modality"] == "image"]
    tokens = got["tokens"]
    assert images
    for s in images:  # the grid is whole, and N of the next cell is one row up: it exists from the second row on
        for t in tokens[s["start"]:s["start"] + s["length"]]:
            assert t["segment"] == got["segments"].index(s)
            following = tokens[t["token"] + 1]
            west, north_east = t["rows"]["image"]
            inside = following["modality"] == "image"
            assert (west is not None) == (inside and following["column"] > 0)
            assert (north_east is not None) == (inside and following["row"] > 0 and following["column"] + 1 < s["columns"])
    for t in tokens:
        assert t["rows"]["text"] == [None, None] or t["modality"] == "text"
    short = run("inspect", packs, "--pack", 0, "--tokens", "3:5").stdout
    assert short.splitlines()[-1].split()[0] == "4"
    for arguments, word in ((["--pack", "100000"], "there are"), (["--tokens", "5:3"], "0..511"), (["--tokens", "x"], "FROM:TO"), (["--pack", "-3"], "no count")):
        done = subprocess.run([find_program(), "inspect", packs, *arguments], capture_output=True, text=True)
        assert done.returncode in (1, 2) and word in done.stderr


def test_inspect_shows_words_and_counts_pads(folder, tmp_path):
    packs = folder / "train.packs.safetensors"
    everything = json.loads(run("inspect", packs, "--json", "-").stdout)
    assert everything["tokens"][-1]["code"] == "pad"
    text = run("inspect", packs).stdout
    pads = everything["n_tokens"] - everything["n_valid"]
    assert f"{pads} pads" in text.splitlines()[-1] and len([line for line in text.splitlines() if " pad " in line]) == 0
    document = everything["documents"][0]
    words = [t["piece"] for t in everything["tokens"] if t["modality"] == "text" and t["document"] == 0 and t["segment"] == 0]
    whole = "".join(words)
    assert "".join(line.strip() for line in text.splitlines()[5:7]).startswith('"' + whole[:20]) and len(whole) > 20
    from omnigram.tokenizer import Tokenizer
    ids = [t["id"] for t in everything["tokens"] if t["modality"] == "text" and t["document"] == 0 and t["segment"] == 0]
    assert Tokenizer(folder / "codes" / "tokenizer.model").decode(ids) == whole
    # the packs alone, far from their tokenizer, have ids; a tokenizer that did not make them is no help
    alone = tmp_path / "far" / "from" / "it"
    alone.mkdir(parents=True)
    (alone / "packs").write_bytes(packs.read_bytes())
    assert "piece" not in json.loads(run("inspect", alone / "packs", "--json", "-").stdout)["tokens"][1]
    given = json.loads(run("inspect", alone / "packs", "--tokenizer", folder / "codes" / "tokenizer.model", "--json", "-").stdout)
    assert given["tokens"] == everything["tokens"]
    Tokenizer.train(["another text altogether, of other words and letters"] * 50, 400, alone / "tokenizer.model")
    assert "piece" not in json.loads(run("inspect", alone / "packs", "--json", "-").stdout)["tokens"][1]
    assert "fingerprint" in run("inspect", alone / "packs", "--tokenizer", alone / "tokenizer.model", status=1).stderr
    assert document["begin"] == 0


def test_inspect_restricts_and_finds_documents(folder):
    packs = folder / "train.packs.safetensors"
    everything = json.loads(run("inspect", packs, "--json", "-").stdout)
    second = everything["documents"][1]
    some = json.loads(run("inspect", packs, "--tokens", f"{second['begin']}..{second['end'] - 1}", "--json", "-").stdout)
    assert some["documents"] == [second] and {s["document"] for s in some["segments"]} == {1}
    assert some["tokens"] == everything["tokens"][second["begin"]:second["end"]]
    assert some == json.loads(run("inspect", packs, "--tokens", f"{second['begin']}:{second['end']}", "--json", "-").stdout)
    text = run("inspect", packs, "--tokens", f"{second['begin']}..{second['begin'] + 2}").stdout
    assert "document 1" in text and "document 0" not in text and "document 2" not in text
    last = json.loads(run("inspect", packs, "--pack", everything["count"] - 1, "--json", "-").stdout)["documents"][-1]
    origin = f"{last['shard']}:{last['index']}"
    found = json.loads(run("inspect", packs, "--origin", origin, "--prepared", folder / "prepared", "--json", "-").stdout)
    name = found["documents"][0].pop("name")
    assert found["pack"] == everything["count"] - 1 and found["documents"] == [last] and len(found["tokens"]) == last["length"]
    named = run("inspect", packs, "--origin", name, "--prepared", folder / "prepared").stdout
    assert f"from shard {last['shard']}, document {last['index']} ({name})" in named and named.count("\ndocument") == 1
    for words, says in ((["--origin", "0:99999"], "document 99999 of shard 0"), (["--origin", name], "--prepared"),
                        (["--origin", "nobody", "--prepared", folder / "prepared"], "nobody")):
        assert says in run("inspect", packs, *words, status=1).stderr
    assert "not both" in run("inspect", packs, "--origin", origin, "--pack", "1", status=2).stderr
    part = json.loads(run("inspect", packs, "--origin", origin, "--tokens", f"{last['begin']}:{last['begin'] + 2}", "--json", "-").stdout)
    assert part["pack"] == everything["count"] - 1 and part["tokens"] == found["tokens"][:2]
    config = {"dataset": {"name": "synthetic", "documents": 40, "size": 32, "seed": 5}, "image": {"size": 32}}
    other = folder / "other"
    call(lib.og_prepare, as_config(config).pointer, str(other).encode(), ffi.NULL, ffi.NULL, ffi.NULL)
    assert f"--prepared {other}: its shards have fingerprint" in run("inspect", packs, "--prepared", other, status=1).stderr


def test_one_flag_for_a_config(folder):
    packs, config = folder / "train.packs.safetensors", folder / "tables.yaml"
    for words in (["inspect", packs], ["table", "--packs", packs], ["audit", "hash", "--packs", packs]):
        assert "--config" in run(*words[:1], "--help").stdout
        assert run(*words, "--config", config, "--json", "-").stdout == run(*words, "--tables", config, "--json", "-").stdout
        assert "--config" in run(*words, "--config", config, "--tables", config, status=2).stderr


# ---- table -----------------------------------------------------------------------------------------------------


def test_table(folder):
    got = json.loads(run("table", "--tables", folder / "tables.yaml", "--ids", "2000,256", "--json", "-").stdout)
    text, image = got["tables"]
    assert (text["rows"], text["dim"], text["dtype"], image["rows"], image["dtype"]) == (8198, 16, "BF16", 8198, "F32")
    assert [c["order"] for c in text["columns"]] == [2, 3] and [c["base"] for c in image["columns"]] == [0, 4099]
    assert got["columns"] == 4 and got["width"] == 2 * 16 + 2 * 8
    assert text["bytes"] == text["rows"] * text["row_bytes"] and text["row_bytes"] >= 32
    assert got["bytes"] == text["bytes"] + image["bytes"]
    for found in (got, text, image):
        assert all(type(found[key]) is int for key in ("bytes", "bytes_trained"))
    message = run("table", "--tables", folder / "tables.yaml", "--ids", "2000,256", f"--tables.text.addressing.rows={2**58}", status=1).stderr
    assert "table" in message and str(2**59) in message
    packed = json.loads(run("table", "--tables", folder / "tables.yaml", "--packs", folder / "train.packs.safetensors", "--json", "-").stdout)
    assert packed["tables"][1]["fingerprint"] != image["fingerprint"]  # other codebooks
    changed = json.loads(run("table", "--tables", folder / "tables.yaml", "--ids", "2000,256", "--tables.text.addressing.rows=10", "--json", "-").stdout)
    assert changed["tables"][0]["rows"] == 20
    message = run("table", "--tables", folder / "tables.yaml", "--ids", "2000,256", "--tables.image.stencil=gird", status=1).stderr
    assert "table image" in message and "did you mean 'grid'" in message
    assert "no image codes" in run("table", "--tables", folder / "tables.yaml", "--ids", "2000", status=1).stderr


# ---- audit hash ------------------------------------------------------------------------------------------------


def test_audit_hash_of_schemes(tmp_path):
    svg = tmp_path / "hash.svg"
    got = json.loads(run("audit", "hash", "--scheme", "mix64,welm_knuth32", "--vocab", "131072,50257", "--json", "-", "--svg", svg).stdout)["hash"]
    oldest = {name: [lag for lag in entry["lags"] if lag["lag"] == lag["order"] - 1] for name, entry in got.items()}
    assert [lag["distinct"] for lag in oldest["welm_knuth32/131072"]] == [15625, 1, 1, 1]  # a 5-gram that sees two tokens
    assert all(lag["changed"] == 0 for lag in oldest["welm_knuth32/131072"][1:])
    assert all(lag["distinct"] >= 0.99 * lag["ideal"] for name in ("welm_knuth32/50257", "mix64/131072", "mix64/50257") for lag in got[name]["lags"])
    assert got["welm_knuth32/131072"]["warnings"] and not got["mix64/131072"]["warnings"] and not got["welm_knuth32/50257"]["warnings"]
    assert svg.read_text().startswith("<svg") and svg.read_text().count("<rect") > 50
    run("audit", "hash", "--scheme", "welm_knuth32", "--vocab", "131072", "--strict", status=1)
    told = run("audit", "hash", "--scheme", "mix64,welm_knuth32", "--vocab", "131072,50257").stdout.split("\nsummary ")[1].splitlines()
    assert [line.split()[:4] for line in told[1:]] == [["mix64/131072", "14", "0", "0"], ["mix64/50257", "14", "0", "0"],
                                                       ["welm_knuth32/131072", "14", "10", "10"], ["welm_knuth32/50257", "14", "0", "0"]]
    assert "summary" not in run("audit", "hash", "--scheme", "mix64", "--vocab", "64", "--rows", "97").stdout


def test_audit_hash_of_positions_of_several_codes(tmp_path):
    svg = tmp_path / "hash.svg"
    result = json.loads(run("audit", "hash", "--scheme", "lngram_direct,ngrammer", "--vocab", "16,131072", "--json", "-", "--svg", svg).stdout)
    got = result["hash"]
    direct = got["lngram_direct/16"]
    assert all(lag["distinct"] == 16 and lag["changed"] == 1 for lag in direct["lags"]) and not direct["warnings"]
    assert all(column["collided"] == 0 for column in direct["columns"])  # no hash, no collision
    assert {column["head"] for column in got["ngrammer/131072"]["columns"]} == {0, 1, 2, 3}
    # a vocabulary that a scheme cannot take is said, and the others are audited
    assert result["refused"] == 1 and "131072 codes need 17 bits" in got["lngram_direct/131072"]["refused"]
    assert "not audited" in svg.read_text()
    assert "need 17 bits" in run("audit", "hash", "--scheme", "lngram_direct", "--vocab", "131072", status=1).stderr
    assert "--vocab 16x" in run("audit", "hash", "--vocab", "16x", status=1).stderr


def test_audit_hash_of_tables(folder):
    got = json.loads(run("audit", "hash", "--tables", folder / "tables.yaml", "--packs", folder / "train.packs.safetensors", "--json", "-").stdout)["hash"]
    assert set(got) == {"text", "image"}
    for entry in got.values():
        for lag in entry["lags"]:
            assert lag["changed"] > 0.99 and 0.99 * lag["ideal"] <= lag["distinct"] <= entry["vocab"]
        for column in entry["corpus"]:
            assert 0 < column["used"] <= column["distinct"] <= column["ngrams"]
    assert len(got["image"]["lags"]) == 1 + 2  # next-anchored: W alone, then N and NE
