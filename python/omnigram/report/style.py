"""One look for all figures: SVG whose text and lines take the page's colours, so that light and dark are both legible."""

from __future__ import annotations

import base64
import io
import re
from contextlib import contextmanager

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

ARM_COLOURS = {"off": "#7d8590", "text": "#2f81d8", "multimodal": "#e0632b", "random_row": "#a06bc4", "unigram": "#7d8590"}
MODALITY_COLOURS = {"text": "#2f81d8", "image": "#e0632b", "audio": "#3aa675", "marker": "#8b949e"}
OTHER_COLOURS = ("#3aa675", "#c79a1b", "#d1548c", "#4aa3b5")

# Stand-ins that are replaced in the SVG text by the page's own colours.
_INK, _FAINT = "#010203", "#040506"


def arm_colour(name: str) -> str:
    if name in ARM_COLOURS:
        return ARM_COLOURS[name]
    return OTHER_COLOURS[sum(name.encode()) % len(OTHER_COLOURS)]


@contextmanager
def figure(name: str, width: float, height: float, **subplots):
    """Yields (figure, axes); afterwards figure.svg is the inline SVG text. width and height in inches at 100 pixels each."""
    with plt.rc_context({
        "svg.fonttype": "none", "svg.hashsalt": f"omnigram-{name}", "font.size": 10, "font.family": "sans-serif",
        "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": _FAINT, "axes.labelcolor": _INK,
        "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": _INK,
        "xtick.color": _INK, "ytick.color": _INK, "text.color": _INK, "axes.grid": True, "grid.color": _FAINT,
        "grid.linewidth": 0.6, "grid.alpha": 0.5, "legend.frameon": False, "lines.linewidth": 1.8,
        "axes.axisbelow": True, "xtick.labelcolor": _INK, "ytick.labelcolor": _INK,
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
    text = text.replace(_INK, "currentColor").replace(_FAINT, "var(--faint)")
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
