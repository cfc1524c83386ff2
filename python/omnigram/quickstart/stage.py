"""Stages: commands that are run once for the same inputs, timed, weighed and told about."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class StageError(Exception):
    """A stage failed; the message names it, its exit status and how to run it alone."""


@dataclass
class Stage:
    """A command and what it depends on.

    inputs: files whose contents count, and folders (their files' names, sizes and times count). outputs: what it makes,
    removed before it runs. resume: outputs of an interrupted run of the same command are kept for it to go on from.
    """

    name: str
    title: str
    command: Sequence[str]
    inputs: Sequence[Path] = ()
    outputs: Sequence[Path] = ()
    expect: float = 5.0
    resume: bool = False
    environment: dict = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The command as one would type it."""
        return shlex.join(map(str, self.command))


@dataclass
class Record:
    """What running (or having run) a stage cost."""

    name: str
    seconds: float
    peak_rss_bytes: int
    cached: bool
    command: str

    def as_dict(self) -> dict:
        return dict(self.__dict__)


class Runner:
    """Runs stages in turn inside a folder; a stage whose key is unchanged and whose outputs are there is not repeated."""

    def __init__(self, folder: Path, total: int, expect: float, say: Callable[[str], None] | None = None):
        self.folder, self.total, self.expect = Path(folder), total, expect
        self.records: list[Record] = []
        self.began = time.monotonic()
        self._say = say or _say
        self._digests: dict[tuple, str] = {}
        (self.folder / "cache").mkdir(parents=True, exist_ok=True)

    @property
    def seconds(self) -> float:
        """Of all stages so far, those from the cache as they were measured."""
        return sum(record.seconds for record in self.records)

    def run(self, stage: Stage) -> Record:
        number = len(self.records) + 1
        note, key = self.folder / "cache" / f"{stage.name}.json", self.key(stage)
        last = _read(note)
        same = last.get("key") == key
        if same and last.get("done") and all(path.exists() for path in stage.outputs):
            record = Record(stage.name, last["seconds"], last["peak_rss_bytes"], True, stage.line)
            self._say(f"[{number}/{self.total}] {stage.title}: done before ({record.seconds:.1f} s then)")
        else:
            going_on = same and stage.resume and not last.get("done") and any(path.exists() for path in stage.outputs)
            self._say(f"[{number}/{self.total}] {stage.title} ..." + (" (was stopped; it goes on from what it left)" if going_on else ""))
            if not (same and stage.resume):
                for path in stage.outputs:
                    _remove(path)
            before = last["seconds"] if same and stage.resume else 0.0
            _write(note, {"key": key, "done": False, "seconds": before})
            record = self._execute(stage, note, key, before)
            left = max(self.expect - sum(r.seconds for r in self.records) - record.seconds, 0)
            self._say(f"[{number}/{self.total}] {stage.title}: {record.seconds:.1f} s, peak {record.peak_rss_bytes / 2**20:.0f} MiB"
                      + (f"; about {left:.0f} s to go" if number < self.total else ""))
        self.records.append(record)
        return record

    def key(self, stage: Stage) -> str:
        """Changes when the command, the program or an input changes."""
        digest = hashlib.sha256(json.dumps([stage.line, sorted(stage.environment.items())]).encode())
        for path in stage.inputs:
            digest.update(f"{path}={self._digest(Path(path))}".encode())
        return digest.hexdigest()

    def _digest(self, path: Path) -> str:
        if path.is_dir():
            facts = [(str(p.relative_to(path)), p.stat().st_size, p.stat().st_mtime_ns)
                     for p in sorted(path.rglob("*")) if p.is_file()]
            return hashlib.sha256(repr(facts).encode()).hexdigest()
        if not path.exists():
            return "absent"
        stat = path.stat()
        known = self._digests.get((path, stat.st_mtime_ns, stat.st_size))
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest() if sys.version_info >= (3, 11) else \
                    hashlib.sha256(file.read()).hexdigest()
            self._digests[(path, stat.st_mtime_ns, stat.st_size)] = known
        return known

    def _execute(self, stage: Stage, note: Path, key: str, before: float) -> Record:
        began = time.monotonic()
        status, peak = _wait(subprocess.Popen([str(word) for word in stage.command], env={**os.environ, **stage.environment}))
        seconds = before + time.monotonic() - began
        if status != 0:
            _write(note, {"key": key, "done": False, "seconds": seconds})
            raise StageError(f"{stage.title} failed ({_status(status)}). Alone: {stage.line}")
        missing = [str(path) for path in stage.outputs if not path.exists()]
        if missing:
            raise StageError(f"{stage.title} ended well but left no {', '.join(missing)}")
        _write(note, {"key": key, "done": True, "seconds": seconds, "peak_rss_bytes": peak})
        return Record(stage.name, seconds, peak, False, stage.line)


def _wait(process: subprocess.Popen) -> tuple[int, int]:
    """Exit status and peak resident bytes of a child; Linux counts what this process held when it forked as the least.

    Ctrl-C reaches the child too, so this waits for it to end in its own way; a second Ctrl-C kills it. Then
    KeyboardInterrupt. (A handler, not an exception out of wait4: that could come when the child is already reaped.)
    """
    interrupts = 0

    def interrupted(*_) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            process.kill()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        signal.signal(signal.SIGINT, before)
    process.returncode = os.waitstatus_to_exitcode(status)
    if interrupts:
        raise KeyboardInterrupt
    return process.returncode, usage.ru_maxrss * 1024


def _status(status: int) -> str:
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def _write(path: Path, value: dict) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value, indent=2) + "\n")
    os.replace(temporary, path)


def _say(line: str) -> None:
    print(line, flush=True)
