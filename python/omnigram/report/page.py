"""Puts the report together: one self-contained HTML file and summary.json."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from pathlib import Path

import jinja2

from . import bars, curves, facts, media, packs
from .read import MODALITIES, Run, read_run
from .statistics import RESAMPLES, findings, paired_difference
from .summary import summary
from .unigram import unigram_bits

_HERE = Path(__file__).resolve().parent
CONTROLS = ("off", "random_row")


def write_report(folder: Path, *, out: Path | None = None, elapsed=lambda: 0.0, peak_rss=lambda: 0) -> dict:
    """Reads a run folder, writes report.html and summary.json into it (or report.html to out); returns the summary.

    elapsed() and peak_rss() give the report's own seconds and bytes so far; the stages' are in the manifest.
    """
    run = read_run(folder)
    sections, unigram = _data_sections(run)
    differences = _differences(run)
    context = {
        "run": run, "arms": run.arms, "modalities": MODALITIES, "unigram": unigram, "differences": differences,
        "findings": findings(differences, MODALITIES), "resamples": RESAMPLES, "data": facts.data(run),
        "packing": facts.packing(run), "packed": facts.packed(run), "isolation": facts.isolation(run), "hash_tables": facts.hash_tables(run),
        "hash_warnings": facts.hash_warnings(run), "gaps": facts.gaps(run), "documents": _documents(run),
        "table_bytes": {name: facts.table_bytes(run, name) for name in run.arms},
        "model_bytes": {name: facts.model_bytes(run, name) for name in run.arms},
        "overhead": facts.overhead(run), "environment": _environment(run), **sections, **_figures(run, unigram, differences),
    }
    stages = run.manifest.get("stages") or []
    seconds = sum(stage.get("seconds") or 0 for stage in stages) + elapsed()
    peak = max([stage.get("peak_rss_bytes") or 0 for stage in stages] + [peak_rss()])
    result = summary(run, unigram, seconds, peak)
    page = _environment_of_templates().get_template("report.html.j2").render(
        **context, summary=result, stages=stages, css=(_HERE / "report.css").read_text())
    write_whole(out or run.folder / "report.html", page)
    write_whole(run.folder / "summary.json", json.dumps(result, indent=2) + "\n")
    return result


def _differences(run: Run) -> dict:
    """arm -> control -> modality -> Difference. random_row is compared with off, as the other arms are."""
    found: dict = {}
    for name, arm in run.arms.items():
        for control in CONTROLS:
            other = run.arms.get(control)
            if other is None or name in (control, "off"):
                continue
            for modality in MODALITIES:
                ours, theirs = arm.documents.get(modality), other.documents.get(modality)
                if ours is not None and theirs is not None and len(ours.keys):
                    found.setdefault(name, {}).setdefault(control, {})[modality] = paired_difference(ours, theirs)
    return found


def _figures(run: Run, unigram, differences) -> dict:
    gaps = {name: g for name, g in facts.gaps(run).items() if any(v is not None for v in g.values())}
    tables = {name: facts.table_bytes(run, name) for name in run.arms}
    models = {name: facts.model_bytes(run, name) for name in run.arms}
    hashes = facts.hash_lines(run)
    return {
        "held_out_svg": curves.held_out(run.arms, unigram), "training_svg": curves.training(run.arms),
        "gap_svg": curves.gap(gaps) if gaps else "",
        "forest_svg": {control: curves.forest({arm: found[control] for arm, found in differences.items() if control in found},
                                              control) for control in CONTROLS if any(control in f for f in differences.values())},
        "memory_svg": bars.memory(tables, models) if any(models.values()) else "",
        "hash_svg": bars.hash_map(hashes) if hashes else "",
    }


def _data_sections(run: Run) -> tuple[dict, dict]:
    """What needs packs, prepared shards and codebooks. A part that is not there is left out, and the page says so."""
    import omnigram

    found: dict = {"pack_svg": "", "pictures": [], "spectrograms": [], "codebooks": {}, "missing": []}
    unigram = dict.fromkeys((*MODALITIES, "marker"))
    paths = {name: run.folder / path for name, path in (run.manifest.get("paths") or {}).items()}
    try:
        train, val = omnigram.Packs.load(paths["packs_train"]), omnigram.Packs.load(paths["packs_val"])
        unigram = unigram_bits(train, val, train.ids)
        pack = train[packs.interesting(train)]
        found["pack_svg"], found["pack_legend"] = packs.draw(pack, train.ids), packs.legend(pack)
        found["pack_documents"] = pack.n_docs
    except (KeyError, omnigram.OmnigramError) as error:
        found["missing"].append(f"packs: {_cause(error)}")
    for kind, key, pairs in (("image", "pictures", media.picture_pairs), ("audio", "spectrograms", media.spectrogram_pairs)):
        try:
            codebook = omnigram.Codebook.load(paths[f"codebook_{kind}"])
            found["codebooks"][kind] = {"health": codebook.health, "size": codebook.size, "levels": codebook.levels,
                                        "dim": codebook.dim, "quantizer": codebook.quantizer}
            with omnigram.Prepared(paths["prepared"]) as prepared:
                policies = (prepared.index.get("config") or {}).get(kind)
                found[key] = pairs(prepared, codebook, omnigram.Modality(kind, policies))
        except (KeyError, omnigram.OmnigramError) as error:
            found["missing"].append(f"{kind} codes: {_cause(error)}")
    return found, unigram


def _cause(error: Exception) -> str:
    return f"the manifest names no {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _documents(run: Run) -> int:
    return max((len(bits.keys) for arm in run.arms.values() for bits in arm.documents.values()), default=0)


def _environment(run: Run) -> dict:
    return run.manifest.get("environment") or {"python": platform.python_version(), "machine": platform.machine()}


def _environment_of_templates() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(bits=lambda v: "–" if v is None or v != v else f"{v:.3f}",
                               percent=lambda v: "–" if v is None else f"{100 * v:.1f}\u00a0%",
                               signed_percent=lambda v: "–" if v is None else f"{100 * v:+.1f}\u00a0%".replace("-", "\u2212"),
                               count=lambda v: "–" if v is None else f"{v:,.0f}", mib=_mib)
    return environment


def _mib(value) -> str:
    if value is None:
        return "–"
    return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.1f} MiB"


def write_whole(path: Path, text: str) -> None:
    """The whole file or none of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise OSError(f"{path}: is a folder, not a file")
    file = tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False)
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        Path(file.name).unlink(missing_ok=True)
        raise OSError(f"{path}: cannot be written: {error.strerror}") from error
