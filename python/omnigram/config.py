"""The config tree: typed values that know their file and line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._array import as_path, as_text, instance
from ._ffi import ffi, lib, text
from ._handle import Handle
from .errors import call, invalid, wrong_type


class Config(Handle):
    """A config tree. Config({...}), Config.from_yaml(text), Config.from_file(path).

    Errors of whatever reads it name file and line, the value, its limit and the nearest known key. Threads that read and
    change one tree take turns; what is made from it has a copy.
    """

    def __init__(self, values: Mapping[str, Any] | None = None, name: str = "config"):
        try:
            data = json.dumps(values or {}, allow_nan=False).encode()
        except TypeError as error:
            raise wrong_type(f"{name}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise invalid(f"{name}: {error}") from None
        out = ffi.new("og_config **")
        call(lib.og_config_from_json, data, len(data), as_text(name, "name"), out)
        self._own(out[0], lib.og_config_free)

    @classmethod
    def _take(cls, pointer: Any) -> Config:
        self = cls.__new__(cls)
        self._own(pointer, lib.og_config_free)
        return self

    @classmethod
    def from_yaml(cls, source: str, name: str = "config") -> Config:
        """From YAML text. FormatError names name:line."""
        data = source if isinstance(source, bytes) else instance(source, str, "source").encode(errors="surrogateescape")
        out = ffi.new("og_config **")
        call(lib.og_config_from_yaml, data, len(data), as_text(name, "name"), out)
        return cls._take(out[0])

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Config:
        """From a .json or a YAML file."""
        read = lib.og_config_from_json_file if str(path).endswith(".json") else lib.og_config_from_yaml_file
        out = ffi.new("og_config **")
        call(read, as_path(path), out)
        return cls._take(out[0])

    def override(self, assignment: str) -> Config:
        """Applies "a.b.c=value", the value being YAML; returns self."""
        with self._lock:
            call(lib.og_config_override, self.pointer, as_text(assignment, "assignment"))
        return self

    def merge(self, over: Config | Mapping[str, Any]) -> Config:
        """Values of `over` replace this tree's, maps merge; returns self."""
        other = as_config(over)
        with self._lock:
            call(lib.og_config_merge, self.pointer, other.pointer)
        return self

    def to_json(self) -> str:
        """Canonical JSON: equal trees give equal bytes."""
        with self._lock:
            return node_json(self.pointer)

    def to_yaml(self) -> str:
        out = ffi.new("char **")
        with self._lock:
            call(lib.og_config_to_yaml, self.pointer, out)
        return take_text(out[0])

    def to_dict(self) -> dict[str, Any]:
        return dict(json.loads(self.to_json()))

    def __getitem__(self, key: str) -> Any:
        """The Python value at a dotted key; KeyError when absent."""
        with self._lock:
            node = lib.og_config_get(self.pointer, as_text(key, "key"))
            if node == ffi.NULL:
                raise KeyError(key)
            return node_value(node)

    def copy(self) -> Config:
        """The same tree, which later changes of this one do not reach."""
        out = ffi.new("og_config **")
        with self._lock:
            call(lib.og_config_copy, self.pointer, out)
        return Config._take(out[0])

    def __repr__(self) -> str:
        return "Config(closed)" if self.closed else f"Config({self.to_json()})"


def take_text(pointer: Any) -> str:
    """A string the library allocated for us: copied and released."""
    try:
        return text(pointer)
    finally:
        lib.og_release(pointer)


def node_json(node: Any) -> str:
    out = ffi.new("char **")
    call(lib.og_config_to_json, node, out)
    return take_text(out[0])


def node_value(node: Any) -> Any:
    """A borrowed node as plain Python values; None for NULL."""
    return None if node == ffi.NULL else json.loads(node_json(node))


def as_config(value: Config | Mapping[str, Any] | str | os.PathLike[str] | None) -> Config:
    """A copy of a Config, a mapping as one, or what a path to a YAML or JSON file holds."""
    if isinstance(value, Config):
        return value.copy()
    if value is None or isinstance(value, Mapping):
        return Config(value)
    if isinstance(value, (str, os.PathLike)):
        return Config.from_file(value)
    raise wrong_type(f"a Config, mapping or path is needed, not {type(value).__name__}")
