"""Element types by name: f32, bf16, f16, fp8_e4m3, int8, nf4."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._ffi import ffi, lib, text
from .errors import invalid

NUMPY: dict[int, np.dtype[Any]] = {
    lib.OG_F32: np.dtype("f4"), lib.OG_F16: np.dtype("f2"), lib.OG_BF16: np.dtype("u2"), lib.OG_F64: np.dtype("f8"),
    lib.OG_U8: np.dtype("u1"), lib.OG_INT8: np.dtype("i1"), lib.OG_I16: np.dtype("i2"), lib.OG_I32: np.dtype("i4"),
    lib.OG_I64: np.dtype("i8"), lib.OG_FP8_E4M3: np.dtype("u1"), lib.OG_NF4: np.dtype("u1"),
}

_CONFIG_NAMES = {lib.OG_FP8_E4M3: "fp8_e4m3", lib.OG_INT8: "int8"}


def dtype_code(name: str | int) -> int:
    """The pinned number of a dtype's name ("bf16", "F32") or that number; InvalidError lists those there are."""
    if isinstance(name, int) and (name in NUMPY or name == 0) and not isinstance(name, bool):
        return name
    code = lib.og_dtype_from_name(name.encode()) if isinstance(name, str) and "\0" not in name else 0
    if code == 0:
        known = ", ".join(dtype_name(c) for c in sorted(NUMPY))
        raise invalid(f"no dtype {name!r:.80}; there are {known}")
    return code


def dtype_name(code: int) -> str:
    """The name that dtype_code takes and configs have; safetensors' own for two of them are f8_e4m3 and i8."""
    if code in _CONFIG_NAMES:
        return _CONFIG_NAMES[code]
    pointer = lib.og_dtype_name(code)
    return f"dtype {code}" if pointer == ffi.NULL else text(pointer).lower()


def bf16_to_f32(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bit patterns (uint16) as float32, exactly; the same shape."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)
