"""Where the `omnigram` program is."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def source_root() -> Path | None:
    """The source tree this package is run from, or None when it is installed."""
    root = _PACKAGE.parents[1]
    return root if (root / "CMakeLists.txt").is_file() else None


def find_program() -> Path:
    """OMNIGRAM_PROGRAM, the program of the installed package, or build/omnigram of the source tree."""
    chosen = os.environ.get("OMNIGRAM_PROGRAM")
    candidates = [Path(chosen)] if chosen else [_PACKAGE / "bin" / "omnigram", _PACKAGE.parents[1] / "build" / "omnigram"]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("no omnigram program at " + ", ".join(map(str, candidates)) +
                            "; build it with `make` (or `pip install .`), or set OMNIGRAM_PROGRAM")
