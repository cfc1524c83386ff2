"""The unigram control by numpy: what a model that knows only how often each code occurs would pay."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

MODALITIES = ("text", "image", "audio", "marker")


def unigram_bits(train: Iterable, held_out: Iterable, ids) -> dict[str, float | None]:
    """Bits a target of each modality under train's code frequencies (add-one) within that modality.

    The modality of the target is given for free, which makes this control stronger than a unigram over all ids.
    train, held_out: packs; targets are the tokens with loss_weight > 0. None where a modality has no target.
    """
    counts = _counts(train, ids.size)
    held = _counts(held_out, ids.size)
    found: dict[str, float | None] = {}
    for m, name in enumerate(MODALITIES):
        span = slice(ids.base[m], ids.base[m] + ids.codes[m] * ids.levels[m])
        seen, asked = counts[span], held[span]
        if asked.sum() == 0:
            found[name] = None
            continue
        log2 = np.log2((seen + 1.0) / (seen.sum() + len(seen)))
        found[name] = float(-(asked * log2).sum() / asked.sum())
    return found


def _counts(packs: Iterable, size: int) -> np.ndarray:
    counts = np.zeros(size, np.int64)
    for pack in packs:
        counts += np.bincount(pack.tokens[pack.loss_weight > 0], minlength=size)
    return counts
