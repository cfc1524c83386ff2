/* verb_report.c: report.html and summary.json of a run, by the Python package. */
#include "python_module.h"
#include "verb.h"

static const char help[] =
    "usage: omnigram report FOLDER [--out FILE] [--json FILE]\n"
    "\n"
    "Reads the run folders in FOLDER (arms/NAME/ with metrics.jsonl, eval_documents.csv; quickstart.json and stages/ "
    "where\n"
    "they are) and writes FOLDER/report.html, one self-contained page, and FOLDER/summary.json.\n"
    "\n"
    "  --out FILE    where the page goes\n"
    "  --json FILE   write the summary here too; - is standard output\n"
    "\n"
    "It runs `python -m omnigram.report`; OMNIGRAM_PYTHON names another Python than the one of the build.\n";

static int run(int argc, char **argv) { return og_run_python_module("report", "omnigram.report", argc, argv); }

const og_verb og_verb_report = {"report", "write the report of a run", help, run};
