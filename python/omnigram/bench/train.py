"""omnigram bench train: our training step against the same model in PyTorch eager, step by step in turn."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from ..pack import AUDIO, IMAGE, TEXT, DocumentsBuilder, Ids, Packs
from ..trainer import Trainer
from .eager import Eager, make_batch


def synthetic_packs(documents: int, capacity: int) -> Packs:
    """Cards of text, a picture of 12 x 12 codes and a clip, of the sizes that the quickstart has."""
    ids = Ids.make(text=2000, image=256, audio=256)
    rng = np.random.default_rng(1)
    builder = DocumentsBuilder(ids)
    image, audio = builder.codebook("0" * 64), builder.codebook("1" * 64)
    for number in range(documents):
        builder.begin(0, number)
        builder.item(TEXT, np.minimum(rng.zipf(1.3, rng.integers(5, 40)), 1999))
        builder.item(IMAGE, np.minimum(rng.zipf(1.2, (12, 12)), 255), codebook=image)
        builder.item(AUDIO, np.minimum(rng.zipf(1.4, rng.integers(20, 60)), 255), codebook=audio)
        builder.end()
    return Packs.build(builder.finish(), capacity=capacity)


def lr_factor(train: dict, step: int) -> float:
    return min(1.0, step / train["warmup"])


class Peer:
    """One optimiser step as ours: AdamW in two groups, clipping by the global norm, warm-up."""

    def __init__(self, trainer: Trainer, packs: Packs, config: dict):
        self.packs, self.config = packs, config
        model = config["model"]
        self.model = Eager(trainer.parameters(), model["layers"], model["heads"], packs.capacity)
        named = dict(self.model.named_parameters())
        plain = [p for name, p in named.items() if "norm" in name or name == "embed_weight"]
        decayed = [p for name, p in named.items() if not ("norm" in name or name == "embed_weight")]
        self.optimiser = torch.optim.AdamW([{"params": plain, "weight_decay": 0.0}, {"params": decayed, "weight_decay": 0.1}],
                                           lr=config["train"]["lr"], betas=(0.9, 0.95), eps=1e-8, fused=config["fused"])

    def step(self, numbers: list[int], step: int) -> float:
        batch = make_batch([self.packs[i] for i in numbers])
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config["train"]["precision"] == "bf16"):
            loss = self.model.loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = self.config["train"]["lr"] * lr_factor(self.config["train"], step)
        self.optimiser.step()
        return loss.item()


def measure(config: dict, packs: Packs, steps: int) -> dict:
    with Trainer({"model": config["model"], "memory": {"mode": "off"}, "train": config["train"]}, packs) as trainer:
        peer = Peer(trainer, packs, config)
        ours, theirs, difference = [], [], 0.0
        for step in range(1, steps + 4):
            numbers = trainer.batch(step - 1)
            order = ["ours", "peer"] if step % 2 else ["peer", "ours"]
            for who in order:
                wall, cpu = time.perf_counter(), time.process_time()
                loss = trainer.step().loss if who == "ours" else peer.step(numbers, step)
                spent = (time.perf_counter() - wall, time.process_time() - cpu)
                (ours if who == "ours" else theirs).append((loss, *spent))
            difference = max(difference, abs(ours[-1][0] - theirs[-1][0]))
        ours, theirs = ours[3:], theirs[3:]  # the first steps make kernels and threads
        tokens = sum(packs[i].n_valid for i in trainer.batch(0))
        ratio = {kind: statistics.median(a[k] / b[k] for a, b in zip(ours, theirs)) for k, kind in ((1, "wall"), (2, "cpu"))}
        return {"steps": steps, "threads": torch.get_num_threads(), "precision": config["train"]["precision"],
                "ours_seconds": statistics.median(s[1] for s in ours), "eager_seconds": statistics.median(s[1] for s in theirs),
                "ours_tokens_per_s": tokens / statistics.median(s[1] for s in ours),
                "ratio_wall": ratio["wall"], "ratio_cpu": ratio["cpu"], "loss_difference": difference}


def overhead(config: dict, packs: Packs, tables: dict, steps: int) -> dict:
    """Step time of frozen and trained tables over that of the same model without them, in turn."""
    arms = {"off": {"mode": "off"}, "frozen": {"mode": "frozen", "rows": "normal"}, "train": {"mode": "train"}}
    trainers = {name: Trainer({"model": config["model"], "memory": memory, "train": config["train"], "tables": tables}, packs)
                for name, memory in arms.items()}
    times = {name: [] for name in arms}
    work = {name: [0.0, 0.0] for name in arms}
    for step in range(steps + 3):
        for name in sorted(arms, key=lambda n: (step + list(arms).index(n)) % 3):
            cpu, wall = time.process_time(), time.perf_counter()
            done = trainers[name].step()
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
            work[name][0] += done.lookup_work_seconds
            work[name][1] += done.lookup_waited_seconds
    found = {}
    for name in ("frozen", "train"):
        pairs = list(zip(times[name][3:], times["off"][3:]))
        found[name] = {"wall": statistics.median(a[0] / b[0] for a, b in pairs), "cpu": statistics.median(a[1] / b[1] for a, b in pairs),
                       "lookup_hidden": max(0.0, 1 - work[name][1] / work[name][0])}
    return found


TABLES = {
    "text": {"stencil": "lags", "modality": "text", "orders": [2, 3, 4, 5], "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "image": {"stencil": "grid", "cells": [["W"], ["N"], ["W", "N"]], "anchor": "current",
              "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "audio": {"stencil": "lags", "modality": "audio", "orders": [2, 3], "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "text_image": {"stencil": "cross", "from": "text", "modality": "image", "orders": [2, 3],
                   "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="omnigram bench train", description=__doc__)
    parser.add_argument("--packs", type=Path, help="training packs (default: synthetic cards)")
    parser.add_argument("--capacity", type=int, default=512)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--foreach", action="store_true", help="the peer's AdamW is the foreach one (default: fused, the faster)")
    parser.add_argument("--tables", action="store_true", help="also the step with frozen and trained tables over that without")
    parser.add_argument("--json", help="write the figures here; - is standard output")
    args = parser.parse_args(arguments)
    capacity = args.capacity
    config = {"model": {"width": args.width, "layers": args.layers, "heads": args.heads}, "fused": not args.foreach,
              "train": {"batch": args.batch, "lr": 0.001, "warmup": 10**6, "schedule": "constant", "precision": args.precision,
                        "threads": args.threads}}
    packs = Packs.load(args.packs) if args.packs else synthetic_packs(math.ceil((args.steps + 4) * args.batch * capacity / 230 * 1.1), capacity)
    result = measure(config, packs, args.steps)
    print(f"omnigram {result['ours_seconds']:.3f} s a step ({result['ours_tokens_per_s']:.0f} tokens/s), PyTorch eager "
          f"{result['eager_seconds']:.3f} s: ratio {result['ratio_wall']:.3f} (wall), {result['ratio_cpu']:.3f} (CPU); "
          f"losses differ by {result['loss_difference']:.1e} at most", file=sys.stderr)
    if args.tables:
        result["tables"] = overhead(config, packs, TABLES, args.steps)
        for name, one in result["tables"].items():
            print(f"{name:7} tables: step x {one['wall']:.3f} (wall), x {one['cpu']:.3f} (CPU), lookup hidden {one['lookup_hidden']:.2f}",
                  file=sys.stderr)
    if args.json == "-":
        json.dump(result, sys.stdout, indent=1)
        print()
    elif args.json:
        with tempfile.NamedTemporaryFile("w", dir=Path(args.json).resolve().parent, delete=False) as file:
            json.dump(result, file, indent=1)
        Path(file.name).replace(args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
