"""omnigram bench NAME: measures, prints a table, writes JSON."""

from __future__ import annotations

import importlib
import os
import sys

from ..arguments import Parser
from ..errors import OmnigramError

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread each, before anything loads
    os.environ.setdefault(name, "1")

NAMES = ("lookup", "hash", "dedupe", "update", "overlap")


def notes_of(record: dict) -> list[str]:
    """What stands behind a record's figures: pages, the share of distinct rows and a flag where it is small, what overlapped."""
    notes = [f"{record['page_bytes'] // 1024} KiB pages"] if record["page_bytes"] else []
    if "distinct" in record:
        notes.append(f"distinct {record['distinct']:.4f}" + (": FLAGGED, a few rows in the cache are measured" if record["flagged"] else ""))
    if "hidden" in record:
        notes.append(f"hidden {record['hidden']:.1%}, added to the step {record['added']:.1%} of a lookup")
    return notes


def main() -> int:
    if sys.argv[1:2] == ["train"]:
        from .train import main as train
        return train(sys.argv[2:])
    parser = Parser(prog="omnigram bench", description="speed against peers in the same process")
    parser.add_argument("name", choices=(*NAMES, "train"), help="train has options of its own: omnigram bench train --help")
    parser.add_argument("--json", metavar="FILE", help="a list of records; - is standard output")
    parser.add_argument("--gib", type=float, default=1.0, help="size of each table (default 1)")
    parser.add_argument("--quick", action="store_true", help="a third of the rounds")
    options = parser.parse_args()
    if not 0.001 <= options.gib <= 1024:
        parser.error(f"--gib {options.gib}: must be in 0.001..1024")
    from .measure import why_not_writable, write_json

    if reason := why_not_writable(options.json):
        parser.error(reason)
    found = importlib.import_module(f".{options.name}", __package__).run(options.gib, options.quick)
    to = sys.stderr if options.json == "-" else sys.stdout
    print(f"{'benchmark':42} {'peer':46} {'ratio':>6} {'ours':>9} {'theirs':>9}  unit", file=to)
    for r in found:
        print(f"{r['name']:42} {r['peer']:46} {r['ratio']:6.2f} {r['ours']:9.3f} {r['theirs']:9.3f}  {r['unit']}, {r['threads']} thread"
              f"{'s' if r['threads'] > 1 else ''}{''.join(', ' + note for note in notes_of(r))}", file=to)
    if options.json:
        write_json(options.json, found)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OmnigramError as problem:
        sys.exit(f"omnigram bench: {problem}")
