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


_VERBS = {"better": "helps on", "worse": "hurts on", "unclear": "shows no difference on"}


def findings(differences: Mapping[str, Mapping[str, Mapping[str, Difference]]], modalities) -> list[tuple[str, str]]:
    """(arm, one plain statement) of differences[arm][against][modality]: against off, and then against random_row.

    An arm that helps nowhere is said not to help; one that beats off but not random_row, that its gain need not come from n-grams.
    """
    said = []
    for arm, rivals in differences.items():
        found = _known(rivals.get("off"), modalities)
        if found:
            said.append((arm, _against_off(found) + _against_control(found, _known(rivals.get("random_row"), modalities))))
    return said


def _known(found: Mapping[str, Difference] | None, modalities) -> dict[str, Difference]:
    return {m: found[m] for m in modalities if found and found.get(m) is not None and not np.isnan(found[m].value)}


def _against_off(found: Mapping[str, Difference]) -> str:
    """Like "helps on image (-0.040); hurts on text (+0.300), in bits a token against off."."""
    parts = []
    for verdict, verb in _VERBS.items():
        own = {m: d for m, d in found.items() if d.verdict == verdict}
        if own:
            parts.append(f"{verb} {_list(f'{m} ({_signed(d.value)})' for m, d in own.items())}")
    start = "" if any(d.verdict == "better" for d in found.values()) else "does not help: it "
    return f"{start}{'; '.join(parts)}, in bits a token against off."


def _against_control(found: Mapping[str, Difference], control: Mapping[str, Difference]) -> str:
    if not control:
        return ""
    hollow = [m for m, d in found.items() if d.verdict == "better" and m in control and control[m].verdict != "better"]
    better = [f"{m} ({_signed(d.value)})" for m, d in control.items() if d.verdict == "better"]
    if hollow:
        return (f" On {_list(hollow)} it is not better than random_row, whose tables ignore context, so that gain need not come from "
                "the n-grams.")
    if better:
        return f" It is better than random_row, whose tables ignore context, on {_list(better)}."
    return " It is nowhere better than random_row, whose tables ignore context."


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\u2212")


def _list(parts) -> str:
    parts = list(parts)
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
