"""Options of the programs in Python, read as the verbs in C read theirs."""

from __future__ import annotations

import argparse
from typing import Any


class Parser(argparse.ArgumentParser):
    """A value that is given twice is refused, so that none is dropped in silence; action="append" takes several."""

    def __init__(self, **more: Any):
        super().__init__(**more)
        self.register("action", None, _Once)


class _Once(argparse.Action):
    given = False

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        if option_string and self.given:
            parser.error(f"{option_string} is given twice: {getattr(namespace, self.dest)} and {values}")
        self.given = True
        setattr(namespace, self.dest, values)
