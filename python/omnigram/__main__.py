"""The `omnigram` command of an installed package: runs the C program that lies in it (or in the source tree's build)."""

from __future__ import annotations

import os
import sys

from .program import find_program


def main() -> None:
    program = find_program()
    os.environ.setdefault("OMNIGRAM_PYTHON", sys.executable)
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
