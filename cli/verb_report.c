/* verb_report.c: report.html and summary.json of runs, by the Python package. */
#include "python_module.h"
#include "verb.h"

static const char help[] =
    "usage: omnigram report FOLDER... [--out FILE] [--json FILE] [--baseline ARM] [--packs FILE] [--codes FOLDER]\n"
    "                       [--prepared FOLDER]\n"
    "\n"
    "Writes one self-contained page, report.html, and its figures as JSON. FOLDER is that of a quickstart, a folder\n"
    "of run folders, or a run folder (what omnigram train --run wrote); several stand side by side, and then --out\n"
    "is needed.\n"
    "\n"
    "  --out FILE         where the page goes (FOLDER/report.html)\n"
    "  --json FILE        write the summary here too; - is standard output\n"
    "  --baseline ARM     compare with this arm instead of those without tables; may be given again\n"
    "  --packs FILE       the training packs, where the runs do not say where theirs lie\n"
    "  --codes FOLDER     what omnigram quantize wrote, and\n"
    "  --prepared FOLDER  what omnigram prepare wrote: originals are then shown beside their codes\n"
    "\n"
    "It runs `python -m omnigram.report`; OMNIGRAM_PYTHON names another Python than the one of the build.\n";

static int run(int argc, char **argv) { return og_run_python_module("report", "omnigram.report", argc, argv); }

const og_verb og_verb_report = {"report", "write the report of runs", help, run};
