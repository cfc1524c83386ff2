"""`omnigram prepare` as a user meets it: help, usage, caching, interrupts, a full disk; and tools/fetch-data.sh without an archive."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

SMALL = ("--dataset.name=synthetic", "--dataset.documents=20", "--threads=1")


@pytest.fixture(scope="module")
def program(root: Path) -> Path:
    path = Path(os.environ.get("OG_PROGRAM") or root / "build" / "omnigram")
    if not path.exists():
        pytest.skip("build/omnigram is not built")
    return path


def run(program: Path, *options, **more) -> subprocess.CompletedProcess:
    return subprocess.run([program, "prepare", *options], capture_output=True, text=True, timeout=120, **more)


def test_usage(program: Path, tmp_path: Path):
    shown = run(program, "--help")
    assert shown.returncode == 0 and "--out FOLDER" in shown.stdout and not shown.stderr
    assert run(program, *SMALL).returncode == 2
    assert "--out FOLDER is missing" in run(program, *SMALL).stderr
    assert run(program, "--out", tmp_path / "a", "--threads", "0").returncode == 2
    assert run(program, "--ouT", tmp_path / "a").returncode == 2
    for option, word in (("--dataset.documnts=3", "documents"), ("--dataset.name=synthetc", "synthetic"), ("--image.size=x", "image.size"),
                         ("--dataset.documents=0", "documents")):
        refused = run(program, "--dataset.name=synthetic", option, "--out", tmp_path / "a")
        assert refused.returncode == 1 and word in refused.stderr, refused.stderr
    refused = run(program, "--config", tmp_path / "none.yaml", "--out", tmp_path / "a")
    assert refused.returncode == 1 and "none.yaml" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_result_and_cache(program: Path, tmp_path: Path):
    out = tmp_path / "prepared"
    first = run(program, *SMALL, "--out", out, "--json", tmp_path / "a.json")
    assert first.returncode == 0, first.stderr
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["dataset"] == "synthetic" and result["cached"] is False and result["items"] == 80
    assert result["counters"]["documents"] == {"read": 20, "kept": 20, "dropped": {"no_item_left": 0}}
    before = {p.name: p.stat().st_mtime_ns for p in out.iterdir()}
    again = run(program, *SMALL, "--out", out, "--json", "-")
    assert again.returncode == 0 and "up to date" in again.stderr and json.loads(again.stdout)["cached"] is True
    assert before == {p.name: p.stat().st_mtime_ns for p in out.iterdir()}
    other = run(program, *SMALL, "--dataset.seed=9", "--out", out)
    assert other.returncode == 1 and "another config" in other.stderr
    config = tmp_path / "all.yaml"
    config.write_text("prepare:\n  dataset: {name: synthetic, documents: 20}\npack: {capacity: 64}\n")
    section = run(program, "--config", config, "--out", tmp_path / "section")
    assert section.returncode == 0, section.stderr


def test_killed_run_leaves_no_output(program: Path, tmp_path: Path):
    out = tmp_path / "prepared"
    work = subprocess.Popen([program, "prepare", "--dataset.name=synthetic", "--dataset.documents=100000", "--shard_bytes=1000000", "--out", out],
                            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(300):
        time.sleep(0.05)
        if any(p.glob("shard-*.safetensors") for p in tmp_path.glob("prepared.tmp-*") if any(p.glob("shard-*"))):
            break
    work.send_signal(signal.SIGKILL)
    work.wait()
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == ["prepared.lock", f"prepared.tmp-{work.pid}"]
    done = run(program, *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["prepared"]  # what the killed run left is gone


def test_full_disk(program: Path, tmp_path: Path):
    """A limit on file sizes stands in for a full disk: the write fails in the middle of a shard."""
    out = tmp_path / "prepared"
    done = subprocess.run(["bash", "-c", f"ulimit -f 200; trap '' XFSZ; exec '{program}' prepare {' '.join(SMALL)} --out '{out}'"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and "shard-00000" in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_fetch_without_archive(root: Path, tmp_path: Path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "apt-get").write_text("#!/bin/sh\necho 'E: no network here' >&2\nexit 100\n")
    (tools / "apt-get").chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    script, out = root / "tools" / "fetch-data.sh", tmp_path / "data" / "tuxpaint"
    failed = subprocess.run([script, out], capture_output=True, text=True, env=env)
    assert failed.returncode == 3 and "no archive reached" in failed.stderr and "no network here" in failed.stderr
    assert not out.exists() and not list((tmp_path / "data").iterdir())
    out.mkdir()
    (out / "mine.txt").write_text("keep me")
    refused = subprocess.run([script, out], capture_output=True, text=True, env=env)
    assert refused.returncode == 1 and (out / "mine.txt").read_text() == "keep me"
    (out / ".complete").write_text("tuxpaint-stamps-default 1\n")
    ready = subprocess.run([script, out], capture_output=True, text=True, env=env)
    assert ready.returncode == 0 and "nothing to do" in ready.stdout
    assert subprocess.run([script, "a", "b"], capture_output=True, env=env).returncode == 2
