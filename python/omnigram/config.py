"""The config tree: typed values that know their file and line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._ffi import ffi, lib, text
from ._handle import Handle
from .errors import call


class Config(Handle):
    """A config tree. Config({...}), Config.from_yaml(text), Config.from_file(path).

    Errors of whatever reads it name file and line, the value, its limit and the nearest known key.
    """

    def __init__(self, values: Mapping[str, Any] | None = None, name: str = "config"):
        data = json.dumps(values or {}, allow_nan=False).encode()
        out = ffi.new("og_config **")
        call(lib.og_config_from_json, data, len(data), name.encode(), out)
        self._own(out[0], lib.og_config_free)

    @classmethod
    def _take(cls, pointer) -> Config:
        self = cls.__new__(cls)
        self._own(pointer, lib.og_config_free)
        return self

    @classmethod
    def from_yaml(cls, source: str, name: str = "config") -> Config:
        """From YAML text. FormatError names name:line."""
        data = source.encode()
        out = ffi.new("og_config **")
        call(lib.og_config_from_yaml, data, len(data), name.encode(), out)
        return cls._take(out[0])

    @classmethod
    def from_file(cls, path: str | os.PathLike) -> Config:
        """From a .json or a YAML file."""
        read = lib.og_config_from_json_file if str(path).endswith(".json") else lib.og_config_from_yaml_file
        out = ffi.new("og_config **")
        call(read, os.fsencode(path), out)
        return cls._take(out[0])

    def override(self, assignment: str) -> Config:
        """Applies "a.b.c=value", the value being YAML; returns self."""
        call(lib.og_config_override, self.pointer, assignment.encode())
        return self

    def merge(self, over: Config | Mapping) -> Config:
        """Values of `over` replace this tree's, maps merge; returns self."""
        call(lib.og_config_merge, self.pointer, as_config(over).pointer)
        return self

    def to_json(self) -> str:
        """Canonical JSON: equal trees give equal bytes."""
        return node_json(self.pointer)

    def to_yaml(self) -> str:
        out = ffi.new("char **")
        call(lib.og_config_to_yaml, self.pointer, out)
        return take_text(out[0])

    def to_dict(self) -> dict:
        return json.loads(self.to_json())

    def __getitem__(self, key: str) -> Any:
        """The Python value at a dotted key; KeyError when absent."""
        node = lib.og_config_get(self.pointer, key.encode())
        if node == ffi.NULL:
            raise KeyError(key)
        return node_value(node)

    def __repr__(self) -> str:
        return "Config(closed)" if self.closed else f"Config({self.to_json()})"


def take_text(pointer) -> str:
    """A string the library allocated for us: copied and released."""
    try:
        return text(pointer)
    finally:
        lib.og_release(pointer)


def node_json(node) -> str:
    out = ffi.new("char **")
    call(lib.og_config_to_json, node, out)
    return take_text(out[0])


def node_value(node) -> Any:
    """A borrowed node as plain Python values; None for NULL."""
    return None if node == ffi.NULL else json.loads(node_json(node))


def as_config(value: Config | Mapping | str | os.PathLike | None) -> Config:
    """A Config as it is, a mapping as one, or a path to a YAML or JSON file."""
    if isinstance(value, Config):
        return value
    if value is None or isinstance(value, Mapping):
        return Config(value)
    if isinstance(value, (str, os.PathLike)):
        return Config.from_file(value)
    raise TypeError(f"a Config, mapping or path is needed, not {type(value).__name__}")
