"""Runs on disk: their files, stopping and going on, measures and the isolation audit, through the program."""

import csv
import hashlib
import json
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
from train_fixture import IDS, config, documents, files, find_program, packs, program, train_words  # noqa: F401

import omnigram
from omnigram.trainer import train_library


def state_of(run):
    """SHA-256 of all that a checkpoint's bits are."""
    newest = max((run / "ckpt").glob("step-*"), key=lambda p: int(p.name[5:]))
    return newest.name, {f: hashlib.sha256((newest / f"{f}.safetensors").read_bytes()).hexdigest() for f in ("model", "optimiser", "tables")}


@pytest.fixture(scope="module")
def whole(files, tmp_path_factory):
    """A run from start to end, and its summary."""
    run = tmp_path_factory.mktemp("whole") / "run"
    done = program(*train_words(files, run, "--eval.every=3", "--train.save_every=2", "--json", "-"))
    return run, json.loads(done.stdout)


def test_the_run_folder_is_complete(files, whole):
    run, summary = whole
    assert {"config.yaml", "environment.json", "metrics.jsonl", "metrics.csv", "summary.json", "eval_documents.csv", "ckpt"} <= set(os.listdir(run))
    assert json.loads((run / "summary.json").read_text()) == summary
    assert summary["steps"] == summary["planned"] > 4 and 0 <= summary["lookup_hidden"] <= 1 and summary["table_bytes"] > 0
    assert len(list((run / "ckpt").glob("step-*"))) == 2  # keep: 2
    assert (run / "ckpt" / "latest").read_text() == state_of(run)[0]
    manifest = json.loads((run / "ckpt" / state_of(run)[0] / "manifest.json").read_text())
    assert set(manifest["files"]) == {"model.safetensors", "optimiser.safetensors", "tables.safetensors", "state.json"}
    import yaml
    environment = json.loads((run / "environment.json").read_text())
    assert environment["packs"] == {"path": str((files / "train.safetensors").resolve()), "count": len(packs())}
    held = len(packs(12, seed=9))
    assert summary["val_packs"] == {"path": str((files / "val.safetensors").resolve()), "count": held, "measured": held}
    merged = yaml.safe_load((run / "config.yaml").read_text())
    assert merged["train"]["beta2"] == 0.95 and merged["model"]["width"] == 32


def test_metrics_agree_to_the_last_digit(whole):
    run, _ = whole
    lines = (run / "metrics.jsonl").read_text().splitlines()
    rows = list(csv.DictReader((run / "metrics.csv").open()))
    assert len(rows) == len(lines) > 4
    for line, row in zip(lines, rows):
        texts = dict(part.split(":") for part in line.strip("{}").replace('"', "").split(","))
        assert {k: ("" if v == "null" else v) for k, v in texts.items()} == row
    measured = [int(row["step"]) for row in rows if row["val_bits_text"]]
    assert measured == [s for s in range(1, len(rows) + 1) if s % 3 == 0 or s == len(rows)]


def test_tensorboard_reads_the_events(whole):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    run, _ = whole
    path = next(run.glob("events.out.tfevents.*"))
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    found = {}
    for event in loader.LegacyEventFileLoader(str(path)).Load():
        for value in event.summary.value:
            found[event.step, value.tag] = value.simple_value
    for row in rows:
        assert found[row["step"], "loss"] == np.float32(row["loss"])
    data, at = path.read_bytes(), 0
    while at < len(data):  # every record's two checksums
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == train_library().og_crc32c_masked(data[at:at + 8], 8)
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == train_library().og_crc32c_masked(body, length)
        at += 16 + length


def test_the_checksum_is_castagnolis():
    masked = train_library().og_crc32c_masked(b"123456789", 9)  # RFC 3720's polynomial: 0xe3069283 by every catalogue
    crc = 0xE3069283
    assert masked == ((((crc >> 15) | (crc << 17)) & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF


def test_a_killed_run_goes_on_with_the_same_bits(files, whole, tmp_path):
    run = tmp_path / "run"
    words = [str(w) for w in (find_program(), *train_words(files, run, "--eval.every=3", "--train.save_every=2"))]
    chance, kills = random.Random(5), 0
    for _ in range(4):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + 60
        wanted = kills + 2  # rows of metrics: it is in the middle of its steps
        while process.poll() is None and time.time() < deadline:
            metrics = run / "metrics.jsonl"
            if metrics.exists() and metrics.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(0.005)
        time.sleep(chance.random() * 0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills >= 1
    program(*words[1:])
    assert state_of(run) == state_of(whole[0])
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == list(range(1, len(steps) + 1))
    losses = [[json.loads(line)["loss"] for line in (r / "metrics.jsonl").read_text().splitlines()] for r in (run, whole[0])]
    assert losses[0] == losses[1]


def hears_interrupts():
    """A shell starts what stands before & with SIGINT ignored, and a child inherits that: the program then goes on, as it should."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_after_a_step_and_the_run_goes_on_with_the_same_bits(files, whole, tmp_path, number):  # noqa: F811
    run, said = tmp_path / "run", tmp_path / "said"
    words = [str(w) for w in (find_program(), *train_words(files, run, "--eval.every=3", "--json", tmp_path / "result.json"))]
    with said.open("w") as stderr:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=hears_interrupts)
        while process.poll() is None and not ((run / "metrics.jsonl").exists() and (run / "metrics.jsonl").read_bytes().count(b"\n") >= 2):
            time.sleep(0.001)
        process.send_signal(number)
        process.wait()
    steps = len((run / "metrics.jsonl").read_text().splitlines())
    assert process.returncode == 128 + number and 2 <= steps < whole[1]["steps"]
    assert f"stopped after step {steps} of" in said.read_text() and state_of(run)[0] == f"step-{steps}"
    assert not (run / "summary.json").exists() and not (tmp_path / "result.json").exists()
    assert f"after {steps} steps" in program(*words[1:]).stderr
    assert state_of(run) == state_of(whole[0]) and (tmp_path / "result.json").exists()


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once(files, tmp_path, second):  # noqa: F811
    run = tmp_path / "run"
    slow = ("--model.width=512", "--model.layers=8", "--model.heads=8", "--train.epochs=9", "--train.save_seconds=0", "--memory.mode=off")
    process = subprocess.Popen([str(w) for w in (find_program(), *train_words(files, run, *slow))], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=hears_interrupts)
    while process.poll() is None and not ((run / "metrics.jsonl").exists() and (run / "metrics.jsonl").read_bytes()):
        time.sleep(0.001)  # until it is in its second step
    process.send_signal(signal.SIGINT)
    while "stopping after this step" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(second)
    assert process.wait() == -second and not (run / "ckpt").exists()
    process.stderr.close()


def test_rows_behind_the_checkpoint_go_and_bad_ones_are_named(files, tmp_path):  # noqa: F811
    run, path = tmp_path / "run", tmp_path / "run" / "metrics.jsonl"

    def train(steps, ok=True):
        return program(*train_words(files, run, f"--train.steps={steps}", "--memory.mode=off", "--train.epochs=9"), ok=ok).stderr

    train(9)
    whole = path.read_text()
    path.write_text(whole + whole.splitlines()[-1].replace('"step":9', '"step":1e+01') + '\n{"step":11,"lo')  # 10 as it is written
    train(12)
    steps = [json.loads(line)["step"] for line in path.read_text().splitlines()]
    assert steps == list(range(1, 13)) and [int(float(row["step"])) for row in csv.DictReader((run / "metrics.csv").open())] == steps
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:7]))
    assert "metrics.jsonl: ends at step 7, the checkpoint is of step 12: rows are missing" in train(13)
    for bad in ("nonsense\n", '{"step":3,"loss":\n', "[]\n"):
        path.write_text("".join([*lines[:2], bad, *lines[3:]]))
        kept = path.read_bytes()
        assert "metrics.jsonl:3: is no row of a step" in train(14, ok=False)
        assert path.read_bytes() == kept
    path.write_text("".join(lines[:7]))
    table = (run / "metrics.csv").read_text().splitlines(keepends=True)
    for kept, said in ((table[1:], "1: is no heading"), ([*table[:2], "\n", *table[2:]], "3: is no row")):
        (run / "metrics.csv").write_text("".join(kept))
        assert f"metrics.csv:{said}" in train(14, ok=False)
    (run / "metrics.csv").write_text("".join(table))
    path.unlink()
    assert "metrics.jsonl: ends at step 0" in train(14)


def test_a_torn_checkpoint_is_named_and_the_one_before_it_used(files, whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole[0], run)
    newest = run / "ckpt" / state_of(run)[0]
    data = (newest / "model.safetensors").read_bytes()
    (newest / "model.safetensors").write_bytes(data[: len(data) // 2])
    (run / "ckpt" / ".step-99.999999").mkdir()
    done = program(*train_words(files, run, "--eval.every=3", "--train.save_every=2"))
    assert "torn" in done.stderr and "model.safetensors" in done.stderr and ".step-99.999999" in done.stderr
    assert not (run / "ckpt" / ".step-99.999999").exists()
    assert state_of(run) == state_of(whole[0])


def test_saving_at_every_step_and_resuming_twice_changes_nothing(files, whole, tmp_path):
    run, steps = tmp_path / "run", whole[1]["steps"]
    for upto in (2, 5, steps):  # the schedule is that of the whole run, so a stop is a kill after a save: ask for fewer by signal
        words = [str(w) for w in (find_program(), *train_words(files, run, "--train.save_every=1"))]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (run / "ckpt" / f"step-{upto}").exists():
            time.sleep(0.002)
        if upto < steps:
            process.send_signal(signal.SIGKILL)
        process.wait()
    assert state_of(run) == state_of(whole[0])


def test_a_run_of_other_packs_or_tables_is_refused(files, whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole[0], run)
    assert "packs" in program(*train_words(files, run, "--packs", files / "val.safetensors"), ok=False).stderr
    assert "train.seed" in program(*train_words(files, run, "--train.seed=4"), ok=False).stderr
    wider = program(*train_words(files, run, "--tables.text.dim=16"), ok=False).stderr
    assert "memory.up.weight" in wider or "text" in wider


def test_data_that_runs_out_is_said(files, tmp_path):
    done = program(*train_words(files, tmp_path / "run", "--train.steps=10000", "--train.save_last=false"))
    assert "10000" in done.stderr and "give" in done.stderr
    assert not list((tmp_path / "run" / "ckpt").glob("*")) if (tmp_path / "run" / "ckpt").exists() else True


def test_many_epochs_of_few_packs(tmp_path):
    """More epochs than orders are kept, then the first epoch's packs again for the gap between train and held-out."""
    few = tmp_path / "few.safetensors"
    packs(8).save(few)
    (tmp_path / "config.yaml").write_text(json.dumps(config(train={"epochs": 12, "batch": 5}, eval={"train_packs": 2})))
    done = program("train", "--config", tmp_path / "config.yaml", "--packs", few, "--val", few, "--run", tmp_path / "run", "--json", "-")
    summary = json.loads(done.stdout)
    assert summary["steps"] == summary["planned"] and math.isfinite(summary["train_bits"]["text"])


def test_eval_measures_what_the_run_measured(files, whole, tmp_path):
    run, summary = whole
    done = program("eval", "--run", run, "--val", files / "val.safetensors", "--packs", files / "train.safetensors", "--documents",
                   tmp_path / "documents.csv", "--json", "-")
    found = json.loads(done.stdout)
    assert found["val_bits"] == summary["val_bits"]
    assert (tmp_path / "documents.csv").read_text() == (run / "eval_documents.csv").read_text()
    sums = {}
    for row in csv.DictReader((run / "eval_documents.csv").open()):
        bits, tokens = sums.get(row["modality"], (0.0, 0))
        sums[row["modality"]] = (bits + float(row["bits"]), tokens + int(row["tokens"]))
    for modality, (bits, tokens) in sums.items():
        assert summary["val_bits"][modality] == pytest.approx(bits / tokens, rel=1e-9)
        assert summary["val_tokens"][modality] == tokens


def test_the_unigram_control_by_hand(whole):
    train, val = packs(), packs(12, seed=9)
    counts = np.zeros(IDS.size)
    for pack in train:
        np.add.at(counts, pack.tokens[pack.loss_weight > 0], 1)
    bits = {m: [] for m in range(4)}
    for pack in val:
        for t in np.nonzero(pack.loss_weight > 0)[0]:
            m = int(pack.modality[t])
            own = slice(IDS.base[m], IDS.base[m] + IDS.codes[m] * IDS.levels[m])
            bits[m].append(-math.log2((counts[pack.tokens[t]] + 1) / (counts[own].sum() + IDS.codes[m] * IDS.levels[m])))
    found = whole[1]["controls"]["unigram"]["val_bits"]
    for m, name in enumerate(("text", "image", "audio", "marker")):
        assert found[name] == pytest.approx(np.mean(bits[m]), rel=1e-9)


def test_an_audit_s_figures_do_not_depend_on_threads(files):  # noqa: F811
    words = ("audit", "isolation", "--config", files / "config.yaml", "--packs", files / "train.safetensors", "--packs-probed", 2, "--json", "-")
    one, two, five = (program(*words, f"--train.threads={n}").stdout for n in (1, 2, 5))
    assert one == two == five and json.loads(one)["documents"] >= 4


@pytest.mark.parametrize("capacity", [40, 41, 64])
def test_an_audit_takes_no_rounding_for_a_leak(files, tmp_path, capacity):
    """Products of so few rows round as their number has it, and a document that is taken out changes it."""
    omnigram.Packs.build(documents(60), capacity=capacity, method="concat", long_doc="fragment").save(tmp_path / "packs")
    done = program("audit", "isolation", "--config", files / "config.yaml", "--packs", tmp_path / "packs", "--json", "-")
    assert json.loads(done.stdout)["leaks"] == 0


def test_an_audit_s_threads_share_a_model_whose_positions_grow(files, tmp_path):
    """Carried fragments at positions that no look before has reached, on several threads at once."""
    (tmp_path / "text.yaml").write_text(json.dumps({**config(), "tables": {"text": config()["tables"]["text"]}}))
    builder = omnigram.DocumentsBuilder(IDS)
    for number in range(16):  # each end, which is in a pack with the next beginning, is farther than the one before
        builder.begin(0, number)
        builder.item(omnigram.TEXT, np.arange(1050 * (number + 1)) % 60)
        builder.end()
    omnigram.Packs.build(builder.finish(), capacity=96, method="concat", long_doc="fragment", fragment_context="carry").save(tmp_path / "packs")
    words = ("audit", "isolation", "--config", tmp_path / "text.yaml", "--packs", tmp_path / "packs", "--packs-probed", 16, "--documents", 2, "--json", "-")
    assert len({program(*words, f"--train.threads={n}").stdout for n in (1, 8)}) == 1


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_no_document_sees_another_and_the_probe_can_tell(files, precision):
    done = program("audit", "isolation", "--config", files / "config.yaml", "--packs", files / "train.safetensors", "--packs-probed", 3,
                   f"--train.precision={precision}", "--json", "-")
    found = json.loads(done.stdout)
    assert found["leaks"] == 0 and found["compared"] > 5
    assert set(found["channels"]) == {"attention", "positions", "targets", "window"}
    assert all(channel["leaks"] == 0 and channel["twin_leaks"] > 0 for channel in found["channels"].values())
    assert found["channels"]["window"]["twin_seen"]["rows"] > 0 and found["channels"]["targets"]["twin_seen"]["loss"] > 0
    assert found["channels"]["attention"]["twin_seen"]["rows"] == 0


def test_a_config_that_leaks_is_caught(files, tmp_path):
    leaky = config()
    leaky["tables"] = json.loads(json.dumps(leaky["tables"]))
    leaky["tables"]["text"]["leak"] = True
    (tmp_path / "leaky.yaml").write_text(json.dumps(leaky))
    done = program("audit", "isolation", "--config", tmp_path / "leaky.yaml", "--packs", files / "train.safetensors", "--packs-probed", 1, "--json", "-", ok=False)
    assert json.loads(done.stdout)["leaks"] > 0


def test_faults_name_file_and_key(files, tmp_path):
    assert "warmup" in program(*train_words(files, tmp_path / "r", "--train.warmpu=3"), ok=False).stderr
    assert "nothing.safetensors" in program("train", "--packs", tmp_path / "nothing.safetensors", ok=False).stderr
    assert "--packs" in program("train", "--config", files / "config.yaml", ok=False).stderr
    assert "holds no whole checkpoint" in program("eval", "--run", make_run(tmp_path), "--val", files / "val.safetensors", ok=False).stderr
    assert "isolation" in program("audit", "isolatoin", ok=False).stderr


def make_run(folder):
    (folder / "empty").mkdir()
    (folder / "empty" / "config.yaml").write_text(json.dumps(config()))
    return folder / "empty"
