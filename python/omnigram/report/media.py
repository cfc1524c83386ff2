"""Originals beside what their codes give back: pictures and spectrograms of held-out documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .style import heat, png


@dataclass
class Pair:
    """Two pictures as data: URLs and a line below them."""

    original: str
    restored: str
    caption: str
    shape: tuple[int, int]


def picture_pairs(prepared, codebook, modality, limit: int = 8) -> list[Pair]:
    """Held-out pictures and their reconstruction."""
    pairs = []
    for document, item in _items(prepared, "image", limit):
        vectors = modality.vectors(item.value)
        restored = modality.restore(_through_codes(codebook, vectors))
        caption = next((other.value for other in document.items if other.modality == "text"), document.id)
        pairs.append(Pair(png(_fit(item.value, restored.shape)), png(restored), caption, vectors.shape[:2]))
    return pairs


def spectrogram_pairs(prepared, codebook, modality, limit: int = 3) -> list[Pair]:
    """Held-out clips as the log-mel spectrogram that is quantised, and as their codes give it back."""
    pairs = []
    for document, item in _items(prepared, "audio", limit):
        vectors = modality.vectors(item.value, item.rate_hz)
        original, restored = modality.restore(vectors), modality.restore(_through_codes(codebook, vectors))
        low, high = np.quantile(original, [0.02, 0.995])
        caption = next((other.value for other in document.items if other.modality == "text"), document.id)
        seconds = len(item.value) / item.rate_hz if item.rate_hz else 0
        pairs.append(Pair(png(heat(original.T[::-1], low, high)), png(heat(restored.T[::-1], low, high)),
                          f"{caption} ({seconds:.1f} s)", vectors.shape[:2]))
    return pairs


def _items(prepared, modality: str, limit: int) -> Sequence:
    """Up to limit (document, item) of the validation split, spread over it, one a group: a mirrored or recoloured picture is in the
    group of its original, and showing both would show one thing twice."""
    count, seen, found = prepared.count("val"), set(), []
    spread = range(0, count, max(1, count // (limit * 4)))
    for i in (*spread, *range(min(count, 4000))):
        document = prepared.document("val", i)
        item = next((item for item in document.items if item.modality == modality), None)
        same = {("group", document.group or document.id), ("item", item.unique)} if item else set()
        if item and not same & seen:
            seen |= same
            found.append((document, item))
        if len(found) == limit:
            break
    return found


def _through_codes(codebook, vectors: np.ndarray) -> np.ndarray:
    rows, columns, dim = vectors.shape
    return codebook.decode(codebook.encode(vectors.reshape(-1, dim))).reshape(rows, columns, dim)


def _fit(picture: np.ndarray, shape) -> np.ndarray:
    """Nearest-pixel resize to shape, only where the stored picture has another size."""
    if picture.shape == tuple(shape):
        return picture
    rows = (np.arange(shape[0]) * picture.shape[0] / shape[0]).astype(int)
    columns = (np.arange(shape[1]) * picture.shape[1] / shape[1]).astype(int)
    return np.ascontiguousarray(picture[rows][:, columns])
