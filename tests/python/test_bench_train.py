"""omnigram bench train at toy size: the records that scripts rely on, and their direction."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from train_fixture import config, program
from train_fixture import files as train_files  # noqa: F401

KEYS = {"name", "peer", "ratio", "ours", "theirs", "unit", "page_bytes", "threads"}
SMALL = ("--steps", "4", "--batch", "2", "--threads", "1", "--width", "32", "--layers", "1", "--heads", "2", "--capacity", "300")


def test_records_and_their_direction(tmp_path):
    done = program("bench", "train", "--tables", *SMALL, "--json", tmp_path / "found.json")
    found = {record["name"]: record for record in json.loads((tmp_path / "found.json").read_text())}
    assert list(found) == ["train.step", "train.step.frozen", "train.step.train"]
    for record in found.values():
        assert KEYS <= set(record) and record["unit"] == "tokens/s" and record["threads"] == 1 and record["ours"] > 0
        assert f"ratio {record['ratio']:.3f}" in done.stdout
    eager = found["train.step"]
    assert eager["peer"] == "PyTorch eager" and eager["loss_difference"] < 1e-3
    for name in ("train.step.frozen", "train.step.train"):
        record = found[name]
        assert record["peer"] == "off" and 0 <= record["lookup_hidden"] <= 1
        pairs = sorted(ours / off for ours, off in zip(record["step_seconds"], record["off_step_seconds"]))
        assert record["steps"] == len(pairs) == 4
        assert record["overhead"] == pytest.approx((pairs[1] + pairs[2]) / 2 - 1)  # median of with / off
        inverse = sorted(1 / p for p in pairs)
        assert record["ratio"] == pytest.approx((inverse[1] + inverse[2]) / 2)  # above 1 where the tables made it faster


def test_an_arm_s_own_config_and_packs(train_files, tmp_path):  # noqa: F811
    done = program("bench", "train", "--tables-only", "--steps", "24", "--config", train_files / "config.yaml", "--packs",
                   train_files / "train.safetensors", "--json", "-")
    found = json.loads(done.stdout)
    assert [record["name"] for record in found] == ["train.step.frozen", "train.step.train"]
    assert all(0 < record["table_bytes"] < 10**6 for record in found)  # hundreds of rows: said beside the overhead
    assert found[0]["steps"] == 24  # 39 steps are made, more than one pass has
    done = program("bench", "train", "--tables-only", "--steps", "24", "--max-seconds", "0", "--config", train_files / "config.yaml",
                   "--packs", train_files / "train.safetensors", "--rows", "100003", "--json", "-")
    assert all(record["table_bytes"] > 100003 * 64 for record in json.loads(done.stdout))
    assert [record["steps"] for record in json.loads(done.stdout)] == [2, 2]  # one turn is measured whatever it takes
    (tmp_path / "half.yaml").write_text(json.dumps({"model": config()["model"], "train": {}}))
    failed = program("bench", "train", "--tables-only", "--config", tmp_path / "half.yaml", ok=False)
    assert "has no section tables" in failed.stderr


def test_a_peer_that_is_another_model_stops_the_bench(train_files, root):  # noqa: F811
    """In a process of its own: a trainer flushes subnormals, which other tests of this process need."""
    code = textwrap.dedent(f"""
        from omnigram import Packs
        from omnigram.bench import train as bench
        bench.Eager.norm = lambda self, x, name: x  # it skips its norms
        settings = {{"model": {{"width": 32, "layers": 1, "heads": 2}}, "fused": True,
                    "train": {{"batch": 2, "lr": 0.001, "warmup": 10**6, "schedule": "constant", "threads": 1, "precision": "fp32"}}}}
        bench.measure(settings, Packs.load({str(train_files / "train.safetensors")!r}), 2)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert done.returncode and "no longer the same model" in done.stderr
