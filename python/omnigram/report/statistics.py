"""Differences between arms, with intervals over held-out documents, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
SEED = 20261129
LEVEL = 0.95


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
        """"better", "worse", or "unclear" when the interval holds zero."""
        if self.high < 0:
            return "better"
        return "worse" if self.low > 0 else "unclear"

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]".replace("-", "\u2212")


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


def sentence(arm: str, against: str, modality: str, difference: Difference) -> str:
    """One plain sentence for one difference."""
    if np.isnan(difference.value):
        return f"Arm {arm} against {against} on {modality}: nothing was held out to compare on."
    size = f"{abs(difference.value):.3f} bits a token"
    interval = f"95 % interval {difference.low:+.3f} to {difference.high:+.3f}".replace("-", "\u2212")
    words = {
        "better": f"Arm {arm} helps on {modality}: {size} less than {against} ({interval}).",
        "worse": f"Arm {arm} hurts on {modality}: {size} more than {against} ({interval}).",
        "unclear": f"Arm {arm} does not help on {modality} as far as these {difference.documents} documents can tell: "
                   f"{difference.value:+.3f} bits a token against {against} ({interval}).",
    }[difference.verdict]
    return words.replace("-0.", "\u22120.").replace("+0.", "+0.")


def findings(differences: Mapping[str, Mapping[str, Mapping[str, Difference]]], modalities) -> list[str]:
    """Sentences of all arms: differences[arm][against][modality]. An arm that beats off but not its control is said to."""
    said = []
    for arm, rivals in differences.items():
        verdicts = {m: rivals.get("off", {}).get(m) for m in modalities}
        known = [d for d in verdicts.values() if d is not None]
        if not known:
            continue
        if not any(d.verdict == "better" for d in known):
            said.append(f"Arm {arm} does not help: on no modality is it better than off beyond the interval.")
        for modality, difference in verdicts.items():
            if difference is None:
                continue
            line = sentence(arm, "off", modality, difference)
            control = rivals.get("random_row", {}).get(modality)
            if difference.verdict == "better" and control is not None and control.verdict != "better":
                line += (" It is not better than random_row, tables of the same size that ignore context, so this gain "
                         "need not come from the n-grams.")
            said.append(line)
    return said
