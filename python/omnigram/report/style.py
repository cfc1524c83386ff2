"""One look for all figures: SVG whose text and lines take the page's colours, so that light and dark are both legible."""

from __future__ import annotations

import base64
import colorsys
import io
import re
from collections.abc import Iterable
from contextlib import contextmanager

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

_ARM_COLOURS = ("#2f81d8", "#e0632b", "#a06bc4", "#3aa675", "#d1548c", "#c79a1b", "#4aa3b5", "#8a6d4b", "#6f7de0", "#7fa63a")
_PLAIN = "#7d8590"
"""Of the first arm without tables."""
MODALITY_COLOURS = {"text": "#2f81d8", "image": "#e0632b", "audio": "#3aa675", "marker": "#8b949e"}

# Stand-ins that are replaced in the SVG text by the page's own colours.
INK, _FAINT = "#010203", "#040506"


def arm_colours(names: Iterable[str], plain: str | None) -> dict[str, str]:
    """A colour of its own for each arm, in the arms' order; grey for the plain one, where there is one."""
    others = [name for name in names if name != plain]
    return {name: _colour(i) for i, name in enumerate(others)} | ({} if plain is None else {plain: _PLAIN})


def _colour(i: int) -> str:
    """Ten by hand; beyond, hues by the golden ratio, in turn darker and paler."""
    if i < len(_ARM_COLOURS):
        return _ARM_COLOURS[i]
    rgb = colorsys.hls_to_rgb((0.11 + i * 0.6180339887) % 1, (0.38, 0.52, 0.64)[i % 3], 0.55)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


@contextmanager
def figure(name: str, width: float, height: float, **subplots):
    """Yields (figure, axes); afterwards figure.svg is the inline SVG text. width and height in inches at 100 pixels each."""
    with plt.rc_context({
        "svg.fonttype": "none", "svg.hashsalt": f"omnigram-{name}", "font.size": 10, "font.family": "sans-serif",
        "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": _FAINT, "axes.labelcolor": INK,
        "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": INK,
        "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.grid": True, "grid.color": _FAINT,
        "grid.linewidth": 0.6, "grid.alpha": 0.5, "legend.frameon": False, "lines.linewidth": 1.8,
        "axes.axisbelow": True, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    }):
        fig, axes = plt.subplots(figsize=(width, height), layout="constrained", **subplots)
        fig.patch.set_alpha(0)
        for axis in np.atleast_1d(axes).flat:
            axis.patch.set_alpha(0)
        try:
            yield fig, axes
            fig.svg = _svg(fig)
        finally:
            plt.close(fig)


def _svg(fig) -> str:
    out = io.StringIO()
    fig.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor").replace(_FAINT, "var(--faint)")
    text = re.sub(r"font: ([^;\"]*?)'[^;\"]*sans-serif[^;\"]*", r"font: \1var(--sans)", text)
    # The page sets the width; the view box keeps the shape.
    return re.sub(r'<svg ([^>]*?)height="[^"]*"([^>]*?)width="[^"]*"', r"<svg \1\2", text, count=1)


def png(pixels: np.ndarray) -> str:
    """uint8 [h, w, 3] or [h, w] as a data: URL."""
    out = io.BytesIO()
    plt.imsave(out, pixels, cmap="gray" if pixels.ndim == 2 else None, format="png")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def heat(values: np.ndarray, low: float, high: float, name: str = "magma") -> np.ndarray:
    """float [h, w] as colours uint8 [h, w, 3]."""
    scaled = np.clip((values - low) / max(high - low, 1e-9), 0, 1)
    return (matplotlib.colormaps[name](scaled)[..., :3] * 255).astype(np.uint8)
