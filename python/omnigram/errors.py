"""Statuses of the C library as exceptions."""

from __future__ import annotations

from typing import Any

from ._ffi import ffi, lib, text


class OmnigramError(Exception):
    """A call failed. `status` is the C status (OG_EINVAL = 1 ...), `name` its word; the message names value, limit and place."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status
        self.name = text(lib.og_status_name(status))


class InvalidError(OmnigramError, ValueError):
    """OG_EINVAL: an argument, a key or a value is not allowed."""


class InvalidTypeError(InvalidError, TypeError):
    """OG_EINVAL: an argument is of another type than is needed."""


class OutOfMemoryError(OmnigramError, MemoryError):
    """OG_ENOMEM: memory or a memory limit is short."""


class FileError(OmnigramError, OSError):
    """OG_EIO: the operating system refused a file."""

    def __init__(self, status: int, message: str):
        OmnigramError.__init__(self, status, message)

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(OmnigramError, ValueError):
    """OG_EFORMAT: a file or text is not what it should be."""


class UnsupportedError(OmnigramError, NotImplementedError):
    """OG_ENOTSUP: this build or device cannot do it; the message says what to install."""


def invalid(message: str) -> InvalidError:
    return InvalidError(lib.OG_EINVAL, message)


def wrong_type(message: str) -> InvalidTypeError:
    return InvalidTypeError(lib.OG_EINVAL, message)


_CLASSES = {1: InvalidError, 2: OutOfMemoryError, 3: FileError, 4: FormatError, 5: UnsupportedError}


def new_error() -> Any:
    """A caller-owned og_error."""
    return ffi.new("og_error *")


def call(function: Any, *arguments: Any) -> None:
    """Calls function(*arguments, og_error *) and raises when its status is not OG_OK."""
    error = new_error()
    status = function(*arguments, error)
    if status != 0:
        raise _CLASSES.get(status, OmnigramError)(status, ffi.string(error.message).decode(errors="replace"))
