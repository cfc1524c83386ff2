"""python -m omnigram.report RUNS_FOLDER [--out FILE] [--json FILE]"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    began = time.monotonic()
    parser = argparse.ArgumentParser(prog="omnigram report", description="Write report.html and summary.json of a run.")
    parser.add_argument("folder", type=Path, help="a folder with arms/NAME/ run folders (and quickstart.json, stages/)")
    parser.add_argument("--out", type=Path, help="where report.html goes (default: into the folder)")
    parser.add_argument("--json", metavar="FILE", help="write the summary here too; - is standard output")
    options = parser.parse_args(argv)
    try:
        from . import ReportError, write_report
        from .page import write_whole
    except ImportError as error:
        print(f"omnigram report: {error}. It needs `pip install omnigram[report]` (or `make setup`).", file=sys.stderr)
        return 1
    try:
        result = write_report(options.folder, out=options.out, elapsed=lambda: time.monotonic() - began,
                              peak_rss=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        text = json.dumps(result, indent=2) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        elif options.json:
            write_whole(Path(options.json), text)
    except (ReportError, OSError) as error:
        print(f"omnigram report: {error}", file=sys.stderr)
        return 1
    if options.json != "-":
        print(f"report: {options.out or options.folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
