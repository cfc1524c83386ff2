/* python_module.h: verbs that the Python package does. */
#ifndef OMNIGRAM_PYTHON_MODULE_H
#define OMNIGRAM_PYTHON_MODULE_H

/* Becomes `python -m module arguments`: OMNIGRAM_PYTHON, else the Python of the build. Returns 1 after a message only
 * when it cannot be run. */
int og_run_python_module(const char *verb, const char *module, int argc, char **argv);

#endif
