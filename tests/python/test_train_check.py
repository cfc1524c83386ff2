"""What is said before anything is trained: `train --check`, held-out packs of another kind, and runs that have ended."""

import json
import os
import re

import pytest
from train_fixture import CAPACITY, IDS, Trainer, config, files, packs, program, train_words  # noqa: F401

import omnigram
from omnigram import IMAGE, TEXT


def write(folder, name, **over):
    (folder / name).write_text(json.dumps(config(**over)))
    return folder / name


def test_check_tells_what_a_run_would_have(files, train_packs, tmp_path):  # noqa: F811
    for name, over in {"swiglu": {}, "gelu": {"model": {"mlp": "gelu", "tied": False}}, "off": {"memory": {"mode": "off"}}}.items():
        path = write(tmp_path, f"{name}.yaml", **over)
        done = program("train", "--check", path, "--packs", files / "train.safetensors", "--val", files / "val.safetensors", "--json", "-")
        found = json.loads(done.stdout)[str(path)]
        with Trainer(config(**over), train_packs) as trainer:  # the truth: what a trainer makes
            assert found["steps"] == trainer.planned and found["packs"] == len(train_packs)
            assert found["parameters"] == sum(value.size for value in trainer.parameters().values())
            assert found["table_bytes"] == trainer.table_bytes == sum(table["bytes"] for table in found["tables"].values())
    assert found["tables"] == {} and found["memory"] == "off"


@pytest.fixture(scope="module")
def train_packs():
    return packs()


def test_check_looks_at_every_config_and_names_each_fault(files, tmp_path):  # noqa: F811
    good = write(tmp_path, "good.yaml")
    bad = [write(tmp_path, "typo.yaml", memory={"use": ["text", "imgae"]}), write(tmp_path, "twice.yaml", memory={"use": ["text", "text"]}),
           write(tmp_path, "key.yaml", train={"warmpu": 3}), write(tmp_path, "load.yaml", memory={"load": str(tmp_path / "nothing")}),
           write(tmp_path, "cuda.yaml", train={"device": "cuda"})]
    done = program("train", "--check", good, *bad, ok=False)
    assert "good.yaml: fine" in done.stdout
    for text in ("'imgae', which section tables does not have; did you mean 'image'?", "'text' twice", "warmpu", "nothing/tables.safetensors",
                 "trains on the CPU alone"):
        assert text in done.stderr, text
    for path in bad:
        assert str(path) in done.stderr
    wide = config()
    wide["tables"] = {"text": {**wide["tables"]["text"], "stencil": "grid"}}  # a grid of text: only the ids can tell
    (tmp_path / "wide.yaml").write_text(json.dumps(wide))
    assert "text" in program("train", "--check", tmp_path / "wide.yaml", "--packs", files / "train.safetensors", ok=False).stderr
    huge = write(tmp_path, "huge.yaml")
    done = program("train", "--check", huge, "--packs", files / "train.safetensors", "--tables.text.addressing.rows=1000000000000", ok=False)
    assert "table text" in done.stderr
    assert "--run" in program("train", "--check", good, "--run", tmp_path / "run", ok=False).stderr


def test_check_counts_the_tables_together(files, tmp_path):  # noqa: F811
    """Either of two tables fits in what the machine has left, both do not."""
    with pytest.raises(omnigram.OutOfMemoryError) as refused:
        omnigram.Table(2**37, 64)
    room = int(re.search(r"has (\d+) bytes", str(refused.value))[1])
    columns, row_bytes = {"text": 2, "image": 3}, 64
    wide = [f"--tables.{name}.addressing.rows={room * 6 // 10 // n // row_bytes}" for name, n in columns.items()]
    words = ("train", "--check", write(tmp_path, "wide.yaml"), "--packs", files / "train.safetensors")
    for one in wide:
        program(*words, one)
    said = program(*words, *wide, ok=False).stderr
    assert "promised to its other tables" in said and ("table image" in said or "table text" in said), said


def other_packs(path, *, ids=IDS, image="0" * 64, capacity=CAPACITY):
    builder = omnigram.DocumentsBuilder(ids)
    book = builder.codebook(image)
    for number in range(6):
        builder.begin(0, number)
        builder.item(TEXT, [1, 2, 3])
        builder.item(IMAGE, [[1, 2], [3, 4]], codebook=book)
        builder.end()
    omnigram.Packs.build(builder.finish(), capacity=capacity).save(path)
    return path


def test_held_out_packs_of_another_kind_leave_no_run(files, tmp_path):  # noqa: F811
    wrong = {"id ranges": {"ids": omnigram.Ids.make(text=61, image=16, audio=8)}, "codebook ffff": {"image": "f" * 64},
             "the model was made for": {"capacity": CAPACITY + 1}}
    for number, (message, over) in enumerate(wrong.items()):
        val = other_packs(tmp_path / f"{number}.safetensors", **over)
        run = tmp_path / f"run{number}"
        for words in (train_words(files, run, "--val", val),
                      ("train", "--check", files / "config.yaml", "--packs", files / "train.safetensors", "--val", val)):
            done = program(*words, ok=False)
            assert message in done.stderr and "--val" in done.stderr
        assert not run.exists()
    program("train", "--check", files / "config.yaml", "--packs", files / "train.safetensors", "--val", other_packs(tmp_path / "fine.safetensors"))


def test_packs_of_another_tokenizer_are_refused(tmp_path):
    """Text ids have no codebook: packs carry their tokenizer and the data set's name from prepare on."""
    made = []
    for seed in (1, 2):
        out = tmp_path / str(seed)
        program("prepare", "--dataset.name=synthetic", "--dataset.documents=60", f"--dataset.seed={seed}", "--dataset.size=32",
                "--image.size=32", "--out", out / "prepared")
        program("quantize", "--prepared", out / "prepared", "--out", out / "codes", "--text.vocab=300", "--image.size=16", "--audio.size=16")
        program("pack", "--documents", out / "codes" / "train.documents.safetensors", "--out", out / "packs", "--capacity", 256)
        made.append(out / "packs")
    config = ("--model.width=16", "--model.layers=1", "--model.heads=2", "--memory.mode=off", "--train.steps=2", "--train.threads=1")
    done = program("train", "--packs", made[0], "--val", made[1], "--run", tmp_path / "run", *config, ok=False)
    assert "tokenizer" in done.stderr or "codebook" in done.stderr
    assert not (tmp_path / "run").exists()
    summary = json.loads(program("train", "--packs", made[0], "--run", tmp_path / "run", *config, "--json", "-").stdout)
    assert summary["data"] == "synthetic"
    done = program("eval", "--run", tmp_path / "run", "--val", made[1], ok=False)
    assert "tokenizer" in done.stderr or "codebook" in done.stderr
    assert str(made[1]) in done.stderr and str(tmp_path / "run") in done.stderr


def test_a_run_without_tables_knows_its_packs(files, tmp_path):  # noqa: F811
    """No table's fingerprint tells codebooks apart there, and all sizes are equal."""
    run, other, words = tmp_path / "run", tmp_path / "other.safetensors", ("--memory.mode=off", "--train.epochs=2")
    program(*train_words(files, run, "--train.steps=2", *words))
    program("eval", "--run", run, "--val", files / "val.safetensors")
    other_packs(other, image="f" * 64)
    for more in ((), ("--checkpoint", run / "ckpt" / "step-2")):
        done = program("eval", "--run", run, "--val", other, *more, ok=False)
        for word in (f"the packs {other} hold codes of codebook ffff", f"the training packs of {run}", "those of 0000000000000000..., 1111"):
            assert word in done.stderr, done.stderr
    other_packs(other, ids=omnigram.Ids.make(text=59, image=17, audio=8))
    done = program("eval", "--run", run, "--val", other, ok=False)
    assert f"the packs {other} have other id ranges" in done.stderr and "safetensors: " not in done.stderr
    swapped = tmp_path / "swapped.safetensors"  # as many packs, of other codes
    packs(codebooks=("f" * 64, "1" * 64)).save(swapped)
    done = program(*train_words(files, run, "--packs", swapped, "--val", swapped, "--train.steps=3", *words), ok=False)
    assert f"the packs {swapped} hold codes of codebook ffff" in done.stderr


def test_a_finished_run_says_so_and_stays_as_it_is(files, tmp_path):  # noqa: F811
    run = tmp_path / "run"
    first = json.loads(program(*train_words(files, run, "--train.steps=4", "--json", "-")).stdout)
    assert first["epochs"] == pytest.approx(first["packs_seen"] / first["packs"]) and first["packs_seen"] == 12
    assert first["run_seconds"] >= first["seconds"] > 0 and first["peak_rss_bytes"] > 2**20 and first["data"] is None
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in run.rglob("*") if path.is_file()}
    done = program(*train_words(files, run, "--train.steps=4", "--train.lr=0.5", "--json", "-"))
    assert "already finished (4 steps); raise train.steps" in done.stderr and json.loads(done.stdout) == first
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in run.rglob("*") if path.is_file() and "tfevents" not in path.name} == \
        {path: kept for path, kept in before.items() if "tfevents" not in path.name}
    fewer = program(*train_words(files, run, "--train.steps=3"), ok=False).stderr
    assert "3 steps are asked for" in fewer and "has made 4" in fewer
    assert "lr: 0.01" in (run / "config.yaml").read_text()
    more = json.loads(program(*train_words(files, run, "--train.steps=6", "--json", "-")).stdout)
    assert more["steps"] == 6 and more["run_seconds"] > first["run_seconds"]


def test_a_run_that_ended_before_its_summary_still_gets_one(files, tmp_path):  # noqa: F811
    run = tmp_path / "run"
    first = json.loads(program(*train_words(files, run, "--train.steps=3", "--json", "-")).stdout)
    os.remove(run / "summary.json")
    again = json.loads(program(*train_words(files, run, "--train.steps=3", "--json", "-")).stdout)
    assert again["val_bits"] == first["val_bits"] and again["tokens_per_s"] == pytest.approx(first["tokens_per_s"], rel=1e-6)


def test_checkpoints_by_time_cost_little(files, tmp_path):  # noqa: F811
    """A run without save_every is not lost when it is killed, and saving stays under its share of the time."""
    run = tmp_path / "run"
    saved = program(*train_words(files, run, "--train.save_seconds=0.0001", "--train.keep=1000", "--train.epochs=6"))
    steps = json.loads((run / "summary.json").read_text())["steps"]
    kept = [int(path.name[5:]) for path in (run / "ckpt").glob("step-*")]
    assert steps in kept and 1 < len(kept) < steps, saved.stderr
    program(*train_words(files, tmp_path / "never", "--train.save_seconds=0", "--train.keep=1000", "--train.epochs=6"))
    assert [path.name for path in (tmp_path / "never" / "ckpt").glob("step-*")] == [f"step-{steps}"]


def test_an_overlay_takes_keys_away(files, tmp_path):  # noqa: F811
    """Another stencil has other keys: null takes those of the former away, on the command line as in a file."""
    words = ("train", "--check", files / "config.yaml", "--packs", files / "train.safetensors", "--tables.image.stencil=lags",
             "--tables.image.modality=image", "--tables.image.orders=[2, 3]")
    assert "cells" in program(*words, ok=False).stderr
    program(*words, "--tables.image.cells=")
    assert "cellz" in program(*words, "--tables.image.cells=", "--tables.image.cellz=", ok=False).stderr  # nothing to take away: a typo
