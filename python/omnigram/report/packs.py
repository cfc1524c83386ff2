"""One pack drawn: modalities coloured, documents apart, images as grids of codes."""

from __future__ import annotations

from html import escape

import numpy as np

from .read import ALL_MODALITIES
from .style import MODALITY_COLOURS

CELL = 5.9
"""Pixels of one token."""
WIDTH = 1000.0


def draw(pack, ids) -> str:
    """SVG. Each document is a box; text and audio run as strips, an image is its grid shaded by code; pads close the row."""
    pieces, x, y, height = [], 0.0, 0.0, 0.0
    for d in range(pack.n_docs):
        begin, end = int(pack.cu_seqlens[d]), int(pack.cu_seqlens[d + 1])
        box, w, h = _document(pack, ids, begin, end)
        if x > 0 and x + w > WIDTH:
            x, y, height = 0.0, y + height + 10, 0.0
        pieces.append(f'<g transform="translate({x:.1f} {y:.1f})"><title>document {d}: {end - begin} tokens</title>'
                      f'<rect x="0.5" y="0.5" width="{w - 1:.1f}" height="{h - 1:.1f}" rx="5" fill="none" '
                      f'stroke="var(--faint)"/>{box}</g>')
        x, height = x + w + 8, max(height, h)
    total = y + height + 1
    return (f'<svg viewBox="0 0 {WIDTH:.0f} {total:.0f}" role="img" aria-label="one pack of {pack.n_docs} documents" '
            f'class="pack">{"".join(pieces)}</svg>')


def _document(pack, ids, begin: int, end: int) -> tuple[str, float, float]:
    """The inside of one document's box, its width and height. Strips wrap at 13 cells; grids keep their shape."""
    pad, wrap = 6.0, 13
    parts, x, tall = [], pad, 0.0
    for first, last, segment in _stretches(pack, begin, end):
        if segment >= 0 and pack.segments["modality"][segment] == 1:
            columns = int(pack.segments["columns"][segment])
            cells = [(int(pack.column[t]) if pack.column[t] >= 0 else columns, int(pack.row[t]), t) for t in range(first, last)]
        else:
            rows = -(-(last - first) // wrap)
            across = -(-(last - first) // rows)
            cells = [((t - first) % across, (t - first) // across, t) for t in range(first, last)]
        for column, row, t in cells:
            parts.append(_cell(pack, ids, t, x + column * CELL, pad + row * CELL))
        x += (max(c[0] for c in cells) + 1) * CELL + 3
        tall = max(tall, (max(c[1] for c in cells) + 1) * CELL)
    return "".join(parts), x + pad - 3, tall + 2 * pad


def _stretches(pack, begin: int, end: int):
    """Runs of tokens of one segment (an image with its row ends), or of markers between segments."""
    first = begin
    for t in range(begin + 1, end + 1):
        if t == end or pack.segment_id[t] != pack.segment_id[first]:
            yield first, t, int(pack.segment_id[first])
            first = t


def _cell(pack, ids, t: int, x: float, y: float) -> str:
    modality = int(pack.modality[t])
    name = ALL_MODALITIES[modality]
    size = max(ids.codes[modality] * ids.levels[modality] - 1, 1)
    share = 0.35 + 0.65 * (int(pack.tokens[t]) - ids.base[modality]) / size
    opacity = 0.55 if name == "marker" else min(max(share, 0.2), 1.0)
    inset = 1.6 if name == "marker" else 0.35
    side = CELL - 2 * inset
    return (f'<rect x="{x + inset:.1f}" y="{y + inset:.1f}" width="{side:.1f}" height="{side:.1f}" rx="1" '
            f'fill="{MODALITY_COLOURS[name]}" fill-opacity="{opacity:.2f}"/>')


def legend(pack) -> str:
    """Counts by modality as HTML chips."""
    valid = np.bincount(pack.modality[: pack.n_valid], minlength=4)
    chips = [f'<span class="chip"><i style="background:{MODALITY_COLOURS[name]}"></i>{escape(name)} {int(valid[m]):,}</span>'
             for m, name in enumerate(ALL_MODALITIES)]
    pads = len(pack.tokens) - pack.n_valid
    return "".join(chips) + f'<span class="chip">pad {pads:,}</span>'


def interesting(packs) -> int:
    """The pack that shows most: all three modalities, then most documents; the first of equals."""
    best, found = (-1, -1), 0
    for i in range(min(len(packs), 64)):
        pack = packs[i]
        score = (len(set(pack.segments["modality"].tolist())), min(pack.n_docs, 24))
        if score > best:
            best, found = score, i
    return found
