"""Which runs a report is about: the quickstart's arms, a folder of runs, one run, or several named ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .read import Arm, ReportError, read_arm, read_json, read_json_if


@dataclass
class Run:
    """Everything a report shows. A stage that did not run is an empty dict."""

    folder: Path | None
    """Where report.html and summary.json go; None where the folder is a run, which has a summary.json of its own, or where there are several."""
    manifest: dict
    stages: dict[str, Any]
    arms: dict[str, Arm]
    left_out: list[str] = field(default_factory=list)

    def stage(self, name: str) -> dict:
        return self.stages.get(name) or {}


def read_run(folders: Path | Sequence[Path]) -> Run:
    """A folder with arms/NAME/ (and quickstart.json, stages/), a folder whose sub-folders are run folders, one run folder, or
    several of these, whose runs then stand side by side under the folders' names."""
    folders = [Path(f) for f in ([folders] if isinstance(folders, (str, Path)) else folders)]
    if len(folders) == 1:
        return _one(folders[0])
    found = [path for folder in folders for path in _run_folders(folder).values()]
    return Run(None, {}, {}, {name: read_arm(path, name) for name, path in _names(found).items()})


def _one(folder: Path) -> Run:
    found = _run_folders(folder)
    manifest = read_json_if(folder / "quickstart.json")
    stages = {path.stem: read_json(path) for path in sorted((folder / "stages").glob("*.json"))}
    order = list(manifest.get("arms") or ())
    left_out = [f"arms/{name}: no arm of this quickstart" for name in found if order and name not in order]
    left_out += [f"arm {name}: it has not been trained" for name in order if name not in found]
    if order:
        found = {name: found[name] for name in order if name in found}
    if not found:
        raise ReportError(f"{folder}: none of the arms in quickstart.json has been trained: {', '.join(order)}")
    arms = {name: read_arm(path, name) for name, path in found.items()}
    if not order:  # nobody said an order: plain models first, controls last
        arms = dict(sorted(arms.items(), key=lambda item: (item[1].has_tables + item[1].ignores_context, _natural(item[0]))))
    own = (folder / "metrics.jsonl").is_file() and not (folder / "arms").is_dir()
    return Run(None if own else folder, manifest, stages, arms, left_out)


def _run_folders(folder: Path) -> dict[str, Path]:
    """Name -> path, in natural order of the names."""
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder")
    if (folder / "metrics.jsonl").is_file() and not (folder / "arms").is_dir():
        return {folder.resolve().name: folder}
    parent = folder / "arms" if (folder / "arms").is_dir() else folder
    found = {path.parent.name: path.parent for path in sorted(parent.glob("*/metrics.jsonl"), key=lambda p: _natural(p.parent.name))}
    if not found:
        raise ReportError(f"{folder}: no run folder in it (metrics.jsonl, NAME/metrics.jsonl or arms/NAME/metrics.jsonl)")
    return found


def _natural(name: str) -> list:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def _names(paths: Sequence[Path]) -> dict[str, Path]:
    """Each path under the shortest end of it that no other has. A folder named twice is one run."""
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    names = {}
    for path in paths:
        for n in range(1, len(path.parts) + 1):
            name = "/".join(path.parts[-n:])
            if sum("/".join(other.parts[-n:]) == name for other in paths) == 1:
                break
        names[name] = path
    return names
