"""What the report says of the machine and the software."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path


def environment(root: Path | None, program: Path) -> dict:
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "omnigram": _output([program, "--version"]).replace("omnigram ", "") or "unknown",
        "CPU": _cpu(), "cores": len(os.sched_getaffinity(0)),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB",
        "system": f"{_distribution()}, Linux {platform.release()}",
        "Python": platform.python_version(), "torch": _version("torch"), "numpy": _version("numpy"),
    }
    commit = _output(["git", "-C", str(root), "rev-parse", "--short", "HEAD"]) if root else ""
    if commit:
        facts["commit"] = commit
    return facts


def _output(command) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()
