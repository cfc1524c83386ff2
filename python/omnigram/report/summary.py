"""summary.json: the figures that scripts rely on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import facts
from .folders import Run
from .passes import Passes
from .read import MODALITIES
from .roles import Roles


def summary(run: Run, data: str | None, packing: dict | None, unigram: Mapping[str, float | None], roles: Roles,
            seen: Mapping[str, Passes | None], seconds: float | None, peak_rss_bytes: int | None) -> dict:
    """See docs/report.md for each key. Marker tokens are apart: they are in no val_bits of a modality."""
    arms = {}
    for name, arm in run.arms.items():
        arms[name] = {
            "val_bits": {m: arm.val_bits(m) for m in MODALITIES},
            "marker_bits": arm.val_bits("marker"),
            "tokens_per_s": arm.tokens_per_s,
            "lookup_hidden": arm.lookup_hidden,
            "steps": arm.steps,
            "passes": seen[name].share if seen[name] else None,
        }
    overhead, isolation = facts.overhead(run), facts.isolation(run) or {}
    return {
        "data": data,
        "seconds": seconds,
        "peak_rss_bytes": peak_rss_bytes,
        "steps": run.manifest.get("steps") or _equal(arm["steps"] for arm in arms.values()),
        "reference": roles.reference,
        "arms": arms,
        "controls": {"unigram": {"val_bits": {m: unigram.get(m) for m in MODALITIES}, "marker_bits": unigram.get("marker")}},
        "overhead": {**{name: found["wall"] for name, found in overhead.items()},
                     **{f"{name}_cpu": found["cpu"] for name, found in overhead.items()}} or {"trained": None, "frozen": None},
        "tables": {"host_bytes": _host_bytes(run)},
        "packing": packing or {"fill": None, "bins": None, "lower_bound": None},
        "isolation": {"leaks": isolation.get("leaks"), "twin_leaks": isolation.get("twin_leaks")},
        "hash": {name: {"lags": lags} for name, lags in facts.hash_tables(run).items()},
        "warnings": [line for arm in run.arms.values() for line in arm.warnings],
    }


def _host_bytes(run: Run) -> int | None:
    """Of the arm with the largest tables; None where an arm has tables and did not record their bytes."""
    arms = run.arms.values()
    return None if any(arm.has_tables and not arm.table_bytes for arm in arms) else max(arm.table_bytes for arm in arms)


def _equal(values: Iterable[int]) -> int | None:
    values = set(values)
    return values.pop() if len(values) == 1 else None
