"""What a hurried person, a full disk or a bad cable does to the program: an error that names the place, and nothing half-written."""

import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

from omnigram.program import find_program

PROGRAM = find_program()
CONFIG = """
prepare: {dataset: {name: synthetic, documents: 40, seed: 1}, bad_item: skip, image: {size: 32, patch: 8}}
quantize: {text: {vocab: 400}, image: {size: 32, iterations: 3}, audio: {size: 16, iterations: 3}}
pack: {capacity: 512, long_doc: truncate}
tables:
  text: {stencil: lags, modality: text, orders: [2, 3], addressing: {scheme: mix64, rows: 4099}, dim: 16}
  image: {stencil: grid, cells: [[W], [N]], addressing: {scheme: mix64, rows: 4099}, dim: 16}
model: {width: 32, layers: 1, heads: 2}
train: {seed: 1, steps: 2, batch: 1, threads: 1}
eval: {packs: 1, train_packs: 1}
"""


def run(*words, cwd, status=1, **more):
    """The words are split at blanks; the message of a failure is returned."""
    line = [part for word in words for part in str(word).split()]
    done = subprocess.run([PROGRAM, *line], cwd=cwd, capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == status, (line, done.returncode, done.stderr)
    return done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder in which each verb has its input."""
    at = tmp_path_factory.mktemp("bad input")
    (at / "all.yaml").write_text(CONFIG)
    (at / "empty").touch()
    (at / "folder").mkdir()
    (at / "blank.json").write_text("{}")
    (at / "lengths").write_text("3\n5\n")
    run("prepare --config all.yaml --out prepared", cwd=at, status=0)
    run("quantize --config all.yaml --prepared prepared --out codes", cwd=at, status=0)
    run("quantize --config all.yaml --prepared prepared --out codes16 --image.size=16", cwd=at, status=0)
    for codes, out in (("codes", "packs"), ("codes16", "packs16")):
        run(f"pack --config all.yaml --documents {codes}/train.documents.safetensors --out {out}", cwd=at, status=0)
    return at


@pytest.fixture(scope="module")
def trained(made):
    if not list((PROGRAM.parent / "lib").glob("libomnigram_train.so")):
        pytest.skip("this build has no libomnigram_train (torch was not found)")
    run("train --config all.yaml --packs packs --run run", cwd=made, status=0)
    return made


READERS = [
    "prepare --config FILE --out o", "prepare --dataset.name=jsonl --dataset.path=FILE --out o", "prepare --dataset.name=folder --dataset.path=FILE --out o",
    "quantize --prepared FILE --out o", "quantize --prepared prepared --encode-only --codebooks FILE --out o", "pack --documents FILE --out o",
    "pack --lengths FILE --capacity 8", "inspect FILE", "inspect packs --tables FILE", "table --tables FILE --packs packs", "table --tables all.yaml --packs FILE",
    "audit hash --tables FILE --packs packs", "audit hash --tables all.yaml --packs FILE", "verify FILE",
]


@pytest.mark.parametrize("line", READERS)
def test_a_missing_an_empty_and_a_wrong_kind_of_input_are_refused_by_name(made, line):
    for name in ("missing", "empty", "folder"):
        before = sorted(os.listdir(made))
        assert name in run(line.replace("FILE", name), cwd=made)
        assert sorted(os.listdir(made)) == before


@pytest.mark.parametrize("line", ["train --config FILE --packs packs --run o", "train --config all.yaml --packs FILE --run o",
                                  "train --config all.yaml --packs packs --val FILE --run o", "eval --run FILE --val packs", "eval --run run --val FILE",
                                  "eval --run run --val packs --checkpoint FILE", "audit isolation --config all.yaml --packs FILE"])
def test_the_same_of_what_trains(trained, line):
    for name in ("missing", "empty", "folder"):
        error = run(line.replace("FILE", name), cwd=trained)
        assert name in error or "section tables is missing" in error  # an empty config is one without tables
        assert not (trained / "o").exists()


@pytest.mark.parametrize("line", ["prepare --config all.yaml --out o", "quantize --config all.yaml --prepared prepared --out o",
                                  "pack --config all.yaml --documents codes/train.documents.safetensors --out o", "pack --lengths lengths --capacity 8",
                                  "inspect packs", "table --tables all.yaml --packs packs", "audit hash --vocab 64 --rows 97",
                                  "train --config all.yaml --packs packs --run o"])
def test_a_result_that_will_have_no_place_is_refused_before_the_work(made, line):
    for path in ("folder", "empty/x", "missing/x"):
        for option in ("--json", "--svg") if line.startswith("audit") else ("--json",):
            error = run(line, option, path, cwd=made)
            assert f"{option} {path}" in error and error.count("\n") == 1  # nothing else was said, so nothing was done
        assert not (made / "o").exists()


def test_an_output_that_is_an_input_is_refused(made):
    shutil.copy(made / "codes/train.documents.safetensors", made / "d")
    shutil.copy(made / "packs", made / "p")
    (made / "link").symlink_to("d")
    before = {name: (made / name).read_bytes() for name in ("d", "p", "all.yaml")}
    for line, pair in (("pack --documents d --out d", "--out d and --documents d"), ("pack --documents d --out link", "--out link and --documents d"),
                       ("pack --documents d --out x --json x", "--out x and --json x"), ("inspect p --json p", "--json p and p"),
                       ("table --config all.yaml --packs p --json all.yaml", "--json all.yaml and --config all.yaml"),
                       ("eval --run run --val p --documents p", "--documents p and --val p")):
        assert f"{pair} are one file" in run(line, cwd=made, status=2)
    assert before == {name: (made / name).read_bytes() for name in before} and not (made / "x").exists()


def test_a_run_goes_into_no_folder_of_other_things(trained):
    (trained / "mine").mkdir()
    (trained / "mine" / "config.yaml").write_text("mine")
    line = "train --config all.yaml --packs packs"
    assert "mine: has other things in it (config.yaml) and no run" in run(line, "--run mine", cwd=trained)
    assert os.listdir(trained / "mine") == ["config.yaml"]
    (trained / "mine" / "config.yaml").rename(trained / "mine" / ".hidden")
    run(line, "--run mine", cwd=trained, status=0)


def test_a_table_that_is_too_large_is_not_half_printed(made):
    done = subprocess.run([PROGRAM, *"table --tables all.yaml --ids 400,32 --tables.image.addressing.rows=1000000000000000000".split()], cwd=made,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "table image" in done.stderr and done.stdout == ""


def test_data_without_text_are_told_before_they_are_read(made):
    done = run("prepare --config all.yaml --out no-text --modalities=[image] --dataset.documents=5", cwd=made, status=0)
    assert "modalities is without text, and quantize needs some" in done
    assert "without text" not in run("prepare --config all.yaml --out some-text --modalities=[text] --dataset.documents=5", cwd=made, status=0)


def test_a_count_of_one_is_singular(made):
    (made / "items").mkdir()
    (made / "items" / "a.txt").write_text("a")
    (made / "items" / "b.png").write_text("no picture")
    done = subprocess.run([PROGRAM, *"prepare --dataset.name=folder --dataset.path=items --bad_item=skip --out one".split()], cwd=made, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and "1 item passed over" in done.stdout, done


def test_an_output_that_is_no_file_stays_what_it_is(made):
    os.mkfifo(made / "pipe")
    for line in ("pack --documents codes/train.documents.safetensors --out pipe", "inspect packs --json pipe"):
        assert "pipe: is a device, pipe or socket" in run(line, cwd=made)
    assert (made / "pipe").is_fifo()


def test_a_result_may_go_into_the_folder_that_the_verb_makes(made):
    run("prepare --config all.yaml --out new --json new/result.json", cwd=made, status=0)
    assert json.loads((made / "new" / "result.json").read_text())["folder"] == "new"


def test_overrides_reach_the_section_that_is_read(made):
    for line in ("prepare --config all.yaml --out o", "quantize --config all.yaml --prepared prepared --out o"):
        verb = line.split()[0]
        for key in ("image.nope=1", f"{verb}.image.nope=1", "nope=1"):
            assert "nope" in run(line, f"--{key}", cwd=made)
    assert "text.vocab" in run("quantize --config all.yaml --prepared prepared --out o --text.vocab=0", cwd=made)
    run("prepare --config all.yaml --out five --dataset.documents=5", cwd=made, status=0)
    index = json.loads((made / "five" / "index.json").read_text())
    assert index["config"]["dataset"]["documents"] == 5 and index["config"]["image"]["size"] == 32


WRONG = [
    ("pack --lengths lengths --capacity=", 2, "--capacity"), ("pack --lengths lengths --capacity 0", 1, "1 .."), ("pack --lengths lengths --capacity x", 1, "x"),
    ("pack --lengths lengths --capacity 9223372036854775808", 1, "64 bits"), ("pakc", 2, "'pack'"), ("inspect packs --pack 99", 1, "99"),
    ("inspect packs --tokens 5:2", 2, "5:2"), ("table --tables all.yaml --ids 0", 1, "text"), ("table --tables all.yaml --ids 10,5x0", 1, "levels"),
    ("table --tables all.yaml --ids 400 --tables.text.dim=1000000000", 1, "65536"), ("table --tables all.yaml --ids 400 --tables.text.orders=[2,2]", 1, "ascend"),
    ("table --tables all.yaml --ids 400 --tables.text.addressing.rows=0", 1, "rows"), ("table --tables all.yaml --ids 400 --tables.text.stencil=lag", 1, "'lags'"),
    ("table --tables blank.json --ids 400", 1, "no tables"), ("audit hash --scheme nope", 1, "--scheme nope: is unknown; `omnigram verify"), ("prepare --config all.yaml --out o --threads 0", 2, "1..1024"),
    ("prepare --config all.yaml --out o --audio.rate=-1", 1, "audio.rate"), ("prepare --config all.yaml --out o --image.size=30", 1, "patch 8"),
    ("prepare --config all.yaml --out o --image.max_pixels=1073741825", 1, "1 .. 1073741824"),
    ("pack --documents codes/train.documents.safetensors --out o --pack.capacity=8 --pack.long_doc=error", 1, "holds 8"),
    ("audit hash --scheme welm_knuth23", 1, "--scheme welm_knuth23: is unknown, did you mean 'welm_knuth32'?"),
    ("audit hash --config all.yaml --ids 400,32 --vocab 8192", 2, "--vocab 8192 goes without --config"), ("audit hash --ids 400", 2, "--ids 400 needs --config"),
    ("pack --lengths lengths --json x.json --json=y.json", 2, "--json is given twice: x.json and y.json"),
    ("train --check all.yaml --packs packs --packs packs16", 2, "--packs is given twice"),
    ("report run --out x --out y", 2, "--out is given twice: x and y"), ("bench hash --gib 1 --gib 2", 2, "--gib is given twice"),
    ("bench train --rows 0", 2, "--rows 0: must be at least 1"),
    ("prepare --dataset.name=folder --dataset.path=folder --out folder/deep/er", 1, "folder/deep/er lies in folder, which is read"),
    ("prepare --dataset.name=folder --dataset.path=./folder/ --out prepared/../folder/er", 1, "lies in ./folder, which is read"),
    ("inspect packs --tokenizer all.yaml", 1, "all.yaml: is no tokenizer"),
    ("table --tables all.yaml --ids 400", 1, "there are no image codes among the ids; leave out a table"),
    ("quantize --prepared prepared --out empty", 1, "empty"), ("prepare --config all.yaml --out folder/../empty/x", 1, "empty"),
]


@pytest.mark.parametrize("line, status, says", WRONG)
def test_wrong_values_are_refused(made, line, status, says):
    before = sorted(os.listdir(made))
    assert says in run(line, cwd=made, status=status)
    assert sorted(os.listdir(made)) == before


@pytest.mark.parametrize("text, says", [
    ("a:\n\tb: 1\n", ":2"), ("a: {b: 1, b: 2}\n", "twice"), ("a: " + "[" * 5000, "64 levels"), ("a: &x [*x]\n", "inside itself"), ("hello", "map"),
    ("a: caf\udce9\n", "UTF-8"), ("a: 1\n---\nb: 2\n", "second document"), ("a: {b: 1", "YAML"), ("a: !!python/object:os.system {}", "tag"),
])
def test_bad_yaml_is_refused_with_its_line(made, text, says):
    (made / "bad.yaml").write_bytes(text.encode(errors="surrogateescape"))
    error = run("table --tables bad.yaml --ids 400", cwd=made)
    assert "bad.yaml:" in error and says in error


@pytest.mark.parametrize("name, line", [("packs", "inspect bad"), ("packs", "audit hash --tables all.yaml --packs bad"), ("codes/train.documents.safetensors", "pack --documents bad --out o"),
                                        ("codes/image.codebook.safetensors", None)])
def test_files_that_were_cut_or_changed_never_crash_it(made, name, line):
    whole, rng = (made / name).read_bytes(), random.Random(3)
    header = 8 + int.from_bytes(whole[:8], "little")
    bad = made / "bad"
    if line is None:
        shutil.copytree(made / "codes", made / "changed", dirs_exist_ok=True)
        bad, line = made / "changed" / "image.codebook.safetensors", "quantize --prepared prepared --encode-only --codebooks changed --out o"
    for case in range(40):
        data = bytearray(whole)
        if case < 10:
            data = data[:rng.randrange(len(data))]
        else:
            at = rng.randrange(header if case % 2 else len(data))
            data[at] ^= 1 << rng.randrange(8)
        bad.write_bytes(data)
        done = subprocess.run([PROGRAM, *line.split()], cwd=made, capture_output=True, timeout=60)
        assert done.returncode == 1 or (case >= 10 and done.returncode == 0), (case, done.returncode, done.stderr)
        assert done.returncode == 0 or (bad.name.encode() in done.stderr and not (made / "o").exists()), (case, done.stderr)
        for left in (made / "o",):
            shutil.rmtree(left, ignore_errors=True)
            left.unlink(missing_ok=True)


@pytest.mark.parametrize("keeps", ["", "{}", '{"format": "omnigram-prepared", "version": 2}', '{"format": "omnigram-prepared", "version": 2, "digest": ""}'])
def test_an_index_that_lacks_a_key_is_named(made, keeps):
    shutil.copytree(made / "prepared", made / "lacking", dirs_exist_ok=True)
    (made / "lacking" / "index.json").write_text(keeps)
    error = run("quantize --config all.yaml --prepared lacking --out o", cwd=made)
    assert "lacking/index.json" in error and "it has no" in error


def test_codes_outside_the_codebook_are_refused(made):
    from safetensors import safe_open
    from safetensors.numpy import save_file
    with safe_open(made / "codes" / "train.documents.safetensors", "numpy") as file:
        arrays, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()
    ids = json.loads(metadata["ids"])
    image = np.flatnonzero(arrays["modality"] == 1)[3]
    for value in (-1, ids["base"][1] + ids["codes"][1], ids["size"], 2**31 - 1):
        changed = arrays["tokens"].copy()
        changed[image] = value
        save_file({**arrays, "tokens": changed}, made / "edited", metadata)
        error = run("pack --documents edited --out o", cwd=made)
        assert "edited" in error and str(value) in error and not (made / "o").exists()


def test_another_model_s_checkpoint_and_another_codebook_s_rows_are_refused(trained):
    again = "train --config all.yaml --packs packs --run run"
    for key in ("model.width=48", "model.rope_base=500", "model.heads=4", "memory.fusion=add"):  # the last three have weights of the same shapes
        error = run(again, f"--{key} --train.steps=3", cwd=trained)
        assert f"{key.split('=')[0]} " in error and f"now it is {key.split('=')[1]}" in error.replace('"', "")
    for key, says in (("tables.text.addressing.rows=5003", "fingerprint"), ("train.seed=9", "train.seed"),
                      ("memory.mode=off", "memory.up.weight")):
        error = run(again, f"--{key}", cwd=trained)
        assert says in error and "step-2" in error
    assert "fingerprint" in run("train --config all.yaml --packs packs16 --run o --memory.load=run/ckpt/step-2", cwd=trained)
    assert not (trained / "o").exists()
    other = ("--tables.other.modality=text", "--tables.other.orders=[2]", "--tables.other.addressing.rows=97", "--tables.other.dim=8")
    assert "has no rows of table other; it has: text, image" in run("train --config all.yaml --packs packs --run o --memory.load=run/ckpt/step-2", *other,
                                                                    cwd=trained)
    error = run("eval --run run --val packs16", cwd=trained)
    assert "packs16 have other id ranges" in error and "model.safetensors" not in error
    assert not run("eval --run run --val packs --train.steps=1000", cwd=trained, status=0)  # what was refused changed nothing; no steps are made


def test_what_may_change_in_a_run_is_said(trained):
    shutil.copytree(trained / "run", trained / "again")
    line = "train --config all.yaml --packs packs --run again"
    for more in ("--train.lr=0.5", "--train.lr=0.5 --train.steps=3"):
        error = run(line, more, cwd=trained, status=0)
        assert "the run began with train.lr 0.003, now it is 0.5" in error
    assert "began with" not in run(line, "--train.lr=0.5 --train.steps=4", cwd=trained, status=0)


def test_two_trainers_of_one_run_folder_are_refused(trained):
    import fcntl
    shutil.copytree(trained / "run", trained / "locked")
    before = {path: path.read_bytes() for path in (trained / "locked").rglob("*") if path.is_file()}
    other = os.open(trained / "locked", os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(other, fcntl.LOCK_EX)  # as another trainer holds it
    line = "train --config all.yaml --packs packs --run locked"
    assert "another trainer" in run(line, cwd=trained)
    assert before == {path: path.read_bytes() for path in (trained / "locked").rglob("*") if path.is_file()}
    os.close(other)
    run(line, cwd=trained, status=0)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root, who becomes nobody")
def test_a_folder_that_is_read_only_is_left_alone(made):
    made.chmod(0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]
    before = sorted(os.listdir(made))
    for line in ("prepare --config all.yaml --out o", "quantize --prepared prepared --out o", "pack --documents codes/train.documents.safetensors --out o",
                 "inspect packs --json o", "audit hash --vocab 64 --rows 97 --svg o"):
        done = subprocess.run([*nobody, *line.split()], cwd=made, capture_output=True, text=True, timeout=60)
        if "cannot execute" in done.stderr or "failed to execute" in done.stderr:
            pytest.skip("nobody may not run the program")
        assert done.returncode == 1 and "ermission denied" in done.stderr, done
    assert sorted(os.listdir(made)) == before


def test_reports_and_benchmarks_say_it_in_one_line(made, root):
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    from report_fixture import write_run
    folder = write_run(made / "reported")
    for words in (["report", folder, "--json"], ["report", folder, "--out"], ["bench", "hash", "--quick", "--gib", "0.01", "--json"]):
        for path in (made / "folder", made / "empty" / "x"):
            done = subprocess.run([sys.executable, "-m", f"omnigram.{words[0]}", *words[1:], path], capture_output=True, text=True, timeout=60, env=environment)
            assert done.returncode in (1, 2) and str(path.parent if path.name == "x" else path) in done.stderr, done
            assert "Traceback" not in done.stderr
    assert not [name for name in os.listdir(made) if name.startswith((".", "folder.tmp"))]


def test_a_benchmark_of_packs_that_are_none_says_it_in_one_line(trained, root):
    done = subprocess.run([sys.executable, "-m", "omnigram.bench", *"train --tables-only --config all.yaml --packs all.yaml".split()], cwd=trained,
                          capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert done.returncode == 1 and "all.yaml" in done.stderr and "Traceback" not in done.stderr


def test_a_report_on_a_full_disk_leaves_no_part(tmp_path, monkeypatch):
    from omnigram.report import page

    def full(_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(page.os, "fsync", full)
    with pytest.raises(OSError, match="report.html: cannot be written: No space left"):
        page.write_whole(tmp_path / "report.html", "text")
    assert not os.listdir(tmp_path)
