"""Puts the report together: one self-contained HTML file and a summary in JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from . import bars, compare, curves, facts, words
from .findings import cautions, findings, unlearned
from .folders import Run, read_run
from .passes import Passes, passes
from .read import MODALITIES, ReportError
from .roles import Roles, describe, roles
from .sources import Sources, sources
from .statistics import FEWEST, RESAMPLES, paired_difference
from .style import arm_colours
from .summary import summary

_HERE = Path(__file__).resolve().parent


def write_report(folders: Path | Sequence[Path], *, out: Path | None = None, baselines: Sequence[str] = (),
                 named: Mapping[str, Path] | None = None, elapsed=lambda: 0.0, peak_rss=lambda: 0) -> dict:
    """Reads runs (see read_run), writes report.html into their folder (or to out) and its summary beside; returns the summary.

    The summary is summary.json of the folder; of a run folder, which has that file from the trainer, and of several folders it is
    named after the page, with .json. baselines: arms to compare with, instead of those without tables. named: see sources.
    elapsed() and peak_rss() give the report's own seconds and bytes so far; the stages' are in the quickstart's manifest.
    """
    run = read_run(folders)
    page, told = _targets(run, folders, out)
    chosen = roles(run.arms, baselines)
    beside = sources(run, named)
    differences, unmatched = _differences(run, chosen)
    seen = _passes(run, beside)
    data, packing, unigram = facts.data(run, beside.counters), facts.packing(run, beside.counters), facts.unigram(run)
    result = summary(run, data["name"], packing, unigram, chosen, seen, facts.seconds(run, elapsed()), facts.peak_rss_bytes(run, peak_rss()))
    apart = compare.unlike(run.arms)
    context = {
        "run": run, "arms": run.arms, "modalities": MODALITIES, "unigram": unigram, "roles": chosen, "differences": differences,
        "controls": describe(run.arms, chosen), "findings": findings(differences, MODALITIES, chosen),
        "cautions": cautions(differences, MODALITIES, chosen) + unlearned(run.arms, unigram, MODALITIES), "unmatched": unmatched, "resamples": RESAMPLES, "data": data,
        "lead": compare.lead(run.arms, seen, apart), "repeats": any(told.repeats for told in seen.values() if told), "apart": compare.warning(apart), "seen": seen, "seen_words": compare.seen_words(seen),
        "tables": {name: compare.tables(arm) for name, arm in run.arms.items()}, "packing": packing,
        "packed": facts.packed(run, beside.counters), "isolation": facts.isolation(run), "hash_tables": facts.hash_tables(run),
        "hash_warnings": facts.hash_warnings(run), "gaps": facts.gaps(run), "documents": _documents(run), "beside": beside,
        "overhead": facts.overhead(run), "environment": facts.environment(run), "stages": run.manifest.get("stages") or [],
        "summary": result, **_figures(run, unigram, chosen, differences, seen),
    }
    text = _templates().get_template("report.html.j2").render(**context, fewest=FEWEST, css=(_HERE / "report.css").read_text())
    write_whole(page, text)
    write_whole(told, json.dumps(result, indent=2) + "\n")
    return result


def _targets(run: Run, folders: Path | Sequence[Path], out: Path | None) -> tuple[Path, Path]:
    """Where the page goes, and the summary."""
    folders = [folders] if isinstance(folders, (str, Path)) else list(folders)
    if out is None and len(folders) > 1:
        raise ReportError(f"{len(folders)} folders: --out FILE must say where their page goes")
    page = Path(out) if out else Path(folders[0]) / "report.html"
    if not page.parent.is_dir():
        raise ReportError(f"--out {page}: there is no folder {page.parent}")
    told = run.folder / "summary.json" if run.folder else page.with_suffix(".json")
    if told.resolve() in {page.resolve(), *(arm.folder.resolve() / "summary.json" for arm in run.arms.values())}:
        raise ReportError(f"--out {page}: the summary would go to {told}, which is the page or a run's own; choose another name")
    return page, told


def _differences(run: Run, chosen: Roles) -> tuple[dict, list[tuple[str, str]]]:
    """arm -> what it is compared with -> modality -> Difference; and the pairs that were not evaluated on the same documents."""
    found: dict = {}
    unmatched = []
    for name, arm in run.arms.items():
        for rival in chosen.against(name):
            try:
                own = {m: paired_difference(arm.documents[m], run.arms[rival].documents[m]) for m in MODALITIES
                       if m in arm.documents and m in run.arms[rival].documents and len(arm.documents[m].keys)}
            except ValueError:
                unmatched.append((name, rival))
                continue
            if own:
                found.setdefault(name, {})[rival] = own
    return found, unmatched


def _passes(run: Run, beside: Sources) -> dict[str, Passes | None]:
    counted = facts.packing(run, beside.counters)
    packs = counted["bins"] if run.manifest and counted else beside.packs_count
    return {name: passes(arm.steps, arm.config, arm.packs[1] or packs) for name, arm in run.arms.items()}


def _figures(run: Run, unigram, chosen: Roles, differences, seen) -> dict:
    plain = next((name for name, arm in run.arms.items() if not arm.has_tables), None)
    colours = arm_colours(run.arms, plain)
    gaps = {name: g for name, g in facts.gaps(run).items() if any(v is not None for v in g.values())}
    models = {name: arm.model_bytes for name, arm in run.arms.items()}
    hashes = facts.hash_lines(run)
    ends = sorted({end for told in seen.values() if told for end in told.ends})
    rivals = [rival for rival in dict.fromkeys((*chosen.baselines, *chosen.controls)) if any(rival in f for f in differences.values())]
    return {
        "colours": colours, "held_out_svg": curves.held_out(run.arms, unigram, colours),
        "training_svg": curves.training(run.arms, colours, ends), "gap_svg": curves.gap(gaps, colours) if gaps else "",
        "forest_svg": {rival: curves.forest({arm: found[rival] for arm, found in differences.items() if rival in found}, rival, colours)
                       for rival in rivals},
        "memory_svg": bars.memory({name: arm.table_bytes for name, arm in run.arms.items()}, models, colours) if any(models.values()) else "",
        "hash_svg": bars.hash_map(hashes) if hashes else "",
    }


def _documents(run: Run) -> int:
    return max((len(bits.keys) for arm in run.arms.values() for bits in arm.documents.values()), default=0)


def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(bits=words.bits, signed=words.signed, percent=words.percent, signed_percent=words.signed_percent,
                               count=words.count, mib=words.size, seconds=words.seconds, listing=words.listing)
    return environment


def write_whole(path: Path, text: str) -> None:
    """The whole file or none of it."""
    path = Path(path)
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
