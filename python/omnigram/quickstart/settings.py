"""The quickstart's config: one YAML file, an overlay each arm, and the smoke overlay."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from ..config import Config
from ..errors import OmnigramError

ARMS = ("off", "text", "multimodal", "random_row")


class SettingsError(Exception):
    """The config lacks or misspells something; the message names it."""


@dataclass(frozen=True)
class Settings:
    """`shared` is what every verb reads; `arms` are overlays on it; the rest steers the orchestrator."""

    shared: dict
    arms: dict[str, dict]
    budget_seconds: float = 270.0
    reserve_seconds: float = 15.0
    slack: float = 1.1
    slowest: str | None = None
    timing_steps: int = 10
    min_steps: int = 40
    evaluations: int = 6
    expect: dict = field(default_factory=dict)

    def arm(self, name: str) -> dict:
        """The whole config of an arm."""
        return merged(self.shared, self.arms[name])


SECTIONS = ("prepare", "quantize", "pack", "tables", "model", "memory", "train", "eval")
_NUMBERS = {"budget_seconds": float, "reserve_seconds": float, "slack": float, "timing_steps": int, "min_steps": int, "evaluations": int}
_KEYS = {*_NUMBERS, "slowest", "expect", "arms", "smoke"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def load(path: Path, *, smoke: bool = False, dataset: Mapping, overrides: Sequence[str] = ()) -> Settings:
    """Reads the YAML file; smoke lays quickstart.smoke over it, then overrides ("a.b=value"); dataset becomes prepare's data set."""
    tree = _read(path)
    own = _section(tree, "quickstart", path)
    if smoke:
        over = _section(own, "smoke", f"{path}: quickstart")
        if not over:
            raise SettingsError(f"{path}: there is no quickstart.smoke, the settings of --smoke")
        tree, own = merged(tree, {k: v for k, v in over.items() if k != "quickstart"}), merged(own, over.get("quickstart") or {})
    tree["quickstart"] = own
    for assignment in overrides:
        tree = merged(tree, _override(assignment))
    own = _section(tree, "quickstart", path)
    tree.pop("quickstart", None)
    _known(own, _KEYS, f"{path}: quickstart.")
    presets = tree.pop("datasets", None) or {}
    _known(tree, SECTIONS, f"{path}: ")
    tree = {name: tree.get(name) or {} for name in SECTIONS}
    if dataset.get("name") == "config":
        if not (tree["prepare"].get("dataset") or {}).get("name"):
            raise SettingsError(f"{path}: --data config takes the data set of prepare.dataset, which has no name there")
    else:
        tree["prepare"]["dataset"] = merged(presets.get(dataset["name"]) or {}, dict(dataset))
    arms = _arms(own, path)
    if own.get("slowest") is not None and own["slowest"] not in arms:
        raise SettingsError(f"{path}: quickstart.slowest is {own['slowest']!r}, no arm; there are {', '.join(arms)}. "
                            "Leave the key out, and the arm with the most weights and tables is taken")
    numbers = {key: _number(own[key], kind, f"{path}: quickstart.{key}") for key, kind in _NUMBERS.items() if own.get(key) is not None}
    return Settings(tree, arms, slowest=own.get("slowest"), expect=own.get("expect") or {}, **numbers)


_OF_STENCIL = {"grid": "image", "levels": "audio"}


def without(settings: Settings, absent: Sequence[str]) -> tuple[Settings, list[str]]:
    """The settings without the tables that read a modality the data do not have, and the names of those tables.

    For the shipped arms, so that they serve data of two modalities. In a config of one's own such a table is a fault, which the
    check of the arms names.
    """
    def reads(table: Mapping) -> set:
        return {table.get("modality") or _OF_STENCIL.get(table.get("stencil"), "text"), table.get("from")}

    gone = [name for name, table in settings.shared["tables"].items() if reads(table) & set(absent)]
    shared = {**settings.shared, "tables": {name: table for name, table in settings.shared["tables"].items() if name not in gone}}
    arms = {}
    for arm, over in settings.arms.items():
        tables = {name: table for name, table in (over.get("tables") or {}).items() if name not in gone}
        arms[arm] = {**over, "tables": tables} if over.get("tables") else over
    return replace(settings, shared=shared, arms=arms), gone


def names_data(path: Path) -> bool:
    """Whether the config says itself which data set to prepare."""
    return bool((_section(_section(_read(path), "prepare", path), "dataset", path)).get("name"))


def _read(path: Path) -> dict:
    """By the reader of the verbs (YAML 1.2, faults with their line), in the order of the file."""
    if not path.is_file():
        raise SettingsError(f"{path}: there is no such config")
    try:
        tree = yaml.safe_load(Config.from_file(path).to_yaml())
    except OmnigramError as error:
        raise SettingsError(str(error)) from None
    if not isinstance(tree, dict):
        raise SettingsError(f"{path}: is no map of sections ({', '.join(SECTIONS)}, quickstart)")
    return tree


def _section(tree: Mapping, name: str, place) -> dict:
    value = tree.get(name) or {}
    if not isinstance(value, Mapping):
        raise SettingsError(f"{place}: {name} is no map")
    return dict(value)


def _known(tree: Mapping, keys, place: str) -> None:
    for key in tree:
        if key not in keys:
            near = difflib.get_close_matches(str(key), sorted(keys), 1)
            raise SettingsError(f"{place}{key}: unknown key; " + (f"did you mean {near[0]!r}?" if near else
                                                                  f"there are {', '.join(sorted(keys))}"))


def _arms(own: Mapping, path: Path) -> dict[str, dict]:
    arms = own.get("arms")
    if not isinstance(arms, Mapping) or not arms:
        raise SettingsError(f"{path}: quickstart.arms has no arms; write at least one, name: {{changes to the sections}}")
    for name, over in arms.items():
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{path}: quickstart.arms: {name!r} cannot be a folder's name; use letters, digits, _ . -")
        if over is not None and not isinstance(over, Mapping):
            raise SettingsError(f"{path}: quickstart.arms.{name} is no map of changes to the sections")
        _known(over or {}, ("tables", "model", "memory", "train", "eval"), f"{path}: quickstart.arms.{name}.")
    return {name: dict(over or {}) for name, over in arms.items()}


def _number(value, kind, place: str):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or kind(value) != value or value < 0:
        raise SettingsError(f"{place}: wants {'an integer' if kind is int else 'a number'} from 0 up, not {value!r}")
    return kind(value)


def _override(assignment: str) -> dict:
    """{"a": {"b": value}} of "a.b=value"; the value is YAML, and nothing means null."""
    try:
        return yaml.safe_load(Config().override(assignment).to_yaml())
    except OmnigramError as error:
        raise SettingsError(str(error)) from None


def merged(base: Mapping, over: Mapping) -> dict:
    """Values of over replace those of base, maps merge, null takes a key away that base has (as og_config_merge); nothing is
    shared with either."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        elif value is None and key in result:
            del result[key]
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
