"""python -m omnigram.quickstart --out FOLDER [--smoke]: from data to a report, in one budget of time."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import sys
from pathlib import Path

from ..program import find_program, source_root
from . import settings as config
from .budget import choose
from .machine import environment
from .plan import Paths, Plan
from .stage import Runner, Stage, StageError


def main(argv: list[str] | None = None) -> int:
    root = source_root()
    parser = argparse.ArgumentParser(prog="omnigram.quickstart", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/quickstart"), help="output folder (default: %(default)s)")
    parser.add_argument("--config", type=Path, default=root and root / "train/configs/quickstart.yaml")
    parser.add_argument("--data", choices=("auto", "tuxpaint", "synthetic"), default="auto",
                        help="auto: tuxpaint where tools/fetch-data.sh has put it, else synthetic")
    parser.add_argument("--smoke", action="store_true", help="every stage at toy size on synthetic data, in seconds")
    options = parser.parse_args(argv)
    if options.config is None:
        parser.error("--config is needed outside the source tree")
    try:
        with _only_one(options.out):
            return _run(options, root)
    except (StageError, config.SettingsError, FileNotFoundError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nquickstart: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def _run(options, root: Path | None) -> int:
    name, archive, why = _data("synthetic" if options.smoke and options.data == "auto" else options.data, root)
    if options.smoke:
        why = "A smoke run at toy size: it shows that every stage works, and nothing else. " + why
    dataset = {"name": name} | ({"path": str(archive)} if archive else {})
    chosen = config.load(options.config, smoke=options.smoke, dataset=dataset)
    paths = Paths(options.out.resolve())
    program = find_program().resolve()
    plan = Plan(program, chosen, paths)
    arms = list(chosen.arms)
    runner = Runner(paths.out, 9 + len(arms) + 1, chosen.budget_seconds)
    manifest = {"data": name, "data_note": why, "arms": arms, "environment": environment(root, program), "stages": [],
                "paths": paths.manifest_paths()}

    def run(stage: Stage) -> None:
        record = runner.run(stage)
        manifest["stages"].append(record.as_dict())
        _save(paths, manifest)

    for make in (lambda: plan.prepare(archive), plan.quantize, lambda: plan.pack("train"), lambda: plan.pack("val"),
                 plan.audit_hash, plan.audit_schemes, plan.audit_isolation, plan.time, plan.rehearse):
        run(make())
    choice = _choose(chosen, paths, runner)
    manifest["steps"], manifest["steps_note"] = choice.steps, choice.reason
    print("quickstart: " + choice.reason, flush=True)
    for arm in arms:
        run(plan.train(arm, choice.steps, choice.steps * choice.step_seconds + choice.fixed_seconds))
    print(f"[{runner.total}/{runner.total}] write the report ...", flush=True)
    return _report(paths)


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


def _data(wanted: str, root: Path | None) -> tuple[str, Path | None, str]:
    """(data set, its folder, why it was taken)."""
    archive = (root or Path.cwd()) / "data" / "tuxpaint"
    there = (archive / ".complete").is_file()
    if wanted == "tuxpaint" and not there:
        raise FileNotFoundError(f"{archive} is not there; tools/fetch-data.sh fetches it")
    if wanted != "synthetic" and there:
        version = (archive / ".complete").read_text().splitlines()[0]
        return "tuxpaint", archive, f"Pictures, spoken and written captions of the Debian package {version} (GPL-2)."
    why = "Shapes, textures, tones and templated captions that the program makes itself, from a seed."
    if wanted == "auto":
        why += " It was taken because data/tuxpaint is not there: no package archive could be reached, or none was asked."
    return "synthetic", None, why


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
