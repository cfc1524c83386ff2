"""Finds libomnigram.so and the signatures beside it. Everything else in the package calls through `ffi` and `lib`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cffi  # type: ignore[import-untyped]

_PACKAGE = Path(__file__).resolve().parent
_NAME = "libomnigram.so"
_CDEF = "omnigram_cdef.h"

# Never unloaded: when the interpreter ends, objects that call the library on their way out may go after `lib`.
LOAD_FLAGS = os.RTLD_NOW | os.RTLD_NODELETE


def _candidates() -> list[Path]:
    """Where the library may lie, in order: the user's word, the installed package, the source tree's build."""
    chosen = os.environ.get("OMNIGRAM_LIBRARY")
    if chosen:
        return [Path(chosen)]
    return [
        _PACKAGE / _NAME,
        _PACKAGE / "lib" / _NAME,
        _PACKAGE.parents[1] / "build" / "lib" / _NAME,
    ]


def _find() -> Path:
    candidates = _candidates()
    for path in candidates:
        if path.is_file() and (path.parent / _CDEF).is_file():
            return path
    tried = "\n  ".join(str(path) for path in candidates)
    raise ImportError(
        f"omnigram needs {_NAME} with {_CDEF} beside it, and found neither at\n  {tried}\n"
        "Build it with `make` (or `pip install .`), or set OMNIGRAM_LIBRARY to the library's path."
    )


def _load() -> tuple[Any, Any, Path]:
    path = _find()
    ffi: Any = cffi.FFI()
    ffi.cdef((path.parent / _CDEF).read_text())
    try:
        lib = ffi.dlopen(str(path), LOAD_FLAGS)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}") from error
    found, wanted = int(lib.og_abi()), int(lib.OG_CDEF_ABI)
    if found != wanted:
        raise ImportError(f"{path} has ABI {found}, its {_CDEF} has ABI {wanted}: build both again")
    problem = ffi.new("og_error *")
    if lib.og_cpu_check(problem) != 0:
        raise ImportError(ffi.string(problem.message).decode())
    return ffi, lib, path


# What they hold is in a header that is read at run time: types of C are Any to a type checker.
ffi: Any
lib: Any
ffi, lib, library_path = _load()


def text(pointer: Any) -> str:
    """A borrowed C string as str; "" for NULL."""
    return "" if pointer == ffi.NULL else str(ffi.string(pointer).decode(errors="surrogateescape"))


def version() -> str:
    """The library's version, the same number as CMake's project(VERSION)."""
    return text(lib.og_version())
