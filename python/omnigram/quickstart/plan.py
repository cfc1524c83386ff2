"""The stages of the quickstart: which command makes what, from what."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from .settings import Settings, SettingsError, dump
from .stage import Stage


@dataclass(frozen=True)
class Paths:
    """Where things lie in the output folder."""

    out: Path

    @property
    def prepared(self) -> Path:
        return self.out / "prepared"

    @property
    def codes(self) -> Path:
        return self.out / "codes"

    def packs(self, split: str) -> Path:
        return self.out / "packs" / f"{split}.safetensors"

    def run(self, arm: str) -> Path:
        return self.out / "arms" / arm

    def config(self, name: str) -> Path:
        return self.out / "configs" / f"{name}.yaml"

    def json(self, stage: str) -> Path:
        return self.out / "stages" / f"{stage}.json"

    def manifest_paths(self) -> dict[str, str]:
        """What the report looks for, relative to the folder."""
        named = {"prepared": self.prepared, "codebook_image": self.codes / "image.codebook.safetensors",
                 "codebook_audio": self.codes / "audio.codebook.safetensors", "packs_train": self.packs("train"),
                 "packs_val": self.packs("val")}
        return {name: str(path.relative_to(self.out)) for name, path in named.items()}


class Plan:
    """Makes the stages; `program` and the libraries beside it count as inputs of each."""

    def __init__(self, program: Path, settings: Settings, paths: Paths):
        self.program, self.settings, self.paths = program, settings, paths
        # Each verb gets a config with only what it reads, so that a change elsewhere does not undo its cache.
        shared = settings.shared
        for folder in ("stages", "packs", "arms"):
            (paths.out / folder).mkdir(parents=True, exist_ok=True)
        self.configs = {name: dump({"pack": shared[name]} if name == "pack" else shared[name], paths.config(name))
                        for name in ("prepare", "quantize", "pack")}
        self.busiest = settings.slowest or next(iter(settings.arms))
        self.write_arms(settings)

    def write_arms(self, settings: Settings) -> None:
        self.settings = settings
        for arm in settings.arms:
            dump(self._only(settings.arm(arm), ("tables", "model", "memory", "train", "eval")), self.paths.config(arm))

    def absent(self) -> list[str]:
        """After quantize: the modalities of which the training documents have no token."""
        counted = json.loads(self.paths.json("quantize").read_text())["splits"]["train"]["by_modality"]
        return [name for name in ("text", "image", "audio") if not counted.get(name)]

    @staticmethod
    def _only(tree: dict, keys) -> dict:
        return {key: tree[key] for key in keys if key in tree}

    def _stage(self, name: str, title: str, words, inputs, outputs, kind: str, **more) -> Stage:
        result = self.paths.json(name)
        return Stage(name, title, [self.program, *words, "--json", result], [self.program, *self._libraries(), *inputs],
                     [*outputs, result], float(self.settings.expect.get(kind, 5)), **more)

    def _libraries(self) -> list[Path]:
        return sorted((self.program.parent / "lib").glob("libomnigram*.so"))

    def prepare(self, data: Path | None) -> Stage:
        p = self.paths
        return self._stage("prepare", "prepare the data", ["prepare", "--config", self.configs["prepare"], "--out", p.prepared],
                           [self.configs["prepare"], *([data] if data else [])], [p.prepared], "prepare")

    def quantize(self) -> Stage:
        p = self.paths
        return self._stage("quantize", "fit codebooks and encode",
                           ["quantize", "--config", self.configs["quantize"], "--prepared", p.prepared, "--out", p.codes],
                           [self.configs["quantize"], p.prepared], [p.codes], "quantize")

    def pack(self, split: str) -> Stage:
        p = self.paths
        documents = p.codes / f"{split}.documents.safetensors"
        return self._stage(f"pack-{split}", f"pack {split}",
                           ["pack", "--config", self.configs["pack"], "--documents", documents, "--out", p.packs(split)],
                           [self.configs["pack"], documents], [p.packs(split)], "pack")

    def check_keys(self) -> list:
        """The command that finds what is wrong with any arm's keys, before there are packs."""
        return [self.program, "train", "--check", *map(self.paths.config, self.settings.arms)]

    def check(self) -> Stage:
        """All arms against the packs, before the first is trained: a fault in the last one would show after minutes."""
        p, configs = self.paths, [self.paths.config(arm) for arm in self.settings.arms]
        return self._stage("check", "check every arm against the packs",
                           ["train", "--check", *configs, "--packs", p.packs("train"), "--val", p.packs("val")],
                           [*configs, p.packs("train"), p.packs("val")], [], "check")

    def choose_busiest(self) -> str:
        """After check: the arm that costs the most a step, unless quickstart.slowest names it: the one with the most weights
        (an up-projection's included), then the one that trains its rows."""
        found = json.loads(self.paths.json("check").read_text())
        cost = {arm: (found[str(self.paths.config(arm))]["parameters"], found[str(self.paths.config(arm))]["memory"] == "train")
                for arm in self.settings.arms}
        if self.settings.slowest is None:
            self.busiest = max(cost, key=cost.get)  # the first of equals
        about = found[str(self.paths.config(self.busiest))]
        if about["memory"] == "off":
            raise SettingsError(f"the arm {self.busiest} has no tables (memory.mode: off); the quickstart times and audits those of "
                                "its slowest arm, so at least one arm must have some")
        return self.busiest

    def audit_hash(self) -> Stage:
        """How the tables of the model spread their n-grams, and those of the training packs."""
        p, config = self.paths, self.paths.config(self.busiest)
        return self._stage("audit-hash", "audit the tables' hashing",
                           ["audit", "hash", "--tables", config, "--packs", p.packs("train")],
                           [config, p.packs("train")], [], "audit")

    def audit_schemes(self) -> Stage:
        """A formula that drops old codes for one vocabulary and not for the next, as a warning."""
        return self._stage("audit-schemes", "audit published formulas",
                           ["audit", "hash", "--scheme", "welm_knuth32", "--vocab", "131072,131071", "--orders", "5"], [], [], "audit")

    def audit_isolation(self) -> Stage:
        p, config = self.paths, self.paths.config(self.busiest)
        return self._stage("audit-isolation", "audit isolation",
                           ["audit", "isolation", "--config", config, "--packs", p.packs("train"), "--packs-probed", "2",
                            "--documents", "4"], [config, p.packs("train")], [], "audit")

    def time(self) -> Stage:
        """Steps of `off`, and of the slowest arm with frozen and with trained tables, in turn in one process."""
        p, config = self.paths, self.paths.config(self.busiest)
        bench = Path(__file__).parents[1] / "bench" / "train.py"
        return self._stage("time", f"time steps of the slowest arm ({self.busiest}) against off, in turn",
                           ["bench", "train", "--tables-only", "--config", config, "--packs", p.packs("train"),
                            f"--steps={self.settings.timing_steps}", "--max-seconds=20"], [config, p.packs("train"), bench], [], "time",
                           environment={"OMNIGRAM_PYTHON": sys.executable})

    def rehearse(self) -> Stage:
        """What the slowest arm's run costs besides steps: its start, as many measures as it will make, and its end."""
        return self._train("rehearse", self.busiest, self.paths.out / "rehearsal", self.settings.evaluations + 1, 1,
                           "rehearse", f"rehearse {self.busiest}: start, measures and end of a run")

    def train(self, arm: str, steps: int, expect: float) -> Stage:
        every = max(1, steps // self.settings.evaluations)
        stage = self._train(f"train-{arm}", arm, self.paths.run(arm), steps, every, "train", f"train {arm}")
        stage.expect = expect
        return stage

    def _train(self, name: str, arm: str, run: Path, steps: int, every: int, kind: str, title: str) -> Stage:
        p, config = self.paths, self.paths.config(arm)
        words = ["train", "--config", config, "--packs", p.packs("train"), "--val", p.packs("val"), "--run", run,
                 f"--train.steps={steps}", f"--eval.every={every}"]
        return self._stage(name, title, words, [config, p.packs("train"), p.packs("val")], [run], kind, resume=True)
