"""python -m omnigram.quickstart --out FOLDER [--smoke] [--data KIND --path PATH] [--config FILE]: from data to a report, in one
budget of time. The same command goes on where it was stopped."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
from argparse import RawDescriptionHelpFormatter
from pathlib import Path

from ..arguments import Parser
from ..program import find_program, source_root
from . import settings as config
from .budget import choose
from .machine import environment
from .plan import Paths, Plan
from .stage import Runner, Stage, StageError

KINDS = ("auto", "tuxpaint", "synthetic", "folder", "jsonl", "config")
EXAMPLES = """keys of the config are set as --section.key=value, e.g. --quickstart.budget_seconds=3600 --tables.text.dim=64

examples:
  python -m omnigram.quickstart --data folder --path ~/photos --out runs/photos
  python -m omnigram.quickstart --data jsonl --path corpus.jsonl --out runs/corpus --quickstart.budget_seconds=3600
  python -m omnigram.quickstart --config train/configs/stencils.yaml --out runs/stencils
"""


def main(argv: list[str] | None = None) -> int:
    root = source_root()
    parser = Parser(prog="omnigram.quickstart", description=__doc__, epilog=EXAMPLES,
                    formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=Path("runs/quickstart"), help="output folder (default: %(default)s)")
    parser.add_argument("--config", type=Path, default=root and root / "train/configs/quickstart.yaml",
                        help="settings and arms, as train/configs/quickstart.yaml has them (default: that file)")
    parser.add_argument("--data", choices=KINDS, default=None, metavar="KIND",
                        help="auto: tuxpaint where tools/fetch-data.sh has put it, else synthetic; tuxpaint; synthetic; folder: files "
                             "of one name are a document (cat.txt, cat.png, cat.ogg); jsonl: a document a line; config: prepare.dataset "
                             "of the config (default: folder or jsonl where --path is given, config where prepare.dataset has a "
                             "name, else auto)")
    parser.add_argument("--path", type=Path, help="where --data folder or jsonl lies")
    parser.add_argument("--smoke", action="store_true", help="every stage at toy size (quickstart.smoke), in about a minute")
    options, rest = parser.parse_known_args(argv)
    for word in rest:
        if not word.startswith("--") or "=" not in word:
            parser.error(f"unknown option {word!r}; keys of the config are set as --section.key=value")
    options.overrides = rest
    if options.data in ("folder", "jsonl") and options.path is None:
        parser.error(f"--data {options.data} needs --path")
    if options.path is not None and options.data not in (None, "folder", "jsonl"):
        parser.error(f"--path goes with --data folder or jsonl, not with {options.data}")
    if options.config is None:
        parser.error("--config is needed outside the source tree")
    try:
        with _only_one(options.out):
            return _run(options, root)
    except (StageError, config.SettingsError, FileNotFoundError, NotADirectoryError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nquickstart: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def _run(options, root: Path | None) -> int:
    dataset, why = _data(options, root)
    chosen = config.load(options.config, smoke=options.smoke, dataset=dataset, overrides=options.overrides)
    name = chosen.shared["prepare"]["dataset"]["name"]
    if options.smoke:
        why = "A smoke run at toy size: it shows that every stage works, and nothing else. " + why
    shipped = root and root / "train/configs/quickstart.yaml"
    paths = Paths(options.out.resolve())
    program = find_program().resolve()
    plan = Plan(program, chosen, paths)
    arms = list(chosen.arms)
    _check_keys(plan)
    strangers = sorted({path.name for path in (paths.out / "arms").iterdir()} - set(arms))
    if strangers:  # the report would show them beside arms of other settings
        raise StageError(f"{paths.out / 'arms'} holds {', '.join(strangers)}, which the config does not have (any more): remove it, or "
                         "name another --out")
    runner = Runner(paths.out, 10 + len(arms) + 1, chosen.budget_seconds)
    manifest = {"data": name, "data_note": why, "arms": arms, "environment": environment(root, program), "stages": [],
                "paths": paths.manifest_paths()}

    def run(stage: Stage) -> None:
        record = runner.run(stage)
        manifest["stages"].append(record.as_dict())
        _save(paths, manifest)

    data = Path(dataset["path"]) if "path" in dataset else None
    for make in (lambda: plan.prepare(data), plan.quantize):
        run(make())
    if options.config == shipped and (absent := plan.absent()):
        chosen, gone = config.without(chosen, absent)
        plan.write_arms(chosen)
        note = f"The data have no {' and no '.join(absent)}, so these tables are left out of every arm: {', '.join(gone) or 'none'}."
        manifest["data_note"] += " " + note
        print("quickstart: " + note, flush=True)
    for make in (lambda: plan.pack("train"), lambda: plan.pack("val"), plan.check):
        run(make())
    print(f"quickstart: {plan.choose_busiest()} is the arm that is timed", flush=True)
    for make in (plan.audit_hash, plan.audit_schemes, plan.audit_isolation, plan.time, plan.rehearse):
        run(make())
    choice = _choose(chosen, paths, runner)
    manifest["steps"], manifest["steps_note"] = choice.steps, choice.reason
    print("quickstart: " + choice.reason, flush=True)
    for arm in arms:
        run(plan.train(arm, choice.steps, choice.steps * choice.step_seconds + choice.fixed_seconds))
    print(f"[{runner.total}/{runner.total}] write the report ...", flush=True)
    return _report(paths)


def _check_keys(plan: Plan) -> None:
    """Before any stage: a mistyped key of the last arm must not show after minutes of work on the data."""
    done = subprocess.run([str(word) for word in plan.check_keys()], capture_output=True, text=True)
    if done.returncode:
        raise config.SettingsError("an arm's settings are wrong (the arms' configs were written from --config):\n" + done.stderr.strip())


def _choose(chosen, paths: Paths, runner: Runner):
    from ..report.read import read_arm

    trained = next(record for record in json.loads(paths.json("time").read_text()) if record["name"] == "train.step.train")
    rehearsal = read_arm(paths.out / "rehearsal", "rehearsal").metrics["step_seconds"]
    packing = json.loads(paths.json("pack-train").read_text())
    one_pass = max(1, int(packing["bins"]) // int(chosen.shared["train"]["batch"]))
    left = chosen.budget_seconds - chosen.reserve_seconds - runner.seconds
    return choose(trained["step_seconds"], max(runner.records[-1].seconds - float(rehearsal.sum()), 0.0), left_seconds=left,
                  arms=len(chosen.arms), one_pass=one_pass, least=chosen.min_steps, slack=chosen.slack)


def _report(paths: Paths) -> int:
    import resource
    import time

    from ..report import write_report

    began = time.monotonic()
    result = write_report(paths.out, elapsed=lambda: time.monotonic() - began,
                          peak_rss=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    print(f"quickstart: {result['seconds']:.0f} s, peak {result['peak_rss_bytes'] / 2**20:.0f} MiB\n"
          f"  {paths.out / 'report.html'}\n  {paths.out / 'summary.json'}")
    return 0


def _data(options, root: Path | None) -> tuple[dict, str]:
    """(prepare's data set, why it was taken). {"name": "config"}: what the config says."""
    wanted, path = options.data, options.path
    if path is not None:
        path = path.resolve()
        if not path.exists():
            raise FileNotFoundError(f"--path {path}: there is no such file or folder")
        wanted = wanted or ("folder" if path.is_dir() else "jsonl")
        if (wanted == "folder") != path.is_dir():
            raise NotADirectoryError(f"--data {wanted} wants a {'folder' if wanted == 'folder' else 'file'}, and {path} is "
                                     f"{'none' if wanted == 'folder' else 'a folder'}")
        return {"name": wanted, "path": str(path)}, f"Own data: {wanted} {path}."
    if wanted == "config" or (wanted is None and config.names_data(options.config)):
        return {"name": "config"}, f"Own data: prepare.dataset of {options.config}."
    wanted = wanted or ("synthetic" if options.smoke else "auto")
    archive = (root or Path.cwd()) / "data" / "tuxpaint"
    there = (archive / ".complete").is_file()
    if wanted == "tuxpaint" and not there:
        raise FileNotFoundError(f"{archive} is not there; tools/fetch-data.sh fetches it")
    if wanted != "synthetic" and there:
        version = (archive / ".complete").read_text().splitlines()[0]
        return ({"name": "tuxpaint", "path": str(archive)},
                f"Pictures, spoken and written captions of the Debian package {version} (GPL-2).")
    why = "Shapes, textures, tones and templated captions that the program makes itself, from a seed."
    if wanted == "auto":
        why += " It was taken because data/tuxpaint is not there: no package archive could be reached, or none was asked."
    return {"name": "synthetic"}, why


@contextlib.contextmanager
def _only_one(out: Path):
    """Two quickstarts in one folder would undo each other."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StageError(f"another quickstart works in {out}") from None
        yield


def _save(paths: Paths, manifest: dict) -> None:
    temporary = paths.out / ".quickstart.json"
    temporary.write_text(json.dumps(manifest, indent=2) + "\n")
    os.replace(temporary, paths.out / "quickstart.json")


if __name__ == "__main__":
    sys.exit(main())
