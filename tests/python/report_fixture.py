"""A run folder as the stages leave it, with figures from a seeded generator: for tests of the report, and to look at it.

    python tests/python/report_fixture.py FOLDER    then    python -m omnigram.report FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np

MODALITIES = ("text", "image", "audio", "marker")
# Bits a token that each arm ends at: (text, image, audio, marker).
ARMS = {"off": (6.9, 2.41, 4.06, 0.4), "text": (6.85, 2.41, 4.06, 0.4), "multimodal": (6.95, 2.36, 4.05, 0.4),
        "random_row": (6.92, 2.43, 4.06, 0.4)}
DOCUMENTS = 120
PACKS = 403
UNIGRAM = {"text": 8.1, "image": 5.2, "audio": 5.6, "marker": 1.9}


def tables(scheme="mix64"):
    return {"text": {"stencil": "lags", "modality": "text", "orders": [2, 3], "addressing": {"scheme": scheme, "rows": 65537}, "dim": 32},
            "image": {"stencil": "grid", "cells": [["W"], ["W", "N"]], "addressing": {"scheme": scheme, "rows": 65537}, "dim": 32}}


def arm_config(name, **train):
    """What the trainer leaves in config.yaml; an arm is what its config says, whatever it is called."""
    memory = {"mode": "off"} if name.startswith("off") else {"mode": "train", "use": ["text"]} if name == "text" else {"mode": "train"}
    return {"model": {"width": 128, "layers": 4}, "memory": memory, "tables": tables("random_row" if name.startswith("random") else "mix64"),
            "train": {"seed": 1, "steps": 200, "epochs": 1, "batch": 1, **train}}


def write_arm(folder: Path, name: str, final, seed: int, steps: int = 200, documents: int = DOCUMENTS, config=None) -> None:
    folder.mkdir(parents=True)
    config = config or arm_config(name)
    plain = config["memory"]["mode"] == "off"
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
    (folder / "environment.json").write_text(json.dumps({"omnigram": "0.1.0", "cpu": "a CPU", "cores": 2, "threads": 2, "torch": "2.11.0",
                                                         "packs": {"path": None, "count": PACKS}}))
    rng = np.random.default_rng(seed)
    start = (11.0, 8.0, 8.0, 3.0)
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(1, steps + 1):
            fade = np.exp(-step / (steps / 6))
            row = {"step": step, "loss": 3.0 + fade, "lr": 1e-3, "table_lr": 1e-2, "grad_norm": 1.0,
                   "tokens_per_s": 8000.0 - 300 * (not plain), "useful_tokens_per_s": 7800.0 - 300 * (not plain),
                   "fill": 0.98, "step_seconds": 0.5 + 0.02 * (not plain), "tokens": step * 4000, "skipped": 0,
                   "lookup_hidden": None if plain else 0.93}
            for modality, first, last in zip(MODALITIES, start, final):
                level = last + (first - last) * fade
                row[f"train_bits_{modality}"] = level - 0.05 + 0.1 * rng.standard_normal()
                row[f"val_bits_{modality}"] = level if step % 20 == 0 else None
            file.write(json.dumps(row) + "\n")
    common = np.random.default_rng(0)  # the same documents for every arm
    with (folder / "eval_documents.csv").open("w") as file:
        file.write("shard,index,offset,length,modality,tokens,bits\n")
        for d in range(documents):
            for modality, bits in zip(MODALITIES, final):
                tokens = int(common.integers(5, 150))
                level = bits + 0.6 * common.standard_normal() + 0.03 * rng.standard_normal()
                file.write(f"0,{d},0,300,{modality},{tokens},{tokens * level:.6f}\n")
    (folder / "summary.json").write_text(json.dumps({
        "steps": steps, "table_bytes": 0 if plain else 88 * 2**20, "model_bytes": 9 * 2**20,
        "lookup_hidden": None if plain else 0.93,
        "train_bits": {m: b - 0.1 for m, b in zip(MODALITIES, final)}, "seconds": 104.5, "peak_rss_bytes": 700 * 2**20,
        "controls": {"unigram": {"val_bits": UNIGRAM}}}))


def write_run(folder: Path, arms=ARMS) -> Path:
    folder = Path(folder)
    for seed, (name, final) in enumerate(arms.items(), 1):
        write_arm(folder / "arms" / name, name, final, seed)
    stages = folder / "stages"
    stages.mkdir()

    def stage(name, content):
        (stages / f"{name}.json").write_text(json.dumps(content))

    stage("prepare", {"dataset": "synthetic", "counters": {
        "documents": {"read": 1110, "kept": 1110, "dropped": {"no_item_left": 0}},
        "items": {"image": {"read": 800, "kept": 798, "distinct": 798, "dropped": {"truncated": 2}},
                  "audio": {"read": 2000, "kept": 2000, "distinct": 1990}, "text": {"read": 3000, "kept": 3000, "distinct": 700}},
        "notes": {"clipped": 3, "rotated": 0},
        "splits": {split: {"documents": n, "text": 3 * n, "image": n, "audio": 2 * n}
                   for split, n in (("train", 900), ("val", 110), ("test", 100))}}})
    lost = {"image": 0, "truncated": 6, "long": 0}
    stage("pack-train", {"fill": 0.9871, "bins": 403, "lower_bound": 401, "counters": {"packing": {
        name: {"read": n, "kept": n - 11, "cut": 5, "dropped": lost} for name, n in (("documents", 1651), ("tokens", 588425))}}})
    stage("audit-isolation", {"probes": 64, "leaks": 0, "twin_leaks": 7312, "channels": {
        name: {"leaks": 0, "twin_leaks": n} for name, n in (("rows", 5121), ("activations", 1210), ("loss", 640), ("gradients", 341))}})
    def lags(order, changed, ngram=0):
        return [{"ngram": ngram, "order": order, "head": 0, "lag": lag, "rows": 65537, "changed": changed(lag),
                 "distinct": 41500.0, "ideal": 41520.3} for lag in range(order)]

    def good(lag):
        return 0.99995

    def entry(found, *warnings):
        return {"scheme": "mix64", "lags": found, "warnings": list(warnings)}

    stage("audit-hash", {"weak": 0, "hash": {
        "text": entry(lags(2, good) + lags(3, good)), "image": entry(lags(2, good) + lags(2, good, 1) + lags(3, good, 2)),
        "audio": entry(lags(2, good))}})
    stage("audit-schemes", {"weak": 1, "hash": {
        "welm_knuth32/131072": entry(lags(5, lambda lag: float(lag < 2)), "order 5: lags 2, 3, 4 are dropped, since V has a power of two"),
        "welm_knuth32/131071": entry(lags(5, good))}})
    stage("time", [{"name": f"train.step.{name}", "peer": "off", "overhead": more, "overhead_cpu": cpu, "lookup_hidden": hidden,
                    "steps": 3, "step_seconds": [0.5 + more / 2] * 3, "off_step_seconds": [0.5] * 3}
                   for name, more, cpu, hidden in (("frozen", 0.04, 0.05, 0.99), ("train", 0.08, 0.07, 0.97))])
    names = ("prepare", "quantize", "pack-train", "pack-val", "audit-hash", "audit-schemes", "audit-isolation",
             *(f"train-{a}" for a in arms))
    (folder / "quickstart.json").write_text(json.dumps({
        "data": "synthetic", "arms": list(arms), "data_note": "No package archive could be reached, so the program made its own data.",
        "steps": 200, "steps_note": "200 steps for every arm: the slowest arm takes 0.52 s a step.",
        "environment": {"date": "2026-11-29", "cpu": "a CPU", "cores": 2, "omnigram": "0.1.0", "torch": "2.11.0"},
        "stages": [{"name": n, "seconds": 12.5, "peak_rss_bytes": 900 * 2**20, "cached": False,
                    "command": f"build/omnigram {n.split('-')[0]} --config quickstart.yaml"} for n in names],
        "paths": {}}))
    return folder


if __name__ == "__main__":
    write_run(Path(sys.argv[1]))
