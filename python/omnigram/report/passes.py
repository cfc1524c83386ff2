"""How much of the training packs an arm has seen."""

from __future__ import annotations

from dataclasses import dataclass

from .words import count, percent


@dataclass(frozen=True)
class Passes:
    """packs: how many there are; seen: how many were trained on, one that came twice counted twice."""

    packs: int
    seen: int
    batch: int = 1
    one_batch: bool = False

    @property
    def share(self) -> float:
        return self.seen / self.packs

    @property
    def repeats(self) -> bool:
        return self.one_batch or self.seen > self.packs

    @property
    def ends(self) -> list[float]:
        """Steps at which a pass ended and another began."""
        return [] if self.one_batch else [k * self.packs / self.batch for k in range(1, -(-self.seen // self.packs))]

    @property
    def short(self) -> str:
        return "one batch again and again" if self.one_batch else f"{count(self.seen)} of {count(self.packs)}"

    def __str__(self) -> str:
        if self.one_batch:
            return "one batch again and again"
        if self.seen < self.packs:
            return f"{count(self.seen)} of {count(self.packs)} packs once, {percent(self.share)} of a pass over the data"
        if self.seen == self.packs:
            return f"one pass: each of {count(self.packs)} packs once"
        return f"{self.share:.3g} passes over {count(self.packs)} packs"


def passes(steps: int, config: dict, packs: int | None) -> Passes | None:
    """None where the packs were not counted. The last batch of an epoch's end may be short, so seen never exceeds the epochs."""
    train = config.get("train") or {}
    if not packs or not train:
        return None
    batch = int(train.get("batch", 1))
    return Passes(packs, min(steps * batch, packs * int(train.get("epochs", 1))), batch, bool(train.get("overfit_one_batch")))
