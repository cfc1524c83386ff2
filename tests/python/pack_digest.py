"""The digests of documents and packs as docs/packing.md says, by hashlib and numpy alone; and files edited with right ones."""

import hashlib

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

TEXTS = ("kind", "version", "ids", "codebooks", "counters")
PER_TOKEN = ("tokens", "doc_id", "pos", "pos3", "loss_weight", "modality", "segment_id", "row", "column", "level")


def read(path):
    with safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def digest(texts, arrays) -> str:
    sha = hashlib.sha256()
    for key, value in texts:
        sha.update(key.encode() + b"\0" + value.encode() + b"\0")
    for name in sorted(arrays):
        sha.update(name.encode() + b"\0" + np.ascontiguousarray(arrays[name]).tobytes())
    return sha.hexdigest()


def pack_digests(arrays) -> np.ndarray:
    rows = []
    for p, (d, s) in enumerate(zip(arrays["doc_offsets"][:-1], arrays["segment_offsets"][:-1])):
        e, t = arrays["doc_offsets"][p + 1], arrays["segment_offsets"][p + 1]
        parts = {name: arrays[name][p] for name in PER_TOKEN}
        parts |= {name: arrays[name][d:e] for name in ("origin", "continues")} | {name: arrays[name][s:t] for name in ("segment_place", "segment_grid")}
        parts["cu_seqlens"] = arrays["cu_seqlens"][d + p:e + p + 1]
        rows.append(bytes.fromhex(digest((), parts)))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 32)


def file_digest(arrays, metadata) -> str:
    covered = arrays if metadata["kind"] == "omnigram.documents" else {k: arrays[k] for k in ("doc_offsets", "segment_offsets", "digests")}
    return digest([(key, metadata[key]) for key in TEXTS], covered)


def write(path, arrays, metadata) -> None:
    """The file with digests of what it now holds."""
    if metadata["kind"] == "omnigram.packs":
        arrays = {**arrays, "digests": pack_digests(arrays)}
    save_file(arrays, path, {**metadata, "digest": file_digest(arrays, metadata)})
