"""omnigram bench train: a training step against the same model in PyTorch eager, and with tables against without, in turn."""

from __future__ import annotations

import math
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

from ..arguments import Parser
from ..pack import AUDIO, IMAGE, TEXT, DocumentsBuilder, Ids, Packs
from ..trainer import Trainer
from .eager import Eager, make_batch
from .measure import why_not_writable, write_json


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

    def step(self, batch: dict, step: int) -> float:
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config["train"]["precision"] == "bf16"):
            loss = self.model.loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = self.config["train"]["lr"] * lr_factor(self.config["train"], step)
        self.optimiser.step()
        return loss.item()


SAME = {"fp32": 1e-3, "bf16": 5e-2}
"""How far the two losses (nats a target) may lie apart for the peer to count as the same model."""


def measure(config: dict, packs: Packs, steps: int) -> dict:
    """The record against PyTorch eager: both make the same steps on the same batches, in turn; ratio > 1 where omnigram is faster.

    Both compute in one process, so threads, torch's kernels and the flushing of subnormals are the same for both. The peer gets its
    batch as tensors, made outside the clock (a data loader's worker could have made it); ours makes its own inside.
    """
    with Trainer({"model": config["model"], "memory": {"mode": "off"}, "train": config["train"]}, packs) as trainer:
        peer = Peer(trainer, packs, config)
        ours, theirs, tokens, difference = [], [], [], 0.0
        for step in range(1, steps + 4):
            numbers = trainer.batch(step - 1)
            batch = make_batch([packs[i] for i in numbers])
            order = ["ours", "peer"] if step % 2 else ["peer", "ours"]
            for who in order:
                wall, cpu = time.perf_counter(), time.process_time()
                loss = trainer.step().loss if who == "ours" else peer.step(batch, step)
                spent = (time.perf_counter() - wall, time.process_time() - cpu)
                (ours if who == "ours" else theirs).append((loss, *spent))
            tokens.append(sum(packs[i].n_valid for i in numbers))
            difference = max(difference, abs(ours[-1][0] - theirs[-1][0]))
            if not difference <= SAME[config["train"].get("precision", "fp32")]:
                raise SystemExit(f"bench train: at step {step} the losses are {ours[-1][0]:.6f} and {theirs[-1][0]:.6f}: the peer is no "
                                 "longer the same model, so its time says nothing")
    ours, theirs, tokens = ours[3:], theirs[3:], tokens[3:]  # the first steps make kernels and threads
    return {"name": "train.step", "peer": "PyTorch eager", "ratio": _median_ratio(theirs, ours, 1), "ours": _speed(tokens, ours, 1),
            "theirs": _speed(tokens, theirs, 1), "unit": "tokens/s", "page_bytes": 0, "threads": _threads(config),
            "precision": config["train"].get("precision", "fp32"), "steps": steps, "ratio_cpu": _median_ratio(theirs, ours, 2),
            "loss_difference": difference}


def _median_ratio(upper, lower, column: int) -> float:
    """Median over pairs of the same step, so that what a batch costs cancels."""
    return statistics.median(a[column] / b[column] for a, b in zip(upper, lower))


def _speed(tokens, times, column: int) -> float:
    return statistics.median(n / t[column] for n, t in zip(tokens, times))


def _threads(config: dict) -> int:
    return config["train"].get("threads") or torch.get_num_threads()


TURN = 3
"""Steps of one arm in a row; the first of them does not count. The lookup of an arm's next step runs on after its step has returned:
taking turns step by step, it would hide behind another arm's step and be charged to it."""


def overhead(config: dict, packs: Packs, turns: int, max_seconds: float = math.inf) -> list[dict]:
    """Records of the step with frozen and with trained tables against that of the same model without, in turn in one process.

    ratio = off / with tables; overhead = median of (with / off) over steps of the same number, minus one, of wall time
    (overhead_cpu: of CPU time); lookup_hidden = 1 - time waited / time of lookups, over the steps that count. Fewer turns, but
    one at least, are measured where max_seconds pass.
    """
    memory = config.get("memory") or {}
    arms = {"off": {"mode": "off"}, "frozen": {**memory, "mode": "frozen", "rows": "normal"}, "train": {**memory, "mode": "train"}}
    names = list(arms)
    needed = (turns + 1) * TURN
    batch = config["train"].get("batch", 8)
    # Speed alone is measured, so the data may be gone through more than once.
    train = {**config["train"], "steps": needed, "epochs": -(-needed * batch // len(packs)) + 1}
    trainers = {name: Trainer({"model": config["model"], "memory": memory, "train": train, "tables": config["tables"]}, packs)
                for name, memory in arms.items()}
    table_bytes = {name: trainer.table_bytes for name, trainer in trainers.items()}
    if trainers["off"].planned < needed:
        raise SystemExit(f"bench train: {needed} steps are needed, and {len(packs)} packs are enough for {trainers['off'].planned}")
    times: dict = {name: [] for name in names}
    tokens, began = [], time.monotonic()
    for turn in range(turns + 1):  # the first turn makes kernels, threads and the tables' pages
        if turn > 1 and time.monotonic() - began > max_seconds:
            break
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            for number in range(TURN):
                cpu, wall = time.process_time(), time.perf_counter()
                done = trainers[name].step()
                spent = (time.perf_counter() - wall, time.process_time() - cpu, done.lookup_work_seconds, done.lookup_waited_seconds)
                if turn and number:
                    times[name].append(spent)
                    if name == "off":
                        tokens.append(done.useful)
    for trainer in trainers.values():
        trainer.close()
    found = []
    for name in ("frozen", "train"):
        work, waited = (sum(t[column] for t in times[name]) for column in (2, 3))
        found.append({
            "name": f"train.step.{name}", "peer": "off", "ratio": _median_ratio(times["off"], times[name], 0),
            "ours": _speed(tokens, times[name], 0), "theirs": _speed(tokens, times["off"], 0), "unit": "tokens/s", "page_bytes": 0,
            "threads": _threads(config), "precision": config["train"].get("precision", "fp32"), "steps": len(tokens),
            "overhead": _median_ratio(times[name], times["off"], 0) - 1, "overhead_cpu": _median_ratio(times[name], times["off"], 1) - 1,
            "lookup_hidden": max(0.0, 1 - waited / work) if work else None, "table_bytes": table_bytes[name],
            "step_seconds": [t[0] for t in times[name]], "off_step_seconds": [t[0] for t in times["off"]],
        })
    return found


TABLES = {
    "text": {"stencil": "lags", "modality": "text", "orders": [2, 3, 4, 5], "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "image": {"stencil": "grid", "cells": [["W"], ["N"], ["W", "N"]], "anchor": "current",
              "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "audio": {"stencil": "lags", "modality": "audio", "orders": [2, 3], "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
    "text_image": {"stencil": "cross", "from": "text", "modality": "image", "orders": [2, 3],
                   "addressing": {"scheme": "mix64", "rows": 65537}, "dim": 32},
}


def _line(record: dict) -> str:
    text = (f"{record['name']:18} against {record['peer']}: ratio {record['ratio']:.3f} ({record['ours']:.0f} against {record['theirs']:.0f} "
            f"{record['unit']}, {record['threads']} threads, {record['precision']})")
    if "overhead" in record:
        hidden = record["lookup_hidden"]
        return (f"{text}; step {100 * record['overhead']:+.1f} % (wall), {100 * record['overhead_cpu']:+.1f} % (CPU), lookup hidden "
                f"{'-' if hidden is None else f'{100 * hidden:.0f} %'}, tables of {record['table_bytes'] / 2**20:.0f} MiB")
    return f"{text}; {record['ratio_cpu']:.3f} by CPU time; losses differ by {record['loss_difference']:.1e} at most"


def _settings(args) -> dict:
    """Sections model, memory, tables and train: those of --config, or those of the options."""
    if args.config:
        import yaml

        tree = yaml.safe_load(args.config.read_text()) or {}
        missing = [name for name in ("model", "train", *(["tables"] if args.tables else [])) if name not in tree]
        if missing:
            raise SystemExit(f"bench train: {args.config} has no section {missing[0]}")
        return _with_rows({name: tree[name] for name in ("model", "memory", "tables", "train") if name in tree}, args.rows)
    return _with_rows({"model": {"width": args.width, "layers": args.layers, "heads": args.heads}, "tables": TABLES,
            "train": {"batch": args.batch, "lr": 0.001, "warmup": 10**6, "schedule": "constant", "precision": args.precision,
                      "threads": args.threads}}, args.rows)


def _with_rows(config: dict, rows: int | None) -> dict:
    """Every table with `rows` rows a head (None: as it is). Small tables lie in the CPU's caches, and their lookups cost less."""
    if rows and "tables" in config:
        config["tables"] = {name: {**table, "addressing": {**(table.get("addressing") or {}), "rows": rows}}
                            for name, table in config["tables"].items()}
    return config


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="omnigram bench train", description=__doc__)
    parser.add_argument("--packs", type=Path, help="training packs (default: synthetic cards)")
    parser.add_argument("--config", type=Path, help="sections model, memory, tables, train of a training config, for --tables-only")
    parser.add_argument("--capacity", type=int, default=512)
    parser.add_argument("--steps", type=int, default=12, help="steps that count (default %(default)s)")
    parser.add_argument("--max-seconds", type=float, default=math.inf, help="fewer steps with tables where these pass (default: no limit)")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rows", type=int, help="rows of every table, e.g. 16777259 for tables that no cache holds (default: "
                                                            "the config's, or 65537)")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--foreach", action="store_true", help="the peer's AdamW is the foreach one (default: fused, the faster)")
    parser.add_argument("--tables", action="store_true", help="also the step with frozen and trained tables against that without")
    parser.add_argument("--tables-only", action="store_true", help="that alone, without PyTorch eager")
    parser.add_argument("--json", help="write a list of records here; - is standard output")
    args = parser.parse_args(arguments)
    args.tables |= args.tables_only
    if reason := why_not_writable(args.json):
        parser.error(reason)
    if args.rows is not None and args.rows < 1:
        parser.error(f"--rows {args.rows}: must be at least 1")
    if args.steps < 1:
        parser.error(f"--steps {args.steps}: must be at least 1")
    if args.config and not args.tables_only:
        parser.error("--config goes with --tables-only: the eager peer has a training recipe of its own")
    config = _settings(args)
    config["fused"] = not args.foreach
    turns = -(-args.steps // (TURN - 1))
    if args.packs:
        packs = Packs.load(args.packs)
    else:
        needed = max(args.steps + 4, (turns + 1) * TURN) * config["train"].get("batch", 8)
        packs = synthetic_packs(math.ceil(needed * args.capacity / 230 * 1.1), args.capacity)
    found = [] if args.tables_only else [measure(config, packs, args.steps)]
    if args.tables:
        found += overhead(config, packs, turns, args.max_seconds)
    for record in found:
        print(_line(record), file=sys.stderr if args.json == "-" else sys.stdout)
    if args.json:
        write_json(args.json, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
