"""What the arms have in common and what not, from their configs: whether a difference in bits is one of tables alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .passes import Passes
from .read import Arm
from .words import count, listing

_HARMLESS = {"train.steps", "train.epochs", "train.threads", "train.log_every", "train.save_every", "train.save_last", "train.keep",
             "train.resume"}
"""Keys that change nothing that is learnt, and those that the steps made already tell."""


def unlike(arms: Mapping[str, Arm]) -> dict[str, dict[str, Any]]:
    """Key -> arm -> value of each setting besides the tables (and how they are trained) that is not the same in all arms."""
    flat = {name: _settings(arm) for name, arm in arms.items()}
    keys = dict.fromkeys(key for settings in flat.values() for key in settings)
    found = {key: {name: settings.get(key) for name, settings in flat.items()} for key in keys}
    return {key: values for key, values in found.items() if len({repr(value) for value in values.values()}) > 1}


def _settings(arm: Arm) -> dict[str, Any]:
    found = {f"{section}.{key}": value for section in ("model", "train") for key, value in (arm.config.get(section) or {}).items()}
    found = {key: value for key, value in found.items() if key not in _HARMLESS}
    return found | {"steps": arm.steps, "packs": arm.packs[0]}


def lead(arms: Mapping[str, Arm], seen: Mapping[str, Passes | None], apart: Mapping[str, Mapping[str, Any]]) -> str:
    """One sentence or two on what was trained, and for how long."""
    first = next(iter(arms))
    steps, whole = count(arms[first].steps), {str(told) for told in seen.values() if told}
    data = f", {whole.pop()}" if len(whole) == 1 and None not in seen.values() else ""
    if len(arms) == 1:
        return f"One run, {steps} steps{data}."
    if not apart:
        return (f"{len(arms)} models, equal but for their n-gram tables, each trained for {steps} steps on the same packs in the same "
                f"order{data}.")
    alike = f", each trained for {steps} steps{data}" if "steps" not in apart else ""
    return f"{len(arms)} runs{alike}."


def seen_words(seen: Mapping[str, Passes | None]) -> str:
    """How much of the packs each arm saw, said once where it is the same."""
    told = {name: str(found) if found else "the packs were not counted" for name, found in seen.items()}
    return told[next(iter(told))] if len(set(told.values())) == 1 else "; ".join(f"{name}: {words}" for name, words in told.items())


def warning(apart: Mapping[str, Mapping[str, Any]]) -> str:
    """What else but tables differs; "" where nothing does."""
    if not apart:
        return ""
    parts = [f"{key} ({', '.join(f'{name}: {_value(value)}' for name, value in values.items())})" for key, values in apart.items()]
    return (f"These runs differ in more than their tables: {listing(parts)}. A difference in bits is then one of all these together.")


def _value(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def tables(arm: Arm) -> list[tuple[str, str]]:
    """(name, its keys in one line) of each table the arm reads."""
    return [(name, _table(table)) for name, table in arm.tables.items()]


def _table(table: Mapping[str, Any]) -> str:
    keys = dict(table)
    stencil, addressing, dim = keys.pop("stencil", "lags"), keys.pop("addressing", None) or {}, keys.pop("dim", 64)
    parts = [f"{key} {_text(value)}" for key, value in keys.items()]
    parts += [f"{addressing.get('scheme', 'mix64')}", *(f"{key} {_text(value)}" for key, value in addressing.items() if key != "scheme")]
    return ", ".join([stencil, *parts, f"dim {dim}"])


def _text(value: Any) -> str:
    if isinstance(value, list):
        nested = any(isinstance(item, list) for item in value)
        return " ".join(f"[{_text(item)}]" if nested else _text(item) for item in value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) + "}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
