"""The quickstart's config: one YAML file, an overlay each arm, and the smoke overlay."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ARMS = ("off", "text", "multimodal", "random_row")


class SettingsError(Exception):
    """The config lacks or misspells something; the message names it."""


@dataclass(frozen=True)
class Settings:
    """`shared` is what every verb reads; `arms` are overlays on it; the rest steers the orchestrator."""

    shared: dict
    arms: dict[str, dict]
    budget_seconds: float
    reserve_seconds: float
    slack: float
    slowest: str
    timing_steps: int
    min_steps: int
    evaluations: int
    expect: dict = field(default_factory=dict)

    def arm(self, name: str) -> dict:
        """The whole config of an arm."""
        return merged(self.shared, self.arms[name])


_KEYS = {"budget_seconds", "reserve_seconds", "slack", "slowest", "timing_steps", "min_steps", "evaluations", "expect", "arms", "smoke"}


def load(path: Path, *, smoke: bool, dataset: Mapping) -> Settings:
    """Reads the YAML file; smoke lays quickstart.smoke over it; dataset becomes prepare's data set."""
    tree = yaml.safe_load(path.read_text())
    own = tree.pop("quickstart")
    unknown = set(own) - _KEYS
    if unknown:
        raise SettingsError(f"{path}: unknown key quickstart.{sorted(unknown)[0]}; there are {', '.join(sorted(_KEYS))}")
    if smoke:
        tree = merged(tree, {k: v for k, v in own["smoke"].items() if k != "quickstart"})
        own = merged(own, own["smoke"].get("quickstart", {}))
    presets = tree.pop("datasets", {})
    kind = dataset["name"]
    tree.setdefault("prepare", {})["dataset"] = merged(presets.get(kind, {}), dict(dataset))
    if own["slowest"] not in own["arms"]:
        raise SettingsError(f"{path}: quickstart.slowest is {own['slowest']!r}, no arm; there are {', '.join(own['arms'])}")
    return Settings(tree, {name: over or {} for name, over in own["arms"].items()}, float(own["budget_seconds"]),
                    float(own["reserve_seconds"]), float(own["slack"]), own["slowest"], int(own["timing_steps"]), int(own["min_steps"]),
                    int(own["evaluations"]), own.get("expect") or {})


def merged(base: Mapping, over: Mapping) -> dict:
    """Values of over replace those of base, maps merge, nothing is shared with either."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def dump(tree: Mapping, path: Path) -> Path:
    """Writes a config, but leaves an equal file alone (its time is part of what caches look at)."""
    text = yaml.safe_dump(dict(tree), sort_keys=False, allow_unicode=True)
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path
