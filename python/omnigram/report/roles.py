"""Which arms the others are compared with: those without tables, and those whose tables ignore context."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import words
from .read import Arm, ReportError


@dataclass(frozen=True)
class Roles:
    """Names of arms, in the arms' order."""

    baselines: tuple[str, ...]
    """Arms without tables, or those the user named; where there is neither, the first arm. Never empty."""
    controls: tuple[str, ...]
    """Arms whose rows ignore context."""

    @property
    def reference(self) -> str:
        """The baseline that tables and sentences take differences from."""
        return self.baselines[0]

    def against(self, arm: str) -> list[str]:
        """What an arm is compared with: baselines, and controls unless it is one of either."""
        if arm == self.reference:
            return []
        if arm in self.baselines:
            return [self.reference]
        return [*self.baselines, *(() if arm in self.controls else self.controls)]


def roles(arms: Mapping[str, Arm], named: Sequence[str] = ()) -> Roles:
    """ReportError for a named baseline that is no arm."""
    for name in named:
        if name not in arms:
            near = difflib.get_close_matches(name, arms, 1)
            raise ReportError(f"--baseline {name}: no such arm{f', did you mean {near[0]!r}' if near else ''}; there are {', '.join(arms)}")
    baselines = tuple(dict.fromkeys(named)) or tuple(name for name, arm in arms.items() if not arm.has_tables) or (next(iter(arms)),)
    controls = tuple(name for name, arm in arms.items() if arm.ignores_context and name not in baselines)
    return Roles(baselines, controls)


_CONTROL = {"random_row": "rows that ignore context", "shuffled": "every n-gram reads the row of another"}


def describe(arms: Mapping[str, Arm], chosen: Roles) -> list[tuple[str, str]]:
    """(arm, a line on what it is there for) of each control."""
    found = []
    for name in chosen.controls:
        arm = arms[name]
        line = words.listing(dict.fromkeys(_CONTROL[scheme] for scheme in arm.schemes))
        equals = [other for other in arms if other not in (name, *chosen.controls) and arm.table_bytes
                  and arms[other].table_bytes == arm.table_bytes]
        line += f"; {words.size(arm.table_bytes)} of tables" + (f", as many as {words.listing(equals)}" if equals else "")
        if "shuffled" in arm.schemes and not arm.loads_rows:
            line += "; its rows were trained from nothing, so a shuffle only renames them and this is no control"
        found.append((name, line))
    return found
