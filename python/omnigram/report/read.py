"""Reads what a run left on disk: the quickstart's manifest, the stages' JSON, and each arm's run folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .statistics import DocumentBits

MODALITIES = ("text", "image", "audio")
"""The three that count; markers (begin, end, row end) are kept apart."""
ALL_MODALITIES = (*MODALITIES, "marker")
ARM_ORDER = ("off", "text", "multimodal", "random_row")


class ReportError(Exception):
    """A run folder lacks something or holds something else; the message names file and cause."""


@dataclass
class Arm:
    """One trained arm."""

    name: str
    folder: Path
    summary: dict
    metrics: dict[str, np.ndarray]
    """Column -> values; NaN where a step has none."""
    documents: dict[str, DocumentBits]
    """Modality -> bits of each held-out document."""
    config: dict = field(default_factory=dict)

    def val_bits(self, modality: str) -> float | None:
        """Held-out bits a token at the end, over all documents; None where nothing was held out."""
        document_bits = self.documents.get(modality)
        if document_bits is not None and document_bits.tokens.sum() > 0:
            return document_bits.per_token
        return last_finite(self.metrics.get(f"val_bits_{modality}"))

    def curve(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """(steps, values) of a column where it has values."""
        values = self.metrics.get(column)
        if values is None:
            return np.empty(0), np.empty(0)
        keep = np.isfinite(values)
        return self.metrics["step"][keep], values[keep]

    def held_out_curve(self, modality: str) -> tuple[np.ndarray, np.ndarray]:
        """(steps, bits) of the measures during training, all on the same few packs; the last measure of a whole run is on all
        packs, so it is no point of this curve (val_bits has it)."""
        steps, bits = self.curve(f"val_bits_{modality}")
        if self.documents and len(steps) and steps[-1] == self.steps:
            return steps[:-1], bits[:-1]
        return steps, bits

    @property
    def steps(self) -> int:
        return int(self.metrics["step"][-1]) if len(self.metrics.get("step", ())) else 0

    @property
    def step_seconds(self) -> float | None:
        """Median over the second half: the first steps warm caches."""
        return self._late("step_seconds")

    @property
    def tokens_per_s(self) -> float | None:
        """Useful tokens a second (pads do not count), median over the second half."""
        return self._late("useful_tokens_per_s") or self._late("tokens_per_s")

    @property
    def lookup_hidden(self) -> float | None:
        """1 - time waited / time of lookups; None without lookups."""
        if self.name == "off":
            return None
        value = self.summary.get("lookup_hidden")
        return float(value) if value is not None else self._late("lookup_hidden")

    def _late(self, column: str) -> float | None:
        values = self.metrics.get(column)
        if values is None:
            return None
        late = values[len(values) // 2:]
        late = late[np.isfinite(late)]
        return float(np.median(late)) if len(late) else None


@dataclass
class Run:
    """Everything a report shows. A stage that did not run is an empty dict."""

    folder: Path
    manifest: dict
    stages: dict[str, Any]
    arms: dict[str, Arm]

    def stage(self, name: str) -> dict:
        return self.stages.get(name) or {}


def last_finite(values) -> float | None:
    if values is None:
        return None
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else None


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"{path}: not JSON: {error}") from error


def read_metrics(path: Path) -> dict[str, np.ndarray]:
    """metrics.jsonl as columns. A last line that was cut short (a killed run) is left out."""
    rows, lines = [], path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_flat(json.loads(line)))
        except ValueError as error:
            if number == len(lines):
                break
            raise ReportError(f"{path}:{number}: not JSON: {error}") from error
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: np.array([_number(row.get(name)) for row in rows], float) for name in names}


def _flat(row: Mapping, prefix: str = "") -> dict:
    """{"val_bits": {"text": 1}} and {"val_bits_text": 1} are the same column."""
    found = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{prefix}{key}_"))
        else:
            found[(prefix + key).replace(".", "_")] = value
    return found


def _number(value) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else float("nan")


def read_documents(path: Path) -> dict[str, DocumentBits]:
    """eval_documents.csv: one line a document and modality, with the document's origin, its tokens and their bits."""
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        missing = {"modality", "tokens", "bits"} - set(reader.fieldnames or ())
        if missing:
            raise ReportError(f"{path}: no column {', '.join(sorted(missing))}; it has {', '.join(reader.fieldnames or ())}")
        origin = [name for name in reader.fieldnames if name not in ("modality", "tokens", "bits")]
        rows = list(reader)
    found = {}
    for modality in ALL_MODALITIES:
        own = sorted((tuple(row[name] for name in origin), float(row["tokens"]), float(row["bits"]))
                     for row in rows if row["modality"] == modality)
        own = [row for row in own if row[1] > 0]
        found[modality] = DocumentBits(tuple(row[0] for row in own), np.array([row[1] for row in own]),
                                       np.array([row[2] for row in own]))
    return found


def read_arm(folder: Path, name: str) -> Arm:
    metrics = folder / "metrics.jsonl"
    if not metrics.is_file():
        raise ReportError(f"{folder}: no metrics.jsonl, so this is no run folder")
    summary = folder / "summary.json"
    return Arm(name, folder, read_json(summary) if summary.is_file() else {}, read_metrics(metrics),
               read_documents(folder / "eval_documents.csv"), _config(folder / "config.yaml"))


def _config(path: Path) -> dict:
    if not path.is_file():
        return {}
    import yaml
    return yaml.safe_load(path.read_text()) or {}


def read_run(folder: Path) -> Run:
    """A folder with quickstart.json and arms/NAME/, or any folder whose sub-folders are run folders."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder")
    manifest = read_json(folder / "quickstart.json") if (folder / "quickstart.json").is_file() else {}
    stages = {path.stem: read_json(path) for path in sorted((folder / "stages").glob("*.json"))}
    parent = folder / "arms" if (folder / "arms").is_dir() else folder
    found = {path.parent.name: path.parent for path in sorted(parent.glob("*/metrics.jsonl"))}
    if not found and (folder / "metrics.jsonl").is_file():
        found = {folder.name: folder}
    if not found:
        raise ReportError(f"{folder}: no run folder in it (arms/NAME/metrics.jsonl)")
    order = [name for name in ARM_ORDER if name in found] + [name for name in found if name not in ARM_ORDER]
    return Run(folder, manifest, stages, {name: read_arm(found[name], name) for name in order})
