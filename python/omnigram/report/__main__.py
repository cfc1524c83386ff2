"""python -m omnigram.report FOLDER... [--out FILE] [--json FILE] [--baseline ARM] [--packs FILE] [--codes FOLDER] [--prepared FOLDER]"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from ..arguments import Parser


def _parser() -> Parser:
    parser = Parser(prog="omnigram report", description="Write the report of runs: a page and a summary in JSON.")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER",
                        help="a quickstart's folder, a folder of run folders, a run folder, or several of them")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the page goes (default: report.html in the folder)")
    parser.add_argument("--json", metavar="FILE", help="write the summary here too; - is standard output")
    parser.add_argument("--baseline", action="append", default=[], metavar="ARM",
                        help="compare with this arm instead of those without tables; may be given again")
    parser.add_argument("--packs", type=Path, metavar="FILE", help="the training packs, where the runs do not say it")
    parser.add_argument("--codes", type=Path, metavar="FOLDER", help="what `omnigram quantize` wrote")
    parser.add_argument("--prepared", type=Path, metavar="FOLDER", help="what `omnigram prepare` wrote")
    return parser


def main(argv: list[str] | None = None) -> int:
    began = time.monotonic()
    options = _parser().parse_args(argv)
    try:
        from . import ReportError, write_report
        from .page import write_whole
    except ImportError as error:
        print(f"omnigram report: {error}. It needs `pip install omnigram[report]` (or `make setup`).", file=sys.stderr)
        return 1
    try:
        result = write_report(options.folders, out=options.out, baselines=options.baseline,
                              named={"packs": options.packs, "codes": options.codes, "prepared": options.prepared},
                              elapsed=lambda: time.monotonic() - began,
                              peak_rss=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        for line in result["warnings"]:
            print(f"warning: {line}", file=sys.stderr)
        text = json.dumps(result, indent=2) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        elif options.json:
            write_whole(Path(options.json), text)
    except (ReportError, OSError) as error:
        print(f"omnigram report: {error}", file=sys.stderr)
        return 1
    if options.json != "-":
        print(f"report: {options.out or options.folders[0] / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
