"""What lies beside the runs: their packs, the codebooks those were made with, and the prepared data. Each part that is not there is
left out, and `missing` says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import media, packs
from .folders import Run
from .read import ReportError


@dataclass
class Sources:
    """Everything the page draws from packs, codebooks and prepared data."""

    counters: dict = field(default_factory=dict)
    """Of the training packs: what was read, kept and dropped on the way there."""
    packs_path: Path | None = None
    packs_count: int | None = None
    pack_svg: str = ""
    pack_legend: str = ""
    pack_documents: int = 0
    codebooks: dict[str, dict] = field(default_factory=dict)
    pictures: list[media.Pair] = field(default_factory=list)
    spectrograms: list[media.Pair] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def sources(run: Run, named: Mapping[str, Path] | None = None) -> Sources:
    """named: packs, codes, prepared as the user gave them; else what the quickstart's manifest or the runs themselves recorded."""
    import omnigram

    named = {name: path for name, path in (named or {}).items() if path is not None}
    for name, path in named.items():
        if not path.exists():
            raise ReportError(f"--{name} {path}: no such file or folder")
    codes = named.get("codes")
    if codes and not (codes / "quantize.json").is_file() and not any(codes.glob("*.codebook.safetensors")):
        raise ReportError(f"--codes {codes}: holds no codebooks; it is the --out of omnigram quantize")
    paths, found = _paths(run, named), Sources()
    found.packs_path, fingerprints = paths.get("packs"), None
    if "packs" in paths:
        try:
            train = omnigram.Packs.load(paths["packs"])
            fingerprints = train.codebooks
            found.counters, found.packs_count = train.counters, len(train)
            pack = train[packs.interesting(train)]
            found.pack_svg, found.pack_legend, found.pack_documents = packs.draw(pack, train.ids), packs.legend(pack), pack.n_docs
        except omnigram.OmnigramError as error:
            _missing(found, "packs", error, "packs" in named)
    else:
        found.missing.append(_no_packs(run))
    if "codes" not in paths or "prepared" not in paths:
        found.missing.append("originals beside their codes: the runs do not say where codebooks and prepared data lie "
                             "(--codes FOLDER --prepared FOLDER)")
        return found
    for kind, key, pairs in (("image", "pictures", media.picture_pairs), ("audio", "spectrograms", media.spectrogram_pairs)):
        path = paths["codes"] / f"{kind}.codebook.safetensors"
        if not path.is_file():
            continue  # a data set without this modality
        try:
            codebook = omnigram.Codebook.load(path)
            if fingerprints is not None and codebook.fingerprint not in fingerprints:
                found.missing.append(f"{kind} codes: {path} is no codebook of {paths['packs']}")
                continue
            found.codebooks[kind] = {"health": codebook.health, "size": codebook.size, "levels": codebook.levels,
                                     "dim": codebook.dim, "quantizer": codebook.quantizer}
            with omnigram.Prepared(paths["prepared"]) as prepared:
                policies = (prepared.index.get("config") or {}).get(kind)
                setattr(found, key, pairs(prepared, codebook, omnigram.Modality(kind, policies)))
        except omnigram.OmnigramError as error:
            _missing(found, f"{kind} codes", error, "codes" in named or "prepared" in named)
    return found


def _missing(found: Sources, what: str, error: Exception, asked: bool) -> None:
    """What the user named must be there; what the runs recorded may have gone since."""
    if asked:
        raise ReportError(str(error)) from error
    found.missing.append(f"{what}: {error}")


def _paths(run: Run, named: Mapping[str, Path]) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    told = run.manifest.get("paths") or {}
    if run.folder is not None:
        for name, key in (("packs", "packs_train"), ("prepared", "prepared")):
            if key in told:
                paths[name] = run.folder / told[key]
        if "codebook_image" in told:
            paths["codes"] = (run.folder / told["codebook_image"]).parent
    recorded = {arm.packs[0] for arm in run.arms.values()}
    if "packs" not in paths and len(recorded) == 1 and None not in recorded:
        paths["packs"] = Path(recorded.pop())
    return paths | dict(named)


def _no_packs(run: Run) -> str:
    recorded = {arm.packs[0] for arm in run.arms.values()}
    if len(recorded - {None}) > 1:
        return "packs: the runs were trained on different ones (--packs FILE shows those of one)"
    return "packs: the runs do not say where theirs lie (--packs FILE)"
