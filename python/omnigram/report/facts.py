"""Figures that the stages wrote, under one name each, whatever stage they came from. Absent stages give None or {}."""

from __future__ import annotations

import statistics

from .folders import Run
from .read import ALL_MODALITIES, MODALITIES


def data(run: Run, counters: dict) -> dict:
    """name ("tuxpaint", "synthetic" ..., None where nobody recorded it) and why; items: modality -> {read, kept, dropped, distinct};
    splits: split -> {documents, text, image, audio}; causes: what was dropped and why, and what was noted, with counts.

    counters: of the training packs, which carry those of the data they were made from.
    """
    prepare = run.stage("prepare")
    counted = prepare.get("counters") or counters.get("prepare") or {}
    items, causes = {}, {}
    for modality in MODALITIES:
        found = (counted.get("items") or {}).get(modality)
        if found:
            dropped = found.get("dropped") or {}
            items[modality] = {"read": found["read"], "kept": found["kept"], "dropped": found["read"] - found["kept"],
                               "distinct": found.get("distinct")}
            causes |= {f"{modality}, dropped: {cause}": n for cause, n in dropped.items() if n}
    documents = counted.get("documents") or {}
    causes |= {f"documents, dropped: {cause}": n for cause, n in (documents.get("dropped") or {}).items() if n}
    causes |= {f"noted: {cause}": n for cause, n in (counted.get("notes") or {}).items() if n}
    splits = {split: {key: found.get(key) for key in ("documents", *MODALITIES)}
              for split, found in (counted.get("splits") or {}).items()}
    order = [split for split in ("train", "val", "test") if split in splits]
    return {"name": _data_name(run, counters), "why": run.manifest.get("data_note", ""), "items": items, "causes": causes,
            "splits": {split: splits[split] for split in order}}


def _data_name(run: Run, counters: dict) -> str | None:
    """From the manifest, the stage, the packs or, last, a config that has the section of `prepare`."""
    told = [run.manifest.get("data"), run.stage("prepare").get("dataset"), counters.get("dataset")]
    told += [(arm.config.get("prepare") or {}).get("dataset") for arm in run.arms.values()]
    for name in told:
        name = name.get("name") if isinstance(name, dict) else name
        if name:
            return str(name)
    return None


def packing(run: Run, counters: dict) -> dict | None:
    """fill, bins and lower_bound of the training packs."""
    stage = run.stage("pack-train") or counters.get("packing") or {}
    return {key: stage[key] for key in ("fill", "bins", "lower_bound")} if "fill" in stage else None


def packed(run: Run, counters: dict) -> dict[str, dict]:
    """documents, tokens and images: {read, kept, cut, dropped} of the training packs; dropped is summed over its causes."""
    counters = ((run.stage("pack-train").get("counters") or {}).get("packing")) or counters.get("packing") or {}
    return {name: {**{key: counters[name].get(key) for key in ("read", "kept", "cut")},
                   "dropped": sum((counters[name].get("dropped") or {}).values())}
            for name in ("documents", "tokens", "images") if name in counters}


def unigram(run: Run) -> dict[str, float | None]:
    """The control of a model that knows only how often each code occurs, as the trainer measured it: bits by modality; None where it
    was not measured, or where the arms' packs give them different ones."""
    found: dict[str, float | None] = {}
    for modality in ALL_MODALITIES:
        told = [(((arm.summary.get("controls") or {}).get("unigram") or {}).get("val_bits") or {}).get(modality)
                for arm in run.arms.values()]
        told = [bits for bits in told if bits is not None]
        found[modality] = told[0] if told and max(told) - min(told) < 1e-9 else None
    return found


def seconds(run: Run, report_seconds: float) -> float | None:
    """Of a quickstart: its stages and this report. Of other runs: their training steps. None where a run did not record them."""
    if run.manifest:
        return sum(stage.get("seconds") or 0 for stage in run.manifest.get("stages") or []) + report_seconds
    told = [arm.summary.get("seconds") for arm in run.arms.values()]
    return None if None in told else sum(told)


def peak_rss_bytes(run: Run, report_bytes: int) -> int | None:
    """The largest process of a quickstart and its report; of other runs, the largest run."""
    if run.manifest:
        return max([stage.get("peak_rss_bytes") or 0 for stage in run.manifest.get("stages") or []] + [report_bytes])
    told = [arm.summary.get("peak_rss_bytes") for arm in run.arms.values()]
    return None if None in told else max(told)


def isolation(run: Run) -> dict | None:
    """leaks and twin_leaks over all channels, and channels: name -> {probes, leaks, twin_leaks}."""
    stage = run.stage("audit-isolation")
    if "leaks" not in stage:
        return None
    channels = stage.get("channels") or {}
    if isinstance(channels, list):
        channels = {entry["name"]: entry for entry in channels}
    return {"leaks": stage["leaks"], "twin_leaks": stage["twin_leaks"], "channels": channels, "probes": stage.get("probes")}


def overhead(run: Run) -> dict[str, dict]:
    """frozen, trained -> {wall, cpu: step with tables over that without, minus one; lookup_hidden, seconds, off_seconds: medians,
    steps}, from the measurement in turns. {} where it was not made."""
    records = run.stages.get("time")
    found = {}
    for record in records if isinstance(records, list) else []:
        name = {"train.step.frozen": "frozen", "train.step.train": "trained"}.get(record.get("name"))
        if name and record.get("peer") == "off":
            found[name] = {"wall": record["overhead"], "cpu": record["overhead_cpu"], "lookup_hidden": record["lookup_hidden"],
                           "seconds": statistics.median(record["step_seconds"]),
                           "off_seconds": statistics.median(record["off_step_seconds"]), "steps": record["steps"]}
    return {name: found[name] for name in ("frozen", "trained") if name in found}


def _audited(run: Run) -> dict[str, dict]:
    """What the hash audit found of the run's tables, then of whole schemes: name -> {lags, warnings ...}."""
    return {**(run.stage("audit-hash").get("hash") or {}), **(run.stage("audit-schemes").get("hash") or {})}


def hash_tables(run: Run) -> dict[str, list[dict]]:
    """Table -> [{lag, changed, distinct, ideal, order, ngram, head}], an entry each lag of each of its n-grams."""
    keys = ("lag", "changed", "distinct", "ideal", "order", "ngram", "head")
    return {name: [{key: lag[key] for key in keys if key in lag} for lag in entry["lags"]]
            for name, entry in _audited(run).items()}


def hash_lines(run: Run) -> dict[str, dict[int, float]]:
    """For the heat map: "text n=3" -> lag -> share of edits that change the row (the worst head's)."""
    found: dict[str, dict[int, float]] = {}
    for name, lags in hash_tables(run).items():
        grams = {(lag.get("ngram", 0), lag.get("order")) for lag in lags}
        orders = [order for _, order in grams]
        for lag in lags:
            gram, order = lag.get("ngram", 0), lag.get("order")
            label = name if len(grams) == 1 else f"{name} n={order}" if len(set(orders)) == len(orders) else f"{name} #{gram + 1}"
            line = found.setdefault(label, {})
            line[lag["lag"]] = min(line.get(lag["lag"], 1.0), lag["changed"])
    return found


def hash_warnings(run: Run) -> dict[str, list[str]]:
    """What the audit warned of, by table; and every n-gram that drops a lag though its table was not warned of."""
    said = {name: list(dict.fromkeys(entry["warnings"])) for name, entry in _audited(run).items() if entry.get("warnings")}
    for label, lags in hash_lines(run).items():
        dropped = [str(lag) for lag, changed in lags.items() if changed < 0.5]
        if dropped and label.split(" ")[0] not in said:
            said[label] = [f"the rows hardly depend on lag {', '.join(dropped)}: those codes are dropped by the formula"]
    return said


def gaps(run: Run) -> dict[str, dict[str, float | None]]:
    """Arm -> modality -> held-out minus train bits, both measured at the end with the final weights where that was done."""
    found = {}
    for name, arm in run.arms.items():
        train = arm.summary.get("train_bits") or {}
        found[name] = {}
        for modality in MODALITIES:
            held, own = arm.val_bits(modality), train.get(modality)
            found[name][modality] = held - own if held is not None and own is not None else None
    return found


def environment(run: Run) -> dict:
    """What the manifest says of machine and software, or what the runs recorded, where they agree."""
    if run.manifest.get("environment"):
        return run.manifest["environment"]
    told = [arm.environment for arm in run.arms.values()]
    names = {"omnigram": "omnigram", "git_revision": "commit", "cpu": "CPU", "cores": "cores", "threads": "threads", "torch": "torch",
             "system": "system", "release": "kernel", "compiler": "compiler"}
    values = {label: list(dict.fromkeys(str(found[key]) for found in told if found.get(key) is not None)) for key, label in names.items()}
    return {label: ", ".join(found) for label, found in values.items() if found}
