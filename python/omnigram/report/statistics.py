"""Differences between arms, with intervals over held-out documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .words import signed

RESAMPLES = 10_000
SEED = 20261129
LEVEL = 0.95
FEWEST = 10
"""Held-out documents below which a bootstrap over them tells nothing: of one document, every resample is that document."""


@dataclass(frozen=True)
class DocumentBits:
    """Per held-out document, one modality: bits [D] spent on its tokens [D]; keys [D] name the documents."""

    keys: tuple
    tokens: np.ndarray
    bits: np.ndarray

    @property
    def per_token(self) -> float:
        return float(self.bits.sum() / self.tokens.sum()) if self.tokens.sum() else float("nan")


@dataclass(frozen=True)
class Difference:
    """Bits a token of one arm minus those of another: below zero, the first is better."""

    value: float
    low: float
    high: float
    documents: int

    @property
    def verdict(self) -> str:
        """"better", "worse", "unclear" when the interval holds zero, or "few" below FEWEST documents."""
        if self.documents < FEWEST:
            return "few"
        if self.high < 0:
            return "better"
        return "worse" if self.low > 0 else "unclear"

    def __str__(self) -> str:
        return f"{signed(self.value)} [{signed(self.low)}, {signed(self.high)}]"


def paired_difference(ours: DocumentBits, theirs: DocumentBits, resamples: int = RESAMPLES, seed: int = SEED) -> Difference:
    """Percentile bootstrap over documents, the same resample for both arms. ValueError when the documents differ."""
    if ours.keys != theirs.keys or not np.array_equal(ours.tokens, theirs.tokens):
        raise ValueError("the two arms were not evaluated on the same documents")
    n = len(ours.keys)
    tokens, delta = ours.tokens.astype(float), ours.bits - theirs.bits
    if n == 0 or tokens.sum() == 0:
        return Difference(float("nan"), float("nan"), float("nan"), n)
    rng = np.random.default_rng(seed)
    found = np.empty(resamples)
    step = max(1, 4_000_000 // n)  # bounds the memory of one block of counts
    for begin in range(0, resamples, step):
        end = min(begin + step, resamples)
        counts = rng.multinomial(n, np.full(n, 1 / n), size=end - begin)
        total = counts @ tokens
        found[begin:end] = np.divide(counts @ delta, total, out=np.zeros(end - begin), where=total > 0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    return Difference(float(delta.sum() / tokens.sum()), float(low), float(high), n)
