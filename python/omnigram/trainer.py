"""The trainer of libomnigram_train: steps, and a look at weights, gradients and logits. Needs a build with torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._array import as_path, instance
from ._ffi import LOAD_FLAGS, ffi, lib, library_path, text
from ._handle import Handle, view
from .config import Config, as_config
from .errors import InvalidError, UnsupportedError, call
from .pack import MODALITIES, Pack, Packs

# The part of train.h that is used here; _load compares its structs' sizes through the first call that fills them.
ffi.cdef("""
typedef struct og_trainer og_trainer;
typedef struct og_trainer_options {
    const og_config *config; const og_packs *packs; const char *run;
    void (*log)(void *context, int32_t kind, const char *line); void *log_context;
} og_trainer_options;
typedef struct og_step {
    int64_t step; double loss, weight; double bits[4]; double lr, table_lr, grad_norm;
    int64_t tokens, useful; double seconds, lookup_work_seconds, lookup_waited_seconds; int32_t skipped;
} og_step;
og_status og_trainer_new(const og_trainer_options *options, og_trainer **out, og_error *err);
void og_trainer_free(og_trainer *trainer);
og_status og_trainer_step(og_trainer *trainer, og_step *out, int32_t *done, og_error *err);
og_status og_trainer_run(og_trainer *trainer, og_error *err);
og_status og_trainer_summary(const og_trainer *trainer, char **json, og_error *err);
og_status og_trainer_save(og_trainer *trainer, og_error *err);
og_status og_trainer_load(og_trainer *trainer, const char *checkpoint, og_error *err);
og_status og_trainer_nll(og_trainer *trainer, const og_pack *pack, double *nll, og_error *err);
int64_t og_trainer_done(const og_trainer *trainer);
int64_t og_trainer_planned(const og_trainer *trainer);
int64_t og_trainer_parameters(const og_trainer *trainer);
og_status og_trainer_parameter(const og_trainer *trainer, int64_t i, const char **name, DLTensor *view, og_error *err);
og_status og_trainer_gradient(const og_trainer *trainer, int64_t i, DLTensor *view, og_error *err);
og_status og_trainer_gradients(og_trainer *trainer, const int64_t *packs, int64_t n, int64_t micro, double *loss,
                               float *rows_grad, og_error *err);
og_status og_trainer_logits(og_trainer *trainer, int64_t pack, float *logits, int64_t capacity, og_error *err);
int64_t og_trainer_table_count(const og_trainer *trainer);
og_store *og_trainer_table(const og_trainer *trainer, int64_t i);
int64_t og_trainer_batch(const og_trainer *trainer, int64_t step, int64_t *packs, int64_t n);
void og_train_flush_denormals(void);
uint32_t og_crc32c_masked(const void *data, int64_t bytes);
""")

_library: Any = None


def train_library() -> Any:
    """libomnigram_train beside libomnigram. torch is imported first, so that one libtorch is in the process."""
    global _library
    if _library is None:
        path = Path(library_path).parent / "libomnigram_train.so"
        try:
            import torch  # noqa: F401
            _library = ffi.dlopen(str(path), LOAD_FLAGS)
        except (ImportError, OSError) as error:
            raise UnsupportedError(5, f"built without torch: {error}; install torch, then build again") from error
    return _library


class Step(NamedTuple):
    """Figures of one optimiser step; see og_step in train.h."""

    step: int
    loss: float
    weight: float
    bits: dict[str, float]
    lr: float
    grad_norm: float
    tokens: int
    useful: int
    seconds: float
    lookup_work_seconds: float
    lookup_waited_seconds: float
    skipped: bool


class Trainer(Handle):
    """A model with its tables and optimiser over training packs. config: sections model, memory, tables, train."""

    def __init__(self, config: Config | Mapping[str, Any], packs: Packs, run: str | os.PathLike[str] | None = None, log: Callable[[int, str], object] | None = None):
        self._packs, self._lib = instance(packs, Packs, "packs"), train_library()
        self._log = ffi.callback("void(void *, int32_t, const char *)", lambda _, kind, line: log(kind, text(line))) if log else ffi.NULL
        tree = as_config(config)
        folder = ffi.new("char[]", as_path(run, "run")) if run is not None else ffi.NULL
        options = ffi.new("og_trainer_options *", {"config": tree.pointer, "packs": packs.pointer, "run": folder, "log": self._log})
        out = ffi.new("og_trainer **")
        call(self._lib.og_trainer_new, options, out)
        self._own(out[0], self._lib.og_trainer_free, threads=True)

    @property
    def done(self) -> int:
        return int(self._lib.og_trainer_done(self.pointer))

    @property
    def planned(self) -> int:
        return int(self._lib.og_trainer_planned(self.pointer))

    @property
    def table_bytes(self) -> int:
        """Of all stores, optimiser state included."""
        stores = [self._lib.og_trainer_table(self.pointer, i) for i in range(self._lib.og_trainer_table_count(self.pointer))]
        return sum(lib.og_store_rows(store) * lib.og_store_row_bytes(store) for store in stores)

    def step(self) -> Step | None:
        """One optimiser step; None when all are made."""
        out, done = ffi.new("og_step *"), ffi.new("int32_t *")
        call(self._lib.og_trainer_step, self.pointer, out, done)
        if done[0]:
            return None
        return Step(out.step, out.loss, out.weight, dict(zip(MODALITIES, out.bits)), out.lr, out.grad_norm, out.tokens, out.useful,
                    out.seconds, out.lookup_work_seconds, out.lookup_waited_seconds, bool(out.skipped))

    def run(self) -> None:
        call(self._lib.og_trainer_run, self.pointer)

    def save(self) -> None:
        call(self._lib.og_trainer_save, self.pointer)

    def batch(self, step: int) -> list[int]:
        """Numbers of the packs that the step after `step` steps takes."""
        n = self._lib.og_trainer_batch(self.pointer, step, ffi.NULL, 0)
        out = ffi.new("int64_t[]", n)
        self._lib.og_trainer_batch(self.pointer, step, out, n)
        return list(out)

    def parameters(self) -> dict[str, np.ndarray]:
        """Every parameter by name: views in place, writable."""
        return self._tensors(lambda i, name, out: call(self._lib.og_trainer_parameter, self.pointer, i, name, out))

    def gradients(self, packs: list[int], micro: int = 0) -> tuple[float, dict[str, np.ndarray]]:
        """Loss and gradients of these packs as one global batch; nothing is updated."""
        loss = ffi.new("double *")
        numbers = ffi.new("int64_t[]", packs)
        call(self._lib.og_trainer_gradients, self.pointer, numbers, len(packs), micro, loss, ffi.NULL)

        def get(i: int, name: Any, out: Any) -> None:
            call(self._lib.og_trainer_parameter, self.pointer, i, name, ffi.NULL)
            call(self._lib.og_trainer_gradient, self.pointer, i, out)
        return loss[0], {name: value.copy() for name, value in self._tensors(get).items()}

    def rows_gradient(self, packs: list[int], width: int | None = None) -> np.ndarray:
        """Gradients of the vectors that the tables gave, [valid tokens][width]. width: what the caller takes it to be."""
        up = self.parameters().get("memory.up.weight")
        if up is None or width not in (None, up.shape[1]):
            raise InvalidError(1, f"width {width}: the tables of this model give {0 if up is None else up.shape[1]} values")
        width = int(up.shape[1])
        n = sum(self._packs[p].n_valid for p in packs)
        out = np.zeros((n, width), np.float32)
        loss, numbers = ffi.new("double *"), ffi.new("int64_t[]", packs)
        call(self._lib.og_trainer_gradients, self.pointer, numbers, len(packs), 0, loss, ffi.cast("float *", out.ctypes.data))
        return out

    def logits(self, pack: int) -> np.ndarray:
        """[valid tokens][ids] of one training pack."""
        out = np.empty((self._packs[pack].n_valid, self._packs.ids.size), np.float32)
        call(self._lib.og_trainer_logits, self.pointer, pack, ffi.cast("float *", out.ctypes.data), out.size)
        return out

    def nll(self, pack: Pack) -> np.ndarray:
        """Nats of each token of a Pack, NaN where it is no target."""
        out = np.empty(len(pack.tokens), np.float64)
        call(self._lib.og_trainer_nll, self.pointer, pack.struct, ffi.cast("double *", out.ctypes.data))
        return out

    def _tensors(self, get: Callable[[int, Any, Any], None]) -> dict[str, np.ndarray]:
        found = {}
        for i in range(self._lib.og_trainer_parameters(self.pointer)):
            name, out = ffi.new("char **"), ffi.new("DLTensor *")
            get(i, name, out)
            shape = [out.shape[k] for k in range(out.ndim)]
            found[text(name[0])] = view(self._pointer, out.data, shape, f"<f{out.dtype.bits // 8}", readonly=False)
        return found
