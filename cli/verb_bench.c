/* verb_bench.c: speed against peers, measured in one process by the Python package. */
#include "python_module.h"
#include "verb.h"

static const char help[] =
    "usage: omnigram bench lookup|hash|dedupe|update|overlap|train [--gib N] [--quick] [--json FILE]\n"
    "\n"
    "Measures the library and its peers in turns, in one process, and prints medians of CPU time as ratios: above 1\n"
    "omnigram is faster. Peers: a plain C loop, the machine's ceiling, torch (index_select, embedding, unique,\n"
    "sparse optimisers), FBGEMM's CPU table and numpy, where they are installed (`make bench` installs them).\n"
    "\n"
    "  lookup     rows of 512 B and 1 KiB, batches of 1 k, 16 k and 128 k\n"
    "  hash       n-gram ids a second\n"
    "  dedupe     sort-unique with inverse of N ids drawn from a range; cold: ids that no call has read shortly before\n"
    "  update     row-wise Adagrad on bf16 rows\n"
    "  overlap    how much of a lookup hides behind a compute step of equal length\n"
    "  train      a training step against the same model in PyTorch eager; options: bench train --tables, --steps N\n"
    "             ... (docs/training.md)\n"
    "\n"
    "Columns: ratio, then ours and theirs in the unit at the end of the line (M: millions).\n"
    "\n"
    "  --gib N      size of each table (default 1)\n"
    "  --quick      fewer rounds\n"
    "  --json FILE  a list of {name, peer, ratio, ours, theirs, unit, page_bytes, threads}; - is standard output\n"
    "\n"
    "It runs `python -m omnigram.bench`; OMNIGRAM_PYTHON names another Python than the one of the build.\n";

static int run(int argc, char **argv) { return og_run_python_module("bench", "omnigram.bench", argc, argv); }

const og_verb og_verb_bench = {"bench", "speed against peers in one process", help, run};
