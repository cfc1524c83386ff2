"""Loss curves, the train to held-out gap, and differences between arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from .read import MODALITIES, Arm
from .statistics import Difference
from .style import INK, figure


def _markers(n: int) -> str | None:
    return "o" if n <= 12 else None


def held_out(arms: Mapping[str, Arm], unigram: Mapping[str, float | None], colours: Mapping[str, str]) -> str:
    """Held-out bits a token over the steps, a panel each modality, with the unigram control as a dashed line.

    Lines: the few packs that are measured during training. Diamonds: all held-out packs, with the final weights.
    """
    with figure("held-out", 10.4, 3.4, nrows=1, ncols=3) as (fig, axes):
        for axis, modality in zip(axes, MODALITIES):
            values, finals = [], []
            for name, arm in arms.items():
                steps, bits = arm.held_out_curve(modality)
                if len(steps):
                    axis.plot(steps, bits, color=colours[name], label=name, marker=_markers(len(steps)), markersize=3.5)
                    values.extend(bits)
                final = arm.val_bits(modality)
                if arm.documents and final is not None:
                    finals.append(final)
                    axis.plot([arm.steps], [final], "D", markersize=6.5, markeredgewidth=1.6, markerfacecolor="none",
                              markeredgecolor=colours[name], clip_on=False)
            control = unigram.get(modality)
            if control is not None:
                axis.axhline(control, color=INK, linestyle=(0, (4, 3)), linewidth=1.2, label="unigram")
            axis.set_title(modality)
            axis.set_xlabel("step")
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            if values or finals:  # the first measure, before anything is learnt, would flatten all others
                known = [*finals, *([] if control is None else [control])]
                low, top = min([*values, *known]), max([np.quantile(values, 0.9) if values else -np.inf, *known])
                top = max(top, low + 1e-6)  # one measure alone has no range
                axis.set_ylim(low - 0.06 * (top - low), top + 0.12 * (top - low))
        axes[0].set_ylabel("held-out bits a token")
        _legend(fig, axes)
    return fig.svg


def training(arms: Mapping[str, Arm], colours: Mapping[str, str], ends: Sequence[float] = ()) -> str:
    """Training bits a token, smoothed over 20 steps (an exponential mean), a panel each modality. ends: steps at which passes end."""
    with figure("training", 10.4, 3.2, nrows=1, ncols=3) as (fig, axes):
        for axis, modality in zip(axes, MODALITIES):
            shown = []
            for name, arm in arms.items():
                steps, bits = arm.curve(f"train_bits_{modality}")
                if len(steps) > 1:
                    smooth = _smooth(bits)
                    axis.plot(steps, smooth, color=colours[name], label=name, linewidth=1.4)
                    shown.extend(smooth[len(smooth) // 10:])
            for end in ends if len(ends) <= 20 else ():
                axis.axvline(end, color=INK, linewidth=0.9, linestyle=":", alpha=0.6)
            axis.set_title(modality)
            axis.set_xlabel("step")
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            if shown:
                low, top = min(shown), max(shown)
                axis.set_ylim(low - 0.05 * (top - low + 0.01), top + 0.05 * (top - low + 0.01))
        axes[0].set_ylabel("training bits a token")
        _legend(fig, axes)
    return fig.svg


def _smooth(values: np.ndarray, span: float = 20) -> np.ndarray:
    out, mean, weight = np.empty_like(values), 0.0, 0.0
    keep = 1 - 1 / span
    for i, value in enumerate(values):
        mean, weight = keep * mean + (1 - keep) * value, keep * weight + (1 - keep)
        out[i] = mean / weight
    return out


def _legend(fig, axes, most: int = 6) -> None:
    handles = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    if handles:
        fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(handles), most))


def gap(gaps: Mapping[str, Mapping[str, float | None]], colours: Mapping[str, str]) -> str:
    """Held-out minus train bits at the end of training: bars, a group each modality."""
    with figure("gap", 5.1, 3.2) as (fig, axis):
        width = 0.8 / max(len(gaps), 1)
        for i, (name, found) in enumerate(gaps.items()):
            x = [m + (i - (len(gaps) - 1) / 2) * width for m, modality in enumerate(MODALITIES)
                 if found.get(modality) is not None]
            axis.bar(x, [found[m] for m in MODALITIES if found.get(m) is not None], width * 0.9, color=colours[name], label=name)
        axis.axhline(0, color="#010203", linewidth=0.8)
        axis.set_xticks(range(len(MODALITIES)), MODALITIES)
        axis.set_ylabel("held-out minus train, bits")
        axis.grid(axis="x", visible=False)
        _legend(fig, [axis], 3)
    return fig.svg


def forest(differences: Mapping[str, Mapping[str, Difference | None]], against: str, colours: Mapping[str, str]) -> str:
    """Differences with their intervals, one line an arm and modality; left of zero is better."""
    rows = [(arm, modality, found[modality]) for arm, found in differences.items() for modality in MODALITIES
            if found.get(modality) is not None and np.isfinite(found[modality].value)]
    with figure(f"forest-{against}", 5.1, 0.75 + 0.27 * max(len(rows), 1)) as (fig, axis):
        for y, (arm, _, d) in enumerate(reversed(rows)):
            colour = colours[arm]
            axis.plot([d.low, d.high], [y, y], color=colour, linewidth=2.2, solid_capstyle="round")
            axis.plot([d.value], [y], "o", color=colour, markersize=6)
        axis.axvline(0, color="#010203", linewidth=0.9)
        axis.set_yticks(range(len(rows)), [f"{arm} · {modality}" for arm, modality, _ in reversed(rows)])
        axis.set_ylim(-0.6, max(len(rows), 1) - 0.4)
        axis.xaxis.set_major_locator(MaxNLocator(5))  # labels of three decimals would meet
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("difference in bits a token (left is better)")
    return fig.svg
