"""Documents and packs: the one truth about boundaries, as numpy views in place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ._array import I32, as_array, as_int, as_path, as_text, instance, one_of
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to, view
from .config import as_config, node_value
from .errors import call, invalid

TEXT, IMAGE, AUDIO, MARKER = lib.OG_TEXT, lib.OG_IMAGE, lib.OG_AUDIO, lib.OG_MARKER
MODALITIES: tuple[str, ...] = tuple(text(lib.og_modality_name(m)) for m in range(lib.OG_N_MODALITIES))

def struct_dtype(name: str) -> np.dtype[Any]:
    """The numpy structured dtype of a C struct of scalars, from the header itself."""
    fields = ffi.typeof(name).fields
    kind = {"int64_t": "<i8", "int32_t": "<i4"}
    return np.dtype({"names": [f for f, _ in fields], "formats": [kind[d.type.cname] for _, d in fields],
                     "offsets": [d.offset for _, d in fields], "itemsize": ffi.sizeof(name)})


SEGMENT = struct_dtype("og_segment")
"""doc, start, length, modality, rows, columns, levels, row_end, codebook."""
ORIGIN = struct_dtype("og_origin")
"""shard, index, offset, length."""


class Ids(NamedTuple):
    """Disjoint id ranges, one entry a modality (TEXT, IMAGE, AUDIO, MARKER): a code of level l is base + l * codes + code."""

    base: tuple[int, ...]
    codes: tuple[int, ...]
    levels: tuple[int, ...]
    size: int

    @classmethod
    def make(cls, *, text: int, image: int = 1, audio: int = 1, image_levels: int = 1, audio_levels: int = 1) -> Ids:
        """Ranges for vocabularies of these sizes; text begins at 0."""
        out = ffi.new("og_id_map *")
        call(lib.og_id_map_make, as_int(text, "text"), as_int(image, "image"), as_int(image_levels, "image_levels"),
             as_int(audio, "audio"), as_int(audio_levels, "audio_levels"), out)
        return _ids(out)

    @property
    def struct(self) -> Any:
        lists = {name: list(instance(getattr(self, name), Iterable, name)) for name in ("base", "codes", "levels")}
        for name, values in lists.items():
            if len(values) != len(MODALITIES):
                raise invalid(f"{name}: {len(values)} entries for the {len(MODALITIES)} modalities")
        return ffi.new("og_id_map *", [*([as_int(v, f"{name}[{i}]", I32) for i, v in enumerate(values)]
                                         for name, values in lists.items()), as_int(self.size, "size", I32)])

    def modality(self, token: int) -> int:
        """The modality of an id, -1 when it is out of range."""
        return int(lib.og_id_modality(self.struct, as_int(token, "token", I32)))


def _ids(pointer: Any) -> Ids:
    return Ids(tuple(pointer.base), tuple(pointer.codes), tuple(pointer.levels), pointer.size)


class DocumentsBuilder(Handle):
    """Lays out documents item by item: begin(); item(...)...; end(); then finish(), which ends the builder."""

    def __init__(self, ids: Ids, *, row_end: bool = True):
        out = ffi.new("og_documents_builder **")
        call(lib.og_documents_builder_new, instance(ids, Ids, "ids").struct, bool(row_end), out)
        self._own(out[0], lib.og_documents_builder_free)

    def codebook(self, fingerprint: str) -> int:
        """Names a codebook; its number for item()."""
        index = ffi.new("int32_t *")
        with self._lock:
            call(lib.og_documents_codebook, self.pointer, as_text(fingerprint, "fingerprint"), index)
        return int(index[0])

    def begin(self, shard: int = 0, index: int = 0) -> None:
        with self._lock:
            call(lib.og_documents_begin, self.pointer, as_int(shard, "shard"), as_int(index, "index"))

    def item(self, modality: int, codes: ArrayLike, *, codebook: int = -1) -> None:
        """codes, local to the modality: text [n]; image [rows, columns]; audio [frames] or [frames, levels]."""
        codes = as_array(codes, np.int32, "codes")
        modality, codebook = as_int(modality, "modality", I32), as_int(codebook, "codebook", I32)
        if modality == IMAGE:
            if codes.ndim != 2:
                raise invalid(f"codes: an image is [rows, columns], not of shape {codes.shape}")
            rows, columns, levels = codes.shape[0], codes.shape[1], 1
        else:
            if codes.ndim not in (1, 2) or (modality == TEXT and codes.ndim != 1):
                raise invalid(f"codes: shape {codes.shape} fits no item of modality {modality}")
            rows, columns, levels = 1, codes.shape[0], codes.shape[1] if codes.ndim == 2 else 1
        if max(rows, columns, levels) > I32[1]:
            raise invalid(f"codes: shape {codes.shape}; a side has at most {I32[1]}")
        with self._lock:
            call(lib.og_documents_item, self.pointer, modality, pointer_to(codes, "int32_t *"), rows, columns, levels,
                 codebook)

    def end(self) -> None:
        with self._lock:
            call(lib.og_documents_end, self.pointer)

    def finish(self) -> Documents:
        out = ffi.new("og_documents **")
        with self._lock:
            pointer, self._pointer = self.pointer, None
            ffi.gc(pointer, None)  # finish frees it, whatever comes
            call(lib.og_documents_finish, pointer, ffi.NULL, out)
        return Documents(out[0])


class Documents(Handle):
    """Documents after layout and before packing. Arrays are views: tokens, modality, segment, row, column, level [N];
    offsets [D + 1]; segments (SEGMENT) [S]; segment_offsets [D + 1]; origins (ORIGIN) [D]."""

    _FIELDS: dict[str, tuple[DTypeLike, str]] = {
        "offsets": ("<i8", "D1"), "tokens": ("<i4", "N"), "modality": ("i1", "N"), "segment": ("<i4", "N"),
        "row": ("<i4", "N"), "column": ("<i4", "N"), "level": ("<i4", "N"), "segments": (SEGMENT, "S"),
        "segment_offsets": ("<i8", "D1"), "origins": (ORIGIN, "D"),
    }

    def __init__(self, pointer: Any):
        self._own(pointer, lib.og_documents_free)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Documents:
        out = ffi.new("og_documents **")
        call(lib.og_documents_load, as_path(path), out)
        return cls(out[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        call(lib.og_documents_save, self.pointer, as_path(path))

    def check(self) -> None:
        """Raises with the invariant that does not hold."""
        call(lib.og_documents_check, self.pointer)

    def __len__(self) -> int:
        return int(self.pointer.n_docs)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in self._FIELDS:
            raise AttributeError(name)
        p = self.pointer
        dtype, length = self._FIELDS[name]
        n = {"N": p.n_tokens, "D": p.n_docs, "D1": p.n_docs + 1, "S": p.n_segments}[length]
        return view(p, getattr(p, name), (n,), dtype)

    @property
    def ids(self) -> Ids:
        return _ids(self.pointer.ids)

    @property
    def codebooks(self) -> list[str]:
        return [ffi.string(self.pointer.codebooks[i]).decode() for i in range(self.pointer.n_codebooks)]

    @property
    def counters(self) -> dict[str, Any]:
        return node_value(self.pointer.counters) or {}


class Plan(NamedTuple):
    """Which lengths lie in which bin: bin b holds docs[bin_offsets[b]:bin_offsets[b + 1]]."""

    bin_offsets: np.ndarray
    docs: np.ndarray
    lower_bound: int
    fill: float

    @property
    def bins(self) -> int:
        return len(self.bin_offsets) - 1


_METHODS = {"best_fit": lib.OG_PACK_BEST_FIT, "first_fit": lib.OG_PACK_FIRST_FIT, "concat": lib.OG_PACK_CONCAT,
            "none": lib.OG_PACK_NONE}


def pack_lengths(lengths: ArrayLike, capacity: int, method: str = "best_fit") -> Plan:
    """Packs bare lengths [n] (each 1 .. capacity) into bins. InvalidError names index, value and limit."""
    one_of(method, list(_METHODS), "method")
    lengths = as_array(lengths, np.int64, "lengths", 1)
    out = ffi.new("og_pack_plan **")
    call(lib.og_pack_lengths, pointer_to(lengths, "int64_t *"), lengths.shape[0], as_int(capacity, "capacity"),
         _METHODS[method], out)
    plan = ffi.gc(out[0], lib.og_pack_plan_free)
    offsets = view(plan, plan.bin_offsets, (plan.n_bins + 1,), "<i8").copy()
    docs = view(plan, plan.docs, (int(offsets[-1]),), "<i8").copy()
    return Plan(offsets, docs, plan.lower_bound, plan.fill)


@dataclass(frozen=True)
class Pack:
    """One row of packed documents; views of shape [T] unless said. See docs/packs.md for each field's promise."""

    tokens: np.ndarray
    cu_seqlens: np.ndarray
    """int64 [D + 1]"""
    doc_id: np.ndarray
    pos: np.ndarray
    pos3: np.ndarray
    """int32 [T, 3]: time, row, column"""
    loss_weight: np.ndarray
    modality: np.ndarray
    segment_id: np.ndarray
    row: np.ndarray
    column: np.ndarray
    level: np.ndarray
    segments: np.ndarray
    """SEGMENT [S]"""
    origin: np.ndarray
    """ORIGIN [D]"""
    continues: np.ndarray
    """uint8 [D]"""
    n_valid: int
    struct: object
    owner: object

    @property
    def n_docs(self) -> int:
        return len(self.cu_seqlens) - 1


class Packs(Handle):
    """A set of packs, built in memory or mapped from a file: len(packs), packs[i], iteration."""

    def __init__(self, pointer: Any):
        self._own(pointer, lib.og_packs_free)

    @classmethod
    def build(cls, documents: Documents, policy: Mapping[str, Any] | None = None, **keys: Any) -> Packs:
        """Policy keys: capacity, method, long_doc (error | drop | truncate | fragment), image, fragment_context,
        fragment_overlap, seed."""
        config = as_config({**(policy or {}), **keys})
        struct = ffi.new("og_pack_policy *")
        call(lib.og_config_read, config.pointer, lib.og_pack_policy_keys(), struct)
        out = ffi.new("og_packs **")
        call(lib.og_packs_build, instance(documents, Documents, "documents").pointer, struct, out)
        return cls(out[0])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Packs:
        out = ffi.new("og_packs **")
        call(lib.og_packs_load, as_path(path), out)
        return cls(out[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        call(lib.og_packs_save, self.pointer, as_path(path))

    def __len__(self) -> int:
        return int(lib.og_packs_count(self.pointer))

    def __getitem__(self, i: int) -> Pack:
        n = len(self)
        i = as_int(i, "pack")
        if not -n <= i < n:
            raise IndexError(f"pack {i} of {n}")
        i %= n
        p = ffi.new("og_pack *")
        call(lib.og_packs_get, self.pointer, i, p)
        owner, n, d = self.pointer, p.n_tokens, p.n_docs

        def field(name: str, dtype: DTypeLike, *shape: int) -> np.ndarray:
            return view(owner, getattr(p, name), shape, dtype)

        return Pack(
            tokens=field("tokens", "<i4", n), cu_seqlens=field("cu_seqlens", "<i8", d + 1),
            doc_id=field("doc_id", "<i4", n), pos=field("pos", "<i4", n), pos3=field("pos3", "<i4", n, 3),
            loss_weight=field("loss_weight", "<f4", n), modality=field("modality", "i1", n),
            segment_id=field("segment_id", "<i4", n), row=field("row", "<i4", n), column=field("column", "<i4", n),
            level=field("level", "<i4", n), segments=field("segments", SEGMENT, p.n_segments),
            origin=field("origin", ORIGIN, d), continues=field("continues", "u1", d), n_valid=p.n_valid, struct=p,
            owner=owner)

    def __iter__(self) -> Iterator[Pack]:
        return (self[i] for i in range(len(self)))

    def check(self) -> None:
        """Raises with the first invariant of the pack contract that does not hold."""
        ids = self.ids.struct
        for i in range(len(self)):
            call(lib.og_pack_check, self[i].struct, ids)

    @property
    def capacity(self) -> int:
        return int(lib.og_packs_capacity(self.pointer))

    @property
    def ids(self) -> Ids:
        return _ids(lib.og_packs_ids(self.pointer))

    @property
    def codebooks(self) -> list[str]:
        """Fingerprints that segments' `codebook` names."""
        return [text(lib.og_packs_codebook(self.pointer, i)) for i in range(lib.og_packs_codebook_count(self.pointer))]

    @property
    def codebook_modalities(self) -> list[int]:
        """Of each codebook: IMAGE, AUDIO, or -1 where the packs have no item of it."""
        return [lib.og_packs_codebook_modality(self.pointer, i) for i in range(lib.og_packs_codebook_count(self.pointer))]

    @property
    def counters(self) -> dict[str, Any]:
        """What was read, kept, cut, dropped by cause; fill, bins, lower_bound."""
        return node_value(lib.og_packs_counters(self.pointer)) or {}
