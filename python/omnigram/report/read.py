"""What one run left in its folder: config, metrics, measures of documents, summary."""

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
CONTEXT_FREE = ("random_row", "shuffled")
"""Addressing schemes whose rows say nothing of the n-gram."""


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
    environment: dict = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    """What its files lack, with file and line."""

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
    def tables(self) -> dict[str, dict]:
        """The tables this arm reads: name -> its keys."""
        memory = self.config.get("memory") or {}
        if memory.get("mode") in ("off", False):  # a bare off is YAML's false
            return {}
        tables = self.config.get("tables") or {}
        return {name: tables[name] for name in memory.get("use") or tables if name in tables}

    @property
    def schemes(self) -> list[str]:
        """Addressing schemes of its tables."""
        return list(dict.fromkeys((table.get("addressing") or {}).get("scheme", "mix64") for table in self.tables.values()))

    @property
    def has_tables(self) -> bool:
        return bool(self.tables) if self.config else self.table_bytes > 0

    @property
    def ignores_context(self) -> bool:
        return bool(self.schemes) and all(scheme in CONTEXT_FREE for scheme in self.schemes)

    @property
    def loads_rows(self) -> bool:
        return bool((self.config.get("memory") or {}).get("load"))

    @property
    def table_bytes(self) -> int:
        """Bytes of its tables in host memory."""
        return int(self.summary.get("table_bytes") or 0)

    @property
    def model_bytes(self) -> int:
        """Bytes of its dense parameters."""
        return int(self.summary.get("model_bytes") or 0)

    @property
    def packs(self) -> tuple[str | None, int | None]:
        """Where the training packs lie and how many there are, as the run recorded it."""
        found = self.environment.get("packs") or {}
        return found.get("path"), found.get("count")

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
        if not self.has_tables:
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


def read_metrics(path: Path, warnings: list[str]) -> dict[str, np.ndarray]:
    """metrics.jsonl as columns. A last line that was cut short (a killed run) is left out, with a warning."""
    rows, lines = [], path.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                warnings.append(f"{path}:{number}: the line is cut short, and left out")
                break
            raise ReportError(f"{path}:{number}: not JSON: {error}") from error
        row = _flat(row) if isinstance(row, Mapping) else {}
        odd = next((key for key, value in row.items() if value is not None and not _is_number(value)), None)
        if odd or row.get("step") is None:
            raise ReportError(f"{path}:{number}: no row of a step's figures: " + (f"{odd} is {row[odd]!r}" if odd else line[:60]))
        if rows and row["step"] <= rows[-1]["step"]:
            warnings.append(f"{path}:{number}: step {row['step']:.0f} stands after step {rows[-1]['step']:.0f}")
        rows.append(row)
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


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value) -> float:
    return float("nan") if value is None else float(value)


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
        rows: dict[str, list] = {modality: [] for modality in ALL_MODALITIES}
        for row in reader:
            try:
                rows[row["modality"]].append((tuple(row[name] for name in origin), float(row["tokens"]), float(row["bits"])))
            except (KeyError, TypeError, ValueError):
                raise ReportError(f"{path}:{reader.line_num}: no row of a document and modality with tokens and bits") from None
    found = {}
    for modality in ALL_MODALITIES:
        own = [row for row in sorted(rows[modality]) if row[1] > 0]
        found[modality] = DocumentBits(tuple(row[0] for row in own), np.array([row[1] for row in own]),
                                       np.array([row[2] for row in own]))
    return found


def read_arm(folder: Path, name: str) -> Arm:
    metrics = folder / "metrics.jsonl"
    if not metrics.is_file():
        raise ReportError(f"{folder}: no metrics.jsonl, so this is no run folder")
    warnings: list[str] = []
    arm = Arm(name, folder, _summary(folder / "summary.json"), read_metrics(metrics, warnings), read_documents(folder / "eval_documents.csv"),
              _config(folder / "config.yaml"), read_json_if(folder / "environment.json"), warnings)
    if arm.steps < (arm.summary.get("steps") or 0):
        warnings.append(f"{metrics}: ends at step {arm.steps}, but summary.json is of {arm.summary['steps']}: rows are missing, or the run is made anew")
    return arm


def _summary(path: Path) -> dict:
    found = read_json_if(path)
    numbers = ("steps", "seconds", "peak_rss_bytes", "table_bytes", "model_bytes", "lookup_hidden")
    for keys, fits, what in ((numbers, _is_number, "a number"), (("train_bits", "controls"), lambda v: isinstance(v, dict), "an object")):
        for key in keys:
            if found.get(key) is not None and not fits(found[key]):
                raise ReportError(f"{path}: {key} is {found[key]!r:.60}, not {what}")
    return found


def read_json_if(path: Path) -> dict:
    found = read_json(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise ReportError(f"{path}: not a JSON object")
    return found


def _config(path: Path) -> dict:
    if not path.is_file():
        return {}
    import yaml
    try:
        found = yaml.safe_load(path.read_text()) or {}
    except yaml.YAMLError as error:
        raise ReportError(f"{path}: not YAML: {error}") from error
    if not isinstance(found, dict):
        raise ReportError(f"{path}: not a map of sections")
    return found
