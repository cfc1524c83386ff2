"""Speed and memory drawn, and the hash audit's heat map."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from .style import figure


def memory(host_bytes: Mapping[str, int], model_bytes: Mapping[str, int], colours: Mapping[str, str]) -> str:
    """Host bytes of tables beside bytes of the model, a pair of bars each arm, on one linear axis."""
    names = [name for name in model_bytes if model_bytes[name] or host_bytes.get(name)]
    with figure("memory", 5.1, 0.8 + 0.5 * max(len(names), 1)) as (fig, axis):
        for y, name in enumerate(reversed(names)):
            axis.barh(y + 0.19, model_bytes[name] / 2**20, 0.34, color=colours[name], alpha=0.45)
            axis.barh(y - 0.19, host_bytes.get(name, 0) / 2**20, 0.34, color=colours[name])
        axis.set_yticks(range(len(names)), list(reversed(names)))
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("MiB: model (pale) and tables in host memory (full)")
    return fig.svg


def hash_map(lines: Mapping[str, Mapping[int, float]]) -> str:
    """Share of single-code edits that change a row, per n-gram (line) and cell (column): 1 is what hashing should give."""
    tables, lags = lines, sorted({lag for found in lines.values() for lag in found})
    values = np.array([[found.get(lag, np.nan) for lag in lags] for found in lines.values()], float)
    with figure("hash", 5.4, 0.9 + 0.3 * max(len(tables), 1)) as (fig, axis):
        axis.grid(visible=False)
        colours = LinearSegmentedColormap.from_list("share", ["#ea8a7b", "#f3d68a", "#8ccfa4"])  # dark figures read on all
        axis.imshow(values, cmap=colours, vmin=0, vmax=1, aspect="auto")
        for i, j in np.ndindex(values.shape):
            if np.isfinite(values[i, j]):
                axis.text(j, i, f"{values[i, j]:.3f}".rstrip("0").rstrip(".") if values[i, j] < 0.9995 else "1",
                          ha="center", va="center", fontsize=9, color="#111111")
        axis.set_xticks(range(len(lags)), [f"cell {lag}" for lag in lags])
        axis.set_yticks(range(len(tables)), list(tables))
        axis.tick_params(length=0)
        for side in axis.spines.values():
            side.set_visible(False)
    return fig.svg
