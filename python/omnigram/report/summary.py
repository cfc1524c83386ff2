"""summary.json: the figures that scripts rely on."""

from __future__ import annotations

from . import facts
from .read import MODALITIES, Run


def summary(run: Run, unigram: dict[str, float | None], seconds: float, peak_rss_bytes: int) -> dict:
    """See docs/report.md for each key. Marker tokens are apart: they are in no val_bits of a modality."""
    arms = {}
    for name, arm in run.arms.items():
        arms[name] = {
            "val_bits": {m: arm.val_bits(m) for m in MODALITIES},
            "marker_bits": arm.val_bits("marker"),
            "tokens_per_s": arm.tokens_per_s,
            "lookup_hidden": arm.lookup_hidden,
            "steps": arm.steps,
        }
    overhead, isolation = facts.overhead(run), facts.isolation(run) or {}
    return {
        "data": facts.data(run)["name"],
        "seconds": seconds,
        "peak_rss_bytes": peak_rss_bytes,
        "steps": run.manifest.get("steps"),
        "arms": arms,
        "controls": {"unigram": {"val_bits": {m: unigram.get(m) for m in MODALITIES}, "marker_bits": unigram.get("marker")}},
        "overhead": {**{name: found["wall"] for name, found in overhead.items()},
                     **{f"{name}_cpu": found["cpu"] for name, found in overhead.items()}} or {"trained": None, "frozen": None},
        "tables": {"host_bytes": max((facts.table_bytes(run, name) for name in run.arms), default=0)},
        "packing": facts.packing(run) or {"fill": None, "bins": None, "lower_bound": None},
        "isolation": {"leaks": isolation.get("leaks"), "twin_leaks": isolation.get("twin_leaks")},
        "hash": {name: {"lags": lags} for name, lags in facts.hash_tables(run).items()},
    }
