"""Prepared shards and modality adapters: files to media, media to vectors on a grid and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._array import I32, as_array, as_int, as_path, as_text, instance, one_of
from ._ffi import ffi, lib, text
from ._handle import Handle, pointer_to, view
from .config import as_config, node_value
from .dtypes import NUMPY
from .errors import UnsupportedError, call, invalid, wrong_type
from .pack import MODALITIES

SPLITS = tuple(text(lib.og_split_name(s)) for s in range(lib.OG_N_SPLITS))


class Item(NamedTuple):
    """One item of a document: text as str; image uint8 [height, width, 3]; audio int16 [samples] at rate_hz."""

    modality: str
    value: str | np.ndarray
    rate_hz: int
    unique: int
    """Number of the stored item: equal for the same media in several documents."""


class Document(NamedTuple):
    """A prepared document; shard and index are what og_origin of its tokens names."""

    id: str
    group: str
    shard: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a document
    items: list[Item]


class Prepared(Handle):
    """A folder of prepared shards; images and audio are views in place."""

    def __init__(self, folder: str | os.PathLike[str]):
        out = ffi.new("og_prepared **")
        call(lib.og_prepared_open, as_path(folder, "folder"), out)
        self._own(out[0], lib.og_prepared_close)

    @property
    def index(self) -> dict[str, Any]:
        """The config used, the counters and the data set's name."""
        return node_value(lib.og_prepared_index(self.pointer)) or {}

    @property
    def unique_items(self) -> int:
        return int(lib.og_prepared_items(self.pointer))

    def count(self, split: str) -> int:
        """Documents of a split ("train", "val", "test")."""
        return int(lib.og_prepared_count(self.pointer, one_of(split, SPLITS, "split")))

    def document(self, split: str, i: int) -> Document:
        side, i = one_of(split, SPLITS, "split"), as_int(i, "document")
        found = ffi.new("og_prepared_document *")
        call(lib.og_prepared_get, self.pointer, side, i, found)
        return Document(text(found.id), text(found.group), found.shard, found.index,
                        [self._item(side, i, k) for k in range(found.n_items)])

    def documents(self, split: str) -> Iterator[Document]:
        return (self.document(split, i) for i in range(self.count(split)))

    def _item(self, side: int, i: int, k: int) -> Item:
        media, unique = ffi.new("og_media *"), ffi.new("int64_t *")
        call(lib.og_prepared_item, self.pointer, side, i, k, media, unique)
        array = _media_array(media, self.pointer)
        value = bytes(array).decode() if media.modality == lib.OG_TEXT else array
        return Item(MODALITIES[media.modality], value, media.rate_hz, unique[0])


def _media_array(media: Any, owner: Any) -> np.ndarray:
    shape = tuple(media.shape[i] for i in range(media.rank))
    return view(owner, media.data, shape, NUMPY[media.dtype])


class Modality:
    """An adapter ("text", "image", "audio") by its config, for instance a codebook's `preprocess`."""

    def __init__(self, name: str, config: Mapping[str, Any] | None = None):
        self._kind = lib.og_modality_find(as_text(name, "name"))
        if self._kind == ffi.NULL:
            raise invalid(f"no modality {name!r:.80}; there are {', '.join(MODALITIES[:3])}")
        self._config = as_config(config)
        out = ffi.new("og_modality_impl **")
        call(self._kind.create, self._config.pointer, out)
        self._pointer = ffi.gc(out[0], self._kind.destroy)

    def decode(self, data: bytes, place: str = "bytes") -> np.ndarray:
        """A file's bytes to media, by the policies; FormatError names place and cause."""
        data, where = bytes(instance(data, (bytes, bytearray, memoryview), "data")), as_text(place, "place")
        return self._take(lambda media: call(self._kind.decode, self._pointer, where, data, len(data), media))

    def vectors(self, media: np.ndarray, rate_hz: int = 0) -> np.ndarray:
        """float32 [rows, columns, dim] of an image uint8 [h, w, 3] or audio int16 [samples]."""
        self._check_vectors()
        media = np.ascontiguousarray(media)
        code = next((c for c, d in NUMPY.items() if d == media.dtype and c in (lib.OG_U8, lib.OG_I16)), None)
        if code is None or media.ndim > 3:
            raise wrong_type(f"media of {media.dtype} {media.shape}; uint8 [h, w, 3] or int16 [samples] is needed")
        struct = ffi.new("og_media *", {"modality": self._kind.modality, "dtype": code, "rank": media.ndim,
                                        "shape": list(media.shape), "data": ffi.cast("void *", media.ctypes.data),
                                        "rate_hz": as_int(rate_hz, "rate_hz", I32)})
        out, rows, columns = ffi.new("float **"), ffi.new("int32_t *"), ffi.new("int32_t *")
        call(self._kind.vectors, self._pointer, struct, out, rows, columns)
        owner = ffi.gc(out[0], lib.og_release)
        return view(owner, owner, (rows[0], columns[0], self.dim), "<f4")

    @property
    def dim(self) -> int:
        return int(self._kind.dim(self._pointer))

    def restore(self, vectors: np.ndarray) -> np.ndarray:
        """float32 [rows, columns, dim] back to a picture uint8 [h, w, 3] or a spectrogram float32 [frames, bands]."""
        self._check_vectors()
        vectors = as_array(vectors, np.float32, "vectors", 3)
        if vectors.shape[2] != self.dim:
            raise invalid(f"vectors: {vectors.shape[2]} values each where this modality has {self.dim}")
        if max(vectors.shape[:2]) > I32[1]:
            raise invalid(f"vectors: a grid of {vectors.shape[:2]}; a side has at most {I32[1]}")
        return self._take(lambda media: call(self._kind.restore, self._pointer, pointer_to(vectors, "float *"),
                                             vectors.shape[0], vectors.shape[1], media))

    def _check_vectors(self) -> None:
        if self._kind.vectors == ffi.NULL:
            raise UnsupportedError(lib.OG_ENOTSUP, "text has no vectors: its codes come from a tokenizer")

    def _take(self, fill: Callable[[Any], None]) -> np.ndarray:
        media = ffi.new("og_media *")
        fill(media)
        try:
            return _media_array(media, None).copy()
        finally:
            lib.og_media_free(media)
