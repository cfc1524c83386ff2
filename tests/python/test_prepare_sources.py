"""`omnigram prepare` a second time: files that changed, sides of small sets, two at once, and what damage does."""

import json
import os
import subprocess
import time

import pytest
from media_fixture import png, sound

from omnigram.program import find_program


def run(*options, status=0, **more):
    done = subprocess.run([find_program(), *map(str, options)], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stderr


@pytest.fixture
def folder(tmp_path):
    """Six documents: each a text, a picture and a sound."""
    at = tmp_path / "mine"
    (at / "more").mkdir(parents=True)
    for i, name in enumerate(("ant", "bee", "cow", "dog", "more/eel", "more/fox")):
        (at / f"{name}.txt").write_text(f"This is the animal called {name}.\n")
        png(at / f"{name}.png", 20 * i)
        sound(at / f"{name}.wav", 3 + i)
    return at


def prepare(folder, out, *more, status=0):
    return run("prepare", "--dataset.name=folder", f"--dataset.path={folder}", "--image.size=16", "--out", out, *more, status=status)


def index(out):
    return json.loads((out / "index.json").read_text())


def test_files_that_changed_are_read_again_and_named(folder, tmp_path):
    out = tmp_path / "out"
    prepare(folder, out)
    names = sorted(p.name for p in out.iterdir())
    assert names == ["index.json", "shard-00000.safetensors", "sources.safetensors"]
    first = {n: (out / n).read_bytes() for n in names}
    assert "up to date" in prepare(folder, out)
    assert first == {n: (out / n).read_bytes() for n in names}

    os.utime(folder / "cow.png", ns=(1, 1))  # touched: read again, and the same to the byte but for the list
    error = prepare(folder, out)
    assert "prepared anew: 1 changed" in error and "cow.png" in error and "ant" not in error
    assert all((out / n).read_bytes() == first[n] for n in names[:2]) and (out / names[2]).read_bytes() != first[names[2]]

    (folder / "ant.txt").write_text("This is the insect called ant, and it is long.\n")
    assert "1 changed" in prepare(folder, out) and index(out)["counters"] != json.loads(first["index.json"])["counters"]

    (folder / "more" / "gnu.txt").write_text("A gnu.")
    error = prepare(folder, out)
    assert "1 new" in error and "more/gnu.txt" in error
    assert index(out)["counters"]["documents"]["read"] == 7

    for name in ("dog.txt", "dog.png", "dog.wav", "more/gnu.txt"):
        (folder / name).unlink()
    error = prepare(folder, out)
    assert "4 removed" in error and "dog.png" in error and "..." in error  # the first three are named
    assert index(out)["counters"]["documents"]["read"] == 5
    assert "up to date" in prepare(folder, out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "out"]


def test_files_that_a_jsonl_names_count_too(folder, tmp_path):
    lines = [{"items": [{"text": "An ant."}, {"image": "mine/ant.png"}]}, {"items": [{"text": "A bee."}, {"image": "mine/none.png"}]}]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    line = ("prepare", "--dataset.name=jsonl", f"--dataset.path={tmp_path}/docs.jsonl", "--bad_item=skip", "--image.size=16", "--out", tmp_path / "out")
    run(*line)
    assert "up to date" in run(*line)
    (folder / "cow.png").unlink()  # no document names it
    assert "up to date" in run(*line)
    png(folder / "ant.png", 99)
    assert "1 changed" in run(*line)
    png(folder / "none.png", 99)  # was missing, and skipped
    error = run(*line)
    assert "1 new" in error and "none.png" in error and index(tmp_path / "out")["counters"]["items"]["image"]["kept"] == 2
    (tmp_path / "docs.jsonl").write_text(json.dumps(lines[0]))
    assert "docs.jsonl" in run(*line)
    assert index(tmp_path / "out")["counters"]["documents"]["read"] == 1


@pytest.mark.parametrize("name", ["index.json", "sources.safetensors", "shard-00000.safetensors"])
def test_a_damaged_folder_is_prepared_anew_or_refused(folder, tmp_path, name):
    out, whole = tmp_path / "out", {}
    prepare(folder, out)
    whole = {p.name: p.read_bytes() for p in out.iterdir()}
    data = bytearray(whole[name])
    (out / name).write_bytes(data[:len(data) // 2])
    if name == "index.json":  # nothing says that it is ours
        assert "no prepared folder" in prepare(folder, out, status=1)
    else:
        assert name in prepare(folder, out) and whole == {p.name: p.read_bytes() for p in out.iterdir()}
    if name == "shard-00000.safetensors":  # a changed byte of a picture
        data[-1] ^= 4
        (out / name).write_bytes(data)
        error = run("quantize", "--prepared", out, "--out", tmp_path / "codes", "--text.vocab=300", status=1)
        assert name in error and "SHA-256" in error and "prepare the data again" in error
        assert not (tmp_path / "codes").exists()


def test_an_older_folder_is_prepared_anew(folder, tmp_path):
    out = tmp_path / "out"
    prepare(folder, out)
    (out / "index.json").write_text(json.dumps({**index(out), "version": 1}))
    assert "version 1" in run("quantize", "--prepared", out, "--out", tmp_path / "codes", status=1)
    assert "it has version 1" in prepare(folder, out)
    assert index(out)["version"] == 2


def test_the_digest_of_an_index_is_three_words_of_python(folder, tmp_path):
    import hashlib
    prepare(folder, tmp_path / "out")
    tree, digest = index(tmp_path / "out"), hashlib.sha256()
    for key in sorted(tree.keys() - {"digest"}):
        value = json.dumps(tree[key], sort_keys=True, separators=(",", ":"))
        digest.update(key.encode() + b"\0" + value.encode() + b"\0")
    assert digest.hexdigest() == tree["digest"]


def sides(out):
    counted = index(out)["counters"]["splits"]
    return {s: counted[s]["documents"] for s in counted}, {m: counted["train"][m] for m in ("text", "image", "audio")}


def test_shares_and_seed_of_the_split_are_keys(folder, tmp_path):
    prepare(folder, tmp_path / "all", "--split.val=0", "--split.test=0")
    assert sides(tmp_path / "all")[0] == {"train": 6, "val": 0, "test": 0}
    prepare(folder, tmp_path / "half", "--split.val=0.5", "--split.test=0.3")
    assert sides(tmp_path / "half")[0]["val"] >= 1 and sides(tmp_path / "half")[0]["train"] >= 1
    found = set()
    for seed in range(8):
        prepare(folder, tmp_path / f"seed{seed}", f"--split.seed={seed}", "--split.val=0.4", "--split.test=0.3", "--split.cover=false")
        found.add(tuple(sides(tmp_path / f"seed{seed}")[0].values()))
    assert len(found) > 2
    for key, says in (("val=0.9", "leave nothing"), ("test=0.0001", "thousandths"), ("seed=-1", "seed"), ("vall=0.1", "vall")):
        assert says in prepare(folder, tmp_path / "no", f"--split.{key}", "--split.test=0.2" if "0.9" in key else "--threads=1", status=1)
    assert not (tmp_path / "no").exists()


def test_small_sets_have_every_modality_in_train_and_a_val(folder, tmp_path):
    """Whatever the seed: one sound in the whole set ends in train, and val has a document."""
    for name in ("ant", "bee", "cow", "dog", "more/eel"):
        (folder / f"{name}.wav").unlink()
    moved = 0
    for seed in range(12):
        out = tmp_path / f"out{seed}"
        prepare(folder, out, f"--split.seed={seed}", "--split.val=0.2", "--split.test=0.3")
        documents, items = sides(out)
        assert items["audio"] == 1 and items["text"] >= 1 and items["image"] >= 1 and documents["val"] >= 1
        assert sum(documents.values()) == 6
        moved += len(index(out)["moved"])
        # by hand from the rule and the list of what moved
        import hashlib
        want = {}
        for name in ("ant", "bee", "cow", "dog", "more/eel", "more/fox"):
            value = int.from_bytes(hashlib.sha256(f"split-{seed}:{name}".encode()).digest()[:8], "big") % 1000
            want[name] = "test" if value < 300 else "val" if value < 500 else "train"
        for entry in index(out)["moved"]:
            assert want[entry["group"]] == entry["from"]
            want[entry["group"]] = entry["to"]
        import omnigram
        shards = omnigram.Prepared(out)
        assert {shards.document(s, i).id: s for s in documents for i in range(shards.count(s))} == want
    assert moved > 4
    error = prepare(folder, tmp_path / "as it falls", "--split.seed=0", "--split.val=0.2", "--split.test=0.3", "--split.cover=false")
    assert not index(tmp_path / "as it falls")["moved"], error


def test_modalities_may_be_left_out(folder, tmp_path):
    prepare(folder, tmp_path / "out", "--modalities=[text, image]")
    counted = index(tmp_path / "out")["counters"]["items"]
    assert counted["audio"] == {"read": 6, "kept": 0, "dropped": {"left_out": 6}, "distinct": 0} and counted["image"]["kept"] == 6
    assert "smell" in prepare(folder, tmp_path / "no", "--modalities=[text, smell]", status=1)


def test_the_second_of_two_waits_and_finds_the_work_done(tmp_path):
    line = [find_program(), "prepare", "--dataset.name=synthetic", "--dataset.documents=400", "--threads=1", "--out", "out"]
    first = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
    for _ in range(400):
        if (tmp_path / "out.lock").exists() and list(tmp_path.glob("out.tmp-*")):
            break
        time.sleep(0.01)
    second = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert first.wait(120) == 0 and "wrote out" in first.stderr.read()
    assert second.returncode == 0, second.stderr
    assert f"waiting for process {first.pid}" in second.stderr and "up to date" in second.stderr and "wrote" not in second.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_quantize_waits_likewise(folder, tmp_path):
    import fcntl
    prepare(folder, tmp_path / "out")
    lock = open(tmp_path / "codes.lock", "w+")
    lock.write("4242\n")
    lock.flush()
    fcntl.flock(lock, fcntl.LOCK_EX)  # as another quantize holds it
    line = [find_program(), "quantize", "--prepared", "out", "--out", "codes", "--text.vocab=300", "--image.size=4", "--audio.size=4"]
    work = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    assert work.poll() is None and not list(tmp_path.glob("codes*/"))
    lock.close()
    error = work.communicate(timeout=120)[1]
    assert work.returncode == 0 and "waiting for process 4242" in error, error
    assert sorted(p.name for p in tmp_path.iterdir()) == ["codes", "mine", "out"]
